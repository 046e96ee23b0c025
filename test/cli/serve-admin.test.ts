import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { collectionMetrics, MAX_COLLECTIONS } from '../../src/cli/commands/serve/metrics.ts'
import { inlineCodeOf, tablesOf } from '../markdown.ts'
import { askRaw, openSocket, readToEnd, refusesConnections } from '../service/raw-http.ts'
import { freePort } from '../store/free-port.ts'
import { openPostgresForTest } from '../store/postgres-engine.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { startProxy } from '../store/tcp-proxy.ts'
import { waitUntil } from '../wait-until.ts'
import { refused } from './directory.ts'
import { eventLines, putLines, withStore } from './items.ts'
import {
  type CliOptions,
  childrenOf,
  type RunningCli,
  runInside,
  type Scope,
  startCli,
  startServer,
  suiteScope,
  workDirectory,
} from './run-cli.ts'

const PAGE = new URL('../../docs/reference/metrics.md', import.meta.url)

async function putEvents(directory: string): Promise<void> {
  await putLines(directory, 'events', eventLines(10), { keyField: 'id' })
}

async function noteFollowing(directory: string, name: string, asOf: number): Promise<void> {
  const following = { source: 'events in a database', waiting: 7, asOf, seenAt: Date.now() }
  await withStore(directory, false, (store) => store.noteFollowing(name, following))
}

/** A running server with an admin port, and what can be asked there. */
async function startWatched(t: Scope, words: readonly string[], options: CliOptions) {
  const server = await startServer(t, ['--admin-port', '0', '--log-requests', 'none', ...words], options)
  const adminUrl = /For operators: (http:\/\/[^/]+)/.exec(server.cli.stdout)?.[1] ?? assert.fail(server.cli.stdout)
  const admin = (path: string, init?: RequestInit) => fetch(adminUrl + path, init)
  return {
    ...server,
    admin,
    adminPort: Number(new URL(adminUrl).port),
    ready: async () => (await admin('/ready')).status,
    metrics: async () => samplesOf(await (await admin('/metrics')).text()),
  }
}

/** By name and labels, as they stand in the text. */
function samplesOf(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]))
}

function sumOf(samples: ReadonlyMap<string, number>, name: string): number {
  return [...samples].reduce((sum, [each, value]) => (each.startsWith(`${name}{`) ? sum + value : sum), 0)
}

async function writeTokenFor(directory: string): Promise<string> {
  const words = ['token', 'create', '--name', 'writer', '--scope', 'write:events']
  return (await runInside(words, { in: directory })).stdout.trim()
}

const headOf = (token: string) => `Host: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json`

function postTo(url: string, token: string, body: string): Promise<Response> {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/x-ndjson' }
  return fetch(`${url}/events`, { method: 'POST', headers, body })
}

describe('the admin port', () => {
  const scope = suiteScope()
  const directory = workDirectory(scope)
  let server: Awaited<ReturnType<typeof startWatched>>
  let token = ''

  before(async () => {
    await putEvents(directory)
    await putLines(directory, 'secrets', eventLines(3), { isPrivate: true })
    token = await writeTokenFor(directory)
    server = await startWatched(scope, ['--shutdown-timeout', '60s'], { in: directory })
  })

  it('shows the connections, and the requests that run and wait', async () => {
    const { port, metrics } = server
    // The first that connects.
    const socket = await openSocket(port)
    socket.write(`POST /events HTTP/1.1\r\n${headOf(token)}\r\nContent-Length: 20\r\n\r\n{"id":`)
    await waitUntil(async () => (await metrics()).get('http_requests_running') === 1)
    assert.equal((await metrics()).get('http_connections'), 1)
    socket.end()
    await readToEnd(socket)
    await waitUntil(async () => (await metrics()).get('http_connections') === 0)
  })

  it('tells that the service is alive and ready, and has metrics; for GET and HEAD, and nothing else', async () => {
    const { admin, adminPort } = server
    for (const path of ['/live', '/ready']) {
      const response = await admin(path)
      assert.deepEqual([response.status, await response.text()], [200, 'ok\n'])
      assert.equal(response.headers.get('content-type'), 'text/plain; charset=utf-8')
    }
    const metrics = await admin('/metrics?x=1')
    assert.equal(metrics.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
    const head = await admin('/metrics', { method: 'HEAD' })
    assert.deepEqual([head.status, await head.text()], [200, ''])
    for (const path of ['/', '/nope', '/live/', '/toString', '//metrics']) assert.equal((await admin(path)).status, 404)
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      const { status, headers } = await admin('/metrics', { method })
      assert.deepEqual([status, headers.get('allow')], [405, 'GET, HEAD'])
    }
    const hosts = { localhost: 200, [`127.0.0.1:${adminPort}`]: 200, '[::1]:1': 200 }
    const evil = { 'evil.example': 421, [`evil.example:${adminPort}`]: 421, '127.0.0.1.evil.example': 421 }
    for (const [host, status] of Object.entries({ ...hosts, ...evil })) {
      const raw = await askRaw(adminPort, `GET /metrics HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
      assert.equal(raw.status, status, host)
    }
  })

  it('counts exactly what was asked, answered, read and written', async () => {
    const { url, metrics } = server
    const before = await metrics()
    let bytes = 0
    for (let count = 0; count < 3; count++) {
      const response = await fetch(`${url}/events`, { headers: { 'Accept-Encoding': 'identity' } })
      bytes += (await response.arrayBuffer()).byteLength
    }
    assert.equal((await postTo(url, token, eventLines(5, 11))).status, 201)
    await (await fetch(`${url}/nope/1`)).arrayBuffer()
    const after = await metrics()
    const labels = '{method="GET",route="/:collection",status="200"}'
    const grown = {
      [`http_requests_total${labels}`]: 3,
      [`http_request_duration_seconds_count${labels}`]: 3,
      [`http_request_duration_seconds_bucket${labels.replace('}', ',le="+Inf"}')}`]: 3,
      [`http_response_bytes_total${labels}`]: bytes,
      'http_requests_total{method="POST",route="/:collection",status="201"}': 1,
      'http_requests_total{method="GET",route="/:collection/:key",status="404"}': 1,
      'reams_page_cache_total{result="miss"}': 1,
      'reams_page_cache_total{result="hit"}': 2,
      'reams_store_reads_total{kind="page"}': 1,
      reams_store_commits_total: 1,
      reams_store_changes_per_commit_sum: 1,
      'reams_collection_items{collection="events"}': 5,
      'reams_collection_version{collection="events"}': 1,
      http_requests_running: 0,
      http_requests_waiting: 0,
      reams_store_changes_waiting: 0,
    }
    for (const [name, by] of Object.entries(grown))
      assert.equal((after.get(name) ?? 0) - (before.get(name) ?? 0), by, name)
    assert.equal(sumOf(after, 'http_requests_total') - sumOf(before, 'http_requests_total'), 5)
    const states = ['http_requests_running', 'reams_workers', 'reams_store_up', 'reams_collections']
    assert.deepEqual(
      states.map((name) => after.get(name)),
      [0, 1, 1, 2],
    )
  })

  it('makes no new time series for strange methods and paths', async () => {
    const { port, get, metrics } = server
    const ask = async (round: number) => {
      for (const method of ['PROPFIND', 'MKCOL', 'PURGE', 'M-SEARCH', `BREW${round}`])
        await askRaw(port, `${method} /x${round} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
      for (const path of [`/a${round}`, `/events/${round}`, `/-/${round}`, `/${round}/a/b`, `/events?page=${round}`])
        await (await get(path)).arrayBuffer()
    }
    await ask(1)
    const names = async () => [...(await metrics()).keys()].filter((name) => name.startsWith('http_')).toSorted()
    const first = await names()
    for (const round of [2, 3]) await ask(round)
    assert.deepEqual(await names(), first)
    const methods = new Set(first.map((name) => /method="(.*?)"/.exec(name)?.[1]).filter(Boolean))
    assert.deepEqual([...methods].toSorted(), ['GET', 'POST', 'other'])
  })

  it('shows private names, and the public port does not', async () => {
    const { get, admin, metrics } = server
    assert.equal((await metrics()).get('reams_collection_items{collection="secrets"}'), 3)
    for (const path of ['/metrics', '/live', '/ready', '/-/metrics', '/-/health'])
      assert.doesNotMatch(await (await get(path)).text(), /secrets|http_requests_total/)
    assert.equal((await admin('/secrets')).status, 404)
  })

  it('has time series of as many collections as it may', () => {
    const heads = Array.from({ length: MAX_COLLECTIONS + 1 }, (_, index) => {
      return { live: 1, version: 1, name: `c${index}`, origin: index % 2 === 0 ? null : { url: '', position: '' } }
    })
    const followings = new Map(heads.map(({ name }) => [name, { waiting: 0, asOf: 1, name }]))
    const metrics = collectionMetrics({ heads, followings } as unknown as Parameters<typeof collectionMetrics>[0])
    const counts = metrics.map(({ name, values }) => [name, values.length])
    assert.deepEqual(counts, [
      ['reams_store_up', 1],
      ['reams_collections', 1],
      ['reams_collection_items', MAX_COLLECTIONS],
      ['reams_collection_version', MAX_COLLECTIONS],
      ['reams_follow_waiting_rows', MAX_COLLECTIONS / 2],
      ['reams_follow_behind_seconds', MAX_COLLECTIONS / 2],
      ['reams_mirror_behind_versions', MAX_COLLECTIONS / 2],
      ['reams_mirror_behind_seconds', MAX_COLLECTIONS / 2],
    ])
    assert.equal(metrics[1]?.values[0]?.value, MAX_COLLECTIONS + 1)
  })

  it('tells of collections that follow something how far behind they are, while they do', async () => {
    const { metrics } = server
    const asOf = Date.now() - 400_000
    await noteFollowing(directory, 'events', asOf)
    const first = await metrics()
    assert.equal(first.get('reams_follow_waiting_rows{collection="events"}'), 7)
    const behind = first.get('reams_follow_behind_seconds{collection="events"}') ?? 0
    assert.ok(behind >= 400 && behind <= (Date.now() - asOf) / 1000)
    assert.equal(first.has('reams_follow_waiting_rows{collection="secrets"}'), false)
    await withStore(directory, false, (store) => store.noteFollowing('events', null))
    assert.ok(![...(await metrics()).keys()].some((name) => name.startsWith('reams_follow_')))
  })

  it('is not ready while the store cannot be read', async () => {
    const { admin, ready, metrics } = server
    const path = join(directory, 'reams.db')
    renameSync(path, `${path}.away`)
    const away = await admin('/ready')
    assert.equal(away.status, 503)
    assert.match(await away.text(), /reams\.db/)
    assert.equal((await admin('/live')).status, 200)
    assert.equal((await metrics()).get('reams_store_up'), 0)
    renameSync(`${path}.away`, path)
    assert.equal(await ready(), 200)
  })

  it('answers until the last request is answered', async () => {
    const { cli, port, admin } = server
    const socket = await openSocket(port)
    const body = '{"id":99}'
    const length = `Expect: 100-continue\r\nContent-Length: ${body.length}`
    socket.write(`POST /events HTTP/1.1\r\n${headOf(token)}\r\n${length}\r\n\r\n`)
    await once(socket, 'data')
    cli.child.kill('SIGTERM')
    await refusesConnections(port)
    assert.deepEqual([(await admin('/live')).status, (await admin('/ready')).status], [200, 503])
    socket.write(body)
    assert.match(String(await readToEnd(socket)), /^HTTP\/1\.1 201 /)
    assert.equal((await cli.ends()).status, 0)
  })

  it('is not ready while PostgreSQL is away or silent, and ready when it is back', async (t) => {
    await using resources = new AsyncDisposableStack()
    const database = resources.adopt(await startPostgres(), (each) => each.stop())
    const direct = resources.adopt(await openPostgresForTest(database), (each) => each.remove())
    const { hostname, port } = new URL(direct.url)
    const proxy = resources.adopt(await startProxy(hostname, Number(port)), (each) => each.close())
    const words = ['--store', direct.url.replace(`:${port}/`, `:${proxy.port}/`)]
    const { cli, admin, ready, metrics } = await startWatched(t, words, { in: workDirectory(t) })
    assert.equal(await ready(), 200)
    proxy.isOpen = false
    proxy.cutAll()
    assert.deepEqual([await ready(), (await admin('/live')).status], [503, 200])
    assert.equal((await metrics()).get('reams_store_up'), 0)
    proxy.isOpen = true
    await waitUntil(async () => (await ready()) === 200)
    proxy.judge = () => 'swallow'
    assert.deepEqual([await ready(), (await admin('/live')).status], [503, 200])
    assert.equal((await metrics()).get('reams_store_up'), 0)
    proxy.judge = () => 'pass'
    proxy.cutAll()
    await waitUntil(async () => (await ready()) === 200)
    assert.equal((await cli.stop()).status, 0)
  })

  it('is alive, and not ready, while files are loaded, and again from SIGTERM on, while the service still answers', async (t) => {
    const directory = workDirectory(t)
    const pipe = join(directory, 'a.ndjson')
    assert.equal(spawnSync('mkfifo', [pipe]).status, 0)
    const adminPort = await freePort()
    const words = ['serve', pipe, '--port', '0', '--admin-port', String(adminPort), '--drain-delay', '60s']
    const cli = startCli(t, words, { in: directory })
    const admin = (path: string) => fetch(`http://127.0.0.1:${adminPort}${path}`)
    const ask = async (path: string) => {
      const response = await admin(path)
      return [response.status, await response.text()]
    }
    await waitUntil(async () => (await ask('/live').catch(() => [])).length > 0)
    assert.deepEqual(await ask('/live'), [200, 'ok\n'])
    assert.deepEqual(await ask('/ready'), [503, 'starting\n'])
    assert.match(String(await ask('/metrics')), /^200,[\s\S]*\nreams_workers 0\n/)
    writeFileSync(pipe, eventLines(2))
    await cli.prints('Ctrl-C stops it.')
    assert.deepEqual(await ask('/ready'), [200, 'ok\n'])
    await assertDrains(cli, admin)
  })
})

/** Tells the server twice to stop: the first time it only drains. */
async function assertDrains(cli: RunningCli, admin: (path: string) => Promise<Response>): Promise<void> {
  cli.child.kill('SIGTERM')
  await waitUntil(async () => (await admin('/ready')).status === 503)
  assert.equal(await (await admin('/ready')).text(), 'draining\n')
  const url = /http:\/\/[^/\s]+/.exec(cli.stdout)?.[0]
  assert.deepEqual([(await fetch(`${url}/`)).status, (await admin('/live')).status], [200, 200])
  assert.equal((await admin('/metrics')).status, 200)
  // The second one does not wait.
  assert.equal((await cli.stop('SIGINT')).status, 130)
}

describe('the metrics of several workers', () => {
  const scope = suiteScope()
  const directory = workDirectory(scope)
  let server: Awaited<ReturnType<typeof startWatched>>

  before(async () => {
    await putEvents(directory)
    await noteFollowing(directory, 'events', Date.now())
    await withStore(directory, false, async (store) => {
      const load = await store.load('mirror', { isMirroring: true })
      await load.commit({ url: 'https://data.example/events', position: 'a' })
    })
    await noteFollowing(directory, 'mirror', Date.now())
    server = await startWatched(scope, ['--workers', '2', '--drain-delay', '60s'], { in: directory })
  })

  it('are those of all together, also when one hangs, and never less when one has ended', async () => {
    const { cli, url, metrics } = server
    const requests = 'http_requests_total{method="GET",route="/:collection",status="200"}'
    const ask = async (count: number) => {
      for (let sent = 0; sent < count; sent++)
        await (await fetch(`${url}/events`, { headers: { Connection: 'close' } })).arrayBuffer()
    }
    await ask(40)
    const first = await metrics()
    assert.deepEqual([first.get(requests), first.get('reams_workers')], [40, 2])
    assert.equal(sumOf(first, 'reams_page_cache_total'), 40)
    assert.equal(first.get('reams_page_cache_total{result="miss"}'), 2, 'both have answered')
    assert.equal(first.get('reams_collection_items{collection="events"}'), 10)

    const [one = 0] = childrenOf(cli.child.pid)
    process.kill(one, 'SIGSTOP')
    assert.equal((await metrics()).get(requests), 40)
    process.kill(one, 'SIGKILL')
    await waitUntil(async () => (await metrics()).get('reams_workers') === 1 || cli.stderr.includes('A worker ended'))
    assert.equal((await metrics()).get(requests), 40)
    await waitUntil(async () => (await metrics()).get('reams_workers') === 2)
    await ask(10)
    assert.equal((await metrics()).get(requests), 50)
  })

  it('are all on the page about metrics, with their types and labels', async () => {
    const { get, admin } = server
    await (await get('/events')).arrayBuffer()
    const text = await (await admin('/metrics')).text()
    const types = new Map([...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name = '', type = '']) => [name, type]))
    const labels = new Map<string, Set<string>>([...types.keys()].map((name) => [name, new Set()]))
    for (const sample of samplesOf(text).keys()) {
      const [, full = '', list = ''] = /^(\w+)(?:\{(.*)\})?$/.exec(sample) ?? []
      const name = types.has(full) ? full : full.replace(/_(bucket|sum|count)$/, '')
      for (const [, label = ''] of list.matchAll(/(\w+)="/g)) labels.get(name)?.add(label)
    }
    // None of a kind may have happened yet.
    labels.set('nodejs_gc_duration_seconds', new Set(['kind', 'le']))
    const shown = tablesOf(readFileSync(PAGE, 'utf8'))
      .flat()
      .filter((row) => row.length === 4 && row[0] !== 'metric')
      .map(([name = '', type, names = '']) => [inlineCodeOf(name)[0], type, inlineCodeOf(names).toSorted()])
    const served = [...types].map(([name, type]) => [name, type, [...(labels.get(name) ?? [])].toSorted()])
    const byName = (rows: unknown[][]) => rows.toSorted((a, b) => String(a[0]).localeCompare(String(b[0])))
    assert.deepEqual(byName(shown), byName(served))
  })

  it('are there until all have ended', () => assertDrains(server.cli, server.admin))
})

it('wrong settings of the admin port are refused with what to do', async (t) => {
  const whole = 'expected a whole number from 0 to 65535.'
  const same = /The admin port is the port of the service, 9090\. .* --admin-port 9091/
  const cases: [words: string[], message: string | RegExp][] = [
    ...['x', '-1', '65536', '1.5', ''].map((value): [string[], string] => [
      [`--admin-port=${value}`],
      `Invalid --admin-port "${value}": ${whole}`,
    ]),
    [['--admin-port', '0', '--admin-host', 'a b'], /Invalid --admin-host "a b": expected a host/],
    [['--admin-host', '127.0.0.1'], /no port for it\. Add one, for example --admin-port 9090/],
    [['--admin-port', '0', '--admin-host', '192.0.2.1'], /Use --admin-host with one of its own/],
    ...[[], ['--admin-host', '::1'], ['--admin-host', '0.0.0.0'], ['--admin-host', 'localhost']].map(
      (words): [string[], RegExp] => [['--port', '9090', '--admin-port', '9090', ...words], same],
    ),
  ]
  const directory = workDirectory(t)
  for (const [words, message] of cases) await refused(directory, ['serve', ...words], 2, message)
})
