import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { createService } from '../../src/service/create-service.ts'
import { BASE, fill, numbered } from './open-service.ts'
import { openSocket } from './raw-http.ts'
import { problemIn, sharedWriteServer, startWriteServer, type WriteServer } from './write-server.ts'

const JSON_TYPE = { 'Content-Type': 'application/json' }

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
      [`[${numbered(300_000, 1000).join()},{}]`, { 'Idempotency-Key': 'abc' }, 413],
      [`[${'{"id":7},'.repeat(90_000)}{}]`, {}, 400],
      [' '.repeat(20_000_000), {}, 400],
    ] as const) {
      const { status, turns } = await turnsUntilAnswered(Buffer.from(text), { ...token, ...headers })
      assert.equal(status, expected)
      assert.ok(turns > (text.length === 20_000_000 ? 100 : 10), `${turns} turns`)
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
    assert.match(
      problemIn(refused),
      /^503 service-busy: Other requests with this token hold 799,998 of the 800,000 bytes of memory for bodies/,
    )
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
    const unpacked = await ask('POST', '/events', packed, { 'Content-Encoding': 'gzip' })
    assert.match(
      problemIn(unpacked),
      /^503 service-busy: Other requests with this token hold 399,999 of the 800,000 bytes/,
    )

    second.destroy()
    while ((await ask('POST', '/events', packed, { 'Content-Encoding': 'gzip' })).status === 503) await sleep(10)
    assert.deepEqual((await store.head('events'))?.live, 4)
  })
})
