import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { createBodyMemory } from '../../src/service/body-memory.ts'
import { createService } from '../../src/service/create-service.ts'
import { DEFAULT_LIMITS } from '../../src/service/limits.ts'
import { BASE, fill, numbered } from './open-service.ts'
import { openSocket } from './raw-http.ts'
import { GZIP, JSON_TYPE, problemIn, sharedWriteServer, startWriteServer, type WriteServer } from './write-server.ts'

describe('a large body', () => {
  const server = sharedWriteServer(({ store }) => fill(store, 'events', numbered(2)))

  /** How often the event loop turns before the service has answered. */
  async function turnsUntilAnswered(body: Buffer<ArrayBuffer>, headers: Record<string, string>) {
    const { fetch } = createService({ store: server().store })
    let turns = 0
    let isAnswered = false
    const count = () => {
      turns++
      if (!isAnswered) setImmediate(count)
    }
    setImmediate(count)
    const request = new Request(`${BASE}/events`, { method: 'POST', body, headers: { ...JSON_TYPE, ...headers } })
    const { status } = await fetch(request)
    isAnswered = true
    return { status, turns }
  }

  it('lets others have their turns while its items are read, and while it is looked through for one', async () => {
    const token = await server().tokenOf(['write:events'])
    for (const [text, headers, expected] of [
      // Its last item is wrong, so that reading it is all that happens.
      [`[${numbered(150_000, 1000).join()},{}]`, { 'Idempotency-Key': 'abc' }, 413],
      [`[${'{"id":7},'.repeat(90_000)}{}]`, {}, 400],
      [' '.repeat(5_000_000), {}, 400],
    ] as const) {
      const { status, turns } = await turnsUntilAnswered(Buffer.from(text), { ...token, ...headers })
      assert.equal(status, expected)
      assert.ok(turns > (text.length === 5_000_000 ? 25 : 10), `${turns} turns`)
    }
  })
})

describe('the bodies of all requests under way', () => {
  /** Has a connection send all of a body of 100,000 bytes but the last one. */
  async function hold({ port, headOf }: WriteServer) {
    const socket = await openSocket(port)
    socket.write(headOf('POST', '/events', { ...JSON_TYPE, 'Content-Length': '400000' }))
    socket.write('{"id":"held"'.padStart(399_999))
    return socket
  }

  it('of one token hold no more than twice what one may have: then it is 503, until there is room again', async (t) => {
    const server = await startWriteServer(t, { limits: { bodyBytes: 400_000, itemBytes: 400_000 } })
    const { ask, store } = server
    await fill(store, 'events', numbered(2))
    const [first, second] = [await hold(server), await hold(server)]
    let refused = await ask('POST', '/events', 'nothing')
    // Until all that was sent has come.
    while (refused.status !== 503) refused = await ask('POST', '/events', 'nothing')
    const others = '503 service-busy: Other requests with this token hold'
    assert.ok(problemIn(refused).startsWith(`${others} 799,998 of the 800,000 bytes of memory for bodies`))
    assert.equal(refused.headers['retry-after'], '1')
    const chunks = await ask('PUT', '/events/1', '{"id":1}', { 'Transfer-Encoding': 'chunked' })
    assert.match(problemIn(chunks), /^503 service-busy: /)
    assert.equal((await ask('GET', '/events/1')).status, 200)
    assert.equal((await ask('DELETE', '/events/2')).status, 204)

    first.write('}')
    const [answer] = await once(first, 'data')
    assert.match(answer.toString(), /^HTTP\/1\.1 201 /)
    first.destroy()
    assert.equal((await ask('POST', '/events', '{"id":3}'.padStart(400_000))).status, 201)
    const packed = gzipSync('{"id":4}'.padStart(399_990))
    const unpacked = await ask('POST', '/events', packed, GZIP)
    assert.ok(problemIn(unpacked).startsWith(`${others} 399,999 of the 800,000 bytes`))

    second.destroy()
    while ((await ask('POST', '/events', packed, GZIP)).status === 503) await sleep(10)
    assert.deepEqual((await store.head('events'))?.live, 4)
  })
})

describe('complete bodies', () => {
  const LIMITS = { ...DEFAULT_LIMITS, bodyBytes: 1_000_000, requestItems: 1_000 }

  it('wait in line for the memory to process them, however many tokens send them', async () => {
    const shareOf = createBodyMemory(LIMITS, 1)
    const [first, large, small] = [shareOf('a'), shareOf('b'), shareOf('c')]
    assert.equal(first.process(900_000), undefined)
    const order: string[] = []
    const waits = [
      large.process(1_000_000)?.then(() => order.push('large')),
      small.process(20_000)?.then(() => order.push('small')),
    ]
    await new Promise(setImmediate)
    assert.deepEqual(order, [])
    first.release()
    await waits[0]
    await new Promise(setImmediate)
    assert.deepEqual(order, ['large'])
    large.release()
    await waits[1]
    small.release()
    assert.equal(shareOf('d').process(1_000_000), undefined)
  })

  it('never keep a small one waiting', async () => {
    const shareOf = createBodyMemory(LIMITS, 1)
    const first = shareOf('a')
    assert.equal(first.process(1_000_000), undefined)
    const second = shareOf('a').process(1_000_000)
    assert.ok(second instanceof Promise)
    assert.equal(shareOf('b').process(100), undefined)
    first.release()
    await second
  })

  it('use what large ones leave, if there are many small ones', () => {
    const shareOf = createBodyMemory(LIMITS, 1)
    const waits = Array.from({ length: 8 }, () => shareOf('a').process(16_000))
    assert.deepEqual(waits, Array(8).fill(undefined))
  })

  it('are processed together as far as there is memory for them', async () => {
    const shareOf = createBodyMemory(LIMITS, 2)
    const shares = [shareOf('a'), shareOf('a'), shareOf('b')]
    const waits = shares.map((share) => share.process(1_000_000))
    assert.deepEqual(waits.slice(0, 2), [undefined, undefined])
    assert.ok(waits[2] instanceof Promise)
    shares[0]?.release()
    await waits[2]
  })

  it('get 503 if that takes too long', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const shareOf = createBodyMemory(LIMITS, 1)
    const first = shareOf('a')
    assert.equal(first.process(1_000_000), undefined)
    const late = shareOf('b').process(1_000_000)
    t.mock.timers.tick(30_000)
    await assert.rejects(late ?? Promise.resolve(), { problem: 'service-busy' })
    first.release()
    assert.equal(shareOf('c').process(1_000_000), undefined)
  })

  it('go on when a larger one before them gave up, as far as there is memory', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const shareOf = createBodyMemory(LIMITS, 1)
    assert.equal(shareOf('a').process(700_000), undefined)
    const large = shareOf('b').process(1_000_000)
    t.mock.timers.tick(10_000)
    let hasStarted = false
    void shareOf('c')
      .process(20_000)
      ?.then(() => {
        hasStarted = true
      })
    t.mock.timers.tick(20_000)
    await assert.rejects(large ?? Promise.resolve(), { problem: 'service-busy' })
    await new Promise(setImmediate)
    assert.ok(hasStarted)
  })
})
