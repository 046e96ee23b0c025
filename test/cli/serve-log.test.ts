import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { openLog } from '../../src/cli/commands/serve/log.ts'
import { readableLine } from '../../src/cli/commands/serve/log-line.ts'
import { type Flags, SettingValues } from '../../src/cli/setting-values.ts'
import { openSocket, readToEnd } from '../service/raw-http.ts'
import { waitUntil } from '../wait-until.ts'
import { eventLines, putLines } from './items.ts'
import { runInside, startServer, suiteScope, workDirectory } from './run-cli.ts'

type Line = Record<string, unknown>

function linesOf(text: string): Line[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)
}

describe('the log of serve', () => {
  const scope = suiteScope()
  const directory = workDirectory(scope)
  const password = `p@ss/${randomBytes(12).toString('hex')}`
  const variables = { PGPASSWORD: password, REAMS_TOKEN: `reams_${'t'.repeat(43)}` }
  let server: Awaited<ReturnType<typeof startServer>>
  let requests = 0

  before(async () => {
    await putLines(directory, 'events', eventLines(10), { keyField: 'id' })
    const words = ['--log-level', 'trace', '--trust-proxy', '127.0.0.1', '--write-rate-limit', '2/h']
    const under = ['sh', '-c', 'exec "$0" "$@" 2>>log']
    server = await startServer(scope, words, { in: directory, variables, under })
  })

  const logged = () => readFileSync(join(directory, 'log'), 'utf8')

  async function ask(path: string, init: RequestInit = {}): Promise<ArrayBuffer> {
    requests++
    return (await fetch(server.url + path, init)).arrayBuffer()
  }

  async function writeToken(name: string): Promise<string> {
    const words = ['token', 'create', '--name', name, '--scope', 'write:events']
    return (await runInside(words, { in: directory })).stdout.trim()
  }

  /** The lines of requests with an ID, once there are so many. */
  async function linesOfRequest(id: string, count = 1): Promise<Line[]> {
    const lines = () => linesOf(logged()).filter((line) => line['request_id'] === id)
    await waitUntil(() => lines().length >= count)
    return lines()
  }

  it('has a line of JSON for every request', async () => {
    const headers = { 'X-Request-Id': 'one', 'Accept-Encoding': 'identity' }
    const length = (await ask('/events?page=1&a=b', { headers })).byteLength
    await ask('/events', { headers })
    const [first, second, ...others] = await linesOfRequest('one', 2)
    assert.deepEqual(others, [])
    const { time, pid, duration_ms: duration, ...rest } = first ?? assert.fail()
    assert.deepEqual([new Date(String(time)).toISOString(), typeof pid, typeof duration], [time, 'number', 'number'])
    assert.deepEqual(rest, {
      level: 'info',
      method: 'GET',
      path: '/events',
      status: 200,
      bytes: length,
      route: '/:collection',
      collection: 'events',
      page: 1,
      cache: 'miss',
      request_id: 'one',
      remote_address: '127.0.0.1',
      msg: 'request',
    })
    assert.equal(second?.['cache'], 'hit')
  })

  it('names the client itself behind a trusted proxy, and the token also of what a limit refuses', async () => {
    const Authorization = `Bearer ${await writeToken('app')}`
    const headers = { Authorization, 'X-Forwarded-For': '203.0.113.9, 2001:db8::7', 'X-Request-Id': 'limited' }
    for (const id of [11, 12, 13])
      await ask('/events', {
        method: 'POST',
        headers: { ...headers, 'Content-Type': 'application/json' },
        body: `{"id":${id}}`,
      })
    assert.deepEqual(
      (await linesOfRequest('limited', 3)).map((line) => [line['status'], line['token'], line['remote_address']]),
      [201, 201, 429].map((status) => [status, 'app', '2001:db8::7']),
    )
  })

  it('is whole when the server was told to stop, and never has a token, a password or what authorizes', async () => {
    const secret = password.slice(-24)
    const token = await writeToken('nightly')
    const basic = Buffer.from('user:pass').toString('base64')
    const places = [
      ...[token, token.replace('_', '%5f'), token.slice(0, -1), variables.REAMS_TOKEN],
      ...[encodeURIComponent(password), encodeURIComponent(password).toLowerCase(), `/me:${secret}@host`],
      ...[`Bearer%20${basic}`, `postgres:%2F%2Fme:${secret}@host`, `%zz?password=${secret}`, `password%3D${secret}`],
    ]
    for (const place of places)
      for (const target of [`/${place}`, `/events/${place}`, `/events?token=${place}`])
        for (const Authorization of [`Bearer ${token}`, `Basic ${basic}`])
          await ask(target, { headers: { Authorization, 'X-Request-Id': place, Cookie: `t=${place}` } })
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
    for (const body of [JSON.stringify({ id: 'new', token, secret }), token])
      await ask('/events', { method: 'POST', headers, body })
    const socket = await openSocket(server.port)
    socket.end(`GET http://me:${secret}@host/${token} HTTP/1.1\r\nHost: a\r\n\r\n`)
    await readToEnd(socket)
    const { status, stdout } = await server.cli.stop()
    assert.equal(status, 0)
    const log = logged()
    for (const each of [token.slice(6, -1), secret, basic, variables.REAMS_TOKEN])
      assert.ok(!(log + stdout).includes(each), `${each} in ${log}`)
    const lines = linesOf(log)
    assert.equal(lines.length, requests + 1)
    assert.ok(lines.some(({ token: name, method }) => name === 'nightly' && method === 'POST'))
  })

  it('has all requests, those that fail or are slow, those that fail, or none', async () => {
    const usual = { method: 'GET', path: '/', route: '/', status: 200, durationMs: 1, bytes: 0, remoteAddress: '::1' }
    const records = [
      { ...usual, requestId: 'quick' },
      { ...usual, requestId: 'slow', durationMs: 1_500 },
      { ...usual, requestId: 'waiting', durationMs: 2_500, waitedMs: 2_000 },
      { ...usual, requestId: 'wrong', status: 404 },
      { ...usual, requestId: 'broken', status: 500 },
    ]
    const loggedWith = async (flags: Flags, isQuick = false) => {
      const path = join(directory, 'some.log')
      const descriptor = openSync(path, 'w')
      const log = openLog(
        new SettingValues(['logRequests', 'logLevel', 'store', 'tableFrom'], flags, {}),
        isQuick,
        descriptor,
      )
      for (const record of records) log.onRequestEnd?.(record)
      await log[Symbol.asyncDispose]()
      closeSync(descriptor)
      return linesOf(readFileSync(path, 'utf8')).map((line) => line['request_id'])
    }
    const all = records.map(({ requestId }) => requestId)
    assert.deepEqual(await loggedWith({}), all)
    assert.deepEqual(await loggedWith({ logRequests: 'all' }, true), all)
    assert.deepEqual(await loggedWith({ logRequests: 'slow' }), ['slow', 'wrong', 'broken'])
    assert.deepEqual(await loggedWith({ logRequests: 'errors' }), ['wrong', 'broken'])
    assert.deepEqual(await loggedWith({}, true), ['wrong', 'broken'])
    assert.deepEqual(await loggedWith({ logRequests: 'none' }), [])
    assert.deepEqual(await loggedWith({ logLevel: 'warn' }), ['broken'])
  })

  it('refuses a level or a choice that there is not, and says which there are', async (t) => {
    for (const [flag, words] of [
      ['--log-level', 'trace, debug, info, warn, error, fatal, silent'],
      ['--log-requests', 'all, slow, errors, none'],
    ] as const) {
      const { status, stderr } = await runInside(['serve', flag, 'loud'], { in: workDirectory(t) })
      assert.deepEqual([status, stderr], [2, `reams: Invalid ${flag} "loud": expected one of ${words}.\n`])
    }
  })

  it('has whole lines of all workers, also in a pipe that is read late', async (t) => {
    const { cli, url } = await startServer(t, ['--workers', '2'], { in: directory })
    cli.child.stderr?.pause()
    const path = `/events/${'x'.repeat(900)}`
    const ask = async () => {
      for (let count = 0; count < 40; count++)
        await (await fetch(url + path, { headers: { connection: 'close' } })).arrayBuffer()
    }
    await Promise.all(Array.from({ length: 8 }, ask))
    cli.child.stderr?.resume()
    const lines = linesOf((await cli.stop()).stderr)
    assert.equal(lines.length, 320)
    assert.equal(new Set(lines.map(({ pid }) => pid)).size, 2)
  })

  it('on a terminal is readable, with control characters made visible', () => {
    const time = '2026-11-16T14:03:07.120Z'
    const request = { method: 'GET', path: '/a\u001b[2J', status: 200, duration_ms: 0.42, bytes: 12_345 }
    const line = { level: 'info', time, pid: 1, ...request, page: 3, cache: 'hit', msg: 'request' }
    assert.equal(readableLine(JSON.stringify(line)), '14:03:07.120 GET /a\\u001b[2J 200 0.4 ms 12 KB page=3 cache=hit')
    const warning = JSON.stringify({ level: 'warn', time, pid: 1, msg: 'A worker ended.' })
    assert.equal(readableLine(warning), '14:03:07.120 warn A worker ended.')
  })

  for (const workers of ['1', '2'])
    it(`that cannot be written does not keep ${workers} from serving, nor from ending`, async (t) => {
      const under = ['sh', '-c', 'exec "$0" "$@" 2>/dev/full']
      const { cli, get } = await startServer(t, ['--workers', workers], { in: directory, under })
      for (let count = 0; count < 50; count++) assert.equal((await get('/events')).status, 200)
      assert.equal((await cli.stop()).status, 0)
    })
})
