import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { Store } from '../../src/store/store.ts'
import { keyed } from '../store/items.ts'
import { fillAnew, interposed, replaceAll } from './altered-store.ts'
import { type EnvelopeJson, fill, numbered, type OpenService, sharedService } from './open-service.ts'

/** Both forms of a page, after they have been compared. */
async function pageOf(get: OpenService['get'], target: string): Promise<EnvelopeJson> {
  const plain = await (await get(target)).text()
  const packed = Buffer.from(await (await get(target, { 'accept-encoding': 'gzip' })).arrayBuffer())
  assert.equal(gunzipSync(packed).toString(), plain)
  return JSON.parse(plain)
}

/** What a service without a cache answers now. */
function fresh(again: OpenService['again'], target: string): Promise<EnvelopeJson> {
  return pageOf(again({ cacheBytes: 0 }), target)
}

/** Each change of a collection that a kept page must not outlive. */
const CHANGES: Readonly<Record<string, (store: Store, round: number) => Promise<unknown>>> = {
  'an append to the partial last page': (store, round) => append(store, 1, 5000 + round),
  'an append that fills pages': (store, round) => append(store, 1200, 20_000 * (round + 1)),
  'a replaced item': (store, round) => store.put('events', keyed([`{"id":3,"round":${round}}`])),
  'an item removed before the page': (store) => store.remove('events', '1'),
  'a drop and a new collection of that name': (store) => fillAnew(store, 'events', numbered(1200, 9000)),
  'a replacement of all': (store) => replaceAll(store, 'events', numbered(1200)),
}

function append(store: Store, count: number, first: number): Promise<unknown> {
  return store.append('events', keyed(numbered(count, first)))
}

const service = sharedService(async () => {})

/** A new collection `events` in the store of a service, and the pages for which the store is asked by `watched`. */
async function withEvents(count: number) {
  const { store, get, again } = service()
  await fillAnew(store, 'events', numbered(count))
  const asked: string[] = []
  const page: Store['page'] = (...parameters) => {
    asked.push(String(parameters[1]))
    return store.page(...parameters)
  }
  const watched = interposed(store, (name) => (name === 'page' ? page : undefined))
  return { store, get, again, asked, watched }
}

describe('a page that is kept', () => {
  it('is right after every kind of change, again and again, and has the tag of its bytes', async () => {
    const { store, get, again } = await withEvents(1200)
    const tags = new Map<string | null, string>()
    for (let round = 0; round < 2; round++)
      for (const [change, make] of Object.entries(CHANGES)) {
        for (const page of [1, 2, 3, 4]) await pageOf(get, `/events?page=${page}`)
        await make(store, round)
        for (const page of [1, 2, 3, 4, 5]) {
          const target = `/events?page=${page}`
          assert.deepEqual(await pageOf(get, target), await fresh(again, target), change)
          const answer = await get(target)
          const [tag, text] = [answer.headers.get('etag'), await answer.text()]
          assert.equal(tags.get(tag) ?? text, text, change)
          tags.set(tag, text)
        }
      }
  })

  it('is right for an unpaginated collection', async () => {
    const { store, get, again } = service()
    await fill(store, 'kinds', numbered(700), { isPaginated: false })
    for (const key of ['5', '6', '7']) {
      for (const target of ['/kinds', '/kinds?page=9'])
        assert.deepEqual(await pageOf(get, target), await fresh(again, '/kinds'))
      await store.remove('kinds', key)
    }
  })

  it('is not shown to those who may not see it any more', async () => {
    const { store, get } = await withEvents(10)
    for (const isPrivate of [false, true, false]) {
      await store.setPrivate('events', isPrivate)
      const { status, headers } = await get('/events')
      assert.deepEqual([status, headers.get('cache-control')], isPrivate ? [404, 'no-store'] : [200, 'no-cache'])
    }
  })

  it('has the links of the base URL and the type that this request wants', async () => {
    const { again } = await withEvents(10)
    const get = again({ loopbackPort: 8080 })
    for (const host of ['localhost:8080', '127.0.0.1:8080', 'localhost:8080']) {
      const answer = await get('/events', { host })
      assert.ok((await answer.text()).includes(`"http://${host}/events"`))
      assert.ok(answer.headers.get('etag')?.endsWith(`@http://${host}"`))
    }
    for (const accept of ['application/json', 'application/hal+json', 'application/json'])
      assert.equal((await get('/events', { accept })).headers.get('content-type'), accept)
  })

  it('is sent as it is to the next one, without asking the store for its items', async () => {
    const { store, again, asked, watched } = await withEvents(1200)
    const get = again({ store: watched })
    for (let count = 0; count < 3; count++) await get('/events?page=2')
    assert.deepEqual(asked, ['2'])
    await append(store, 1, 5000)
    const grown = await pageOf(get, '/events?page=2')
    assert.equal(grown.item_count, 1201)
    // The plain page has the new count around the items that are kept; the packed one is made for the first time.
    assert.deepEqual(asked, ['2', '2'])
  })

  it('is kept through appends also where it is cut from two reams, until another page is full or changed', async () => {
    const { store, again, asked, watched } = await withEvents(2001)
    await store.remove('events', '7')
    const get = again({ store: watched })
    const packed = { 'accept-encoding': 'gzip' }
    const page = async () => gunzipSync(await (await get('/events?page=2', packed)).arrayBuffer()).toString()
    const itemsIn = (text: string): string => text.slice(text.indexOf('_embedded'))
    const first = itemsIn(await page())
    for (let count = 0; count < 5; count++) {
      await append(store, 99, 5000 + count * 99)
      const text = await page()
      assert.equal(JSON.parse(text).item_count, 2000 + 99 * (count + 1))
      assert.equal(itemsIn(text), first)
    }
    assert.deepEqual(asked, ['2'])
    await append(store, 5, 9000)
    assert.equal(itemsIn(await page()), first)
    assert.deepEqual(asked, ['2', '2'])
    await store.remove('events', '8')
    assert.notEqual(itemsIn(await page()), first)
    assert.deepEqual(asked, ['2', '2', '2'])
  })
})

describe('the memory for pages', () => {
  it('is bounded: what was not asked for longest goes', async () => {
    const { again, asked, watched } = await withEvents(5000)
    // A page has some five kilobytes, and a thousand bytes on top are reckoned.
    const get = again({ store: watched, cacheBytes: 40_000 })
    for (const page of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 9, 10, 1]) await get(`/events?page=${page}`)
    assert.deepEqual(asked, ['1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '1'])
  })

  it('takes no page that would fill a good part of it', async () => {
    const { again, asked, watched } = await withEvents(1000)
    const get = again({ store: watched, cacheBytes: 10_000 })
    for (let count = 0; count < 2; count++) assert.equal((await get('/events?page=2')).status, 200)
    assert.deepEqual(asked, ['2', '2'])
  })
})
