import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openSocket } from '../service/raw-http.ts'
import { eventLines, putLines } from './items.ts'
import { RunningCli, runInside, startServer, temporaryFilesOf, workDirectory } from './run-cli.ts'

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
  const noticed = countIn(cli.stderr, 'A worker ended')
  await until(() => childrenOf(cli.child.pid).length === 2)
  for (const worker of childrenOf(cli.child.pid)) process.kill(worker, 'SIGKILL')
  await until(() => countIn(cli.stderr, 'A worker ended') === noticed + 2)
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

/** The response on a connection that stays open; rejects if the server closes it without one. */
async function requestOn(socket: Socket): Promise<string> {
  socket.write('GET /events/1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
  const closed = once(socket, 'close').then(() => assert.fail('The connection was closed without a response.'))
  const [bytes] = await Promise.race([once(socket, 'data'), closed])
  return String(bytes)
}

/** A server with two workers and 10 events. */
async function startTwo(t: TestContext, under?: readonly string[]) {
  const directory = workDirectory(t)
  await putLines(directory, 'events', eventLines(10), { keyField: 'id' })
  const { cli, url } = await startServer(t, ['--workers', '2', '--log-requests', 'none'], {
    in: directory,
    ...(under && { under }),
  })
  return { directory, cli, url: `${url}/events`, port: Number(new URL(url).port) }
}

describe('serve with several workers', { skip: process.platform !== 'linux' && 'it looks into /proc' }, () => {
  it('serves on one port, all see every write at once, and one that dies is replaced while the others go on', async (t) => {
    const { directory, cli, url } = await startTwo(t)
    const [first = 0, second = 0, ...others] = childrenOf(cli.child.pid)
    assert.deepEqual(others, [])
    for (let count = 0; count < 9; count++) assert.equal(await countOf(url), 10)
    await runInside(['import', 'events', '-'], { in: directory, input: '{"id":"new"}\n' })
    for (let count = 0; count < 9; count++) assert.equal(await countOf(url), 11)
    process.kill(first, 'SIGKILL')
    await until(() => cli.stderr.includes('\n'))
    assert.match(
      cli.stderr,
      /^{"level":"warn".*"msg":"A worker ended \(SIGKILL\)\. Starting another one in 0\.[12] s\."}\n$/,
    )
    for (let count = 0; count < 9; count++) assert.equal(await countOf(url), 11)
    await until(() => childrenOf(cli.child.pid).length === 2)
    assert.ok(isRunning(second))
    assert.equal((await cli.stop()).status, 0)
  })

  it('comes back on its port when all are killed, also before they serve, and ends in the pause when told to', async (t) => {
    const { cli, url } = await startTwo(t)
    await killWorkersOf(cli)
    const counts = await Promise.all(Array.from({ length: 20 }, () => countOnceServed(url)))
    assert.deepEqual(new Set(counts), new Set([10]))
    for (let round = 0; round < 3; round++) await killWorkersOf(cli)
    assert.match(cli.stderr, /Starting another one in (0\.8|1\.6) s\."}\n$/, 'the pauses get longer')
    assert.equal((await cli.stop('SIGINT')).status, 0)
  })

  it('starts another one when one is killed before it listens, at the first start too', async (t) => {
    const directory = workDirectory(t)
    await putLines(directory, 'events', eventLines(10))
    const cli = new RunningCli(['serve', '--port', '0', '--workers', '2', '--log-requests', 'none'], { in: directory })
    t.after(() => cli.child.kill('SIGKILL'))
    for (let kills = 1; kills <= 2; kills++) {
      await until(() => childrenOf(cli.child.pid).length > 0)
      for (const worker of childrenOf(cli.child.pid)) process.kill(worker, 'SIGKILL')
      await until(() => cli.child.exitCode !== null || countIn(cli.stderr, 'A worker ended (SIGKILL)') >= kills)
    }
    await cli.prints('Ctrl-C stops it.')
    const url = /http:\/\/[^/\s]+/.exec(cli.stdout)?.[0]
    assert.equal(await countOf(`${url}/events`), 10)
    await until(() => childrenOf(cli.child.pid).length === 2)
    assert.equal((await cli.stop()).status, 0)
  })

  it('ends when it is told to while none has listened yet', async (t) => {
    const directory = workDirectory(t)
    await putLines(directory, 'events', eventLines(10))
    const cli = new RunningCli(['serve', '--port', '0', '--workers', '2', '--log-requests', 'none'], { in: directory })
    t.after(() => cli.child.kill('SIGKILL'))
    // A child that is stopped before it runs the program would stop its parent too, which waits for that.
    const runsProgram = (pid: number) => readFileSync(`/proc/${pid}/environ`, 'utf8').includes('NODE_UNIQUE_ID=')
    await until(() => childrenOf(cli.child.pid).some(runsProgram))
    const workers = childrenOf(cli.child.pid).filter(runsProgram)
    for (const worker of workers) process.kill(worker, 'SIGSTOP')
    assert.equal((await cli.stop()).status, 0)
    assert.ok(!workers.some(isRunning))
  })

  it('logs why another one could not start, while the rest goes on', async (t) => {
    const { cli, url, directory } = await startTwo(t)
    const [first = 0] = childrenOf(cli.child.pid)
    renameSync(join(directory, 'reams.db'), join(directory, 'away.db'))
    process.kill(first, 'SIGKILL')
    await until(() => countIn(cli.stderr, 'A worker ended') === 2)
    assert.equal(await countOf(url), 10)
    const { status, stderr } = await cli.stop()
    const lines = stderr
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.equal(status, 0)
    assert.match(lines.find(({ level }) => level === 'error')?.msg, /^There is no store at reams\.db\./)
  })

  it('lets no connection hang that was on its way to one that died', async (t) => {
    const { cli, port } = await startTwo(t)
    const workers = childrenOf(cli.child.pid)
    for (const worker of workers) process.kill(worker, 'SIGSTOP')
    const sockets = workers.map(() => connect(port, '127.0.0.1').on('error', () => {}))
    t.after(() => sockets.map((socket) => socket.destroy()))
    const closed = Promise.all(sockets.map((socket) => once(socket, 'close')))
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    // Until the first process has handed them over.
    await sleep(200)
    for (const worker of workers) process.kill(worker, 'SIGKILL')
    await closed
  })

  it('serve again when somebody lets go of all the connections that they can have', async (t) => {
    const { url, port } = await startTwo(t, ['sh', '-c', 'ulimit -n 64 && exec "$0" "$@"'])
    const sockets = Array.from({ length: 300 }, () => connect(port, '127.0.0.1'))
    for (const socket of sockets) socket.on('error', () => {}).resume()
    await until(() => sockets.filter(({ destroyed }) => destroyed).length > 150)
    for (const socket of sockets) socket.destroy()
    assert.equal(await countOnceServed(url), 10)
    for (let count = 0; count < 9; count++) assert.equal(await countOf(url), 10)
  })

  it('goes on for the drain delay when it is told to stop, then all end', async (t) => {
    const directory = workDirectory(t)
    await putLines(directory, 'events', eventLines(10))
    const { cli, url } = await startServer(t, ['--workers', '2', '--drain-delay', '2s', '--log-requests', 'none'], {
      in: directory,
    })
    const workers = childrenOf(cli.child.pid)
    cli.child.kill('SIGTERM')
    let answered = 0
    await assert.rejects(async () => {
      for (; ; answered++) assert.equal(await countOf(`${url}/events`), 10)
    }, TypeError)
    assert.ok(answered > 0)
    assert.deepEqual({ ...(await cli.ends()), stdout: '' }, { status: 0, stdout: '', stderr: '' })
    assert.ok(!workers.some(isRunning))
  })

  it('answers once more on every connection that a proxy has kept, however long it was idle', async (t) => {
    const { cli, port } = await startTwo(t)
    const sockets = await Promise.all(Array.from({ length: 8 }, () => openSocket(port)))
    for (const socket of sockets) await requestOn(socket)
    await sleep(700)
    cli.child.kill('SIGTERM')
    const [first, ...others] = sockets
    // From its first `Connection: close` on, a worker is closing.
    while (first && !(await requestOn(first)).includes('Connection: close')) await sleep(1)
    for (const answer of await Promise.all(others.map(requestOn))) assert.match(answer, /^HTTP\/1\.1 200 /)
    for (const socket of sockets) socket.destroy()
    assert.equal((await cli.ends()).status, 0)
  })

  it('answers on every connection that was accepted before it was told to stop, however busy the workers are', async (t) => {
    const { cli, port } = await startTwo(t)
    const workers = childrenOf(cli.child.pid)
    for (const worker of workers) process.kill(worker, 'SIGSTOP')
    const sockets = await Promise.all(Array.from({ length: 12 }, () => openSocket(port)))
    const answers = sockets.map(requestOn)
    cli.child.kill('SIGTERM')
    await sleep(400)
    for (const worker of workers) process.kill(worker, 'SIGCONT')
    for (const answer of await Promise.all(answers)) assert.match(answer, /^HTTP\/1\.1 200 /)
    for (const socket of sockets) socket.destroy()
    assert.equal((await cli.ends()).status, 0)
  })

  it('says when one was killed while it was stopping', async (t) => {
    const directory = workDirectory(t)
    await putLines(directory, 'events', eventLines(10))
    const words = ['--workers', '2', '--drain-delay', '60s', '--log-requests', 'none', '--admin-port', '0']
    const { cli } = await startServer(t, words, { in: directory })
    const adminUrl = /For operators: (http:\/\/[^/]+)/.exec(cli.stdout)?.[1]
    const workers = childrenOf(cli.child.pid)
    cli.child.kill('SIGTERM')
    await until(async () => (await fetch(`${adminUrl}/ready`, { headers: { connection: 'close' } })).status === 503)
    for (const worker of workers) process.kill(worker, 'SIGKILL')
    const { status, stderr } = await cli.ends()
    assert.equal(status, 0)
    assert.equal(countIn(stderr, 'A worker ended (SIGKILL) while it was stopping.'), 2, stderr)
  })

  it('ends with all of them when it is killed itself', async (t) => {
    const { cli } = await startTwo(t)
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
})
