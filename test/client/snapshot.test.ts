import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CollectionChanged, openCollection } from '../../src/client/index.ts'
import { CorrectServer, numberedItems, type ServerOptions } from '../check/correct-server.ts'
import { spoiltServer } from '../check/mutants/mutant.ts'
import { BASE, Copy, distorted, EVENTS, type Hook, inProcess, relinked } from './hostile-server.ts'

/** A server that links snapshots, and a client of it that asks one page at a time. */
function serve(items: number, hook?: Hook, options: ServerOptions = {}) {
  const { fetch, requests, server } = inProcess(new CorrectServer({ items, hasHistory: true, ...options }), hook)
  const collection = openCollection(EVENTS, { fetch, concurrency: 1, token: 'reams_secret' })
  /** What was asked for, as `events@t0 3`. */
  const asked = () =>
    requests.map(({ url }) => new URL(url)).map((url) => `${url.pathname.slice(1)} ${url.searchParams.get('page')}`)
  return { server, collection, requests, asked }
}

function readAll(collection: ReturnType<typeof openCollection>, options = {}): Promise<unknown[]> {
  return Array.fromAsync(collection.items(options))
}

/** The answer of a server that keeps the snapshot no longer, or does not know it. */
function gone(status: number): Response {
  const problem = { title: 'This state is no longer kept', hint: 'Begin again.' }
  return new Response(JSON.stringify(problem), { status })
}

const isSnapshot = ({ url }: Request) => url.includes('@')

describe('a collection whose pages link a snapshot', () => {
  const before = numberedItems(2600)
  const changes: Readonly<Record<string, (items: readonly unknown[]) => readonly unknown[]>> = {
    'an item is deleted': (items) => items.toSpliced(3, 1),
    'a page is deleted': (items) => items.slice(500),
    'an item is deleted and one appended': (items) => [...items.slice(1), { id: 0 }],
    'items are appended': (items) => [...items, ...numberedItems(700, 9000)],
    'items are replaced': (items) => items.with(2100, { id: 'new' }),
    'all items are replaced': (items) => numberedItems(items.length, 50_000),
    'nothing is left': () => [],
  }
  for (const [name, change] of Object.entries(changes))
    it(`is got as it was in the beginning, without beginning again, when ${name} with every request`, async () => {
      const { server, collection } = serve(2600, (_, number) => {
        if (number > 1) server.items = change(server.items)
      })
      const copy = new Copy()
      const progress: number[] = []
      const onProgress = ({ itemCount }: { itemCount: number }) => void progress.push(itemCount)
      const result = await collection.pull(copy, { restarts: 0, onProgress })
      assert.deepEqual(copy.items, before)
      assert.deepEqual([result.itemCount, result.appended, result.replaced, result.restarts], [2600, 0, false, 0])
      assert.deepEqual(new Set(progress), new Set([2600]))
    })

  it('costs one request more than it has pages, and one if it has one', async () => {
    for (const [items, expected] of [
      [0, ['events 1']],
      [500, ['events 1']],
      [1001, ['events 1', 'events@t0 1', 'events@t0 2', 'events@t0 3']],
    ] as const) {
      const { collection, asked } = serve(items)
      assert.equal((await readAll(collection)).length, items)
      assert.deepEqual(asked(), expected)
    }
  })

  it('is read live if that is asked for, or the link is not there', async () => {
    const { collection, asked } = serve(1001)
    await readAll(collection, { live: true })
    await collection.pull(new Copy(), { live: true })
    const { collection: plain, asked: askedPlain } = serve(1001, undefined, { hasHistory: false })
    await readAll(plain)
    await plain.pull(new Copy())
    const live = ['events 1', 'events 2', 'events 1', 'events 3', 'events 2']
    assert.deepEqual(asked(), [...live, ...live])
    assert.deepEqual(askedPlain(), asked())
  })

  for (const status of [404, 410])
    it(`is read live if its snapshot cannot be read at all: ${status}`, async () => {
      const { collection, asked } = serve(1001, (request) => (isSnapshot(request) ? gone(status) : undefined))
      assert.deepEqual(await readAll(collection), numberedItems(1001))
      assert.deepEqual(asked().slice(0, 4), ['events 1', 'events@t0 1', 'events 2', 'events 1'])
    })

  for (const status of [404, 410])
    it(`is begun again by a pull when its snapshot is gone in the middle: ${status}`, async () => {
      const { server, collection, asked } = serve(2600, (request, number) => {
        if (number === 3) server.items = server.items.slice(1)
        return number > 4 && request.url.includes('@t0') ? gone(status) : undefined
      })
      const copy = new Copy()
      const { restarts } = await collection.pull(copy)
      assert.deepEqual([restarts, copy.restarts], [1, 1])
      assert.deepEqual(copy.items, before.slice(1))
      assert.deepEqual(asked().slice(4, 7), ['events@t0 4', 'events 1', 'events@t1 1'])
    })

  it('is not begun again for one who has some of its items: the error says so', async () => {
    const { collection } = serve(2600, (request, number) => (number > 3 && isSnapshot(request) ? gone(410) : undefined))
    const got: unknown[] = []
    const reading = async () => {
      for await (const item of collection.items()) got.push(item)
    }
    await assert.rejects(reading(), (error) => {
      assert.ok(error instanceof CollectionChanged)
      assert.deepEqual([error.status, error.problem?.hint], [410, 'Begin again.'])
      const text = 'its snapshot is gone, so items may be missing or duplicated. Read it again.'
      assert.equal(error.message, `The collection changed while it was read: GET ${BASE}/events@t0?page=3 – ${text}`)
      return true
    })
    assert.deepEqual(got, before.slice(0, 1000))
  })

  it('is noticed to be no snapshot at all when its count changes', async () => {
    const live = spoiltServer({ items: 2600, hasHistory: true }, { stateAt: (_state, _tag, { items }) => items })
    const { fetch, server } = inProcess(live, (_, number) => {
      if (number === 4) server.items = server.items.slice(1)
    })
    await assert.rejects(readAll(openCollection(EVENTS, { fetch, concurrency: 1 })), CollectionChanged)
  })
})

describe('the link to a snapshot', () => {
  const read = async (href: unknown, options = {}) => {
    const { fetch, requests } = distorted((envelope) => relinked(envelope, { snapshot: { href } }))
    const items = await readAll(openCollection(EVENTS, { fetch, token: 'reams_secret', ...options }))
    return { items: items.length, urls: new Set(requests.map(({ url }) => url.replace(/\?.*/, ''))) }
  }

  for (const href of [
    'http://evil.example/events@t0',
    'https://events.example/events@t0',
    'http://events.example@evil.example/events@t0',
    '//evil.example/events@t0',
    'file:///events@t0',
    'http://evil.example/picture.png',
    `${BASE}/others@t0`,
    `${BASE}/events`,
    `${BASE}/events-2026`,
    `${BASE}/events@t0/`,
    'http://',
    7,
    undefined,
  ])
    it(`is none of ours and does not matter: ${href}`, async () => {
      const { items, urls } = await read(href)
      assert.deepEqual([items, [...urls]], [1001, [EVENTS]])
    })

  it('leads nowhere but beside the collection, whatever stands before the name', async () => {
    const { fetch, requests } = distorted(
      (envelope) => JSON.parse(JSON.stringify(envelope).replaceAll(BASE, 'http://10.0.0.7/internal')),
      { hasHistory: true },
    )
    const allowedOrigins = ['http://10.0.0.7']
    assert.equal((await readAll(openCollection(EVENTS, { fetch, allowedOrigins }))).length, 1001)
    assert.deepEqual([...new Set(requests.map(({ url }) => url.replace(/\?.*/, '')))], [EVENTS, `${EVENTS}@t0`])
  })
})

describe('a pull of a snapshot that was stopped', () => {
  function pulling(items: number) {
    const pulled = serve(items)
    const copy = new Copy()
    return { ...pulled, copy, resume: () => pulled.collection.pull(copy, { from: copy.state }) }
  }

  /** Stops after so many requests; what is handed over is kept. */
  async function stopped(requests: number, options = {}) {
    const pulled = pulling(2600)
    const { fetch } = inProcess(pulled.server, (_, number) => {
      if (number > requests) throw new Error('the network is gone')
    })
    const collection = openCollection(EVENTS, { fetch, concurrency: 1, retry: { retries: 0 } })
    await assert.rejects(collection.pull(pulled.copy, options), /the network is gone/)
    return pulled
  }

  async function completed() {
    const pulled = pulling(1700)
    await pulled.resume()
    pulled.requests.length = 0
    return pulled
  }

  it('goes on in the same snapshot, though the collection is another one by now', async () => {
    const { server, copy, resume, asked } = await stopped(4)
    assert.equal(copy.items.length, 1500)
    server.items = numberedItems(10)
    const { restarts, appended } = await resume()
    assert.deepEqual(copy.items, numberedItems(2600))
    assert.deepEqual([restarts, appended], [0, 0])
    assert.deepEqual(asked(), ['events@t0 1', 'events@t0 4', 'events@t0 5', 'events@t0 6'])
  })

  it('is begun again when the snapshot is gone', async () => {
    const { server, copy, resume } = await stopped(4)
    server.items = numberedItems(1200, 7)
    server.states.length = 0
    assert.equal((await resume()).restarts, 1)
    assert.deepEqual(copy.items, numberedItems(1200, 7))
  })

  it('fetches what was appended if it was complete, from a new snapshot', async () => {
    const { server, copy, resume, asked } = await completed()
    server.items = [...server.items, ...numberedItems(1000, 1701)]
    const { restarts, appended } = await resume()
    assert.deepEqual(copy.items, numberedItems(2700))
    assert.deepEqual([restarts, appended], [0, 1000])
    assert.deepEqual(asked(), ['events 4', 'events@t1 4', 'events@t1 5', 'events@t1 6'])
  })

  it('costs one request if it was complete and nothing happened since', async () => {
    const { resume, asked } = await completed()
    const { restarts, appended, replaced } = await resume()
    assert.deepEqual([restarts, appended, replaced], [0, 0, false])
    assert.deepEqual(asked(), ['events 4'])
  })

  it('is begun again if it was complete and something was deleted since', async () => {
    const { server, copy, resume } = await completed()
    server.items = [...server.items.slice(1), ...numberedItems(1000, 1701)]
    await resume()
    assert.equal(copy.restarts, 1)
    assert.deepEqual(copy.items, numberedItems(2699, 2))
  })

  it('goes on with one of live pages in a snapshot, if nothing moved in between', async () => {
    const { copy, resume } = await stopped(5, { live: true })
    assert.ok(copy.items.length > 500 && copy.state?.snapshot === undefined)
    const { restarts, replaced } = await resume()
    assert.deepEqual([restarts, replaced, copy.state?.snapshot], [0, false, 'events@t0'])
    assert.deepEqual(copy.items, numberedItems(2600))
  })
})

describe('the URL of a snapshot, and that of the changes since', () => {
  it('are read as any collection', async () => {
    const { server, collection } = serve(1001)
    await collection.page(1)
    server.items = [...server.items.slice(1), ...numberedItems(3, 2000)]
    const { fetch, requests } = inProcess(server)
    assert.deepEqual(await readAll(openCollection(`${EVENTS}@t0`, { fetch })), numberedItems(1001))
    const copy = new Copy()
    const changes = openCollection(`${EVENTS}@t0..`, { fetch })
    const { state } = await changes.pull(copy)
    assert.deepEqual([copy.items.length, copy.items[0]], [1004, { op: 'reset', version: 0 }])
    // They are only ever appended to.
    server.items = [...server.items, ...numberedItems(700, 3000)]
    const { restarts, appended } = await changes.pull(copy, { from: state })
    assert.deepEqual([restarts, appended, copy.items.length], [0, 700, 1704])
    const paths = new Set(requests.map(({ url }) => new URL(url).pathname))
    assert.deepEqual([...paths], ['/events@t0', '/events@t0..'])
  })
})
