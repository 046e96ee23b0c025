import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { type MemoryPlan, planMemory } from '../../src/memory/memory-plan.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { ReamsProcess } from '../faults/reams-process.ts'
import { OPENINGS, resetAfter, resetInAnswer } from '../service/node/resets.ts'
import { fill, numbered, tokenFor } from '../service/open-service.ts'
import { openSocket } from '../service/raw-http.ts'
import { MemoryGroup } from './memory-group.ts'

const MIB = 2 ** 20
const HOST = 'Host: localhost\r\n'

/** For a client that was disconnected before it had sent all. */
const DISCONNECTED = 0
/** What the service may answer to a large write. */
const EXPECTED = [200, 201, 409, 413, 503, DISCONNECTED]
/** Those after which a client tries again. */
const RETRIED = [503, DISCONNECTED]

interface Place {
  readonly port: number
  /** Of several tokens, each of which may do everything. */
  readonly tokens: readonly string[]
  readonly plan: MemoryPlan
}

const ATTACKS: Readonly<Record<string, (place: Place) => Promise<unknown>>> = {
  'connection resets': async ({ port }) => {
    for (let round = 0; round < 20; round++)
      await Promise.all(OPENINGS.map((text) => resetAfter(port, text, (round * 7) % text.length, round % 4)))
    for (let bytes = 1; bytes < 2_000_000; bytes = bytes * 2 + 1)
      await resetInAnswer(port, `GET /big HTTP/1.1\r\n${HOST}\r\n`, bytes)
  },
  'pipelined requests': ({ port }) =>
    sendAndHold(port, 100, `GET /events HTTP/1.1\r\n${HOST}\r\n`.repeat(2_000), 3_000),
  'writes without a token': ({ port }) =>
    sendAndHold(port, 50, `POST /events HTTP/1.1\r\n${HOST}Content-Length: 0\r\n\r\n`.repeat(5_000), 2_000),
  'responses that nobody reads': ({ port }) =>
    sendAndHold(port, 150, `GET /big HTTP/1.1\r\n${HOST}\r\nGET /big?page=2 HTTP/1.1\r\n${HOST}\r\n`.repeat(2), 5_000),
  'requests that wait for a change': async ({ port }) => {
    const tag = (await fetch(`http://127.0.0.1:${port}/big?page=3`, { method: 'HEAD' })).headers.get('etag')
    const text = `GET /big?page=3 HTTP/1.1\r\n${HOST}Prefer: wait=30\r\nIf-None-Match: ${tag}\r\n\r\n`
    await sendAndHold(port, 800, text, 2_000)
  },
  'bodies that are never sent': ({ port, tokens }) =>
    Promise.all(tokens.map((token) => sendAndHold(port, 100, `${headOf(token, 262_144)} `, 2_000))),
  'bodies whose end is never sent': ({ port, tokens, plan }) =>
    Promise.all(tokens.map((token) => sendAndHold(port, 3, unfinished(token, plan.bodyBytes), 3_000))),
  'gzip bombs': async (place) => {
    const body = gzipSync(Buffer.alloc(100_000_000, ' '))
    await Promise.all(Array.from({ length: 50 }, () => write(place, 'POST', body, { 'Content-Encoding': 'gzip' })))
  },
  'PATCH requests that are too large for a small container': async (place) => {
    const statuses = await Promise.all([0, 1, 2].map((seed) => write(place, 'PATCH', puts(63 * MIB, 4_000, seed))))
    // A client that goes on sending may be disconnected before it reads the reply.
    assert.ok(
      statuses.every((status) => status === 413 || status === DISCONNECTED),
      statuses.join(),
    )
  },
  'large PATCH requests, which append and then replace': async (place) => {
    const bodies = [0, 1, 2, 3].map((seed) => puts(place.plan.bodyBytes - 1_000, 4_000, seed))
    await writeAll(place, 'PATCH', [...bodies, ...bodies])
  },
  'large PATCH requests of text beyond Latin': async (place) => {
    const bodies = [10, 11].map((seed) => puts(place.plan.bodyBytes - 1_000, 100_000, seed, '한'))
    await writeAll(place, 'PATCH', [...bodies, ...bodies])
  },
  'PATCH requests of as many changes as possible': async (place) => {
    const bodies = [20, 21].map((seed) => lines(place.plan.requestItems, (n) => put(seed * 1e6 + n, '')))
    await writeAll(place, 'PATCH', [...bodies, ...bodies])
  },
  'large arrays': async (place) => {
    const arrays = [30, 31, 32].map((seed) => {
      const items = lines(Math.floor(place.plan.bodyBytes / 2_100), (n) => item(seed * 1e6 + n, 'x'.repeat(2_000)))
      return Buffer.from(`[${items.toString().split('\n').join()}]`)
    })
    await writeAll(place, 'POST', arrays, { 'Content-Type': 'application/json' })
  },
  'large gzip bodies': async (place) => {
    const bodies = [40, 41, 42].map((seed) => gzipSync(puts(place.plan.bodyBytes - 1_000, 4_000, seed, Math.random)))
    await writeAll(place, 'PATCH', bodies, { 'Content-Encoding': 'gzip' })
  },
}

for (const [mib, workers] of [
  [512, 1],
  [256, 1],
  [512, 2],
] as const)
  describe(`with ${mib} MB of memory and ${workers === 1 ? 'one process' : `${workers} workers`}`, () => {
    it('the defaults survive hostile clients and large writes, one after the other and at once', async (t) => {
      const group = MemoryGroup.create(mib * MIB)
      if (typeof group === 'string') return t.skip(group)
      await using _group = group
      const directory = mkdtempSync(join(tmpdir(), 'reams-memory-'))
      t.after(() => rmSync(directory, { recursive: true }))
      const path = join(directory, 'reams.db')
      const tokens = await prepare(path)
      const words = ['serve', '--store', path, '--port', '0', '--log-requests', 'none', '--workers', String(workers)]
      await using program = new ReamsProcess(words, { wrapper: group.wrapper })
      const port = Number(new URL(await program.address()).port)
      const place = { port, tokens, plan: planMemory(mib * MIB, workers) }
      for (const [name, attack] of Object.entries(ATTACKS)) {
        const peak = await peakDuring(
          group,
          attack(place).then(() => assertServed(place, group, name)),
        )
        t.diagnostic(`${name}: ${Math.round(peak / 1e6)} MB`)
      }
      const all = Promise.all(Object.values(ATTACKS).map((attack) => attack(place)))
      const peak = await peakDuring(
        group,
        all.then(() => assertServed(place, group, 'all of it')),
      )
      t.diagnostic(`all of it at once: ${Math.round(peak / 1e6)} MB`)
      program.child.kill('SIGTERM')
      assert.equal((await program.ends()).status, 0)
    })
  })

async function prepare(path: string): Promise<string[]> {
  const store = await openSqliteStore({ path, create: true })
  await fill(store, 'events', numbered(600))
  // Pages of 2.5 MB.
  await fill(
    store,
    'big',
    Array.from({ length: 1_500 }, (_, id) => item(id, '0123456789'.repeat(500))),
  )
  const tokens: string[] = []
  for (let count = 0; count < 3; count++) tokens.push((await tokenFor(store, ['admin'])).Authorization)
  await store.close()
  return tokens
}

/** No process was killed, and a bystander is served. */
async function assertServed({ port, tokens }: Place, group: MemoryGroup, after: string): Promise<void> {
  assert.equal(group.kills, 0, `${after}: the system killed a process`)
  const response = await fetch(`http://127.0.0.1:${port}/events`)
  assert.equal(response.status, 200, after)
  assert.equal(JSON.parse(await response.text())._embedded.events.length, 500)
  const headers = { Authorization: tokens[0] ?? '', 'Content-Type': 'application/json' }
  for (;;) {
    const body = JSON.stringify({ id: String(Math.random()) })
    const written = await fetch(`http://127.0.0.1:${port}/events`, { method: 'POST', headers, body })
    await written.text()
    if (written.status === 201) return
    assert.equal(written.status, 503, after)
    await setTimeout(100)
  }
}

async function peakDuring(group: MemoryGroup, work: Promise<unknown>): Promise<number> {
  let peak = 0
  const timer = setInterval(() => {
    peak = Math.max(peak, group.residentBytes)
  }, 10)
  try {
    await work
  } catch (error) {
    await setTimeout(500)
    throw new Error(`The work failed at ${Math.round(peak / 1e6)} MB, with ${group.kills} killed.`, { cause: error })
  } finally {
    clearInterval(timer)
  }
  return peak
}

/** Opens connections, sends the text on each, reads nothing, and resets them in the end. */
async function sendAndHold(port: number, count: number, text: string | Buffer, ms: number): Promise<void> {
  const sockets = await Promise.all(Array.from({ length: count }, () => openSocket(port)))
  for (const socket of sockets)
    socket
      .on('error', () => {})
      .pause()
      .write(text)
  await setTimeout(ms)
  for (const socket of sockets) socket.resetAndDestroy()
}

function headOf(authorization: string, length: number): string {
  const type = 'Content-Type: application/x-ndjson\r\n'
  return `PATCH /events HTTP/1.1\r\n${HOST}Authorization: ${authorization}\r\n${type}Content-Length: ${length}\r\n\r\n`
}

/** A request without the last byte of its body. */
function unfinished(authorization: string, length: number): Buffer {
  return Buffer.concat([Buffer.from(headOf(authorization, length)), puts(length, 4_000, 50).subarray(0, length - 1)])
}

function item(id: number, text: string): string {
  return `{"id":${id},"text":"${text}"}`
}

function put(id: number, text: string): string {
  return `{"op":"put","item":${item(id, text)}}`
}

function lines(count: number, line: (number: number) => string): Buffer {
  return Buffer.from(Array.from({ length: count }, (_, number) => line(number)).join('\n'))
}

/** Puts of items of about this size, as many as fit. */
function puts(bytes: number, size: number, seed: number, letter: string | (() => number) = 'x'): Buffer {
  const text = typeof letter === 'string' ? letter.repeat(size / Buffer.byteLength(letter)) : ''
  const random = (): string => Array.from({ length: size / 16 }, () => Math.random().toFixed(14)).join('')
  return lines(Math.floor(bytes / (size + 60)), (number) => put(seed * 1e6 + number, text === '' ? random() : text))
}

type Headers = Readonly<Record<string, string>>

/** All at once, from the tokens in turn. Those that get a 503 have to be told when to try again, and try again. */
async function writeAll(place: Place, method: string, bodies: readonly Buffer[], headers: Headers = {}): Promise<void> {
  const send = async (body: Buffer, index: number): Promise<void> => {
    while (RETRIED.includes(await write(place, method, body, headers, index))) await setTimeout(200)
  }
  await Promise.all(bodies.map(send))
}

async function write({ port, tokens }: Place, method: string, body: Buffer, headers: Headers = {}, index = 0) {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const own = { Authorization: tokens[index % tokens.length] ?? '', 'Content-Type': 'application/x-ndjson' }
  const options = { host: '127.0.0.1', port, method, path: '/events', agent: false, headers: { ...own, ...headers } }
  const outgoing = request(options, (incoming) => {
    const { statusCode: status = 0, headers: answered } = incoming
    if (status === 503) assert.match(answered['retry-after'] ?? '', /^\d+$/)
    incoming.resume().once('end', () => resolve(status))
  })
  // A refused body is not read to its end.
  outgoing.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' || error.code === 'ECONNRESET') resolve(DISCONNECTED)
    else reject(error)
  })
  outgoing.end(body)
  const status = await promise
  assert.ok(EXPECTED.includes(status), `${method}: ${status}`)
  return status
}
