import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { readableLine } from '../../src/cli/commands/serve/log-line.ts'
import { openSocket, readToEnd } from '../service/raw-http.ts'
import { eventLines, putLines } from './items.ts'
import { runInside, startServer, workDirectory } from './run-cli.ts'

type Line = Record<string, unknown>

function linesOf(text: string): Line[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)
}

async function directoryWithEvents(t: TestContext): Promise<string> {
  const directory = workDirectory(t)
  await putLines(directory, 'events', eventLines(10), { keyField: 'id' })
  return directory
}

/** What is logged while these paths are asked for. */
async function loggedBy(t: TestContext, words: readonly string[], paths: readonly string[]): Promise<Line[]> {
  const { cli, get } = await startServer(t, words, { in: await directoryWithEvents(t) })
  for (const path of paths) await (await get(path)).arrayBuffer()
  return linesOf((await cli.stop()).stderr)
}

describe('the log of serve', () => {
  it('has a line of JSON for every request, complete when the server is told to stop', async (t) => {
    const directory = await directoryWithEvents(t)
    const { cli, url } = await startServer(t, [], { in: directory })
    const headers = { 'X-Request-Id': 'one', 'Accept-Encoding': 'identity' }
    const length = (await (await fetch(`${url}/events?page=1&a=b`, { headers })).arrayBuffer()).byteLength
    await (await fetch(`${url}/events`, { headers })).arrayBuffer()
    const [first, second, ...others] = linesOf((await cli.stop()).stderr)
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

  it('tells how long a request has waited for a change because it preferred to, which does not make it a slow one', async (t) => {
    const waited = async (...words: string[]) => {
      const { cli, url } = await startServer(t, words, { in: await directoryWithEvents(t) })
      const headers = { 'If-None-Match': '*', Prefer: 'wait=2' }
      assert.equal((await fetch(`${url}/events`, { headers })).status, 304)
      return linesOf((await cli.stop()).stderr)
    }
    const [line, ...others] = await waited()
    assert.deepEqual(others, [])
    const { waited_ms: waitedMs, duration_ms: durationMs } = line ?? assert.fail()
    assert.ok(Number(waitedMs) > 0 && Number(waitedMs) < Number(durationMs))
    // On a busy machine it may be slow besides.
    for (const slow of await waited('--log-requests', 'slow'))
      assert.ok(Number(slow['duration_ms']) - Number(slow['waited_ms']) > 1_000)
  })

  it('has all requests, those that fail or are slow, those that fail, or none', async (t) => {
    const statuses = async (...words: string[]) =>
      (await loggedBy(t, words, ['/events', '/nope'])).map(({ status }) => status)
    assert.deepEqual(await statuses('--log-requests', 'all'), [200, 404])
    assert.deepEqual(await statuses('--log-requests', 'slow'), [404])
    assert.deepEqual(await statuses('--log-requests', 'errors'), [404])
    assert.deepEqual(await statuses('--log-requests', 'none'), [])
    assert.deepEqual(await statuses('--log-level', 'warn'), [])
    assert.deepEqual(await statuses('--sample'), [404], 'the sample is served for a look')
  })

  it('names the client itself behind a trusted proxy, and the token also of what a limit refuses', async (t) => {
    const directory = await directoryWithEvents(t)
    const { stdout } = await runInside(['token', 'create', '--name', 'app', '--scope', 'read:*'], { in: directory })
    const [token = ''] = /reams_[\w-]{43}/.exec(stdout) ?? assert.fail(stdout)
    const words = ['--trust-proxy', '127.0.0.1', '--rate-limit', '1/h']
    const { cli, url } = await startServer(t, words, { in: directory })
    const headers = { Authorization: `Bearer ${token}`, 'X-Forwarded-For': '203.0.113.9, 2001:db8::7' }
    for (let count = 0; count < 2; count++) await (await fetch(`${url}/events`, { headers })).arrayBuffer()
    const lines = linesOf((await cli.stop()).stderr)
    assert.deepEqual(
      lines.map((line) => [line['status'], line['token'], line['remote_address']]),
      [200, 429].map((status) => [status, 'app', '2001:db8::7']),
    )
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
    const directory = await directoryWithEvents(t)
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

  it('never has a token, a password or what authorizes, wherever it stands', async (t) => {
    const directory = await directoryWithEvents(t)
    const password = `p@ss/${randomBytes(12).toString('hex')}`
    const secret = password.slice(-24)
    const { stdout } = await runInside(['token', 'create', '--name', 'nightly', '--scope', 'write:events'], {
      in: directory,
    })
    const [token = ''] = /reams_[\w-]{43}/.exec(stdout) ?? assert.fail(stdout)
    const variables = { PGPASSWORD: password, REAMS_TOKEN: `reams_${'t'.repeat(43)}` }
    const { cli, url } = await startServer(t, ['--log-level', 'trace'], { in: directory, variables })
    const basic = Buffer.from('user:pass').toString('base64')
    const places = [
      ...[token, token.replace('_', '%5f'), token.slice(0, -1), variables.REAMS_TOKEN],
      ...[encodeURIComponent(password), encodeURIComponent(password).toLowerCase(), `/me:${secret}@host`],
      ...[`Bearer%20${basic}`, `postgres:%2F%2Fme:${secret}@host`, `%zz?password=${secret}`, `password%3D${secret}`],
    ]
    for (const place of places)
      for (const target of [`/${place}`, `/events/${place}`, `/events?token=${place}`])
        for (const Authorization of [`Bearer ${token}`, `Basic ${basic}`])
          await (
            await fetch(url + target, { headers: { Authorization, 'X-Request-Id': place, Cookie: `t=${place}` } })
          ).arrayBuffer()
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
    const bodies = [JSON.stringify({ id: 'new', token, secret }), token]
    for (const body of bodies) await (await fetch(`${url}/events`, { method: 'POST', headers, body })).arrayBuffer()
    const socket = await openSocket(Number(new URL(url).port))
    socket.end(`GET http://me:${secret}@host/${token} HTTP/1.1\r\nHost: a\r\n\r\n`)
    await readToEnd(socket)
    const { stderr, stdout: printed } = await cli.stop()
    for (const each of [token.slice(6, -1), secret, basic, variables.REAMS_TOKEN])
      assert.ok(!(stderr + printed).includes(each), `${each} in ${stderr}`)
    const lines = linesOf(stderr)
    assert.equal(lines.length, places.length * 6 + bodies.length + 1)
    assert.ok(lines.some(({ token: name, method }) => name === 'nightly' && method === 'POST'))
  })

  it('on a terminal is readable, with control characters made visible', () => {
    const time = '2026-11-16T14:03:07.120Z'
    const request = { method: 'GET', path: '/a\u001b[2J', status: 200, duration_ms: 0.42, bytes: 12_345 }
    const line = { level: 'info', time, pid: 1, ...request, page: 3, cache: 'hit', msg: 'request' }
    assert.equal(readableLine(JSON.stringify(line)), '14:03:07.120 GET /a\\u001b[2J 200 0.4 ms 12 KB page=3 cache=hit')
    const warning = JSON.stringify({ level: 'warn', time, pid: 1, msg: 'A worker ended.' })
    assert.equal(readableLine(warning), '14:03:07.120 warn A worker ended.')
  })

  it('goes to a file in whole lines', async (t) => {
    const directory = await directoryWithEvents(t)
    const file = join(directory, 'log')
    const under = ['sh', '-c', 'exec "$0" "$@" 2>>log']
    const { cli, get } = await startServer(t, [], { in: directory, under })
    for (let count = 0; count < 50; count++) await (await get('/events')).arrayBuffer()
    assert.equal((await cli.stop()).status, 0)
    assert.equal(linesOf(readFileSync(file, 'utf8')).length, 50)
  })
  for (const workers of ['1', '2'])
    it(`that cannot be written does not keep ${workers} from serving, nor from ending`, async (t) => {
      const under = ['sh', '-c', 'exec "$0" "$@" 2>/dev/full']
      const { cli, get } = await startServer(t, ['--workers', workers], { in: await directoryWithEvents(t), under })
      for (let count = 0; count < 50; count++) assert.equal((await get('/events')).status, 200)
      assert.equal((await cli.stop()).status, 0)
    })
})
