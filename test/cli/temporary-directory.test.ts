import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { TemporaryDirectory } from '../../src/cli/temporary-directory.ts'
import { attempt } from '../../src/store/running-process.ts'
import { LINUX_ROOT, lackOf, PID_NAMESPACES } from '../faults/needs.ts'
import { eventLines, putLines } from './items.ts'
import { RunningCli, runCli, startServer, temporaryFilesOf, workDirectory } from './run-cli.ts'

const MODULE = JSON.stringify(new URL('../../src/cli/temporary-directory.ts', import.meta.url).href)
const IN_CONTAINER = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc']

const partsIn = (directory: string): string[] => readdirSync(directory).filter((name) => name.startsWith('reams-part-'))

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

/** Runs a command a few times, and kills it each time at a random moment after it has begun to write to `to`. */
async function killAtRandom(commandOf: (round: number) => readonly string[], directory: string, to: string) {
  for (let round = 0; round < 5; round++) {
    const before = partsIn(to)
    const cli = new RunningCli(commandOf(round), { in: directory, input: '' })
    const hasBegun = () => partsIn(to).some((name) => !before.includes(name))
    while (!hasBegun() && cli.child.exitCode === null) await sleep(1)
    await sleep(Math.random() * 100)
    cli.child.kill('SIGKILL')
    await cli.ends()
  }
}

/** A run of a command that is stopped while it writes to `to`, and the name of its directory there. */
async function stopInTheMiddle(t: TestContext, words: readonly string[], directory: string, to: string) {
  // Before something is in it, others may remove the directory: then its process makes another one.
  const isFilled = (name: string) => (attempt(() => readdirSync(join(to, name))) ?? []).length > 1
  for (;;) {
    const living = new RunningCli(words, { in: directory, input: '' })
    t.after(() => living.child.kill('SIGKILL'))
    while (!partsIn(to).some(isFilled) && living.child.exitCode === null) await sleep(1)
    living.child.kill('SIGSTOP')
    const part = partsIn(to).find(isFilled)
    if (part !== undefined) return { living, part }
    // It ended a moment too early.
    living.child.kill('SIGCONT')
    await living.ends()
  }
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

describe('after kill -9 at random moments', () => {
  for (const [command, words] of [
    ['backup', ['backup', 'to/b.db', '--force']],
    ['export', ['export', 'events', '-o', 'to/e.ndjson.gz', '--force']],
  ] as const)
    it(`the next ${command} leaves its file and nothing else, and one that is stopped meanwhile still ends well`, async (t) => {
      const directory = workDirectory(t)
      const to = join(directory, 'to')
      mkdirSync(to)
      await putLines(directory, 'events', eventLines(10_000), { keyField: 'id' })
      const { living, part } = await stopInTheMiddle(t, words, directory, to)
      await killAtRandom(() => words, directory, to)
      assert.equal((await runCli(words, { in: directory })).status, 0)
      assert.deepEqual(partsIn(to), [part])
      living.child.kill('SIGCONT')
      const { status, stderr } = await living.ends()
      assert.equal(status, 0, stderr)
      assert.equal(readdirSync(to).length, 1)
    })

  it('the next restore leaves its file and nothing else', async (t) => {
    const directory = workDirectory(t)
    await putLines(directory, 'events', eventLines(10_000), { keyField: 'id' })
    await killAtRandom((round) => ['restore', 'reams.db', '--store', `${round}.db`], directory, directory)
    assert.equal((await runCli(['restore', 'reams.db', '--store', 'new.db'], { in: directory })).status, 0)
    assert.deepEqual(partsIn(directory), [])
  })

  it('the next server of files removes the store of the one before, and none that is served', async (t) => {
    const directory = workDirectory(t)
    const tmp = temporaryFilesOf(directory)
    writeFileSync(join(directory, 'events.ndjson'), eventLines(3))
    const first = await startServer(t, ['events.ndjson'], { in: directory })
    const second = await startServer(t, ['events.ndjson'], { in: directory })
    assert.equal(partsIn(tmp).length, 2)
    first.cli.child.kill('SIGKILL')
    await first.cli.ends()
    assert.equal(partsIn(tmp).length, 2)
    const third = await startServer(t, ['events.ndjson'], { in: directory })
    assert.equal(partsIn(tmp).length, 2)
    for (const { get } of [second, third]) assert.equal((await get('/events')).status, 200)
    for (const { cli } of [second, third]) await cli.stop()
    assert.deepEqual(readdirSync(tmp), [])
  })
})
