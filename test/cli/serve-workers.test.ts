import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventLines, putLines } from './items.ts'
import { type RunningCli, runCli, startServer, temporaryFilesOf, workDirectory } from './run-cli.ts'

/** The processes that a process has started. */
function childrenOf(pid = 0): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return children.trim().split(' ').filter(Boolean).map(Number)
}

function isRunning(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await isSo()); tries++) {
    if (tries === 6_000) throw new Error(`It never came to be: ${isSo}`)
    await sleep(10)
  }
}

function countIn(text: string, part: string): number {
  return text.split(part).length - 1
}

/** Kills both workers as soon as there are two; resolves when their end was noticed. */
async function killWorkersOf(cli: RunningCli): Promise<void> {
  const noticed = countIn(cli.stderr, 'A worker has ended')
  await until(() => childrenOf(cli.child.pid).length === 2)
  for (const worker of childrenOf(cli.child.pid)) process.kill(worker, 'SIGKILL')
  await until(() => countIn(cli.stderr, 'A worker has ended') === noticed + 2)
}

/** As `countOf`, by a client that asks again as long as nobody listens. */
async function countOnceServed(url: string): Promise<number> {
  let count: number | undefined
  await until(async () => {
    count = await countOf(url).catch(() => undefined)
    return count !== undefined
  })
  return count ?? -1
}

/** Each on a connection of its own, so that every worker gets some. */
async function countOf(url: string): Promise<number> {
  const answer = await fetch(url, { headers: { connection: 'close' } })
  return ((await answer.json()) as { item_count: number }).item_count
}

describe('serve with several workers', { skip: process.platform !== 'linux' && 'it looks into /proc' }, () => {
  it('serves on one port with as many processes, and all of them see every write at once', async (t) => {
    const directory = workDirectory(t)
    await putLines(directory, 'events', eventLines(1234), { keyField: 'id' })
    const { cli, url } = await startServer(t, ['--workers', '3'], { in: directory })
    assert.equal(childrenOf(cli.child.pid).length, 3)
    for (let count = 0; count < 9; count++) assert.equal(await countOf(`${url}/events?page=3`), 1234)
    const words = ['import', 'events', '-', '--format', 'ndjson', '--store', 'reams.db']
    assert.equal((await runCli(words, { in: directory, input: '{"id":"new"}\n' })).status, 0)
    for (let count = 0; count < 9; count++) assert.equal(await countOf(`${url}/events?page=3`), 1235)
    assert.equal((await cli.stop()).status, 0)
  })

  it('replaces one that dies, while the others go on', async (t) => {
    const directory = workDirectory(t)
    await putLines(directory, 'events', eventLines(10))
    const { cli, url } = await startServer(t, ['--workers', '2'], { in: directory })
    const [first = 0, second = 0] = childrenOf(cli.child.pid)
    process.kill(first, 'SIGKILL')
    await until(() => cli.stderr.includes('A worker has ended (SIGKILL). Another one takes its place in 0.2 s.'))
    assert.equal(await countOf(`${url}/events`), 10)
    await until(() => childrenOf(cli.child.pid).length === 2)
    assert.ok(isRunning(second))
    assert.equal((await cli.stop()).status, 0)
  })

  it('comes back on its port when all of them are killed at once, as often as they are', async (t) => {
    const directory = workDirectory(t)
    await putLines(directory, 'events', eventLines(10))
    const { cli, url } = await startServer(t, ['--workers', '2'], { in: directory })
    for (const pause of ['0.2', '0.4', '0.8']) {
      await killWorkersOf(cli)
      assert.equal(countIn(cli.stderr, `Another one takes its place in ${pause} s.`), 2)
      const counts = await Promise.all(Array.from({ length: 20 }, () => countOnceServed(`${url}/events`)))
      assert.deepEqual(new Set(counts), new Set([10]))
    }
    assert.equal((await cli.stop()).status, 0)
  })

  it('goes on trying when a replacement is killed before it serves', async (t) => {
    const directory = workDirectory(t)
    await putLines(directory, 'events', eventLines(10))
    const { cli, url } = await startServer(t, ['--workers', '2'], { in: directory })
    for (let round = 0; round < 4; round++) await killWorkersOf(cli)
    assert.equal(await countOnceServed(`${url}/events`), 10)
    assert.equal((await cli.stop()).status, 0)
  })

  it('lets no connection hang that was on its way to one that died', async (t) => {
    const directory = workDirectory(t)
    await putLines(directory, 'events', eventLines(10))
    const { cli, url } = await startServer(t, ['--workers', '2'], { in: directory })
    const workers = childrenOf(cli.child.pid)
    for (const worker of workers) process.kill(worker, 'SIGSTOP')
    const sockets = workers.map(() => connect(Number(new URL(url).port), '127.0.0.1'))
    t.after(() => sockets.map((socket) => socket.destroy()))
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    const closed = Promise.all(
      sockets.map((socket) =>
        once(
          socket.on('error', () => {}),
          'close',
        ),
      ),
    )
    // Until the first process has given them away.
    await sleep(200)
    for (const worker of workers) process.kill(worker, 'SIGKILL')
    await closed
    assert.equal((await cli.stop()).status, 0)
  })

  it('serve again when somebody lets go of all the connections that they can have', async (t) => {
    const directory = workDirectory(t)
    await putLines(directory, 'events', eventLines(10))
    const under = ['sh', '-c', 'ulimit -n 64 && exec "$0" "$@"']
    const { cli, url } = await startServer(t, ['--workers', '2'], { in: directory, under })
    const sockets = Array.from({ length: 300 }, () => connect(Number(new URL(url).port), '127.0.0.1'))
    for (const socket of sockets) socket.on('error', () => {}).resume()
    await until(() => sockets.filter(({ destroyed }) => destroyed).length > 150)
    for (const socket of sockets) socket.destroy()
    assert.equal(await countOnceServed(`${url}/events`), 10)
    for (let count = 0; count < 9; count++) assert.equal(await countOf(`${url}/events`), 10)
    assert.equal((await cli.stop()).status, 0)
  })

  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    it(`ends with 0 by ${signal} in the pause after all of them died`, async (t) => {
      const directory = workDirectory(t)
      await putLines(directory, 'events', eventLines(10))
      const { cli } = await startServer(t, ['--workers', '2'], { in: directory })
      await killWorkersOf(cli)
      assert.equal((await cli.stop(signal)).status, 0)
    })

  it('ends with all of them, also when it is killed itself', async (t) => {
    const directory = workDirectory(t)
    await putLines(directory, 'events', eventLines(10))
    const { cli } = await startServer(t, ['--workers', '2'], { in: directory })
    const workers = childrenOf(cli.child.pid)
    cli.child.kill('SIGKILL')
    await until(() => !workers.some(isRunning))
  })

  it('serves files too, and leaves nothing of them behind', async (t) => {
    const directory = workDirectory(t)
    writeFileSync(join(directory, 'events.ndjson'), eventLines(10))
    const { cli, url } = await startServer(t, ['events.ndjson', '--workers', '2'], { in: directory })
    assert.equal(await countOf(`${url}/events`), 10)
    assert.equal((await cli.stop('SIGINT')).status, 0)
    assert.deepEqual(readdirSync(temporaryFilesOf(directory)), [])
  })

  it('tells once what is wrong when it cannot start', async (t) => {
    const directory = workDirectory(t)
    await putLines(directory, 'events', eventLines(10))
    const other = createServer().listen(0, '127.0.0.1')
    t.after(() => other.close())
    await until(() => other.listening)
    const address = other.address()
    const port = typeof address === 'object' ? address?.port : 0
    const taken = await runCli(['serve', '--workers', '2', '--port', String(port)], { in: directory })
    assert.equal(taken.status, 2)
    assert.match(taken.stderr, /^reams: Port \d+ on 127\.0\.0\.1 is in use\. .*\n$/)
    for (const wrong of ['0', '1.5', 'all'])
      assert.match(
        (await runCli(['serve', '--workers', wrong], { in: directory })).stderr,
        /"--workers .*" is not possible\. Give a whole number from 1 to 256, or auto\./,
      )
  })
})
