/** Request smuggling through a real nginx: mutated requests from a grammar, and what reaches the server and comes back. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import type { RequestRecord } from '../../src/service/request-record.ts'
import { workDirectory } from '../cli/run-cli.ts'
import { newSeed } from '../faults/command.ts'
import { lackOf, NGINX } from '../faults/needs.ts'
import { Dice, texts, words } from '../fuzz/dice.ts'
import { startNginx } from '../nginx.ts'
import { freePort } from '../store/free-port.ts'
import { fill, numbered } from './open-service.ts'
import { openSocket } from './raw-http.ts'
import { startWriteServer } from './write-server.ts'

/** REAMS_TEST_CASES makes a run longer, and REAMS_TEST_SEED repeats one. */
const CASES = Number(process.env['REAMS_TEST_CASES'] ?? 600)
const AT_A_TIME = 40
/** The id of a request whose head could not be read, such as one with the method ET, the rest of a GET. */
const UNREAD = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

interface Way {
  /** Directives of the server, and of the location. */
  readonly server?: string
  readonly location: string
}

const KEPT = 'proxy_http_version 1.1; proxy_set_header Connection "";'

/**
 * How nginx may pass requests on: as the documentation shows, without buffers for responses, in HTTP/1.0, with odd
 * names and Upgrade.
 */
const WAYS: readonly Way[] = [
  { location: KEPT },
  { location: `${KEPT} proxy_buffering off;` },
  { location: 'proxy_http_version 1.0;' },
  {
    server: 'underscores_in_headers on; ignore_invalid_headers off;',
    location: `proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $http_connection;`,
  },
]

/** Every request that nginx passes on has an id of nginx, and every response names the request that nginx sends it for. */
function configuration(port: number, proxyPorts: readonly number[], log: string): string {
  const servers = WAYS.map(
    ({ server = '', location }, index) => `server {
      listen 127.0.0.1:${proxyPorts[index]};
      client_header_timeout 300ms; client_body_timeout 300ms; keepalive_timeout 300ms; lingering_timeout 300ms;
      merge_slashes off; client_max_body_size 64m;
      access_log ${log} ids;
      add_header X-Nginx-Id $request_id always;
      ${server}
      location / {
        proxy_pass http://reams;
        proxy_set_header X-Request-Id $request_id;
        proxy_set_header Host 127.0.0.1;
        ${location}
      }
    }`,
  )
  return `error_log stderr warn;
    log_format ids '$request_id $status $upstream_status';
    upstream reams { server 127.0.0.1:${port}; keepalive 8; }
    ${servers.join('\n')}`
}

const TARGETS = [
  ...words(`
    /events /events?page=2 /events/1 /nothing / //events /events//1 /%2fevents /events%2f1 /events/.. /./events
    /events/%2e%2e/events http://127.0.0.1/events http://evil.example/events * /-/health /events#a \\events
  `),
  ...['/events?x=\r\n', '/events HTTP/1.1'],
]
const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'
const LENGTHS = [...words('0 5 8 +8 -1 8,9 08 0x8 8;a 99999 １'), '8, 8', '8 ', ' 8', '8\t', '']
const CODINGS = [
  ...texts('chunked, chunked | gzip, chunked | chunked, identity | identity | xchunked | chunked;a=b | "chunked"'),
  ...texts('Chunked | ,chunked | chunked, | \x0bchunked | chunked\x0b | chun\r\n ked'),
  ...['chunked', ' chunked', 'chunked ', '\tchunked', ''],
]
const ODD_LINES = [
  ...texts(`
    Transfer-Encoding : chunked | Transfer_Encoding: chunked | Content_Length: 5 | Content-Length : 5
    | X: a\r\n Transfer-Encoding: chunked | X: a\nTransfer-Encoding: chunked | X: a\rTransfer-Encoding: chunked
    | Transfer-Encoding\t: chunked | \x00Transfer-Encoding: chunked
    | Connection: Transfer-Encoding | Connection: Content-Length | Connection: keep-alive | Connection: close, X-Request-Id
    | Keep-Alive: timeout=9 | Expect: 100-continue | Expect: x | Upgrade: h2c | Upgrade: websocket | Connection: Upgrade
    | HTTP2-Settings: AAMAAABkAAQAAP__ | TE: trailers | Trailer: Content-Length | Host: second.example
    | If-None-Match: * | Prefer: wait=1 | X-HTTP-Method-Override: PUT | Range: bytes=0-1 | Accept-Encoding: gzip
    | X-Forwarded-For: 1.2.3.4 | X-Request-Id: forged | X_Request_Id: forged
  `),
  ' Content-Length: 5',
]

function chunksOf(dice: Dice, text: string): string {
  const size = text.length.toString(16)
  const odd = ['0N', 'N;a=b', 'N;a="\r\n"', 'N ', '0xN', 'N;', '-N', '1N'].map((each) => each.replace('N', size))
  const sizes = [size, size, ...odd]
  const end = dice.chance(80) ? '\r\n' : dice.of(['\n', '\r', ''])
  const last = dice.chance(80) ? '0' : dice.of(['00', '0;a', ''])
  const fields = ['X-Trailer: a\r\n', 'Content-Length: 9\r\n', 'Transfer-Encoding: chunked\r\n', ' folded\r\n']
  const trailers = dice.of(['', '', ...fields])
  return `${dice.chance(60) ? size : dice.of(sizes)}${end}${text}\r\n${last}\r\n${trailers}\r\n`
}

function mutatedRequest(dice: Dice, authorization: string): string {
  const method = dice.of(['GET', 'GET', 'HEAD', 'POST', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'PURGE'])
  const version = dice.chance(80) ? 'HTTP/1.1' : dice.of(['HTTP/1.0', 'HTTP/1.0', 'HTTP/1.2', 'HTTP/2.0', ''])
  let body = dice.of(['', '{"a":1}\n', SMUGGLED, `0\r\n\r\n${SMUGGLED}`, `{"a":"${'x'.repeat(70_000)}"}`])
  if (dice.chance(3)) body = `{"a":"${'x'.repeat(3_000_000)}"}`
  const isChunked = dice.chance(40)
  const sent = isChunked || dice.chance(10) ? chunksOf(dice, body) : body
  const lines = ['Host: 127.0.0.1', 'Content-Type: application/x-ndjson']
  if (dice.chance(50)) lines.push(authorization)
  if (isChunked) lines.push(`Transfer-Encoding: ${dice.chance(70) ? 'chunked' : dice.of(CODINGS)}`)
  if (!isChunked || dice.chance(10))
    lines.push(`Content-Length: ${dice.chance(70) ? Buffer.byteLength(sent) : dice.of(LENGTHS)}`)
  if (dice.chance(10)) lines.push(`Content-Length: ${dice.of([...LENGTHS, String(sent.length)])}`)
  for (const line of dice.some(ODD_LINES, 2)) lines.splice(dice.below(lines.length + 1), 0, line)
  const end = dice.chance(90) ? '\r\n' : '\n'
  const target = dice.of(dice.chance(50) ? TARGETS.slice(0, 5) : TARGETS)
  return [`${method} ${target} ${version}`, ...lines, '', sent].join(end)
}

/** Sends these parts, and reads until nginx closes the connection. */
async function answerTo(port: number, parts: readonly string[]): Promise<string> {
  const socket = await openSocket(port)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  let answer = ''
  socket.setEncoding('latin1').on('error', () => {})
  socket.on('data', (text) => {
    answer += text
  })
  for (const part of parts) {
    socket.write(part, 'latin1')
    await new Promise(setImmediate)
  }
  await closed
  return answer
}

async function startBoth(t: TestContext) {
  const directory = workDirectory(t)
  const records: RequestRecord[] = []
  const failures: unknown[] = []
  const server = await startWriteServer(t, {
    listen: { onRequestEnd: (record) => void records.push(record), onError: (error) => void failures.push(error) },
  })
  await fill(server.store, 'events', numbered(700))
  const proxyPorts: number[] = []
  for (const _ of WAYS) proxyPorts.push(await freePort())
  const log = join(directory, 'ids.log')
  const nginx = await startNginx(directory, configuration(server.port, proxyPorts, log))
  t.after(() => nginx[Symbol.asyncDispose]())
  return { ...server, records, failures, proxyPorts, nginx, log: () => readFileSync(log, 'utf8').trim().split('\n') }
}

describe('behind nginx', () => {
  it('each request is answered once, with its own response, whatever a client sends', async (t) => {
    const lack = await lackOf([NGINX])
    if (lack !== undefined) return t.skip(lack)
    const { records, failures, proxyPorts, nginx, log, tokenOf } = await startBoth(t)
    const { Authorization } = await tokenOf(['admin'])
    const seed = Number(process.env['REAMS_TEST_SEED'] ?? newSeed())
    t.diagnostic(`seed ${seed}`)
    const wrong: string[] = []
    /** Ids of our own for requests that could not be read, with those of nginx. */
    const unread = new Map<string, string>()
    let [next, answered] = [0, 0]
    const run = async () => {
      while (next < CASES) {
        const number = next++
        const dice = new Dice(seed, number)
        const whole = dice
          .times(dice.between(1, 3), () => mutatedRequest(dice, `Authorization: ${Authorization}`))
          .join('')
        const cut = dice.below(whole.length)
        const parts = dice.chance(50) ? [whole] : [whole.slice(0, cut), whole.slice(cut)]
        const answer = await answerTo(dice.of(proxyPorts), parts)
        for (const [head] of answer.matchAll(/HTTP\/1\.[01] \d{3} .*?\r\n\r\n/gs)) {
          const [, own] = /^X-Request-Id: (.*)\r$/im.exec(head) ?? []
          const [, wanted] = /^X-Nginx-Id: (.*)\r$/im.exec(head) ?? []
          if (own !== undefined) answered++
          if (own !== undefined && UNREAD.test(own) && head.includes(' 400 ')) unread.set(own, wanted ?? '')
          else if (own !== undefined && own !== wanted)
            wrong.push(`case ${number}: ${JSON.stringify(parts).slice(0, 1500)} got ${head}`)
        }
      }
    }
    await Promise.all(Array.from({ length: AT_A_TIME }, run))
    const passedOn = new Map(log().map((line) => [line.split(' ')[0], line.split(' ').slice(1).join(' ')]))
    const seen = new Map<string, number>()
    for (const { requestId, method, path, status } of records) {
      const times = (seen.get(requestId) ?? 0) + 1
      seen.set(requestId, times)
      const at = passedOn.get(unread.get(requestId) ?? requestId)
      // nginx sends a GET again when a connection that it kept was closed.
      if (at === undefined || (times > 1 && !at.includes(',')))
        wrong.push(`${times} × ${method} ${path} ${status} ${requestId}, in nginx: ${at}`)
    }
    for (const id of unread.values()) if (seen.has(id)) wrong.push(`${id} was read, and another request was not`)
    for (const [id, statuses] of passedOn) if (/^50[24]|50[24]$/.test(statuses)) wrong.push(`${statuses} of ${id}`)
    const complaints = nginx
      .log()
      .split('\n')
      .filter((line) => /upstream (sent|prematurely)/.test(line))
    assert.deepEqual(
      { wrong: wrong.slice(0, 5), complaints: complaints.slice(0, 5), failures, seed },
      { wrong: [], complaints: [], failures: [], seed },
    )
    assert.ok(answered > CASES / 10, `only ${answered} answers`)
  })
})
