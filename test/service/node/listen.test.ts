import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createService, type Service } from '../../../src/service/create-service.ts'
import { type ListenOptions, listen } from '../../../src/service/node/listen.ts'
import { waitUntil } from '../../wait-until.ts'
import { fill, numbered, problemOf } from '../open-service.ts'
import {
  answersOn,
  answersTo,
  askRaw,
  listenFor,
  openSocket,
  parseAnswers,
  type RawAnswer,
  readToEnd,
  refusesConnections,
} from '../raw-http.ts'
import { sharedWriteServer } from '../write-server.ts'

const CLOSE = 'Host: 127.0.0.1\r\nConnection: close\r\n\r\n'

const DONE = { status: 200, headers: { 'Content-Length': '4' }, body: 'done' }
const POST = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n'

const urlOf = (port: number) => `http://127.0.0.1:${port}`

function assertProblem(answer: RawAnswer | undefined, status: number, name: string, url: string): void {
  assert.equal(answer?.headers.get('content-type'), 'application/problem+json')
  const problem = JSON.parse(String(answer?.body))
  assert.deepEqual([answer?.status, problem.status, problem.type], [status, status, `${url}/-/problems/${name}`])
}

describe('over a socket', () => {
  const server = sharedWriteServer(({ store }) => fill(store, 'events', numbered(600)))

  test('a client that sends many requests ahead and takes no answer has one made, and later all', async (t) => {
    let made = 0
    const body = Buffer.alloc(10_000_000)
    const reply = async () => {
      made++
      return { status: 200, headers: { 'Content-Length': String(body.length) }, body }
    }
    const { port } = await listenFor(t, { reply })
    const socket = await openSocket(port)
    socket.write('GET /a HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(5))
    socket.write(`GET /a HTTP/1.1\r\n${CLOSE}`)
    while (made === 0) await new Promise(setImmediate)
    assert.equal((await (await fetch(`${urlOf(port)}/b`)).arrayBuffer()).byteLength, body.length)
    assert.equal(made, 2)
    assert.equal((await answersOn(socket)).length, 6)
    assert.equal(made, 7)
  })

  test('the host of a target counts, not the header, nor what a proxy says', async (t) => {
    let service: Service | undefined
    const { port } = await listenFor(t, { reply: (request) => service?.reply(request) ?? assert.fail() })
    service = createService({ store: server().store, loopbackPort: port })
    const own = `http://localhost:${port}/events`
    const head = `GET ${own} HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: evil.example\r\n`
    const { body } = await askRaw(port, `${head}Connection: close\r\n\r\n`)
    assert.equal(JSON.parse(body.toString())._links.first.href, own)
  })

  test('a body on a GET is ignored and the connection goes on', async () => {
    const withBody = 'GET /events/7 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello'
    const answers = await answersTo(server().port, `${withBody}${withBody}GET /events/8 HTTP/1.1\r\n${CLOSE}`)
    const bodies = answers.map(({ body }) => body.toString())
    assert.deepEqual(bodies, ['{"id":7}', '{"id":7}', '{"id":8}'])
  })

  test('a GET whose body comes late is answered when it is there, and no reset loses the answer', async () => {
    const size = 3_000_000
    const socket = await openSocket(server().port)
    socket.write(`HEAD /events/7 HTTP/1.1\r\nContent-Length: ${size}\r\n${CLOSE}`)
    for (let sent = 0; sent < size; sent += size / 4) {
      await sleep(20)
      assert.equal(socket.bytesRead, 0)
      socket.write(Buffer.alloc(size / 4))
    }
    const [answer, ...others] = parseAnswers(await readToEnd(socket), true)
    assert.deepEqual([answer?.status, others], [200, []])
  })

  test('a GET whose body does not come is answered all the same, and the connection ends', async () => {
    const head = 'GET /events/7 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n'
    const [answer, ...others] = await answersTo(server().port, `${head}hell`)
    assert.deepEqual([answer?.body.toString(), answer?.headers.get('connection'), others], ['{"id":7}', 'close', []])
  })

  test('HTTP/1.0 needs no Host, and an upgrade or an expectation that nobody knows is passed over', async () => {
    for (const [request, body] of [
      ['GET /events/7 HTTP/1.0\r\n\r\n', '{"id":7}'],
      ['GET /events/7 HTTP/1.1\r\nUpgrade: websocket\r\nHost: a\r\nConnection: upgrade, close\r\n\r\n', '{"id":7}'],
      [`GET /events/8 HTTP/1.1\r\nExpect: wonders\r\n${CLOSE}`, '{"id":8}'],
    ] as const)
      assert.equal((await askRaw(server().port, request)).body.toString(), body)
  })

  const wrong: readonly (readonly [what: string, request: string, status: number, problem: string])[] = [
    ['a URL of 20 KB', `GET /events?${'x'.repeat(20_000)} HTTP/1.1\r\n${CLOSE}`, 431, 'header-too-large'],
    ['a URL longer than is read', `GET /events?${'x'.repeat(3_000_000)} HTTP/1.1\r\n${CLOSE}`, 431, 'header-too-large'],
    ...[
      'NONSENSE\r\n\r\n',
      `CONNECT example.com:443 HTTP/1.1\r\n${CLOSE}`,
      `MADEUP /events HTTP/1.1\r\n${CLOSE}`,
      `get /events HTTP/1.1\r\n${CLOSE}`,
      `GET /events http/1.1\r\n${CLOSE}`,
      `GET /events HTTPS/1.1\r\n${CLOSE}`,
      `GET events HTTP/1.1\r\n${CLOSE}`,
      `GET /a\\b HTTP/1.1\r\n${CLOSE}`,
      `GET http:// HTTP/1.1\r\n${CLOSE}`,
      `GET http://me:secret@127.0.0.1/events HTTP/1.1\r\n${CLOSE}`,
      `GET http://me@127.0.0.1/events HTTP/1.1\r\n${CLOSE}`,
      'GET /events HTTP/1.1\r\nConnection: close\r\n\r\n',
      `GET /events HTTP/1.1\r\nHost: evil.example\r\n${CLOSE}`,
      ...['a b', 'a/b?c', 'a@b'].map((host) => `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`),
      'GET /events HTTP/1.1\r\nHost: a\r\nno colon here\r\n\r\n',
      '\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03 a TLS greeting',
    ].map((request) => [JSON.stringify(request).slice(0, 70), request, 400, 'malformed-request'] as const),
    // RFC 9110 would let 1.2 be read as 1.1, but there is no such version, and the parser refuses it.
    ...['HTTP/0.9', 'HTTP/1.2', 'HTTP/1.10', 'HTTP/2', 'HTTP/2.0', 'HTTP/3.0', 'HTTP/9.9'].flatMap((version) =>
      ['GET', 'POST'].map((method) => {
        const line = `${method} /events ${version}`
        return [line, `${line}\r\nHost: a\r\nContent-Length: 0\r\n\r\n`, 505, 'http-version-not-supported'] as const
      }),
    ),
    ['no version', 'GET /events\r\n\r\n', 505, 'http-version-not-supported'],
  ]
  for (const [what, request, status, problem] of wrong)
    test(`a request that cannot be read is a problem: ${what}`, async () => {
      const { port } = server()
      assertProblem(await askRaw(port, request), status, problem, urlOf(port))
    })

  test('nothing after a request of another HTTP version is done', async () => {
    const other = 'GET /events/7 HTTP/2.0\r\nHost: a\r\n\r\n'
    const one = 'GET /events/7 HTTP/1.1\r\nHost: a\r\n\r\n'
    const answers = await answersTo(server().port, `${one}${other}${one}`)
    const seen = answers.map(({ status, headers }) => `${status} ${headers.get('connection')}`)
    assert.deepEqual(seen, ['200 keep-alive', '505 close'])
  })

  test('one that does not arrive is a 408 problem, with the base URL that was set', async (t) => {
    const options: Partial<ListenOptions> = { headersTimeoutMs: 100, baseUrl: 'https://api.example.com/v1' }
    const { port } = await listenFor(t, { reply: () => assert.fail(), ...options })
    const answer = await askRaw(port, 'GET /events HTTP/1.1\r\nHost: a')
    assertProblem(answer, 408, 'request-timeout', 'https://api.example.com/v1')
  })

  test('a port in use rejects with the code of the system', async () => {
    await assert.rejects(listen({ port: server().port, reply: () => assert.fail() }), { code: 'EADDRINUSE' })
  })
})

test('the load of a server is its connections, the requests that run, and those that wait behind them', async (t) => {
  const held = Promise.withResolvers<typeof DONE>()
  const { port, load } = await listenFor(t, { reply: () => held.promise })
  const becomes = (...expected: readonly number[]) =>
    waitUntil(() => {
      const { connections, runningRequests, waitingRequests } = load()
      return [connections, runningRequests, waitingRequests].join() === expected.join()
    })
  await becomes(0, 0, 0)
  const idle = await openSocket(port)
  const pipelined = await openSocket(port)
  pipelined.end('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(3))
  await becomes(2, 1, 2)
  held.resolve(DONE)
  assert.equal((await answersOn(pipelined)).length, 3)
  await becomes(1, 0, 0)
  idle.destroy()
  await becomes(0, 0, 0)
})

describe('closing', () => {
  test('ends idle connections and those that never sent anything, long before the time of grace', async (t) => {
    const { port, close } = await listenFor(t, { reply: async () => DONE })
    const silent = await openSocket(port)
    const idle = await openSocket(port)
    idle.write('GET /events/7 HTTP/1.1\r\nHost: a\r\n\r\n')
    await once(idle, 'data')
    const ends = [silent, idle].map((socket) => readToEnd(socket))
    await Promise.all([close(600_000), close()])
    await Promise.all(ends)
  })

  test('lets running requests end, also with a broken one behind them, and takes no new connection', async (t) => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>()
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>()
    const { port, close } = await listenFor(t, {
      reply: async () => {
        arrive()
        await gate
        return DONE
      },
    })
    const socket = await openSocket(port)
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\nNONSENSE\r\n\r\n')
    await arrived
    const closed = close(600_000)
    await refusesConnections(port)
    open()
    const [running, broken] = await answersOn(socket)
    assert.equal(running?.body.toString(), 'done')
    assertProblem(broken, 400, 'malformed-request', urlOf(port))
    await closed
  })

  // A proxy keeps connections for a minute, and uses any of them for its next request.
  for (const idleMs of [0, 700])
    test(`answers once more on a connection that was idle for ${idleMs} ms, and tells the client that this was the last`, async (t) => {
      const { port, close } = await listenFor(t, { reply: async () => DONE })
      const socket = await openSocket(port)
      socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
      const [first] = (await once(socket, 'data')) as [Buffer]
      assert.equal(parseAnswers(first)[0]?.headers.get('connection'), 'keep-alive')
      await sleep(idleMs)
      const closed = close(600_000)
      await refusesConnections(port)
      socket.write(POST)
      const [second, ...others] = await answersOn(socket)
      assert.deepEqual([second?.status, second?.headers.get('connection'), others.length], [200, 'close', 0])
      await closed
    })

  test('keeps idle connections open while a proxy still uses them one after the other', async (t) => {
    const { port, close } = await listenFor(t, { reply: async () => DONE })
    const sockets = await Promise.all(Array.from({ length: 3 }, () => openSocket(port)))
    // When a later connection gets an answer, the server has accepted those before it.
    await fetch(urlOf(port))
    const closed = close(600_000)
    await refusesConnections(port)
    for (const socket of sockets) {
      await sleep(200)
      socket.write(POST)
      const [answer] = await answersOn(socket)
      assert.deepEqual([answer?.status, answer?.headers.get('connection')], [200, 'close'])
    }
    await closed
  })

  test('cuts off what is left after the time of grace', async (t) => {
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>()
    const { port, close } = await listenFor(t, {
      reply: () => {
        arrive()
        return new Promise(() => {})
      },
    })
    const running = assert.rejects(fetch(urlOf(port)))
    await arrived
    await close(50)
    await running
  })
})

test('a service that fails to answer is answered for, and the next request is served', async (t) => {
  t.mock.method(console, 'error', () => {})
  const broken: readonly ListenOptions['reply'][] = [
    () => assert.fail('no promise'),
    async () => assert.fail('no answer'),
    async () => ({ status: 200, headers: { 'X-Broken': 'line\nbreak' }, body: '' }),
  ]
  for (const reply of broken) {
    const { port } = await listenFor(t, { reply })
    const answer = await fetch(`${urlOf(port)}/events`)
    assert.equal(answer.status, 500)
    assert.match((await problemOf(answer)).type, /internal-error$/)
  }
})
