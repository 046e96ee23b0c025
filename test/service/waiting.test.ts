import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { createService } from '../../src/service/create-service.ts'
import { MAX_WAITING_REQUESTS, WAITING_A_CALLER } from '../../src/service/limits.ts'
import { waitSeconds } from '../../src/service/read/wait-for-change.ts'
import type { RequestRecord } from '../../src/service/request-record.ts'
import type { Store } from '../../src/store/store.ts'
import { runInside, workDirectory } from '../cli/run-cli.ts'
import { keyed } from '../store/items.ts'
import { waitUntil } from '../wait-until.ts'
import { fillAnew, interposed } from './altered-store.ts'
import {
  BASE,
  envelopeOf,
  fill,
  numbered,
  type OpenService,
  openService,
  sharedService,
  tokenFor,
} from './open-service.ts'
import { answersOn, listenFor, openSocket, readToEnd, statusesOf } from './raw-http.ts'
import { startWriteServer } from './write-server.ts'

const LONG = { prefer: 'wait=60' }

/** So many callers that none has too many of all who can wait. */
const addressOf = (index: number) => `192.0.2.${index % 20}`

async function tagOf(get: OpenService['get'], url: string, headers = {}): Promise<string> {
  return (await get(url, headers)).headers.get('etag') ?? assert.fail()
}

/** Headers of a request that waits, because it has what is there. */
async function waitFor(get: OpenService['get'], url: string, headers = {}): Promise<Record<string, string>> {
  return { ...LONG, ...headers, 'if-none-match': await tagOf(get, url, headers) }
}

function append(store: Store, id: number): Promise<unknown> {
  return store.append('events', keyed(numbered(1, id)))
}

/** `looks` resolves when the store has been asked for the head of a collection `times` times from now on: somebody waits then. */
function watchHeads(store: Store) {
  let reads = 0
  const watched = interposed(store, (name) => {
    if (name === 'head') reads++
  })
  const looks = async (times = 3) => {
    for (const wanted = reads + times; reads < wanted; ) await new Promise(setImmediate)
  }
  /** Resolves when nobody looks any more. One look may have been under way. */
  const lookEnds = () =>
    waitUntil(async () => {
      const now = reads
      await new Promise((resolve) => setTimeout(resolve, 50))
      return reads === now
    })
  return { watched, looks, lookEnds, count: () => reads }
}

function countTimers(): number {
  return process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length
}

describe('a request that prefers to wait', () => {
  const service = sharedService(async () => {})

  /** A service whose waiting can be seen, on a new collection. */
  async function openWatched({ store, again } = service()) {
    await fillAnew(store, 'events', numbered(3))
    const { watched, ...seen } = watchHeads(store)
    const get = again({ store: watched, onError: () => {} })
    const { fetch } = createService({ store: watched })
    const headers = await waitFor(get, '/events')
    /** A request that waits, from this address. */
    const askFrom = async (remoteAddress: string, others: RequestInit = {}) =>
      fetch(new Request(`${BASE}/events`, { headers, ...others }), { remoteAddress })
    return { store, get, headers, askFrom, ...seen }
  }

  it('is answered with what was written, by whom ever', async () => {
    const { store, get, looks } = await openWatched()
    for (const [round, path] of ['/events', '/events?page=9', '/-/json/events'].entries()) {
      const waiting = get(path, await waitFor(get, path))
      await looks()
      await append(store, 100 + round)
      const response = await waiting
      assert.deepEqual([response.status, response.headers.get('preference-applied')], [200, 'wait=60'])
      assert.equal((await envelopeOf(response)).item_count, 4 + round)
    }
  })

  it('also with the changes since a snapshot', async () => {
    const { store, get, looks } = await openWatched()
    const { _links: links } = await envelopeOf(await get('/events'))
    const changes = `${links['snapshot']?.href}..`
    const waiting = get(changes, await waitFor(get, changes))
    await looks()
    await store.remove('events', '2')
    const { item_count: count, _embedded: embedded } = await envelopeOf(await waiting)
    const { version } = (await store.head('events')) ?? assert.fail()
    assert.deepEqual([count, embedded], [1, { events: [{ op: 'delete', key: '2', version }] }])
  })

  it('is 304 when the time is over, and then nobody looks any more; HEAD is as GET', async () => {
    const { get, count, lookEnds } = await openWatched()
    const known = { 'if-none-match': await tagOf(get, '/events'), prefer: 'wait=1' }
    const before = count()
    for (const { status, headers } of await Promise.all(['GET', 'HEAD'].map((each) => get('/events', known, each)))) {
      assert.deepEqual([status, headers.get('etag')], [304, known['if-none-match']])
      assert.equal(headers.get('preference-applied'), 'wait=1')
    }
    assert.ok(count() > before)
    await lookEnds()
  })

  it('is answered at once where there is something new, or nothing to compare with', async () => {
    const { get } = await openWatched()
    const tag = await tagOf(get, '/events')
    const { _links: links } = await envelopeOf(await get('/events'))
    const snapshot = links['snapshot']?.href ?? assert.fail()
    for (const [target, headers, status] of [
      ['/events', { ...LONG, 'if-none-match': '"x"' }, 200],
      ['/events', LONG, 200],
      ['/events', { prefer: 'wait=0', 'if-none-match': tag }, 304],
      ['/events', { prefer: 'wait=soon', 'if-none-match': tag }, 304],
      [snapshot, { ...LONG, 'if-none-match': '*' }, 304],
      ['/events/1', { ...LONG, 'if-none-match': '*' }, 304],
    ] as const) {
      const response = await get(target, headers)
      assert.deepEqual([response.status, response.headers.get('preference-applied')], [status, null], target)
    }
  })

  it('is answered by the rules of then: a collection can be dropped, hidden, or a token revoked meanwhile', async () => {
    const { store, get, looks } = await openWatched()
    const token = await tokenFor(store, ['read:*'], { name: 'reader' })
    for (const [happen, headers, status] of [
      [() => store.setPrivate('events', true), {}, 404],
      [() => store.setPrivate('events', false), token, 200],
      [() => store.revokeToken('reader', 1).then(() => append(store, 9)), token, 401],
      [() => store.drop('events'), {}, 404],
    ] as const) {
      const waiting = get('/events', await waitFor(get, '/events', headers))
      await looks()
      await happen()
      assert.equal((await waiting).status, status)
    }
  })

  it('fails as any other where the store does', async (t) => {
    const { store, get, looks } = await openWatched(await openService(t))
    const waiting = get('/events', await waitFor(get, '/events'))
    await looks()
    await store.close()
    assert.equal((await waiting).status, 503)
  })

  it('leaves nothing behind when it is answered', async () => {
    const { store, get, looks, lookEnds } = await openWatched()
    const timers = countTimers()
    const rounds = 20
    for (let round = 0; round < rounds; round++) {
      const waiting = get('/events', await waitFor(get, '/events'))
      await looks()
      await append(store, 100 + round)
      await waiting
    }
    // Connections to a database have timers too, but fewer.
    assert.ok(countTimers() < timers + rounds / 2)
    await lookEnds()
  })

  it('shares the looks at a collection with all others who wait for it', async () => {
    const { store, askFrom, looks, count } = await openWatched()
    const before = count()
    const waiting = Array.from({ length: 900 }, (_, index) => askFrom(addressOf(index)))
    await looks(10)
    await append(store, 9)
    for (const { status } of await Promise.all(waiting)) assert.equal(status, 200)
    // The heads of all requests that come together are read at once too.
    assert.ok(count() - before < 900, `${count() - before} reads`)
  })

  it('is answered at once where very many wait already, until one of them is gone', async () => {
    const { store, askFrom } = await openWatched()
    const gone = new AbortController()
    const waiting = Array.from({ length: MAX_WAITING_REQUESTS - 1 }, (_, index) => askFrom(addressOf(index)))
    const last = askFrom(addressOf(1), { signal: gone.signal })
    const tooMany = await askFrom(addressOf(2))
    assert.deepEqual([tooMany.status, tooMany.headers.get('preference-applied')], [304, null])
    gone.abort()
    assert.equal((await last).status, 304)
    const next = askFrom(addressOf(3))
    await append(store, 9)
    for (const { status } of await Promise.all([...waiting, next])) assert.equal(status, 200)
  })

  it('takes a place from the caller that has most, if all places are taken', async () => {
    const { store, askFrom, looks } = await openWatched()
    const statuses = new Map<string, number[]>()
    const ask = async (address: string) => {
      const { status } = await askFrom(address)
      statuses.set(address, [...(statuses.get(address) ?? []), status])
    }
    // Ten networks of one IPv6 customer, a different address for each request.
    const attack = Array.from({ length: MAX_WAITING_REQUESTS }, (_, index) => ask(`2001:db8:0:${index % 10}::${index}`))
    await looks()
    assert.equal(statuses.size, 0)
    const others = Array.from({ length: 20 }, (_, index) => ask(`192.0.2.${index}`))
    const answered = () => [...statuses.values()].flat()
    while (answered().length < others.length) await new Promise(setImmediate)
    await looks()
    assert.deepEqual(answered(), Array(20).fill(304))
    await append(store, 9)
    await Promise.all([...attack, ...others])
    for (let index = 0; index < 20; index++) assert.deepEqual(statuses.get(`192.0.2.${index}`), [200])
  })

  it('is answered at once where many of its own caller wait already, and leaves the places of others alone', async () => {
    const { store, headers, askFrom, looks } = await openWatched()
    const token = await tokenFor(store, ['read:*'])
    const gone = new AbortController()
    const waiting = Array.from({ length: WAITING_A_CALLER - 1 }, () => askFrom('192.0.2.1'))
    const last = askFrom('192.0.2.1', { signal: gone.signal })
    const tooMany = await askFrom('192.0.2.1')
    assert.deepEqual([tooMany.status, tooMany.headers.get('preference-applied')], [304, null])
    const others = [askFrom('192.0.2.2'), askFrom('192.0.2.1', { headers: { ...headers, ...token } })]
    gone.abort()
    assert.equal((await last).status, 304)
    const next = askFrom('192.0.2.1')
    await looks(10)
    await append(store, 9)
    for (const { status } of await Promise.all([...waiting, ...others, next])) assert.equal(status, 200)
  })
})

describe('over a socket, a request that prefers to wait', () => {
  const shared = sharedService((store) => fill(store, 'events', numbered(3)))

  async function start(t: Parameters<typeof listenFor>[0]) {
    const { watched, looks } = watchHeads(shared().store)
    const records: RequestRecord[] = []
    const service = createService({ store: watched })
    const listening = await listenFor(t, { ...service, onRequestEnd: (record) => void records.push(record) })
    const response = await service.fetch(new Request(`${BASE}/events`))
    const etag = response.headers.get('etag')
    const head = `GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\nIf-None-Match: ${etag}\r\nPrefer: wait=60`
    return { looks, records, listening, head }
  }

  it('is told of what `reams import` writes', async (t) => {
    const { store, location, ask } = await startWriteServer(t)
    await fill(store, 'events', numbered(3))
    const { headers } = await ask('GET', '/events')
    const waiting = ask('GET', '/events', undefined, { Prefer: 'wait=60', 'If-None-Match': headers.etag ?? '' })
    const words = ['import', 'events', '-', '--store', location]
    assert.equal((await runInside(words, { in: workDirectory(t), input: '{"id":9}' })).status, 0)
    assert.equal(JSON.parse((await waiting).text).item_count, 4)
  })

  it('leaves room for the next when its client is gone, and the record tells how long it waited', async (t) => {
    const { looks, records, listening, head } = await start(t)
    const ways = ['destroy', 'resetAndDestroy', 'end'] as const
    for (const leave of ways) {
      const socket = await openSocket(listening.port)
      socket.on('error', () => {})
      socket.write(`${head}\r\n\r\n`)
      await looks()
      assert.equal(listening.load().runningRequests, 1)
      socket[leave]()
      while (listening.load().runningRequests > 0) await new Promise(setImmediate)
    }
    // A record is written a little after its request stops counting as running.
    while (records.length < ways.length) await new Promise(setImmediate)
    assert.equal(records.length, ways.length)
    for (const { route, durationMs, waitedMs = 0 } of records) {
      assert.equal(route, '/:collection')
      assert.ok(waitedMs > 0 && waitedMs < durationMs)
    }
  })

  it('does not hold up one that is behind it', async (t) => {
    const { looks, listening, head } = await start(t)
    const last = `GET /events/1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`
    const together = await openSocket(listening.port)
    together.write(`${head}\r\n\r\n${last}`)
    assert.deepEqual(statusesOf(await answersOn(together)), [304, 200])
    const later = await openSocket(listening.port)
    later.write(`${head}\r\n\r\n`)
    await looks()
    later.write(last)
    assert.deepEqual(statusesOf(await answersOn(later)), [304, 200])
  })

  it('does not hold up the end of a connection on which no HTTP follows', async (t) => {
    const { looks, listening, head } = await start(t)
    const socket = await openSocket(listening.port)
    socket.write(`${head}\r\n\r\n`)
    await looks()
    socket.write('NONSENSE\r\n\r\n')
    assert.deepEqual(statusesOf(await answersOn(socket)), [304, 400])
  })

  it('is answered at once when the server closes, and one that comes then as well', async (t) => {
    const { looks, listening, head } = await start(t)
    const idle = await openSocket(listening.port)
    const socket = await openSocket(listening.port)
    socket.write(`${head}\r\n\r\n`)
    await looks()
    const answers = answersOn(socket)
    const closed = listening.close(60_000)
    const [last, ...more] = await answers
    assert.deepEqual([last?.status, last?.headers.get('connection'), more.length], [304, 'close', 0])
    if (!idle.destroyed) idle.write(`${head}\r\n\r\n`)
    await Promise.race([readToEnd(idle), once(idle, 'close')])
    assert.equal(await closed, 0)
  })
})

describe('Prefer', () => {
  const headers: Readonly<Record<number, readonly (string | null)[]>> = {
    0: [
      ...[null, '', 'wait', 'wait=-1', 'wait=1.5', 'wait=soon, wait=3', 'waiting=3', 'return=minimal;wait=3'],
      ...['wait="30', 'wait=30 40', 'foo="a, wait=30"', 'foo="never closed, wait=30'],
    ],
    5: ['respond-async, wait=5; foo="bar", wait=9'],
    7: ['foo="a; wait=30", wait=7', 'foo="\\", wait=30, \\"", wait=7', 'foo;bar="x,wait=30", wait=7', ', ,wait=7,'],
    30: ['wait=30', 'wait=0030', 'WAIT = "30"', 'wait=30;foo'],
    60: ['wait=61', `wait=${'9'.repeat(400)}`],
  }
  for (const [seconds, all] of Object.entries(headers))
    for (const header of all)
      it(`${header?.slice(0, 50)} is ${seconds} seconds`, () => assert.equal(waitSeconds(header), Number(seconds)))
})
