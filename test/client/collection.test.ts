import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { type Collection, createClient, HttpError, openCollection, type Page } from '../../src/client/index.ts'
import { createService } from '../../src/service/create-service.ts'
import { listen } from '../../src/service/node/listen.ts'
import { CorrectServer, numberedItems, startServer } from '../check/correct-server.ts'
import { BASE, fill, numbered, openService, sharedService } from '../service/open-service.ts'
import { EVENTS, type Event, inProcess, NO_COPY, pagesAsked } from './hostile-server.ts'

const SIZES = [0, 1, 499, 500, 501, 1000, 1001, 2500]

/** All that needs neither a socket nor a timer has happened by then. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 100; turn++) await setImmediate()
}

const ids = (count: number) => Array.from({ length: count }, (_, index) => ({ id: index + 1 }))

describe('a collection', () => {
  /** Has collections of these sizes, named after them. */
  const service = sharedService(async (store) => {
    for (const size of SIZES) await fill(store, `n${size}`, numbered(size))
    await fill(store, 'whole', numbered(777), { isPaginated: false })
  })

  it('is read whole, whatever its size, from the service in the same process', async () => {
    const { fetch } = createService(service())
    const client = createClient(BASE, { fetch })
    for (const size of SIZES) {
      const collection = client.collection<{ id: number }>(`n${size}`)
      assert.equal(await collection.count(), size)
      assert.deepEqual(await Array.fromAsync(collection.items()), ids(size))
      const lengths = (await Array.fromAsync(collection.pages())).map(({ length }) => length)
      assert.deepEqual(lengths.slice(0, -1), Array(Math.max(0, Math.ceil(size / 500) - 1)).fill(500))
    }
  })

  it('is read whole over a socket, packed and with a base path', async (t) => {
    const { port, close } = await listen({ reply: (request) => onSocket.reply(request), port: 0 })
    t.after(() => close())
    const baseUrl = `http://127.0.0.1:${port}/data/v1`
    const onSocket = createService({ ...service(), baseUrl })
    for (const size of SIZES)
      assert.deepEqual(await Array.fromAsync(openCollection(`${baseUrl}/n${size}`).items()), ids(size))
    assert.deepEqual(await Array.fromAsync(createClient(`${baseUrl}/`).collection('n501').items()), ids(501))
  })

  it('is read whole from a server that is not ours, in whatever form it writes its JSON', async (t) => {
    for (const options of [{}, { isPretty: true }, { isReversed: true, hasExtras: true }])
      for (const items of [0, 500, 1001]) {
        const { url, close } = await startServer(new CorrectServer({ ...options, items }))
        t.after(close)
        assert.deepEqual(await Array.fromAsync(openCollection(url).items()), numberedItems(items))
      }
  })

  it('without pages is one page', async () => {
    const { fetch } = createService(service())
    const collection = createClient(BASE, { fetch }).collection('whole')
    assert.equal(await collection.count(), 777)
    const [page, ...others] = await Array.fromAsync(collection.pages())
    assert.equal(others.length, 0)
    assert.deepEqual([page?.isPaginated, page?.isLast, page?.number, page?.items], [false, true, 1, ids(777)])
  })

  it('costs two requests more than it has pages, and one if it has one', async () => {
    const expected: [number, number[]][] = [
      [0, [1]],
      [500, [1]],
      [501, [1, 2, 1]],
      [1001, [1, 2, 1, 3, 2]],
      [2500, [1, 4, 1, 2, 3, 5, 4]],
    ]
    for (const [items, asked] of expected) {
      const { fetch, requests } = inProcess(new CorrectServer({ items }))
      await Array.fromAsync(openCollection(EVENTS, { fetch }).pages())
      assert.deepEqual(pagesAsked(requests), asked)
    }
  })

  it('is read ahead by as many pages as are asked for at a time, and no further', async () => {
    const { fetch, requests } = inProcess(new CorrectServer({ items: 10_000 }))
    const pages = openCollection(EVENTS, { fetch, concurrency: 3 }).pages()
    await pages.next()
    await pages.next()
    await settled()
    assert.deepEqual(pagesAsked(requests), [1, 19, 1, 2, 3, 4, 5])
    await pages.next()
    await settled()
    assert.deepEqual(pagesAsked(requests).slice(7), [6])
    await pages.return()
  })

  it('has no request under way any more when the reader has left', async () => {
    const signals: AbortSignal[] = []
    const { fetch } = inProcess(new CorrectServer({ items: 5000 }), (request, number) => {
      signals.push(request.signal)
      return number > 4 ? new Promise(() => {}) : undefined
    })
    const pages = openCollection(EVENTS, { fetch }).pages()
    await pages.next()
    await pages.next()
    await pages.return()
    const aborted = signals.map(({ aborted }) => aborted)
    assert.deepEqual(aborted, [false, false, false, false, true, true, true, true])
  })

  it('ends with the reason of the signal, wherever it is', async () => {
    for (let moment = 1; moment <= 8; moment++) {
      const controller = new AbortController()
      const reason = new Error('enough')
      const { fetch } = inProcess(new CorrectServer({ items: 3000 }), (_, number) => {
        if (number === moment) controller.abort(reason)
      })
      const { signal } = controller
      await assert.rejects(Array.fromAsync(openCollection(EVENTS, { fetch }).items({ signal })), reason)
    }
    const { fetch } = inProcess(new CorrectServer(), () => new Promise(() => {}))
    const collection = openCollection(EVENTS, { fetch })
    const reason = { name: 'TimeoutError' }
    await assert.rejects(collection.page(1, { signal: AbortSignal.timeout(20) }), reason)
    await assert.rejects(collection.count({ signal: AbortSignal.timeout(20) }), reason)
    await assert.rejects(collection.pull(NO_COPY, { signal: AbortSignal.timeout(20) }), reason)
  })

  it('gives nothing more when the signal was given, also of what was read ahead', async () => {
    const reason = new Error('enough')
    const each = async (values: AsyncIterable<unknown>, see: () => Promise<void>) => {
      for await (const _ of values) await see()
    }
    type Read = (collection: Collection, signal: AbortSignal, see: () => Promise<void>) => Promise<unknown>
    const readings: [limit: number, read: Read][] = [
      [2, (collection, signal, see) => each(collection.pages({ signal }), see)],
      [7, (collection, signal, see) => each(collection.items({ signal }), see)],
      [2, (collection, signal, page) => collection.pull({ ...NO_COPY, page }, { signal })],
    ]
    for (const [limit, read] of readings) {
      const controller = new AbortController()
      let seen = 0
      const see = async () => {
        if (++seen !== limit) return
        // The others are read ahead.
        await settled()
        controller.abort(reason)
      }
      const collection = openCollection(EVENTS, inProcess(new CorrectServer({ items: 3000 })))
      await assert.rejects(read(collection, controller.signal, see), reason)
      assert.equal(seen, limit)
    }
  })

  it('ends with the reason of the signal also where others take all the room', async () => {
    const controller = new AbortController()
    let hangs = true
    const { fetch, requests } = inProcess(new CorrectServer({ items: 7 }), () =>
      hangs ? new Promise(() => {}) : undefined,
    )
    const collection = openCollection(EVENTS, { fetch, concurrency: 1 })
    const first = collection.count({ signal: controller.signal })
    const second = collection.count({ signal: AbortSignal.timeout(20) })
    await assert.rejects(second, { name: 'TimeoutError' })
    assert.equal(requests.length, 1)
    const third = collection.count({ signal: controller.signal })
    const reason = new Error('enough')
    controller.abort(reason)
    await assert.rejects(first, reason)
    await assert.rejects(third, reason)
    assert.equal(requests.length, 1)
    hangs = false
    assert.equal(await collection.count({ signal: AbortSignal.timeout(5_000) }), 7)
  })

  it('asks with a token and headers, for JSON, and for nothing that a cache keeps', async () => {
    const { fetch, requests } = inProcess(new CorrectServer({ items: 1 }))
    const options = { fetch, token: 'reams_secret', headers: { 'X-Trace': '17' } }
    await openCollection(EVENTS, options).count()
    const [request] = requests
    assert.equal(request?.headers.get('authorization'), 'Bearer reams_secret')
    assert.equal(request?.headers.get('x-trace'), '17')
    assert.equal(request?.cache, 'no-store')
    assert.equal(request?.headers.get('accept'), 'application/hal+json, application/json;q=0.9')
    await openCollection(EVENTS, { fetch, headers: { accept: 'application/json' } }).count()
    assert.equal(requests[1]?.headers.get('accept'), 'application/json')
  })

  it('that does not exist fails with the problem of the server', async () => {
    const { fetch } = createService(service())
    const counting = createClient(BASE, { fetch }).collection('nothing').count()
    const error = await counting.catch((error) => error)
    assert.ok(error instanceof HttpError)
    const why = 'There is no collection "nothing". The entry point lists the collections.'
    assert.equal(error.message, `Request failed with status 404: GET ${BASE}/nothing?page=1 – ${why}`)
    assert.deepEqual([error.name, error.method, error.status], ['HttpError', 'GET', 404])
    assert.equal(error.problem?.type, `${BASE}/-/problems/collection-not-found`)
  })

  it('can have any name, and only an address that can be asked', () => {
    const client = createClient('https://api.example.com/v1/')
    assert.equal(client.collection('events').url, 'https://api.example.com/v1/events')
    assert.equal(client.collection('a b/ü?').url, 'https://api.example.com/v1/a%20b%2F%C3%BC%3F')
    assert.equal(openCollection('https://api.example.com').url, 'https://api.example.com')
    for (const name of ['', '.', '..']) assert.throws(() => client.collection(name), TypeError)
    const wrong: [string, RegExp][] = [
      ['events', /is not an absolute URL\. Expected one such as https:/],
      ['file:///events', /begins with file:, expected http: or https:/],
      ['https://api.example.com/events?page=2', /has a query or a fragment/],
      [
        'https://me:secret@api.example.com/events',
        /^The URL contains a user name or a password: leave them out\. Expected/,
      ],
    ]
    for (const [url, message] of wrong)
      for (const open of [openCollection, createClient]) {
        assert.throws(() => open(url), { name: 'TypeError', message })
        assert.throws(() => open(url), { message: /^(?!.*secret)/ })
      }
    assert.throws(() => createClient('https://me:secret@api.example.com:no'), {
      message: 'This is not an absolute URL. Expected one such as https://api.example.com/v1.',
    })
  })

  it('takes only options that mean something, and shows no token', async () => {
    const wrong = [
      { concurrency: 0 },
      { concurrency: 1.5 },
      { timeoutMs: 0 },
      { timeoutMs: Number.NaN },
      { pageBytes: -1 },
      { allowedOrigins: ['example.com'] },
      { allowedOrigins: ['file:///'] },
      { token: '' },
      { retry: { retries: Number.NaN } },
      { retry: { retries: -1 } },
      { retry: { firstDelayMs: -1 } },
    ]
    for (const options of wrong) assert.throws(() => openCollection(EVENTS, options), { name: 'TypeError' })
    for (const token of ['secret\n', 'sécret', 'secret secret'])
      assert.throws(() => openCollection(EVENTS, { token }), { message: /^(?!.*s[eé]cret)/s })
    assert.throws(() => openCollection(EVENTS, { headers: { 'X-Api-Key': 'sec\nret' } }), {
      name: 'TypeError',
      message: 'Invalid option headers: "X-Api-Key" has a character that no header can have.',
    })
    const collection = openCollection(EVENTS)
    for (const number of [0, -1, 1.5, Number.NaN, 2 ** 53])
      await assert.rejects(collection.page(number), { name: 'TypeError', message: /^Invalid page number/ })
  })
})

describe('a page', () => {
  it('has its number, the last one, the count, its links, tag and items', async () => {
    const { fetch } = inProcess(new CorrectServer({ items: 1234, hasExtras: true }))
    const page = await openCollection<Event>(EVENTS, { fetch }).page(2)
    const { number, lastPage, itemCount, isPaginated, isLast, length, name, url } = page
    assert.deepEqual([number, lastPage, itemCount, length], [2, 3, 1234, 500])
    assert.deepEqual([isPaginated, isLast, name, url], [true, false, 'events', `${EVENTS}?page=2`])
    assert.deepEqual(page.links['next'], { href: `${EVENTS}?page=3` })
    assert.ok('search' in page.links)
    assert.match(page.etag ?? '', /^".+"$/)
    assert.equal(page.items[0]?.title, 'Event 501')
    assert.equal(page.items, page.items)
    assert.equal(JSON.parse(new TextDecoder().decode(page.body)).item_count, 1234)
  })

  it('beyond the last one is the last one', async () => {
    const { fetch } = inProcess(new CorrectServer({ items: 1001 }))
    const page = await openCollection(EVENTS, { fetch }).page(2 ** 53 - 1)
    assert.deepEqual([page.number, page.isLast, page.items], [3, true, [{ id: 1001, title: 'Event 1001' }]])
  })
})

describe('a pull', () => {
  it('hands over every page once, in order, and says so', async (t) => {
    const { store } = await openService(t)
    await fill(store, 'events', numbered(1234))
    const collection = createClient(BASE, createService({ store })).collection('events')
    const progress: string[] = []
    let lines = ''
    const result = await collection.pull(
      {
        restart: () => assert.fail('nothing changed'),
        page: async (page, { first }) => {
          await setImmediate()
          lines += new TextDecoder().decode(page.ndjson(first))
        },
      },
      {
        onProgress: ({ items, itemCount, page, lastPage, requestsInFlight, retries, restarts }) => {
          assert.ok(requestsInFlight <= 4)
          progress.push([items, itemCount, page, lastPage, retries, restarts].join(' '))
        },
      },
    )
    assert.equal(lines, `${numbered(1234).join('\n')}\n`)
    assert.deepEqual(progress, ['500 1234 1 3 0 0', '1000 1234 2 3 0 0', '1234 1234 3 3 0 0'])
    const { state, ...rest } = result
    assert.deepEqual(rest, { itemCount: 1234, pages: 3, appended: 0, replaced: false, retries: 0, restarts: 0 })
    assert.equal(state.items, 1234)
  })

  it('ends with the error of a sink that cannot take a page', async () => {
    const { fetch, requests } = inProcess(new CorrectServer({ items: 5000 }))
    const full = new Error('the disk is full')
    const page = ({ number }: Page) => {
      if (number === 2) throw full
    }
    const collection = openCollection(EVENTS, { fetch, concurrency: 1 })
    await assert.rejects(collection.pull({ ...NO_COPY, page }), full)
    assert.ok(requests.length < 8)
  })
})
