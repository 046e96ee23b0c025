import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { itemRun } from '../../src/items/item-run.ts'
import type { CollectionSettings, Store } from '../../src/store/store.ts'
import { keyed } from '../store/items.ts'
import { fillAnew, interposed, replaceAll } from './altered-store.ts'
import {
  BASE,
  BROWSER,
  type EnvelopeJson,
  envelopeOf,
  fill,
  numbered,
  type OpenService,
  problemOf,
  sharedService,
  tokenFor,
} from './open-service.ts'

/** Of a state that no collection was ever in. */
const STRANGE_TAG = 'a1b2-2-3-AbCdEfGh_-9'

type Get = OpenService['get']

async function pageAt(get: Get, url: string): Promise<EnvelopeJson> {
  return envelopeOf(await get(url))
}

/** Where the link of a page leads. */
async function follow(get: Get, url: string, relation: string): Promise<string> {
  return (await pageAt(get, url))._links[relation]?.href ?? assert.fail(`${url} has no link ${relation}`)
}

const snapshotOf = (get: Get, url: string) => follow(get, url, 'snapshot')
const itemsOf = (texts: readonly string[]): unknown[] => texts.map((text) => JSON.parse(text))
const tagIn = (url: string): string => url.split('@')[1] ?? ''

/** All items, page by page. */
async function walk(get: Get, url: string): Promise<unknown[]> {
  const items: unknown[] = []
  for (let next: string | undefined = url; next !== undefined; ) {
    const { _links: links, _embedded: embedded } = await pageAt(get, next)
    items.push(...Object.values(embedded).flat())
    next = links['next']?.href
  }
  return items
}

const service = sharedService(async (store) => {
  await fill(store, 'events', numbered(700))
  await fill(store, 'other', numbered(3))
  await fill(store, 'secret', numbered(3), { isPrivate: true })
  await fill(store, 'venues', numbered(3), { isPaginated: false })
})

/** The service with a new collection `news`, which a test may change. */
async function withNews(count: number, settings: Partial<CollectionSettings> = {}) {
  const { store, get, again } = service()
  await fillAnew(store, 'news', numbered(count), settings)
  const append = (texts: readonly string[]) => store.append('news', itemRun(texts, { keyField: 'id', ...settings }))
  const version = async () => (await store.head('news'))?.version ?? assert.fail()
  return { store, get, again, append, version, snapshot: await snapshotOf(get, '/news') }
}

/** Some of everything that can happen to a collection. */
async function change(store: Store): Promise<void> {
  await store.remove('news', '7')
  await store.put('news', keyed(['{"id":3,"x":1}']))
  await store.append('news', keyed(numbered(2, 5000)))
}

describe('a snapshot', () => {
  it('is linked by every live page, and is the collection as it was, a page like any other (D22)', async () => {
    const { store, get, snapshot } = await withNews(1001)
    assert.match(snapshot, new RegExp(`^${BASE}/news@[\\w-]+$`))
    assert.equal(await snapshotOf(get, '/news?page=2'), snapshot)
    await change(store)
    assert.notEqual(await snapshotOf(get, '/news'), snapshot)
    const page = await pageAt(get, `${snapshot}?page=2`)
    assert.partialDeepStrictEqual(page, {
      item_count: 1001,
      _links: {
        self: { href: `${snapshot}?page=2` },
        first: { href: snapshot },
        prev: { href: `${snapshot}?page=1` },
        next: { href: `${snapshot}?page=3` },
        last: { href: `${snapshot}?page=3` },
        changes: { href: `${snapshot}..` },
        'latest-version': { href: `${BASE}/news` },
      },
    })
    assert.deepEqual(page._embedded, { news: itemsOf(numbered(500, 501)) })
    assert.deepEqual(await walk(get, snapshot), itemsOf(numbered(1001)))
  })

  it('can be kept by a cache for as long as it is kept here, with a tag of its own', async () => {
    const { store, get, again } = service()
    const token = await tokenFor(store, ['read:*'])
    for (const [path, asked, before] of [
      ['/events', get, undefined],
      ['/secret', get, 'private, '],
      ['/events', again({ requireToken: true }), 'private, '],
    ] as const) {
      const { status, headers } = await asked(await snapshotOf((url) => asked(url, token), path), token)
      const caching = headers.get('cache-control') ?? ''
      const [, isFor, seconds] = /^(private, )?max-age=(\d+), immutable$/.exec(caching) ?? []
      assert.deepEqual([status, isFor], [200, before])
      assert.ok(Number(seconds) > 86_000 && Number(seconds) <= 86_400, caching)
    }
    const snapshot = await snapshotOf(get, '/events')
    assert.equal((await get(`${snapshot}..`)).headers.get('cache-control'), 'no-cache')
    const [live, kept] = [await get('/events'), await get(snapshot)]
    assert.notEqual(live.headers.get('etag'), kept.headers.get('etag'))
  })

  it('is of the new items only, after all was replaced, while the one before stays', async () => {
    const { store, get, snapshot } = await withNews(600)
    await replaceAll(store, 'news', ['{"id":"new"}'])
    assert.deepEqual(await walk(get, await snapshotOf(get, '/news')), [{ id: 'new' }])
    assert.equal((await walk(get, snapshot)).length, 600)
    const [first, ...puts] = (await walk(get, `${snapshot}..`)) as { op: string; version: number; item: unknown }[]
    assert.equal(first?.op, 'reset')
    assert.deepEqual(puts, [{ op: 'put', key: 'new', version: first?.version, item: { id: 'new' } }])
  })
})

describe('the changes since a snapshot', () => {
  it('are a collection: one item a change, oldest first, and a link to where they end (D23)', async () => {
    const { store, get, version, snapshot } = await withNews(10)
    const before = await version()
    const changes = await follow(get, snapshot, 'changes')
    await change(store)
    const end = await snapshotOf(get, '/news')
    const page = await pageAt(get, changes)
    assert.partialDeepStrictEqual(page, {
      item_count: 4,
      _links: {
        self: { href: `${changes}?page=1` },
        first: { href: changes },
        last: { href: `${changes}?page=1` },
        snapshot: { href: end },
        'latest-version': { href: `${BASE}/news` },
      },
    })
    assert.deepEqual(page._embedded['news'], [
      { op: 'delete', key: '7', version: before + 1 },
      { op: 'put', key: '3', version: before + 2, item: { id: 3, x: 1 } },
      { op: 'put', key: '5000', version: before + 3, item: { id: 5000 } },
      { op: 'put', key: '5001', version: before + 3, item: { id: 5001 } },
    ])
    assert.deepEqual(await walk(get, `${end}..`), [])
    assert.equal(await snapshotOf(get, `${end}..`), end)
  })

  it('have pages like any collection, of which only the last links a snapshot', async () => {
    const { get, append, version, snapshot } = await withNews(3, { keyField: null })
    await append(numbered(1100, 100))
    const pages = await Promise.all([1, 2, 3].map((page) => pageAt(get, `${snapshot}..?page=${page}`)))
    assert.deepEqual(
      pages.map(({ item_count, _links, _embedded: { news = [] } }) => [item_count, news.length, 'snapshot' in _links]),
      [
        [1100, 500, false],
        [1100, 500, false],
        [1100, 100, true],
      ],
    )
    assert.deepEqual(pages[0]?._embedded['news']?.[0], { op: 'put', version: await version(), item: { id: 100 } })
    assert.equal(await follow(get, `${snapshot}..?page=3`, 'prev'), `${snapshot}..?page=2`)
  })
})

describe('pages of snapshots and of changes', () => {
  /** The address of a snapshot, and that of changes. */
  async function both(): Promise<readonly [string, string]> {
    const snapshot = await snapshotOf(service().get, '/events')
    return [snapshot, `${snapshot}..`]
  }

  it('are 304 to who has them, and no item is read for that', async () => {
    const { store, get, again } = service()
    const encodings = ['identity', 'gzip'].map((encoding) => ({ 'accept-encoding': encoding }))
    const pages = [1, 2].flatMap((page) => encodings.map((encoding) => ({ page, encoding })))
    for (const url of await both())
      for (const { page, encoding } of pages) {
        const { headers } = await get(`${url}?page=${page}`, encoding)
        const asked: string[] = []
        const watched = again({ store: interposed(store, (name) => void asked.push(name)) })
        const etag = headers.get('etag') ?? ''
        const known = await watched(`${url}?page=${page}`, { ...encoding, 'if-none-match': etag })
        assert.deepEqual([known.status, known.body, known.headers.get('etag')], [304, null, etag])
        const [caching, before] = [known, { headers }].map((each) => each.headers.get('cache-control'))
        assert.equal(caching?.replace(/\d+/, ''), before?.replace(/\d+/, ''))
        assert.deepEqual(asked, ['stateAt'])
      }
  })

  it('are not there for what is no state of the collection', async () => {
    const { get } = service()
    const [snapshot] = await both()
    const tag = tagIn(snapshot)
    const [id = '', version = '', changes = '', ...commit] = tag.split('-')
    const states = [
      ...['', 'x', '.', '%40', `0${tag}`, `${tag}.`, `${tag}@`, tag.toUpperCase(), STRANGE_TAG],
      tagIn(await snapshotOf(get, '/other')),
      ...[`${id}-2s-${changes}`, `${id}-${version}-7`].map((forged) => [forged, ...commit].join('-')),
      `${id}-${version}-${changes}-AbCdEfGh_-9`,
    ]
    for (const state of states)
      for (const end of ['', '..']) {
        const response = await get(`/events@${state}${end}`)
        const { type, detail } = await problemOf(response)
        assert.equal(`${response.status} ${type}`, `404 ${BASE}/-/problems/state-not-found`, state)
        assert.equal(detail, `The collection "events" never was in the state "${state}".`)
      }
    assert.equal((await get(`/venues@${tag}`)).status, 404)
    for (const path of ['/@', '/@..', `/@${tag}`, `/Events@${tag}`, `/Events@${tag}/7`])
      assert.equal((await problemOf(await get(path))).type, `${BASE}/-/problems/collection-not-found`, path)
  })

  it('have no item URLs, and say where the item is', async () => {
    const { get } = service()
    for (const base of [...(await both()), `${BASE}/nothin@x`])
      for (const [key, url] of [
        ['7', `${base.split('@')[0]}/7`],
        ['a%20b', `${base.split('@')[0]}/a%20b`],
        ['%ff', 'its own URL.'],
        ['x'.repeat(200), 'its own URL.'],
      ]) {
        const response = await get(`${base}/${key}`)
        const { type, detail, hint } = await problemOf(response)
        assert.equal(`${response.status} ${type}`, `404 ${BASE}/-/problems/path-not-found`)
        assert.match(detail, /^There is nothing at ".*": snapshots and changes have pages, but no item URLs\.$/)
        assert.equal(hint, `Look for the item on those pages. As it is now, it is at ${url}`)
        const inJson = await problemOf(await get(`${base}/${key}`.replace(BASE, `${BASE}/-/json`)))
        assert.equal(inJson.hint, hint)
        const page = await get(`${base}/${key}`, BROWSER)
        assert.deepEqual([page.status, page.headers.get('content-type')], [404, 'text/html; charset=utf-8'])
        assert.match(await page.text(), /but no item URLs/)
      }
  })

  it('have one tag each: another number of changes in the tag of an earlier state is 404', async () => {
    const { store, get } = await withNews(9)
    await change(store)
    const snapshot = await snapshotOf(get, '/news')
    await store.remove('news', '9')
    assert.notEqual(await snapshotOf(get, '/news'), snapshot)
    assert.equal((await get(snapshot)).status, 200)
    const forged = snapshot.replace(/-(\w+)-(?=[\w-]{11}$)/, (_, changes: string) => {
      return `-${(Number.parseInt(changes, 36) - 1).toString(36)}-`
    })
    assert.notEqual(forged, snapshot)
    for (const end of ['', '..'])
      for (const headers of [{}, { 'if-none-match': '*' }])
        assert.equal((await get(`${forged}${end}`, headers)).status, 404, forged)
  })
})

describe('history that is not kept', () => {
  it('is 410 with what to do, and only for states that there were', async () => {
    const { store, get, snapshot } = await withNews(9)
    await change(store)
    await store.forget('news')
    for (const url of [snapshot, `${snapshot}..`])
      for (const headers of [{}, { 'if-none-match': '*' }]) {
        const response = await get(url, headers)
        assert.deepEqual([response.status, response.headers.get('cache-control')], [410, 'no-store'])
        const { type, detail, hint } = await problemOf(response)
        assert.equal(type, `${BASE}/-/problems/state-expired`)
        assert.ok(detail.includes(`"${tagIn(snapshot)}"`), detail)
        assert.match(hint, /"snapshot" link/)
      }
    assert.equal((await walk(get, await snapshotOf(get, '/news'))).length, 10)
    await store.drop('news')
    assert.equal((await get(snapshot)).status, 404)
    await fill(store, 'news', numbered(3))
    assert.equal((await problemOf(await get(snapshot))).type, `${BASE}/-/problems/state-not-found`)
  })

  it('is not linked, also not by a page that was kept with the link, and the tags differ', async () => {
    const { store, get } = await withNews(3)
    assert.ok(!('snapshot' in (await pageAt(get, '/venues'))._links))
    const seen = new Map<string | null, string>()
    for (const retentionMs of [1_000_000, 0, 2_000_000]) {
      await store.setRetention('news', { retentionMs })
      const response = await get('/news')
      const text = await response.text()
      assert.equal(text.includes('"snapshot"'), retentionMs > 0)
      const tag = response.headers.get('etag')
      assert.equal(seen.get(tag) ?? text, text)
      seen.set(tag, text)
    }
  })
})
