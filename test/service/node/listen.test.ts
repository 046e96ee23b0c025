import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, type TestContext, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { createService, type Service } from '../../../src/service/create-service.ts'
import { type Listening, type ListenOptions, listen } from '../../../src/service/node/listen.ts'
import { envelopeOf, fill, numbered, openService, problemOf } from '../open-service.ts'
import { askRaw, openSocket, parseAnswers, type RawAnswer, readToEnd, sendRaw } from '../raw-http.ts'

const CLOSE = 'Host: 127.0.0.1\r\nConnection: close\r\n\r\n'

/** A service with 600 events, on a port of its own. */
async function start(t: TestContext, options: Partial<ListenOptions> = {}): Promise<Listening & { url: string }> {
  const { store } = await openService(t)
  await fill(store, 'events', numbered(600))
  return startReply(t, { ...createService({ store }), ...options })
}

async function startReply(t: TestContext, options: ListenOptions): Promise<Listening & { url: string }> {
  const listening = await listen({ port: 0, ...options })
  t.after(() => listening.close(0))
  return { ...listening, url: `http://127.0.0.1:${listening.port}` }
}

function assertProblem(answer: RawAnswer, status: number, name: string, url: string): void {
  assert.equal(answer.status, status)
  assert.equal(answer.headers.get('content-type'), 'application/problem+json')
  const problem = JSON.parse(answer.body.toString())
  assert.equal(problem.status, status)
  assert.equal(problem.type, `${url}/-/problems/${name}`)
}

describe('over a socket', () => {
  test('gzip and identity are the same text to a common client, with exact lengths', async (t) => {
    const { url, port } = await start(t)
    for (const page of [1, 2]) {
      const plain = await fetch(`${url}/events?page=${page}`, { headers: { 'accept-encoding': 'identity' } })
      const gzip = await fetch(`${url}/events?page=${page}`, { headers: { 'accept-encoding': 'gzip' } })
      assert.equal(plain.headers.get('content-encoding'), null)
      assert.equal(gzip.headers.get('content-encoding'), 'gzip')
      const text = await plain.text()
      assert.equal(await gzip.text(), text)
      const raw = await askRaw(port, `GET /events?page=${page} HTTP/1.1\r\nAccept-Encoding: gzip\r\n${CLOSE}`)
      assert.equal(raw.headers.get('content-length'), String(raw.body.length))
      assert.equal(gunzipSync(raw.body).toString(), text)
    }
  })

  test('a client that sends many requests ahead and takes no answer has one made, and later all', async (t) => {
    let made = 0
    const body = Buffer.alloc(10_000_000)
    const reply = async () => {
      made++
      return { status: 200, headers: { 'Content-Length': String(body.length) }, body }
    }
    const { port, url } = await startReply(t, { reply })
    const socket = await openSocket(port)
    socket.write('GET /a HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(19))
    socket.write(`GET /a HTTP/1.1\r\n${CLOSE}`)
    while (made === 0) await new Promise(setImmediate)
    assert.equal((await (await fetch(`${url}/b`)).arrayBuffer()).byteLength, body.length)
    assert.equal(made, 2)
    assert.equal(parseAnswers(await readToEnd(socket)).length, 20)
    assert.equal(made, 21)
  })

  test('HEAD sends the headers of GET and not a byte more', async (t) => {
    const { port } = await start(t)
    for (const encoding of ['identity', 'gzip']) {
      const rest = ` /events HTTP/1.1\r\nAccept-Encoding: ${encoding}\r\n${CLOSE}`
      const get = await askRaw(port, `GET${rest}`)
      const head = await askRaw(port, `HEAD${rest}`)
      assert.equal(head.status, 200)
      for (const name of ['content-type', 'content-length', 'etag', 'vary', 'cache-control', 'content-encoding'])
        assert.equal(head.headers.get(name), get.headers.get(name), name)
    }
  })

  test('304 has no body and no length', async (t) => {
    const { url, port } = await start(t)
    const tag = (await fetch(`${url}/events`, { headers: { 'accept-encoding': 'identity' } })).headers.get('etag')
    const answer = await askRaw(port, `GET /events HTTP/1.1\r\nIf-None-Match: ${tag}\r\n${CLOSE}`)
    assert.equal(answer.status, 304)
    assert.equal(answer.headers.get('content-length'), undefined)
    assert.equal(answer.headers.get('etag'), tag)
  })

  test('the Host reaches links only on loopback and only when it is ours', async (t) => {
    const { store } = await openService(t)
    await fill(store, 'events', numbered(1))
    let service: Service | undefined
    const { port } = await startReply(t, { reply: (request) => service?.reply(request) ?? assert.fail() })
    service = createService({ store, loopbackPort: port })
    const linksFor = async (host: string, target = '/events') => {
      const request = `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nX-Forwarded-Host: evil.example\r\nConnection: close\r\n\r\n`
      return JSON.parse((await askRaw(port, request)).body.toString())._links.first.href
    }
    assert.equal(await linksFor(`localhost:${port}`), `http://localhost:${port}/events`)
    assert.equal(await linksFor(`[::1]:${port}`), `http://[::1]:${port}/events`)
    assert.equal(await linksFor('localhost'), `http://127.0.0.1:${port}/events`)
    assert.equal(
      await linksFor('evil.example', `http://localhost:${port}/events`),
      `http://localhost:${port}/events`,
      'the target counts, not the header',
    )
  })

  test('a body on a GET is ignored and the connection goes on', async (t) => {
    const { port } = await start(t)
    const withBody = 'GET /events/7 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello'
    const answers = parseAnswers(await sendRaw(port, `${withBody}${withBody}GET /events/8 HTTP/1.1\r\n${CLOSE}`))
    assert.deepEqual(
      answers.map(({ body }) => body.toString()),
      ['{"id":7}', '{"id":7}', '{"id":8}'],
    )
  })

  test('a POST with a body that nobody reads is answered all the same', async (t) => {
    const { url } = await start(t)
    const body = '{}'.repeat(100_000)
    assert.equal((await fetch(`${url}/events`, { method: 'POST', body })).status, 401)
    const response = await fetch(`${url}/`, { method: 'POST', body })
    assert.equal(response.status, 405)
    assert.equal(response.headers.get('allow'), 'GET, HEAD, OPTIONS')
    assert.match((await problemOf(response)).detail, /"POST"/)
  })

  test('methods that HTTP knows and we do not are 405', async (t) => {
    const { port } = await start(t)
    for (const method of ['PROPFIND', 'TRACE', 'PATCH', 'PURGE', 'QUERY']) {
      const answer = await askRaw(port, `${method} /events HTTP/1.1\r\n${CLOSE}`)
      assert.equal(answer.status, 405, method)
      assert.equal(answer.headers.get('allow'), 'GET, POST, PUT, DELETE, HEAD, OPTIONS')
    }
  })

  test('odd targets are answered like any other', async (t) => {
    const { port } = await start(t)
    const statuses = { '//events': 404, '/events/': 404, '/%2e%2e/x': 404, '/events%00': 404, '/events?page=%ff': 400 }
    for (const [target, status] of Object.entries({
      ...statuses,
      'http://example.com/events': 200,
      '/events?a\\b': 200,
    }))
      assert.equal((await askRaw(port, `GET ${target} HTTP/1.1\r\n${CLOSE}`)).status, status, target)
  })

  test('HTTP/1.0 needs no Host, as health checks send it', async (t) => {
    const { port } = await start(t)
    assert.equal((await askRaw(port, 'GET /-/health HTTP/1.0\r\n\r\n')).status, 200)
  })

  test('a request to change the protocol is answered in HTTP/1.1', async (t) => {
    const { port } = await start(t)
    const upgrade = `GET /events/7 HTTP/1.1\r\nUpgrade: websocket\r\nHost: a\r\nConnection: upgrade, close\r\n\r\n`
    assert.equal((await askRaw(port, upgrade)).body.toString(), '{"id":7}')
  })

  test('CONNECT is refused, because this is no proxy', async (t) => {
    const { port, url } = await start(t)
    const answer = await askRaw(port, `CONNECT example.com:443 HTTP/1.1\r\n${CLOSE}`)
    assertProblem(answer, 400, 'malformed-request', url)
  })

  test('two Host headers are refused, and an unknown expectation is not', async (t) => {
    const { port, url } = await start(t)
    const twice = await askRaw(port, `GET /events HTTP/1.1\r\nHost: evil.example\r\n${CLOSE}`)
    assertProblem(twice, 400, 'malformed-request', url)
    const expecting = await askRaw(port, `GET /-/health HTTP/1.1\r\nExpect: wonders\r\n${CLOSE}`)
    assert.equal(expecting.status, 200)
  })
})

describe('a request that cannot be read', () => {
  test('with a URL of 20 KB is a 431 problem, also when more follows than is read', async (t) => {
    const { port, url } = await start(t)
    for (const length of [20_000, 3_000_000]) {
      const answer = await askRaw(port, `GET /events?${'x'.repeat(length)} HTTP/1.1\r\n${CLOSE}`)
      assertProblem(answer, 431, 'header-too-large', url)
    }
  })

  const malformed = [
    'NONSENSE\r\n\r\n',
    `MADEUP /events HTTP/1.1\r\n${CLOSE}`,
    `get /events HTTP/1.1\r\n${CLOSE}`,
    `GET /events HTTP/9.9\r\n${CLOSE}`,
    `GET events HTTP/1.1\r\n${CLOSE}`,
    `GET /a\\b HTTP/1.1\r\n${CLOSE}`,
    `GET http:// HTTP/1.1\r\n${CLOSE}`,
    'GET /events HTTP/1.1\r\nConnection: close\r\n\r\n',
    'GET /events HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n',
    'GET /events HTTP/1.1\r\nHost: a/b?c\r\nConnection: close\r\n\r\n',
    'GET /events HTTP/1.1\r\nHost: a@b\r\nConnection: close\r\n\r\n',
    'GET /events HTTP/1.1\r\nHost: a\r\nno colon here\r\n\r\n',
    '\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03 a TLS greeting',
  ]
  test('is a 400 problem', async (t) => {
    const { port, url } = await start(t)
    for (const request of malformed) assertProblem(await askRaw(port, request), 400, 'malformed-request', url)
  })

  test('behind a good one on the same connection leaves the answer to the good one whole', async (t) => {
    const { port, url } = await start(t)
    const bytes = await sendRaw(port, `GET /events/7 HTTP/1.1\r\nHost: a\r\n\r\nNONSENSE\r\n\r\n`)
    const [good, bad, ...more] = parseAnswers(bytes)
    assert.equal(good?.body.toString(), '{"id":7}')
    assert.ok(bad)
    assertProblem(bad, 400, 'malformed-request', url)
    assert.equal(more.length, 0)
  })

  test('because it does not arrive is a 408 problem', async (t) => {
    const { port, url } = await start(t, { headersTimeoutMs: 100 })
    assertProblem(await askRaw(port, 'GET /events HTTP/1.1\r\nHost: a'), 408, 'request-timeout', url)
  })

  test('names the base URL that was set in its problem', async (t) => {
    const { port } = await start(t, { baseUrl: 'https://api.example.com/v1' })
    assertProblem(await askRaw(port, 'NONSENSE\r\n\r\n'), 400, 'malformed-request', 'https://api.example.com/v1')
  })
})

test('a port in use rejects with the code of the system', async (t) => {
  const { port } = await start(t)
  await assert.rejects(listen({ port, reply: () => assert.fail() }), { code: 'EADDRINUSE' })
})

test('the server goes on after clients that hang up in the middle', async (t) => {
  const { port, url } = await start(t)
  for (const text of ['GET /ev', `GET /events HTTP/1.1\r\nHost: a\r\n\r\n`, 'NONSENSE\r\n\r\n']) {
    const socket = await openSocket(port)
    socket.write(text)
    socket.resetAndDestroy()
    await once(socket, 'close')
  }
  assert.equal((await envelopeOf(await fetch(`${url}/events`))).item_count, 600)
})

describe('closing', () => {
  test('ends idle connections and those that never sent anything, long before the time of grace', async (t) => {
    const { port, close } = await start(t)
    const silent = await openSocket(port)
    const idle = await openSocket(port)
    idle.write('GET /events/7 HTTP/1.1\r\nHost: a\r\n\r\n')
    await once(idle, 'data')
    const ends = [silent, idle].map((socket) => readToEnd(socket))
    await close(600_000)
    await Promise.all(ends)
  })

  test('lets running requests end, also with a broken one behind them, and takes no new connection', async (t) => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>()
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>()
    const { url, port, close } = await startReply(t, {
      reply: async () => {
        arrive()
        await gate
        return { status: 200, headers: { 'Content-Length': '4' }, body: 'done' }
      },
    })
    const socket = await openSocket(port)
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\nNONSENSE\r\n\r\n')
    await arrived
    const closed = close(600_000)
    await assert.rejects(openSocket(port), { code: 'ECONNREFUSED' })
    open()
    const [running, broken] = parseAnswers(await readToEnd(socket))
    assert.equal(running?.body.toString(), 'done')
    assert.ok(broken)
    assertProblem(broken, 400, 'malformed-request', url)
    await closed
  })

  test('cuts off what is left after the time of grace', async (t) => {
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>()
    const { url, close } = await startReply(t, {
      reply: () => {
        arrive()
        return new Promise(() => {})
      },
    })
    const running = assert.rejects(fetch(url))
    await arrived
    await close(50)
    await running
  })

  test('twice is the same as once', async (t) => {
    const { close } = await start(t)
    await Promise.all([close(), close()])
    await close()
  })
})

test('a service that fails to answer is answered for, and the next request is served', async (t) => {
  t.mock.method(console, 'error', () => {})
  const broken = [
    () => {
      throw new Error('no promise')
    },
    async () => {
      throw new Error('no answer')
    },
    async () => ({ status: 200, headers: { 'X-Broken': 'line\nbreak' }, body: '' }),
  ]
  for (const reply of broken) {
    const { url } = await startReply(t, { reply })
    const answer = await fetch(`${url}/events`)
    assert.equal(answer.status, 500)
    assert.match((await problemOf(answer)).type, /internal-error$/)
  }
})
