import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { LimitReached, Requester, type RequesterOptions } from '../../src/check/http/requester.ts'
import { createRequest } from '../../src/check/http/response.ts'
import { createSocketFetch } from '../../src/check/http/socket-fetch.ts'
import { checkConformance } from '../../src/check/index.ts'
import { type Handler, serve, serveRaw } from './hostile-servers.ts'

const REQUEST = createRequest('http://service.invalid/events')
const LIMITS = {
  token: undefined,
  signal: undefined,
  concurrency: 4,
  delayMs: 0,
  timeoutMs: 5000,
  timeLimitMs: 30_000,
  answerBytes: 1000,
}

function createRequester(fetch: RequesterOptions['fetch'], options: Partial<RequesterOptions> = {}): Requester {
  const requester = new Requester({ ...LIMITS, fetch, ...options })
  requester.requestsLeft = 1000
  return requester
}

/** A fetch that remembers its requests. */
function counted(answer: (number: number) => Response | Promise<Response> = () => new Response('{}')) {
  const seen: Request[] = []
  return { seen, fetch: (request: Request) => answer(seen.push(request)) }
}

function pause(pauseMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, pauseMs))
}

const right: Handler = (_request, _response, answerRight) => answerRight()

function tooMany(retryAfter: string): Response {
  return new Response(null, { status: 429, headers: { 'Retry-After': retryAfter } })
}

describe('the requester', () => {
  for (const concurrency of [1, 2, 4, 7])
    it(`never has more than ${concurrency} requests under way, and uses all of them`, async () => {
      let [running, most] = [0, 0]
      const fetch = async () => {
        most = Math.max(most, ++running)
        // Half of the answers come at once.
        await (Math.random() < 0.5 ? null : pause(Math.random() * 4))
        running--
        return new Response('{}')
      }
      const requester = createRequester(fetch, { concurrency })
      // Whoever gets an answer asks at once again, as rules do: nobody may slip in between two others.
      const chain = async () => {
        for (let i = 0; i < 8; i++) await requester.send(REQUEST, 'events')
      }
      await Promise.all(Array.from({ length: 20 }, chain))
      assert.equal(most, concurrency)
      assert.equal(requester.sent, 160)
    })

  it('keeps the beginnings of requests apart, and their order', async () => {
    const begun: number[] = []
    const order: string[] = []
    const fetch = ({ url }: Request) => {
      begun.push(performance.now())
      order.push(url)
      return new Response('{}')
    }
    const requester = createRequester(fetch, { delayMs: 25, concurrency: 4 })
    const urls = Array.from({ length: 8 }, (_, index) => `http://service.invalid/${index}`)
    const startedAt = performance.now()
    await Promise.all(urls.map((url) => requester.send(createRequest(url), 'events')))
    // Each after its pauses, counted from the beginning: a busy machine makes it later, never earlier.
    for (const [index, time] of begun.entries()) assert.ok(time - startedAt >= 25 * index, `${time - startedAt} ms`)
    assert.deepEqual(order, urls)
  })

  it('sends exactly as many requests as it was allowed', async () => {
    const { fetch, seen } = counted()
    const requester = createRequester(fetch)
    requester.requestsLeft = 13
    const outcomes = await Promise.allSettled(Array.from({ length: 40 }, () => requester.send(REQUEST, 'events')))
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
    assert.deepEqual([seen.length, requester.sent, requester.requestsLeft, refused.length], [13, 13, 0, 27])
    for (const reason of refused) {
      assert.ok(reason instanceof LimitReached)
      assert.match(reason.message, /^all requests of this run are used up/)
    }
  })

  it('counts every repetition that the server asked for', async () => {
    const { fetch, seen } = counted((number) => (number % 2 === 1 ? tooMany('0') : new Response('{}')))
    const requester = createRequester(fetch)
    requester.requestsLeft = 5
    const outcomes = await Promise.allSettled([1, 2, 3, 4].map(() => requester.send(REQUEST, 'events')))
    assert.equal(seen.length, 5)
    assert.ok(outcomes.some(({ status }) => status === 'rejected'))
  })

  it('keeps its limit in a whole check, whatever it is', async (t) => {
    for (const requests of [1, 2, 5, 17, 30]) {
      const { url, seen } = await serve(t, right)
      const report = await checkConformance(url, { requests })
      assert.ok(seen.length <= requests, `${seen.length} of ${requests}`)
      assert.equal(report.collections[0]?.requests, seen.length)
      assert.equal(report.requests, seen.length)
      assert.notEqual(report.verdict, 'failed')
    }
  })

  it('lets all wait when the server asks one to wait', async () => {
    const times: number[] = []
    let until = Number.POSITIVE_INFINITY
    const fetch = async () => {
      times.push(performance.now())
      if (times.length !== 3) return new Response('{}')
      until = performance.now() + 1000
      return tooMany('1')
    }
    const requester = createRequester(fetch, { delayMs: 10, concurrency: 4 })
    await Promise.all(Array.from({ length: 6 }, () => requester.send(REQUEST, 'events')))
    assert.equal(times.length, 7)
    for (const time of times.slice(3)) assert.ok(time >= until, `${until - time} ms too early`)
  })

  it('waits until a date, which may be over', async () => {
    for (const date of [new Date(Date.now() + 1000).toUTCString(), 'Thu, 01 Jan 1970 00:00:00 GMT']) {
      const { fetch, seen } = counted((number) => (number === 1 ? tooMany(date) : new Response('{}')))
      const { status } = await createRequester(fetch).send(REQUEST, 'events')
      assert.deepEqual([seen.length, status], [2, 200])
      assert.ok(Date.now() >= Date.parse(date))
    }
  })

  it('gives up on a server that asks to wait again and again', async () => {
    const { fetch, seen } = counted(() => tooMany('0'))
    const message = /^the server asks to wait again and again \(429/
    await assert.rejects(createRequester(fetch).send(REQUEST, 'events'), { name: 'LimitReached', message })
    assert.equal(seen.length, 4)
  })

  it('takes a server at its word that is unavailable again and again, or does not ask to wait', async () => {
    const headers: Record<string, string>[] = [{ 'Retry-After': '0' }, {}]
    for (const [index, each] of headers.entries()) {
      const { fetch, seen } = counted(() => new Response('busy', { status: 503, headers: each }))
      const answer = await createRequester(fetch).send(REQUEST, 'events')
      assert.deepEqual([answer.status, answer.beginning, seen.length], [503, 'busy', index === 0 ? 4 : 1])
    }
  })

  it('begins nothing after the time of the run', async () => {
    const { fetch, seen } = counted()
    const requester = createRequester(fetch, { timeLimitMs: 100 })
    await pause(120)
    await assert.rejects(requester.send(REQUEST, 'events'), { name: 'LimitReached' })
    assert.equal(seen.length, 0)
  })

  it('takes a time-out at the end of the run for the end of the run, never for the fault of the server', async () => {
    for (let i = 0; i < 20; i++) {
      const requester = createRequester(() => new Promise(() => {}), { timeLimitMs: 20 })
      await assert.rejects(requester.send(REQUEST, 'events'), /the time of this run is used up/)
    }
  })

  it('takes limits that are longer than any timer', async () => {
    const fetch = async () => {
      await pause(20)
      return new Response('{}')
    }
    for (const limit of [2 ** 31, 1e15, Number.POSITIVE_INFINITY]) {
      const requester = createRequester(fetch, { timeoutMs: limit, timeLimitMs: limit })
      assert.equal((await requester.send(REQUEST, 'events')).status, 200)
    }
  })

  it('lets a header of a question take the place of the usual one', async () => {
    const { fetch, seen } = counted()
    const requester = createRequester(fetch)
    await requester.send(REQUEST, 'events')
    await requester.send(
      createRequest(REQUEST.url, { Accept: 'application/json', 'Accept-Encoding': 'gzip' }),
      'events',
    )
    const accepted = seen.map(({ headers }) => [headers.get('accept'), headers.get('accept-encoding')])
    assert.deepEqual(accepted, [
      ['*/*', 'identity'],
      ['application/json', 'gzip'],
    ])
  })
})

describe('what goes over the wire', () => {
  it('is GET, HEAD and OPTIONS, without a body, with the token as a bearer', async (t) => {
    for (const options of [{ items: 1001 }, { items: 0 }, { isPaginated: false }]) {
      const { url, seen } = await serve(t, right, options)
      await checkConformance(url, { token: 'secret-1', walk: true })
      assert.deepEqual([...new Set(seen.map(({ method }) => method))].sort(), ['GET', 'HEAD', 'OPTIONS'])
      for (const { headers } of seen) {
        assert.equal(headers.authorization, 'Bearer secret-1')
        assert.equal(headers['content-length'], undefined)
        assert.equal(headers['transfer-encoding'], undefined)
      }
    }
  })

  it('carries each header once, as the question has it, and no authorization without a token', async (t) => {
    const { url, seen } = await serve(t, right)
    await checkConformance(url)
    const values = (name: string) => new Set(seen.map(({ headers }) => headers[name]))
    assert.deepEqual(values('accept'), new Set(['*/*', 'application/json', 'text/html, image/png']))
    assert.deepEqual(values('accept-encoding'), new Set(['identity', 'gzip']))
    assert.deepEqual(values('authorization'), new Set([undefined]))
    assert.ok(values('host').has('reams-check.invalid'))
  })

  it('uses connections again', async (t) => {
    const { url, seen } = await serve(t, right)
    await checkConformance(url, { concurrency: 2 })
    const sockets = new Set(seen.map(({ socket }) => socket))
    assert.ok(seen.length > 30 && sockets.size <= 6, `${sockets.size} connections for ${seen.length} requests`)
  })

  it('asks again when the server closed a kept connection, and counts that', async (t) => {
    let connections = 0
    let answered = 0
    const url = await serveRaw(t, (socket) => {
      // The second request on a connection finds it closed.
      const state = socket as typeof socket & { isOld?: boolean }
      if (state.isOld) return void socket.destroy()
      state.isOld = true
      connections++
      answered++
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}')
    })
    using http = createSocketFetch()
    const requester = createRequester(http.fetch, { onStale: () => http.keepNoConnections() })
    const statuses: number[] = []
    for (let i = 0; i < 4; i++) statuses.push((await requester.send(createRequest(url), 'events')).status)
    assert.deepEqual(statuses, [200, 200, 200, 200])
    assert.deepEqual([connections, answered], [4, 4])
    // The one that went out on the kept connection is the fifth; then no connection was kept any more.
    assert.equal(requester.sent, 5)
  })
})
