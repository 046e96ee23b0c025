import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync, renameSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openSocket } from '../service/raw-http.ts'
import { waitUntil } from '../wait-until.ts'
import { eventLines, putLines } from './items.ts'
import { childrenOf, type RunningCli, runInside, startCli, startServer, workDirectory } from './run-cli.ts'

function isRunning(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

function countIn(text: string, part: string): number {
  return text.split(part).length - 1
}

/** Kills all workers as soon as there are two; resolves when their end was noticed. */
async function killWorkersOf(cli: RunningCli): Promise<void> {
  const noticed = countIn(cli.stderr, 'A worker ended')
  await waitUntil(() => childrenOf(cli.child.pid).length === 2)
  for (const worker of childrenOf(cli.child.pid)) process.kill(worker, 'SIGKILL')
  await waitUntil(() => countIn(cli.stderr, 'A worker ended') === noticed + 2)
}

/** As `countOf`, by a client that asks again as long as nobody listens. */
async function countOnceServed(url: string): Promise<number> {
  let count: number | undefined
  await waitUntil(async () => {
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

const WORDS = ['--workers', '2', '--log-requests', 'none', '--admin-port', '0']

/** A directory with 10 events. */
async function directoryWithEvents(t: TestContext): Promise<string> {
  const directory = workDirectory(t)
  await putLines(directory, 'events', eventLines(10), { keyField: 'id' })
  return directory
}

/** A server with two workers and 10 events. */
async function startTwo(t: TestContext, words: readonly string[] = [], under?: readonly string[]) {
  const directory = await directoryWithEvents(t)
  const server = await startServer(t, [...WORDS, ...words], { in: directory, ...(under && { under }) })
  return { ...server, directory, url: `${server.url}/events`, workers: childrenOf(server.cli.child.pid) }
}

async function operatorsAsk(cli: RunningCli, path: string): Promise<Response> {
  const adminUrl = /For operators: (http:\/\/[^/]+)/.exec(cli.stdout)?.[1]
  return fetch(adminUrl + path, { headers: { connection: 'close' } })
}

describe('serve with several workers', { skip: process.platform !== 'linux' && 'it looks into /proc' }, () => {
  it('serves on one port, all see every write at once, and those that end are replaced while the others go on', async (t) => {
    const { directory, cli, url, port, workers } = await startTwo(t)
    const [first = 0, second = 0, ...others] = workers
    assert.deepEqual(others, [])
    for (let count = 0; count < 9; count++) assert.equal(await countOf(url), 10)
    await runInside(['import', 'events', '-'], { in: directory, input: '{"id":"new"}\n' })
    for (let count = 0; count < 9; count++) assert.equal(await countOf(url), 11)
    process.kill(first, 'SIGKILL')
    await waitUntil(() => cli.stderr.includes('\n'))
    assert.match(
      cli.stderr,
      /^{"level":"warn".*"msg":"A worker ended \(SIGKILL\)\. Starting another one in 0\.[12] s\."}\n$/,
    )
    for (let count = 0; count < 9; count++) assert.equal(await countOf(url), 11)

    // One that cannot start says why.
    await waitUntil(() => childrenOf(cli.child.pid).length === 2)
    renameSync(join(directory, 'reams.db'), join(directory, 'away.db'))
    process.kill(childrenOf(cli.child.pid).find((worker) => worker !== second) ?? 0, 'SIGKILL')
    await waitUntil(() => cli.stderr.includes('"level":"error"'))
    assert.match(cli.stderr, /{"level":"error"[^\n]*"msg":"There is no store at reams\.db\.[^\n]*"}\n/)
    assert.equal(await countOf(url), 11)
    assert.ok(isRunning(second))
    renameSync(join(directory, 'away.db'), join(directory, 'reams.db'))

    // No connection hangs that was on its way to one that died.
    const areComplete = async () => /^reams_workers 2$/m.test(await (await operatorsAsk(cli, '/metrics')).text())
    await waitUntil(areComplete)
    const two = childrenOf(cli.child.pid)
    for (const worker of two) process.kill(worker, 'SIGSTOP')
    const sockets = two.map(() => connect(port, '127.0.0.1').on('error', () => {}))
    t.after(() => sockets.map((socket) => socket.destroy()))
    const closed = Promise.all(sockets.map((socket) => once(socket, 'close')))
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    // Until the first process has handed them over.
    await sleep(200)
    for (const worker of two) process.kill(worker, 'SIGKILL')
    await closed

    // All end when the first process is killed.
    await waitUntil(areComplete)
    const last = childrenOf(cli.child.pid)
    cli.child.kill('SIGKILL')
    await waitUntil(() => !last.some(isRunning))
  })

  it('starts another one when one is killed before it listens, and says when one was killed while it was stopping', async (t) => {
    const words = ['serve', '--port', '0', ...WORDS, '--drain-delay', '60s']
    const cli = startCli(t, words, { in: await directoryWithEvents(t) })
    for (let kills = 1; kills <= 2; kills++) {
      await waitUntil(() => childrenOf(cli.child.pid).length > 0)
      for (const worker of childrenOf(cli.child.pid)) process.kill(worker, 'SIGKILL')
      await waitUntil(() => cli.child.exitCode !== null || countIn(cli.stderr, 'A worker ended (SIGKILL)') >= kills)
    }
    await cli.prints('Ctrl-C stops it.')
    const url = /http:\/\/[^/\s]+/.exec(cli.stdout)?.[0]
    assert.equal(await countOf(`${url}/events`), 10)
    const workers = childrenOf(cli.child.pid)
    assert.equal(workers.length, 2)
    cli.child.kill('SIGTERM')
    await waitUntil(async () => (await operatorsAsk(cli, '/ready')).status === 503)
    for (const worker of workers) process.kill(worker, 'SIGKILL')
    const { status, stderr } = await cli.ends()
    assert.equal(status, 0)
    assert.equal(countIn(stderr, 'A worker ended (SIGKILL) while it was stopping.'), 2, stderr)
  })

  it('ends when it is told to while none has listened yet', async (t) => {
    const cli = startCli(t, ['serve', '--port', '0', ...WORDS], { in: await directoryWithEvents(t) })
    // A child that is stopped before it runs the program would stop its parent too, which waits for that.
    const runsProgram = (pid: number) => readFileSync(`/proc/${pid}/environ`, 'utf8').includes('NODE_UNIQUE_ID=')
    await waitUntil(() => childrenOf(cli.child.pid).some(runsProgram))
    const workers = childrenOf(cli.child.pid).filter(runsProgram)
    for (const worker of workers) process.kill(worker, 'SIGSTOP')
    assert.equal((await cli.stop()).status, 0)
    assert.ok(!workers.some(isRunning))
  })

  it('comes back on its port when clients held all connections, and when all are killed, and ends in the pause when told to', async (t) => {
    const { cli, url, port } = await startTwo(t, [], ['sh', '-c', 'ulimit -n 64 && exec "$0" "$@"'])
    const sockets = Array.from({ length: 300 }, () => connect(port, '127.0.0.1'))
    for (const socket of sockets) socket.on('error', () => {}).resume()
    await waitUntil(() => sockets.filter(({ destroyed }) => destroyed).length > 150)
    for (const socket of sockets) socket.destroy()
    assert.equal(await countOnceServed(url), 10)
    for (let count = 0; count < 9; count++) assert.equal(await countOf(url), 10)

    await killWorkersOf(cli)
    const counts = await Promise.all(Array.from({ length: 20 }, () => countOnceServed(url)))
    assert.deepEqual(new Set(counts), new Set([10]))
    // Also before they serve.
    const isLonger = () => /Starting another one in (0\.8|1\.6) s\."}\n$/.test(cli.stderr)
    for (let rounds = 0; rounds < 6 && !isLonger(); rounds++) await killWorkersOf(cli)
    assert.ok(isLonger(), `the pauses get longer: ${cli.stderr}`)
    assert.equal((await cli.stop('SIGINT')).status, 0)
  })

  it('answers once more on every connection that a proxy has kept, however long it was idle', async (t) => {
    const { cli, port, workers } = await startTwo(t, ['--drain-delay', '200ms'])
    const sockets = await Promise.all(Array.from({ length: 8 }, () => openSocket(port)))
    for (const socket of sockets) await requestOn(socket)
    await sleep(700)
    cli.child.kill('SIGTERM')
    const [first, ...others] = sockets
    // From its first `Connection: close` on, a worker is closing.
    while (first && !(await requestOn(first)).includes('Connection: close')) await sleep(50)
    for (const answer of await Promise.all(others.map(requestOn))) assert.match(answer, /^HTTP\/1\.1 200 /)
    for (const socket of sockets) socket.destroy()
    assert.deepEqual({ ...(await cli.ends()), stdout: '' }, { status: 0, stdout: '', stderr: '' })
    assert.ok(!workers.some(isRunning))
  })

  it('answers on every connection that was accepted before it was told to stop, however busy the workers are', async (t) => {
    const { cli, port, workers } = await startTwo(t)
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
})
