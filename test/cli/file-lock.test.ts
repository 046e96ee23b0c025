import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { takeLock } from '../../src/cli/files/file-lock.ts'
import { workDirectory } from './run-cli.ts'

const MODULE = new URL('../../src/cli/files/file-lock.ts', import.meta.url).href

describe('the lock beside a file', () => {
  it('is held by one, and free afterwards, with nothing left behind', (t) => {
    const path = join(workDirectory(t), 'x.lock')
    for (let round = 0; round < 3; round++) {
      using held = takeLock(path)
      assert.ok(held)
      assert.equal(takeLock(path), undefined)
    }
    assert.equal(existsSync(path), false)
  })

  it('is free as soon as its holder is killed', async (t) => {
    const path = join(workDirectory(t), 'x.lock')
    const script = `const { takeLock } = await import('${MODULE}'); globalThis.lock = takeLock('${path}'); console.log('held'); setInterval(() => {}, 1000)`
    const holder = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    t.after(() => holder.kill('SIGKILL'))
    await once(holder.stdout, 'data')
    assert.equal(takeLock(path), undefined)
    holder.kill('SIGKILL')
    await once(holder, 'exit')
    using lock = takeLock(path)
    assert.ok(lock)
  })

  it('tells when no file can be made', (t) =>
    assert.throws(() => takeLock(join(workDirectory(t), 'none/x.lock')), { code: 'ENOENT' }))
})
