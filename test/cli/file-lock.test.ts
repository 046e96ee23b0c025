import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { takeLock } from '../../src/cli/file-lock.ts'
import { workDirectory } from './run-cli.ts'

describe('the lock beside a file', () => {
  it('is held by one, and free afterwards', (t) => {
    const path = join(workDirectory(t), 'x.lock')
    const held = takeLock(path)
    assert.ok(held)
    assert.equal(takeLock(path), undefined)
    held[Symbol.dispose]()
    const again = takeLock(path)
    assert.ok(again)
    again[Symbol.dispose]()
    assert.equal(existsSync(path), false)
  })

  const onLinux = { skip: process.platform !== 'linux' && 'it looks into /proc' }

  it('is free when its holder was killed, also where nobody has taken note of that', onLinux, async (t) => {
    const directory = workDirectory(t)
    // The shell is replaced by a program that does not look after the child that the shell had.
    const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'inherit'] })
    t.after(() => parent.kill('SIGKILL'))
    const pid = Number(await new Promise((resolve) => parent.stdout.once('data', resolve)))
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    const path = join(directory, 'x.lock')
    const holder = {
      pid,
      birth: `${boot} ${
        statOf(pid)
          .replace(/^.*\) /s, '')
          .split(' ')[19]
      }`,
      host: hostname(),
    }
    writeFileSync(path, JSON.stringify(holder))
    writeFileSync(`${path}.${pid}.part`, '')
    assert.equal(takeLock(path), undefined)
    process.kill(pid, 'SIGKILL')
    while (!/\) Z /.test(statOf(pid))) await sleep(5)
    const lock = takeLock(path)
    assert.ok(lock)
    lock[Symbol.dispose]()
    assert.deepEqual(
      readdirSync(directory).filter((name) => name.startsWith('x.lock')),
      [],
    )
  })
})

function statOf(pid: number): string {
  return readFileSync(`/proc/${pid}/stat`, 'utf8')
}
