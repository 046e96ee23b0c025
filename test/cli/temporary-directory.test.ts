import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { takeLock } from '../../src/cli/files/file-lock.ts'
import { TemporaryDirectory } from '../../src/cli/temporary-directory.ts'
import { LINUX_ROOT, lackOf, PID_NAMESPACES } from '../faults/needs.ts'
import { eventLines } from './items.ts'
import { killBetweenRuns, partsIn } from './killed-runs.ts'
import { runCli, startServer, temporaryFilesOf, workDirectory } from './run-cli.ts'

const MODULE = JSON.stringify(new URL('../../src/cli/temporary-directory.ts', import.meta.url).href)
const IN_CONTAINER = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc']

/** A process that has a directory in `parent`, and its path. */
async function startOwner(t: TestContext, parent: string, under: readonly string[] = []) {
  const script = `
    const { writeFileSync } = await import('node:fs')
    const { TemporaryDirectory } = await import(${MODULE})
    globalThis.directory = new TemporaryDirectory(${JSON.stringify(parent)})
    writeFileSync(directory.path + '/reams.db', 'private')
    console.log(directory.path)
    setInterval(() => {}, 1000)`
  const [program = '', ...words] = [...under, process.execPath, '--input-type=module', '-e', script]
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  const [path] = (await once(child.stdout, 'data')) as [Buffer]
  return { child, path: path.toString().trim() }
}

describe('a temporary directory', () => {
  it('is gone with its process, and after kill -9 with the next one in the same place', async (t) => {
    const parent = workDirectory(t)
    const { child, path } = await startOwner(t, parent)
    assert.equal(statSync(path).mode & 0o777, 0o700)
    child.kill('SIGKILL')
    await once(child, 'exit')
    assert.ok(existsSync(join(path, 'reams.db')))
    {
      using next = new TemporaryDirectory(parent)
      assert.deepEqual(partsIn(parent), [next.path.slice(parent.length + 1)])
    }
    assert.deepEqual(partsIn(parent), [])
  })

  it('is left alone while its process is alive, also one that is stopped, in a container, or this one', async (t) => {
    const parent = workDirectory(t)
    using own = new TemporaryDirectory(parent)
    const owners = [await startOwner(t, parent), await startOwner(t, parent)]
    if ((await lackOf([PID_NAMESPACES])) === undefined) owners.push(await startOwner(t, parent, IN_CONTAINER))
    owners[0]?.child.kill('SIGSTOP')
    for (let round = 0; round < 3; round++) {
      using _here = new TemporaryDirectory(parent)
      const { child } = await startOwner(t, parent)
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    for (const { path } of owners) assert.ok(existsSync(join(path, 'reams.db')), path)
    assert.ok(existsSync(own.path))
  })

  it('is never taken from a process by others that start and end at the same time', async (t) => {
    const parent = workDirectory(t)
    const script = `
      const { existsSync, writeFileSync } = await import('node:fs')
      const { TemporaryDirectory } = await import(${MODULE})
      for (let round = 0; round < 100; round++) {
        using directory = new TemporaryDirectory(${JSON.stringify(parent)})
        const file = directory.path + '/reams.db'
        writeFileSync(file, '')
        await new Promise(setImmediate)
        if (!existsSync(file)) throw new Error(file + ' was removed')
      }`
    const words = ['--input-type=module', '-e', script]
    const children = [1, 2, 3, 4].map(() => spawn(process.execPath, words, { stdio: ['ignore', 'ignore', 'inherit'] }))
    const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0]))
    assert.deepEqual(codes, [0, 0, 0, 0])
    assert.deepEqual(partsIn(parent), [])
  })

  it('is left alone if it is of another user, a link, or not made by Reams', async (t) => {
    const parent = workDirectory(t)
    const make = (name: string, ...files: string[]): string => {
      mkdirSync(join(parent, name))
      for (const file of files) writeFileSync(join(parent, name, file), 'precious')
      return join(parent, name)
    }
    make('reams-part-abcdef', 'reams.db')
    make('reams-part-of-mine', 'reams.lock')
    make('reams-part-foreig', 'reams.lock')
    make('precious', 'reams.lock')
    symlinkSync('precious', join(parent, 'reams-part-linked'))
    if ((await lackOf([LINUX_ROOT])) === undefined) chownSync(make('reams-part-others'), 65534, 65534)
    const before = readdirSync(parent, { recursive: true })
    new TemporaryDirectory(parent)[Symbol.dispose]()
    assert.deepEqual(readdirSync(parent, { recursive: true }), before)
  })
})

describe('after kill -9', () => {
  it('the next backup leaves its file and nothing else, and one that is stopped meanwhile still ends well', (t) =>
    killBetweenRuns(t, ['backup', 'to/b.db', '--force'], 1))

  it('the next server of files removes the store of the one before, and none that is served', async (t) => {
    const directory = workDirectory(t)
    const tmp = temporaryFilesOf(directory)
    writeFileSync(join(directory, 'events.ndjson'), eventLines(3))
    writeFileSync(join(directory, 'broken.ndjson'), '{"id":1}\n[1]\n')
    const first = await startServer(t, ['events.ndjson'], { in: directory })
    const second = await startServer(t, ['events.ndjson'], { in: directory })
    assert.equal(partsIn(tmp).length, 2)
    first.cli.child.kill('SIGKILL')
    await first.cli.ends()
    assert.equal(partsIn(tmp).length, 2)
    // It loads no further than to its own store.
    const third = await runCli(['serve', 'broken.ndjson', '--port', '0'], { in: directory })
    assert.equal(third.status, 1)
    assert.equal(partsIn(tmp).length, 1)
    assert.equal((await second.get('/events')).status, 200)
    await second.cli.stop()
    assert.deepEqual(readdirSync(tmp), [])
  })
})

const LOCK_MODULE = new URL('../../src/cli/files/file-lock.ts', import.meta.url).href

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
    const script = `const { takeLock } = await import('${LOCK_MODULE}'); globalThis.lock = takeLock('${path}'); console.log('held'); setInterval(() => {}, 1000)`
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
