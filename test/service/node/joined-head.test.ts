import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ListenOptions } from '../../../src/service/node/listen.ts'
import type { RequestRecord } from '../../../src/service/request-record.ts'
import { answersTo, listenFor, openSocket, parseAnswers, readToEnd } from '../raw-http.ts'

const ROOM = 1_024
const CLOSE = 'GET /close HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'

function get(target: string, lines = ''): string {
  return `GET ${target} HTTP/1.1\r\nHost: a\r\n${lines}\r\n`
}

/** Two servers with one page for all, in memory with room before it. The answer says what it is for. */
async function servePage(t: TestContext, length: number, options: Partial<ListenOptions> = {}, note?: string) {
  const memory = Buffer.alloc(ROOM + length, 'x')
  const body = memory.subarray(ROOM)
  const records: RequestRecord[] = []
  const listenOptions: ListenOptions = {
    reply: async ({ target }) => ({
      status: 200,
      headers: { 'Content-Length': String(length), 'X-Target': target, ...(note !== undefined && { 'X-Note': note }) },
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

/** Whether the head of an answer was written into the memory of the page. */
function wasJoined(memory: Buffer): boolean {
  return memory.subarray(0, ROOM).includes('HTTP/1.1 200 OK')
}

describe('a page with room before it', () => {
  it('has the same head as one without', async (t) => {
    const { port, memory, body } = await servePage(t, 40_000)
    const [joined, ordinary] = await answersTo(port, `${get('/a')}${CLOSE}`)
    assert.ok(wasJoined(memory))
    const [plain] = parseAnswers(await firstOf(port, `HEAD /a HTTP/1.1\r\nHost: a\r\n\r\n`), true)
    for (const name of ['content-length', 'x-target', 'connection', 'keep-alive'])
      assert.equal(joined?.headers.get(name), plain?.headers.get(name), name)
    assert.deepEqual([...(joined?.headers.keys() ?? [])], [...(plain?.headers.keys() ?? [])])
    assert.ok(Math.abs(Date.parse(joined?.headers.get('date') ?? '') - Date.now()) < 10_000)
    assert.deepEqual([joined?.body, ordinary?.body], [body, body])
  })

  const others: Readonly<Record<string, string>> = {
    'a client that wants the connection closed': CLOSE,
    'one that says so among others': get('/a', 'Connection: te, Close\r\n'),
    'HTTP/1.0': 'GET /a HTTP/1.0\r\n\r\n',
    'HTTP/1.0 that goes on': 'GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /b HTTP/1.0\r\n\r\n',
    'an upgrade': get('/a', 'Connection: upgrade\r\nUpgrade: websocket\r\n'),
    'a request for the head alone': 'HEAD /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
  }
  for (const [what, request] of Object.entries(others))
    it(`is sent by node:http for ${what}`, async (t) => {
      const { port, memory, body } = await servePage(t, 40_000)
      const isHead = request.startsWith('HEAD')
      const answers = await answersTo(port, request, { isHead })
      assert.ok(answers.length > 0)
      for (const { status, body: got } of answers)
        assert.deepEqual([status, got], [200, isHead ? Buffer.alloc(0) : body])
      assert.ok(!wasJoined(memory))
    })

  it('is sent by node:http where the head is too long, or is not plain ASCII', async (t) => {
    for (const note of ['n'.repeat(ROOM), 'naïve']) {
      const { port, memory, body } = await servePage(t, 40_000, {}, note)
      const answers = await answersTo(port, `${get('/a')}${CLOSE}`)
      assert.deepEqual(
        answers.map((answer) => [answer.headers.has('x-note'), answer.body]),
        [
          [true, body],
          [true, body],
        ],
      )
      assert.ok(!wasJoined(memory))
    }
  })

  it('lets no value end a line', async (t) => {
    for (const note of ['a\r\nX-Evil: 1', 'a\nX-Evil: 1', '\u010d\u010aX-Evil: 1']) {
      const { port } = await servePage(t, 40_000, {}, note)
      const answers = await answersTo(port, `${get('/a')}${CLOSE}`)
      assert.deepEqual([answers.length, answers[0]?.status, answers[0]?.headers.has('x-evil')], [1, 500, false])
    }
  })

  // The less stands in a body, the sooner a client that reads nothing leaves the head of one in the memory of all.
  for (const [length, count] of [
    [250_000, 60],
    [1_000, 6_000],
  ] as const)
    it(`is sent to all as it is, with the head of each, while some are slow to take ${length} bytes`, async (t) => {
      const { port, otherPort, body, records } = await servePage(t, length, { unsentBytes: 1e9 })
      const assertAnswers = (bytes: Buffer, targets: readonly string[]) => {
        const answers = parseAnswers(bytes)
        assert.deepEqual(
          answers.map(({ headers }) => headers.get('x-target')),
          [...targets, '/close'],
        )
        assert.ok(answers.every((answer) => answer.body.equals(body)))
      }
      const ask = async (client: string, count: number, askedPort = port) => {
        const targets = Array.from({ length: count }, (_, at) => `/${client}/${at}`)
        const socket = await openSocket(askedPort)
        socket.write(targets.map((target) => get(target)).join('') + CLOSE)
        return { socket, targets }
      }
      const slow = await Promise.all(
        Array.from({ length: 6 }, async (_, client) => {
          const asked = await ask(`slow-${client}`, count)
          asked.socket.pause()
          return asked
        }),
      )
      const countAnswered = (client: string) => records.filter(({ path }) => path.startsWith(`/${client}`)).length
      for (let [before, now] = [-1, 0]; before < now || now === 0; now = countAnswered('slow')) {
        before = now
        for (const askedPort of [port, otherPort]) {
          const { socket, targets } = await ask('quick', 20, askedPort)
          assertAnswers(await readToEnd(socket), targets)
        }
        await sleep(50)
      }
      assert.ok(countAnswered('slow') < 6 * count, 'They read nothing, and got all.')
      for (const { socket, targets } of slow) assertAnswers(await readToEnd(socket), targets)
      assert.ok(records.every(({ status, isAborted, bytes }) => status === 200 && !isAborted && bytes === length))
    })

  it('is recorded as broken off where its client is gone, and the next one gets it', async (t) => {
    const { port, body, records } = await servePage(t, 250_000)
    await leaveInTheMiddle(port, records)
    const [answer] = await answersTo(port, `${get('/next')}${CLOSE}`)
    assert.deepEqual([answer?.headers.get('x-target'), answer?.body.equals(body)], ['/next', true])
  })

  it('is given up to whoever made it, once it was sent', async (t) => {
    const sent: string[] = []
    const { port } = await listenFor(t, {
      reply: async ({ target }) => {
        const body = Buffer.alloc(ROOM + 90_000, target[1]).subarray(ROOM)
        const onSent = () => {
          sent.push(target)
          body.fill('?')
        }
        return { status: 200, headers: { 'Content-Length': '90000' }, body, room: ROOM, onSent }
      },
    })
    const answers = await answersTo(port, `${get('/a')}${get('/b')}${get('/c')}${CLOSE}`)
    const bodies = answers.map(({ body }) => body.toString())
    assert.deepEqual(
      bodies,
      [...'abc', 'c'].map((letter) => letter.repeat(90_000)),
    )
    assert.deepEqual(sent, ['/a', '/b', '/c', '/close'])
  })

  it('is given up to whoever made it, once its client is gone', async (t) => {
    const [sent, records]: [string[], RequestRecord[]] = [[], []]
    const { port } = await listenFor(t, {
      reply: async ({ target }) => {
        const body = Buffer.alloc(ROOM + 250_000, 'x').subarray(ROOM)
        return {
          status: 200,
          headers: { 'Content-Length': '250000' },
          body,
          room: ROOM,
          onSent: () => sent.push(target),
        }
      },
      onRequestEnd: (record) => records.push(record),
    })
    await leaveInTheMiddle(port, records)
    assert.equal(sent.length, records.filter(({ status }) => status === 200).length)
  })
})

/** Asks for more than the system buffers, reads nothing, and is gone. */
async function leaveInTheMiddle(port: number, records: readonly RequestRecord[]): Promise<void> {
  const socket = await openSocket(port)
  socket.pause()
  socket.write(get('/gone').repeat(100))
  while (records.length === 0) await sleep(5)
  await sleep(200)
  socket.resetAndDestroy()
  while (!records.some(({ isAborted }) => isAborted)) await sleep(5)
}

/** What comes first, on a connection that stays open. */
async function firstOf(port: number, request: string): Promise<Buffer> {
  const socket = await openSocket(port)
  socket.write(request)
  const [chunk] = await once(socket, 'data')
  socket.destroy()
  return chunk
}
