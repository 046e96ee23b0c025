/** A page that has room before it in memory, into which the head of its answer can be written, once for each client. */

import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ListenOptions } from '../../../src/service/node/listen.ts'
import type { RequestRecord } from '../../../src/service/request-record.ts'
import { waitUntil } from '../../wait-until.ts'
import { answersOn, answersTo, listenFor, openSocket } from '../raw-http.ts'
import { isWhole } from '../whole.ts'

const ROOM = 8_192
const CLOSE = 'GET /close HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
const SLOW_CLIENTS = isWhole() ? 6 : 2

function get(target: string, lines = ''): string {
  return `GET ${target} HTTP/1.1\r\nHost: a\r\n${lines}\r\n`
}

/** Two servers with one page for all, in memory with room before it. The answer says what it is for. */
async function servePage(
  t: TestContext,
  length: number,
  options: Partial<ListenOptions> = {},
  noteOf = (_: string) => 'n',
) {
  const memory = Buffer.alloc(ROOM + length, 'x')
  const body = memory.subarray(ROOM)
  const records: RequestRecord[] = []
  const listenOptions: ListenOptions = {
    reply: async ({ target }) => ({
      status: 200,
      headers: { 'Content-Length': String(length), 'X-Target': target, 'X-Note': noteOf(target) },
      body,
      room: ROOM,
    }),
    onRequestEnd: (record) => records.push(record),
    onError: () => {},
    ...options,
  }
  const { port } = await listenFor(t, listenOptions)
  const other = await listenFor(t, listenOptions)
  return { port, otherPort: other.port, memory, body, records }
}

describe('a page with room before it', () => {
  it('has the same head as one without', async (t) => {
    const { port, memory, body } = await servePage(t, 40_000)
    const [joined, ordinary] = await answersTo(port, `${get('/a')}${CLOSE}`)
    assert.ok(memory.subarray(0, ROOM).includes('HTTP/1.1 200 OK'), 'The head was not written before the page.')
    const heads = `HEAD /a HTTP/1.1\r\nHost: a\r\n\r\n${CLOSE.replace('GET', 'HEAD')}`
    const [plain] = await answersTo(port, heads, { isHead: true })
    for (const name of ['content-length', 'x-target', 'connection', 'keep-alive'])
      assert.equal(joined?.headers.get(name), plain?.headers.get(name), name)
    assert.deepEqual([...(joined?.headers.keys() ?? [])], [...(plain?.headers.keys() ?? [])])
    assert.ok(Math.abs(Date.parse(joined?.headers.get('date') ?? '') - Date.now()) < 30_000)
    assert.deepEqual([joined?.body, ordinary?.body], [body, body])
  })

  it('is sent to clients of every kind', async (t) => {
    const { port, body } = await servePage(t, 40_000)
    for (const [request, connections] of [
      [CLOSE, ['close']],
      [get('/a', 'Connection: te, Close\r\n'), ['close']],
      ['GET /a HTTP/1.0\r\n\r\n', ['close']],
      ['GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /b HTTP/1.0\r\n\r\n', ['keep-alive', 'close']],
      [get('/a', 'Connection: upgrade\r\nUpgrade: websocket\r\n'), ['close']],
    ] as const) {
      const answers = await answersTo(port, request)
      assert.deepEqual(
        answers.map(({ status, headers, body: got }) => [status, headers.get('connection'), got.equals(body)]),
        connections.map((connection) => [200, connection, true]),
      )
    }
    const [head] = await answersTo(port, CLOSE.replace('GET', 'HEAD'), { isHead: true })
    assert.deepEqual([head?.status, head?.headers.get('content-length'), head?.body.length], [200, '40000', 0])
  })

  it('is sent also where the head is too long for the room, or is not plain ASCII', async (t) => {
    for (const note of ['n'.repeat(ROOM), 'naïve']) {
      const { port, body } = await servePage(t, 40_000, {}, () => note)
      const answers = await answersTo(port, `${get('/a')}${CLOSE}`)
      assert.equal(answers.length, 2)
      for (const answer of answers)
        assert.deepEqual([answer.headers.get('x-note'), answer.body.equals(body)], [note, true])
    }
  })

  it('lets no value end a line', async (t) => {
    for (const note of ['a\r\nX-Evil: 1', 'a\nX-Evil: 1', '\u010d\u010aX-Evil: 1']) {
      const { port } = await servePage(t, 40_000, {}, () => note)
      const answers = await answersTo(port, `${get('/a')}${CLOSE}`)
      assert.deepEqual([answers.length, answers[0]?.status, answers[0]?.headers.has('x-evil')], [1, 500, false])
    }
  })

  // The longer the head of a small body, the sooner a client that reads nothing leaves a part of it in the memory of all.
  for (const [length, count, noteLength] of [
    [250_000, 60, 50],
    [200, 1_200, 7_000],
  ] as const)
    it(`is sent to all as it is, with the head of each, while some are slow to take ${length} bytes`, async (t) => {
      const noteOf = (target: string) => target.padEnd(noteLength, target)
      const { port, otherPort, body, records } = await servePage(t, length, { unsentBytes: 1e9 }, noteOf)
      const ask = async (client: string, count: number, askedPort = port) => {
        const targets = Array.from({ length: count }, (_, at) => `/${client}/${at}`)
        const socket = await openSocket(askedPort)
        socket.pause().write(targets.map((target) => get(target)).join('') + CLOSE)
        return async () => {
          const answers = await answersOn(socket)
          assert.deepEqual(
            answers.map(({ headers }) => headers.get('x-note')),
            [...targets, '/close'].map(noteOf),
          )
          assert.ok(answers.every((answer) => answer.body.equals(body)))
        }
      }
      const clients = Array.from({ length: SLOW_CLIENTS }, (_, client) => ask(`slow-${client}`, count))
      const slow = await Promise.all(clients)
      const countAnswered = () => records.filter(({ path }) => path.startsWith('/slow')).length
      for (let [before, now] = [-1, 0]; before < now || now === 0; now = countAnswered()) {
        before = now
        for (const askedPort of [port, otherPort]) await (await ask('quick', 20, askedPort))()
        await sleep(50)
      }
      assert.ok(countAnswered() < SLOW_CLIENTS * count, 'They read nothing, and got all.')
      for (const assertAnswers of slow) await assertAnswers()
      assert.ok(records.every(({ status, isAborted, bytes }) => status === 200 && !isAborted && bytes === length))
    })

  it('is recorded as broken off where its client is gone, and the next one gets it', async (t) => {
    const { port, body, records } = await servePage(t, 250_000)
    await leaveInTheMiddle(port, records)
    const [answer] = await answersTo(port, `${get('/next')}${CLOSE}`)
    assert.deepEqual([answer?.headers.get('x-target'), answer?.body.equals(body)], ['/next', true])
  })

  /** A server with a page for each request, named by the first letter of the target, and the targets that were sent. */
  async function serveOwnPages(t: TestContext) {
    const [sent, records]: [string[], RequestRecord[]] = [[], []]
    const { port } = await listenFor(t, {
      reply: async ({ target }) => {
        const body = Buffer.alloc(ROOM + 250_000, target[1]).subarray(ROOM)
        const onSent = () => {
          sent.push(target)
          body.fill('?')
        }
        return { status: 200, headers: { 'Content-Length': '250000' }, body, room: ROOM, onSent }
      },
      onRequestEnd: (record) => records.push(record),
    })
    return { port, sent, records }
  }

  it('is given up to whoever made it, once it was sent', async (t) => {
    const { port, sent } = await serveOwnPages(t)
    const answers = await answersTo(port, `${get('/a')}${get('/b')}${get('/c')}${CLOSE}`)
    assert.deepEqual(
      answers.map(({ body }) => body.toString()),
      [...'abcc'].map((letter) => letter.repeat(250_000)),
    )
    assert.deepEqual(sent, ['/a', '/b', '/c', '/close'])
  })

  it('is given up to whoever made it, once its client is gone', async (t) => {
    const { port, sent, records } = await serveOwnPages(t)
    await leaveInTheMiddle(port, records)
    assert.equal(sent.length, records.filter(({ status }) => status === 200).length)
  })
})

/** Asks for more than the system buffers, reads nothing, and is gone. */
async function leaveInTheMiddle(port: number, records: readonly RequestRecord[]): Promise<void> {
  const socket = await openSocket(port)
  socket.pause()
  socket.write(get('/gone').repeat(100))
  for (let before = -1; before < records.length || records.length === 0; await sleep(50)) before = records.length
  socket.resetAndDestroy()
  await waitUntil(() => records.some(({ isAborted }) => isAborted))
}
