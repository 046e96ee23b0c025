import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fill, numbered } from './open-service.ts'
import { answersOn, answersTo, openSocket } from './raw-http.ts'
import { chunked, JSON_TYPE, NOBODY, problemInRaw, sharedWriteServer, type WriteServer } from './write-server.ts'

const announcing = (length: number) => ({ ...JSON_TYPE, 'Content-Length': String(length) })
const CHUNKED = { ...JSON_TYPE, 'Transfer-Encoding': 'chunked' }

const fillEvents = ({ store }: WriteServer) => fill(store, 'events', numbered(2))

async function assertGoesOn({ ask, store }: WriteServer, live = 2): Promise<void> {
  assert.equal((await store.head('events'))?.live, live)
  assert.equal((await ask('GET', '/events/1')).text, '{"id":1}')
}

describe('a body that does not come to its end', () => {
  const server = sharedWriteServer(fillEvents)
  const broken: readonly (readonly [what: string, headers: Record<string, string>, body: string])[] = [
    ['shorter than its length', announcing(100), '{"id":7}'],
    ['without its last chunk', CHUNKED, '8\r\n{"id":7}\r\n'],
    ['that breaks off in a chunk', CHUNKED, '80\r\n{"id":7}'],
  ]
  for (const [what, headers, body] of broken)
    it(`is 400 and writes nothing when it is one ${what}, nor when the connection is lost there`, async () => {
      const { port, headOf } = server()
      const text = headOf('POST', '/events', headers) + body
      const [answer, ...more] = await answersTo(port, text, { isHalfClosed: true })
      assert.equal(problemInRaw(answer), '400 invalid-body: The body is truncated.')
      assert.deepEqual([answer?.headers.get('connection'), more.length], ['close', 0])
      const lost = await openSocket(port)
      lost.write(text)
      await sleep(20)
      lost.resetAndDestroy()
      await once(lost, 'close')
      await assertGoesOn(server())
    })

  it('is 400 at once where a chunk is wrong, and leaves the answers to the requests before it whole', async () => {
    const { port, headOf } = server()
    const good = `${headOf('PUT', '/events/2', announcing(8))}{"id":2}`
    for (const bad of ['zz\r\n', '8\r\n{"id":7}\r\nzz\r\n', '8\r\n{"id":7}\r\n-1\r\n', '8\r\n{"id":7}garbage']) {
      const answers = await answersTo(port, `${good}${good}${headOf('POST', '/events', CHUNKED)}${bad}`)
      assert.deepEqual([answers.length, answers[0]?.status, answers[1]?.status], [3, 200, 200])
      assert.equal(problemInRaw(answers[2]), '400 malformed-request: The body is not valid HTTP/1.1.')
    }
    await assertGoesOn(server())
  })

  it('is refused with two lengths, or with a length and chunks', async () => {
    for (const second of [{ 'Transfer-Encoding': 'chunked' }, { 'content-length': '9' }]) {
      const text = server().headOf('POST', '/events', { ...announcing(8), ...second })
      assert.match(problemInRaw((await answersTo(server().port, `${text}{"id":7}`))[0]), /^400 malformed-request: /)
    }
    await assertGoesOn(server())
  })
})

describe('a body that comes too slowly', () => {
  const server = sharedWriteServer(fillEvents, { listen: { requestTimeoutMs: 200 } })

  it('is 408 and writes nothing, when it stops', async () => {
    const text = `${server().headOf('POST', '/events', announcing(8))}{"id"`
    const [answer, ...more] = await answersTo(server().port, text)
    assert.match(problemInRaw(answer), /^408 request-timeout: The body of the request was not complete in time\.$/)
    assert.equal(answer?.headers.get('connection'), 'close')
    assert.equal(more.length, 0)
    await assertGoesOn(server())
  })

  it('is 408 all the same when a byte comes now and then', async () => {
    const socket = await openSocket(server().port)
    socket.write(server().headOf('POST', '/events', announcing(100_000)))
    const drip = setInterval(() => socket.write(' '), 20)
    for (const event of ['end', 'error', 'close']) socket.once(event, () => clearInterval(drip))
    assert.match(problemInRaw((await answersOn(socket))[0]), /^408 request-timeout: /)
    await assertGoesOn(server())
  })
})

describe('a body that need not be read', () => {
  const server = sharedWriteServer(fillEvents, { limits: { bodyBytes: 100_000 } })

  it('is never asked for when the client waits to be: the refusal comes instead', async () => {
    const { port, headOf } = server()
    for (const [path, headers, status] of [
      ['/events', { ...announcing(50_000), ...NOBODY }, 401],
      ['/events', { ...announcing(50_000), Authorization: 'Bearer x' }, 401],
      ['/events', { 'Content-Type': 'text/plain', 'Content-Length': '50000' }, 415],
      ['/events', announcing(100_001), 413],
      ['/Events', announcing(50_000), 400],
      ['/events', { ...announcing(50_000), 'Idempotency-Key': 'a b' }, 400],
      ['/events', { ...announcing(50_000), 'Content-Encoding': 'br' }, 415],
    ] as const) {
      const [answer, ...more] = await answersTo(port, headOf('POST', path, { ...headers, Expect: '100-continue' }))
      assert.deepEqual([answer?.status, answer?.headers.get('connection'), more.length], [status, 'close', 0])
    }
    await assertGoesOn(server())
  })

  it('is asked for once when it is wanted, and the connection goes on', async () => {
    const { port, headOf, store } = server()
    const socket = await openSocket(port)
    socket.write(headOf('PUT', '/events/1', { ...announcing(8), Expect: '100-continue' }))
    const [first] = await once(socket, 'data')
    assert.equal(first.toString(), 'HTTP/1.1 100 Continue\r\n\r\n')
    const before = (await store.head('events'))?.version ?? 0
    socket.write(`{"id":1}${headOf('GET', '/events/1', { Connection: 'close' })}`)
    const [put, get, ...more] = await answersOn(socket)
    assert.deepEqual([put?.status, get?.body.toString(), more.length], [200, '{"id":1}', 0])
    assert.equal((await store.head('events'))?.version, before + 1)
  })

  it('is passed over when it comes with a request that is refused, and the connection goes on', async () => {
    const { askTwice } = server()
    for (const [method, path, headers, status] of [
      ['POST', '/events', NOBODY, 401],
      ['PUT', '/events/1', NOBODY, 401],
      ['PATCH', '/events', {}, 415],
      ['DELETE', '/events', {}, 428],
      ['POST', '/events', { 'Content-Type': 'text/plain' }, 415],
    ] as const) {
      const [refused, next, ...more] = await askTwice(method, path, 'x'.repeat(90_000), headers)
      assert.deepEqual([refused?.status, next?.body.toString(), more.length], [status, '{"id":1}', 0])
    }
  })

  it('does not have to be sent when it would be too large: the refusal comes, and then the end', async () => {
    const { port, headOf } = server()
    const endless = chunked('x'.repeat(60_000), 'x'.repeat(60_000)).subarray(0, -5)
    const answers = await Promise.all([
      answersTo(port, headOf('POST', '/events', announcing(1_000_000_000))),
      answersTo(port, headOf('POST', '/events', CHUNKED) + endless),
    ])
    const tooLarge = '413 content-too-large: The body has'
    assert.deepEqual(
      answers.flatMap((each) => each.map(problemInRaw)),
      [
        `${tooLarge} 1,000,000,000 bytes; the limit is 100,000 (--body-bytes).`,
        `${tooLarge} more than 100,000 bytes (--body-bytes).`,
      ],
    )
    await assertGoesOn(server())
  })
})

describe('a body in tiny chunks', () => {
  const server = sharedWriteServer(fillEvents)
  it('is taken like any other', async () => {
    const items = numbered(600, 10)
    const [answer, next] = await server().askTwice('POST', '/events', chunked(...`[${items.join()}]`), CHUNKED)
    assert.equal(answer?.status, 201, answer?.body.toString())
    assert.equal(next?.status, 200)
    await assertGoesOn(server(), 602)
    assert.equal((await server().ask('GET', '/events/609')).text, '{"id":609}')
  })

  it('is taken with a byte-order mark that is cut in two', async () => {
    const bytes = [...Buffer.from('\ufeff [{"id":5000}]')].map((byte) => Buffer.of(byte))
    const [answer] = await server().askTwice('POST', '/events', chunked(...bytes), CHUNKED)
    assert.equal(answer?.status, 201, answer?.body.toString())
  })
})
