import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { retryAfterMs } from '../../src/client/exchange.ts'
import {
  ConnectionLost,
  createClient,
  DEFAULT_RETRY,
  HttpError,
  openCollection,
  type Retry,
  TimeoutError,
} from '../../src/client/index.ts'
import { backOffMs } from '../../src/client/requester.ts'
import { CorrectServer } from '../check/correct-server.ts'
import { serve, unusedOrigin } from '../check/hostile-servers.ts'
import { BASE, countItems, EVENTS, inProcess, NO_COPY } from './hostile-server.ts'

/** Short pauses: what is tried here is not how long they are. */
const retry = { retries: 4, firstDelayMs: 1, maxDelayMs: 4 }

function readAll(url: string, options: Parameters<typeof openCollection>[1]): Promise<number> {
  return countItems(url, { retry, ...options })
}

const busy = (status: number, headers: Record<string, string> = {}) => new Response('later', { status, headers })

describe('a request that fails', () => {
  for (const status of [429, 502, 503, 504])
    it(`is sent again after ${status}, with and without Retry-After`, async () => {
      const retries: Retry[] = []
      const { fetch, requests } = inProcess(new CorrectServer(), (_, number) => {
        if (number % 3 === 1) return busy(status)
        return number % 3 === 2 ? busy(status, { 'Retry-After': '0' }) : undefined
      })
      assert.equal(await readAll(EVENTS, { fetch, onRetry: (each) => retries.push(each) }), 1001)
      assert.equal(requests.length, 15)
      assert.equal(retries.length, 10)
      const [first, second] = retries
      assert.deepEqual([first?.url, first?.retry, second?.retry], [`${EVENTS}?page=1`, 1, 2])
      assert.ok(first?.error instanceof HttpError && first.error.status === status)
    })

  for (const status of [400, 401, 403, 404, 410, 418, 500, 501, 304, 204])
    it(`is not sent again after ${status}`, async () => {
      const { fetch, requests } = inProcess(new CorrectServer(), () => new Response(null, { status }))
      await assert.rejects(readAll(EVENTS, { fetch }), (error) => error instanceof HttpError && error.status === status)
      assert.equal(requests.length, 1)
    })

  it('is sent again a limited number of times, and as often as by default where the option says nothing', async () => {
    for (const retries of [0, 1, 4, undefined]) {
      const { fetch, requests } = inProcess(new CorrectServer(), () => busy(503))
      const options: object = { firstDelayMs: 1, maxDelayMs: 1, retries }
      await assert.rejects(readAll(EVENTS, { fetch, retry: options }), { name: 'HttpError', status: 503 })
      assert.equal(requests.length, 1 + (retries ?? DEFAULT_RETRY.retries))
    }
  })

  it('waits as long as the server asks for, and gives up when that is too long', async () => {
    const delays: number[] = []
    const times = (header: string) =>
      inProcess(new CorrectServer({ items: 1 }), (_, number) =>
        number === 1 ? busy(429, { 'Retry-After': header }) : undefined,
      )
    const onRetry = ({ delayMs }: Retry) => void delays.push(delayMs)
    const { fetch, requests } = times('1')
    assert.equal(await readAll(EVENTS, { fetch, onRetry }), 1)
    assert.equal(requests.length, 2)
    assert.ok((delays[0] ?? 0) >= 1000)
    for (const header of ['121', '99999', '99999999999999999999', new Date(Date.now() + 3_600_000).toUTCString()]) {
      const server = times(header)
      const error = await readAll(EVENTS, { fetch: server.fetch }).catch((error) => error)
      assert.ok(error instanceof HttpError)
      assert.ok((error.retryAfterMs ?? 0) > 120_000)
      assert.match(error.message, /page=1 – It asks to wait \d+ s\.$/)
      assert.equal(server.requests.length, 1)
    }
  })

  it('reads every form of Retry-After', () => {
    const now = Date.parse('2026-01-01T00:00:00Z')
    assert.equal(retryAfterMs(null, now), undefined)
    assert.equal(retryAfterMs('17', now), 17_000)
    assert.equal(retryAfterMs('Thu, 01 Jan 2026 00:01:00 GMT', now), 60_000)
    assert.equal(retryAfterMs('Wed, 31 Dec 2025 00:01:00 GMT', now), 0)
    assert.equal(retryAfterMs('soon', now), undefined)
  })

  it('waits longer from time to time, by a part that is random', () => {
    const shortest = [1, 2, 3, 99].map((retry) => backOffMs(retry, DEFAULT_RETRY, () => 0))
    const longest = [1, 2, 3, 99].map((retry) => backOffMs(retry, DEFAULT_RETRY, () => 1))
    assert.deepEqual(shortest, [125, 250, 500, 7500])
    assert.deepEqual(longest, [250, 500, 1000, 15_000])
  })

  it('ends while it waits when the signal says so', async () => {
    const controller = new AbortController()
    const reason = new Error('enough')
    const { fetch } = inProcess(new CorrectServer(), () => busy(503, { 'Retry-After': '100' }))
    const onRetry = () => void setImmediate(() => controller.abort(reason))
    const collection = openCollection(EVENTS, { fetch, onRetry })
    await assert.rejects(collection.page(1, { signal: controller.signal }), reason)
  })

  it('shows in the result of a pull', async () => {
    const { fetch } = inProcess(new CorrectServer(), (_, number) => (number === 3 ? busy(503) : undefined))
    assert.equal((await openCollection(EVENTS, { fetch, retry }).pull(NO_COPY)).retries, 1)
  })
})

describe('a connection that fails', () => {
  it('where nobody listens is tried three times', async () => {
    const origin = await unusedOrigin()
    const retries: Retry[] = []
    const options = { retry: { ...retry, retries: 8 }, onRetry: (each: Retry) => retries.push(each) }
    const counting = openCollection(`${origin}/events`, options).count()
    const error = await counting.catch((error) => error)
    assert.ok(error instanceof ConnectionLost)
    assert.match(error.message, /^The connection failed: GET http:\S+\/events\?page=1 – .*ECONNREFUSED.*\.$/)
    assert.ok(error.cause instanceof TypeError)
    assert.equal(retries.length, 2)
  })

  it('in the middle of answers is replaced by another one', async (t) => {
    const server = await serve(t, (request, response, answerRight, number) => {
      if (number % 3 === 1) return void request.socket.destroy()
      if (number % 3 === 0) return answerRight()
      // Some of it, then nothing more.
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '100000' })
      response.write('{"item_count":501,', () => request.socket.destroy())
    })
    assert.equal(await readAll(server.url, {}), 501)
    assert.equal(server.seen.length, 9)
  })

  it('is noticed by every cut of a page', async () => {
    const { fetch } = inProcess(new CorrectServer({ items: [{ a: '\\"\u00e9\n', b: [1.5e-3, true, null, {}] }, {}] }))
    const whole = new Uint8Array(await (await fetch(new Request(`${EVENTS}?page=1`))).arrayBuffer())
    for (let length = 0; length < whole.length; length++) {
      const cut = async () => new Response(whole.subarray(0, length))
      const page = openCollection(EVENTS, { fetch: cut, retry: { retries: 0 } }).page(1)
      await assert.rejects(page, ConnectionLost, `${length} bytes`)
    }
  })

  it('is not suspected where a length is that of the packed answer, or none', async () => {
    // In a browser the length of a packed answer shows, and may be more than that of the page; that it was packed does not.
    for (const length of ['10000', 'unknown']) {
      const { fetch } = inProcess(new CorrectServer({ items: 3 }), async (request) => {
        const right = await inProcess(new CorrectServer({ items: 3 })).fetch(request)
        return new Response(right.body, { headers: { 'Content-Length': length } })
      })
      assert.equal(await readAll(EVENTS, { fetch, retry: { retries: 0 } }), 3)
    }
  })

  it('within a refusal leaves the refusal', async (t) => {
    const server = await serve(t, (request, response) => {
      response.writeHead(404, { 'Content-Length': '100' })
      response.write('{"detail":', () => request.socket.destroy())
    })
    await assert.rejects(readAll(server.url, {}), { name: 'HttpError', status: 404 })
    assert.equal(server.seen.length, 1)
  })
})

describe('a page that does not come', () => {
  it('is asked for again', async () => {
    const silent = new Promise<Response>(() => {})
    const { fetch } = inProcess(new CorrectServer(), (_, number) => (number <= 2 ? silent : undefined))
    assert.equal(await readAll(EVENTS, { fetch, timeoutMs: 100 }), 1001)
  })

  it('is given up at last', async (t) => {
    const server = await serve(t, () => {})
    const error = await readAll(server.url, { timeoutMs: 30 }).catch((error) => error)
    assert.ok(error instanceof TimeoutError, String(error))
    assert.match(
      error.message,
      /^Request timed out: GET .* – the response was not complete after 30 ms\. The option time/,
    )
    assert.ok(server.seen.length <= 3)
  })

  it('is given up when it drips, because the time is for all of it', async (t) => {
    const server = await serve(t, (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' })
      const timer = setInterval(() => response.write(' '), 5)
      response.on('close', () => clearInterval(timer))
    })
    await assert.rejects(readAll(server.url, { timeoutMs: 60, retry: { ...retry, retries: 1 } }), TimeoutError)
    assert.ok(server.seen.length <= 2)
  })

  it('is given up also where nobody listens to signals', async () => {
    const { fetch } = inProcess(new CorrectServer(), () => new Promise(() => {}))
    await assert.rejects(readAll(EVENTS, { fetch, timeoutMs: 10 }), TimeoutError)
    const cancelled: unknown[] = []
    const endless = { cancel: (reason: unknown) => void cancelled.push(reason) }
    const drip = async () => new Response(new ReadableStream(endless))
    await assert.rejects(readAll(EVENTS, { fetch: drip, timeoutMs: 10 }), TimeoutError)
    assert.ok(cancelled.length > 0)
  })

  it('can be waited for without end', async () => {
    const { fetch } = inProcess(new CorrectServer({ items: 1 }), async () => {
      await sleep(30)
    })
    assert.equal(await readAll(EVENTS, { fetch, timeoutMs: Number.POSITIVE_INFINITY, retry: { retries: 0 } }), 1)
  })
})

/** Requests that wait to be answered by hand. */
class Desk {
  readonly open: { readonly request: Request; readonly answer: (response: Promise<Response>) => void }[] = []
  readonly right = inProcess(new CorrectServer({ items: 20_000 }))

  fetch = (request: Request): Promise<Response> => new Promise((answer) => this.open.push({ request, answer }))

  /** Answers all that are open, and gives how many they were. */
  async round(reply = this.right.fetch): Promise<number> {
    while (this.open.length < 1) await sleep(1)
    // Would there be one more, it would be here by now.
    await sleep(20)
    const all = this.open.splice(0)
    for (const { request, answer } of all) answer(reply(request))
    return all.length
  }
}

describe('a server that is at its limit', () => {
  it('gets half as many requests at a time, then slowly more again', async (t) => {
    const desk = new Desk()
    const controller = new AbortController()
    t.after(() => controller.abort())
    const options = { fetch: desk.fetch, concurrency: 8, retry: { ...retry, retries: 99 } }
    const pages = openCollection(EVENTS, options).pages({ signal: controller.signal })
    const reading = (async () => {
      for await (const _ of pages);
    })()
    reading.catch(() => {})
    const counts: number[] = []
    const refuse = async () => busy(429)
    for (let round = 0; round < 4; round++) counts.push(await desk.round())
    for (let round = 0; round < 3; round++) counts.push(await desk.round(refuse))
    for (let round = 0; round < 5; round++) counts.push(await desk.round())
    assert.deepEqual(counts, [1, 1, 1, 8, 8, 4, 2, 1, 2, 2, 3, 4])
    while (desk.right.requests.length < 42) await desk.round()
    await reading
  })

  it('is spared by all collections of a client together', async () => {
    let inFlight = 0
    let most = 0
    const { fetch } = inProcess(new CorrectServer({ items: 5000 }), async () => {
      most = Math.max(most, ++inFlight)
      await sleep(1)
      inFlight--
    })
    const client = createClient(BASE, { fetch, concurrency: 3 })
    const pulls = [1, 2, 3].map(() => client.collection('events').pull(NO_COPY))
    for (const { itemCount } of await Promise.all(pulls)) assert.equal(itemCount, 5000)
    assert.equal(most, 3)
  })
})
