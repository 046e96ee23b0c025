import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { itemRun } from '../../src/items/item-run.ts'
import type { Store } from '../../src/store/store.ts'
import {
  BASE,
  bytesOf,
  envelopeOf,
  fill,
  numbered,
  type OpenService,
  openService,
  problemOf,
  sharedService,
  tokenFor,
} from './open-service.ts'

const KEYED = { keyField: 'id' }
/** Of a state that no collection was ever in. */
const STRANGE_TAG = 'a1b2-2-3-AbCdEfGh_-9'

/** Where the link of a page leads. */
async function follow(get: OpenService['get'], url: string, relation: string): Promise<string> {
  const { _links: links } = await envelopeOf(await get(url))
  return links[relation]?.href ?? assert.fail(`${url} has no link ${relation}`)
}

/** All items, page by page. */
async function walk(get: OpenService['get'], url: string): Promise<unknown[]> {
  const items: unknown[] = []
  for (let next: string | undefined = url; next !== undefined; ) {
    const { _links: links, _embedded: embedded } = await envelopeOf(await get(next))
    items.push(...Object.values(embedded).flat())
    next = links['next']?.href
  }
  return items
}

/** Some of everything that can happen to a collection. */
async function change(store: Store): Promise<void> {
  await store.remove('events', '7')
  await store.put('events', itemRun(['{"id":3,"x":1}'], KEYED))
  await store.append('events', itemRun(numbered(2, 5000), KEYED))
}

describe('a snapshot', () => {
  it('is linked by every live page, and is the collection as it was, a page like any other (D22)', async (t) => {
    const { store, get } = await openService(t)
    await fill(store, 'events', numbered(1001))
    const snapshot = await follow(get, '/events?page=2', 'snapshot')
    assert.match(snapshot, new RegExp(`^${BASE}/events@[\\w-]+$`))
    assert.equal(await follow(get, '/events', 'snapshot'), snapshot)
    await change(store)
    assert.notEqual(await follow(get, '/events', 'snapshot'), snapshot)
    assert.deepEqual(await envelopeOf(await get(`${snapshot}?page=2`)), {
      item_count: 1001,
      _links: {
        self: { href: `${snapshot}?page=2` },
        first: { href: snapshot },
        prev: { href: `${snapshot}?page=1` },
        next: { href: `${snapshot}?page=3` },
        last: { href: `${snapshot}?page=3` },
        changes: { href: `${snapshot}..` },
        'latest-version': { href: `${BASE}/events` },
      },
      _embedded: { events: numbered(500, 501).map((text) => JSON.parse(text)) },
    })
    assert.deepEqual(
      await walk(get, snapshot),
      numbered(1001).map((text) => JSON.parse(text)),
    )
  })

  it('can be kept by a cache for as long as it is kept here, with a tag of its own', async (t) => {
    const { store, get, again } = await openService(t)
    await fill(store, 'events', numbered(3))
    await fill(store, 'secret', numbered(3), { isPrivate: true })
    const token = await tokenFor(store, ['read:*'])
    const maxAge = async (path: string, asked = get) => {
      const snapshot = await follow((url) => asked(url, token), path, 'snapshot')
      const { status, headers } = await asked(snapshot, token)
      assert.equal(status, 200)
      const [, before, seconds] =
        /^(private, )?max-age=(\d+), immutable$/.exec(headers.get('cache-control') ?? '') ?? []
      return [before, Number(seconds) > 86_000 && Number(seconds) <= 86_400]
    }
    assert.deepEqual(await maxAge('/events'), [undefined, true])
    assert.deepEqual(await maxAge('/secret'), ['private, ', true])
    assert.deepEqual(await maxAge('/events', again({ requireToken: true })), ['private, ', true])
    const [live, snapshot] = [await get('/events'), await get(await follow(get, '/events', 'snapshot'))]
    assert.notEqual(live.headers.get('etag'), snapshot.headers.get('etag'))
  })

  it('is the same with another service on the same store, and after a change, byte for byte', async (t) => {
    const { store, get, again } = await openService(t)
    await fill(store, 'events', numbered(600))
    const snapshot = await follow(get, '/events', 'snapshot')
    const before = await get(snapshot)
    const bytes = await bytesOf(before)
    await change(store)
    for (const ask of [get, again({ cacheBytes: 0 })]) {
      const after = await ask(snapshot)
      assert.deepEqual(await bytesOf(after), bytes)
      assert.equal(after.headers.get('etag'), before.headers.get('etag'))
    }
  })

  it('is of the new items only, after all was replaced, while the one before stays', async (t) => {
    const { store, get } = await openService(t)
    await fill(store, 'events', numbered(600))
    const before = await follow(get, '/events', 'snapshot')
    const load = await store.load('events', { isReplacement: true })
    await load.append(itemRun(['{"id":"new"}'], KEYED))
    await load.commit()
    assert.deepEqual(await walk(get, await follow(get, '/events', 'snapshot')), [{ id: 'new' }])
    assert.equal((await walk(get, before)).length, 600)
    const [first, ...puts] = (await walk(get, `${before}..`)) as { op: string; version: number; item: unknown }[]
    assert.equal(first?.op, 'reset')
    assert.deepEqual(puts, [{ op: 'put', key: 'new', version: first?.version, item: { id: 'new' } }])
  })
})

describe('the changes since a snapshot', () => {
  it('are a collection: one item a change, oldest first, and a link to where they end (D23)', async (t) => {
    const { store, get } = await openService(t)
    await fill(store, 'events', numbered(10))
    const { version } = (await store.head('events')) ?? assert.fail()
    const changes = await follow(get, await follow(get, '/events', 'snapshot'), 'changes')
    await change(store)
    const end = await follow(get, '/events', 'snapshot')
    assert.deepEqual(await envelopeOf(await get(changes)), {
      item_count: 4,
      _links: {
        self: { href: `${changes}?page=1` },
        first: { href: changes },
        last: { href: `${changes}?page=1` },
        snapshot: { href: end },
        'latest-version': { href: `${BASE}/events` },
      },
      _embedded: {
        events: [
          { op: 'delete', key: '7', version: version + 1 },
          { op: 'put', key: '3', version: version + 2, item: { id: 3, x: 1 } },
          { op: 'put', key: '5000', version: version + 3, item: { id: 5000 } },
          { op: 'put', key: '5001', version: version + 3, item: { id: 5001 } },
        ],
      },
    })
    assert.deepEqual(await walk(get, `${end}..`), [])
    assert.equal(await follow(get, `${end}..`, 'snapshot'), end)
  })

  it('have pages like any collection, of which only the last links a snapshot', async (t) => {
    const { store, get } = await openService(t)
    await fill(store, 'events', numbered(3), { keyField: null })
    const changes = `${await follow(get, '/events', 'snapshot')}..`
    await store.append('events', itemRun(numbered(1100, 100)))
    const pages = await Promise.all([1, 2, 3].map(async (page) => envelopeOf(await get(`${changes}?page=${page}`))))
    assert.deepEqual(
      pages.map(({ item_count: count, _links: links, _embedded: { events = [] } }) => [
        count,
        events.length,
        'snapshot' in links,
      ]),
      [
        [1100, 500, false],
        [1100, 500, false],
        [1100, 100, true],
      ],
    )
    const { version } = (await store.head('events')) ?? assert.fail()
    assert.deepEqual(pages[0]?._embedded['events']?.[0], { op: 'put', version, item: { id: 100 } })
    assert.equal(await follow(get, `${changes}?page=3`, 'prev'), `${changes}?page=2`)
  })

  it('have a tag that is another after every commit, and are revalidated as live pages are', async (t) => {
    const { store, get } = await openService(t)
    await fill(store, 'events', numbered(3))
    const changes = `${await follow(get, '/events', 'snapshot')}..`
    const tags = new Set<string | null>()
    for (let round = 0; round < 3; round++) {
      const { headers } = await get(changes)
      assert.equal(headers.get('cache-control'), 'no-cache')
      tags.add(headers.get('etag'))
      await store.append('events', itemRun(numbered(1, 100 + round), KEYED))
    }
    assert.equal(tags.size, 3)
  })
})

describe('pages of snapshots and of changes', () => {
  const service = sharedService(async (store) => {
    await fill(store, 'events', numbered(700))
    await fill(store, 'other', numbered(3))
    await fill(store, 'secret', numbered(3), { isPrivate: true })
    await fill(store, 'venues', numbered(3), { isPaginated: false })
  })

  /** The address of a snapshot, and that of changes. */
  async function both(): Promise<readonly [string, string]> {
    const snapshot = await follow(service().get, '/events', 'snapshot')
    return [snapshot, `${snapshot}..`]
  }

  it('beyond the last are the last, without a page or with an empty one the first (C7, D1)', async () => {
    const { get } = service()
    for (const url of await both()) {
      const last = await follow(get, url, 'last')
      for (const [target, same] of [
        [`${url}?page=99999999999999999999`, last],
        [`${url}?page=`, url],
        [`${url}?page=1`, url],
      ] as const) {
        const [one, other] = [await get(target), await get(same)]
        assert.deepEqual([...one.headers], [...other.headers])
        assert.deepEqual(await bytesOf(one), await bytesOf(other))
      }
      const problem = await problemOf(await get(`${url}?page=0`))
      assert.deepEqual([problem.status, problem.detail.includes('"0"')], [400, true])
    }
  })

  it('are the same as gzip, below /-/json and, but for the body, with HEAD', async () => {
    const { get } = service()
    for (const url of await both()) {
      const plain = await get(url)
      const bytes = await bytesOf(plain)
      const packed = await get(url, { 'accept-encoding': 'gzip' })
      assert.equal(packed.headers.get('content-encoding'), 'gzip')
      assert.notEqual(packed.headers.get('etag'), plain.headers.get('etag'))
      assert.deepEqual(gunzipSync(await bytesOf(packed)), bytes)
      assert.deepEqual(await bytesOf(await get(url.replace(BASE, `${BASE}/-/json`))), bytes)
      const head = await get(url, {}, 'HEAD')
      assert.deepEqual([head.status, [...head.headers], head.body], [200, [...plain.headers], null])
    }
  })

  it('are 304 to who has them, and no item is read for that', async () => {
    const { store, get, again } = service()
    const encodings = ['identity', 'gzip'].map((encoding) => ({ 'accept-encoding': encoding }))
    const pages = [1, 2].flatMap((page) => encodings.map((encoding) => ({ page, encoding })))
    for (const url of await both())
      for (const { page, encoding } of pages) {
        const { headers } = await get(`${url}?page=${page}`, encoding)
        const asked: string[] = []
        const watched = again({ store: watch(store, asked) })
        const known = await watched(`${url}?page=${page}`, {
          ...encoding,
          'if-none-match': headers.get('etag') ?? '',
        })
        assert.deepEqual([known.status, known.body], [304, null])
        const { 'x-request-id': _id, ...own } = Object.fromEntries(known.headers)
        const [etag, caching] = [headers.get('etag'), headers.get('cache-control')]
        assert.equal(own['etag'], etag)
        assert.equal(own['cache-control']?.replace(/\d+/, ''), caching?.replace(/\d+/, ''))
        assert.deepEqual(asked, ['stateAt'])
      }
  })

  it('are not there for what is no state of the collection', async () => {
    const { get } = service()
    const [snapshot] = await both()
    const tag = snapshot.split('@')[1] ?? ''
    const other = (await follow(get, '/other', 'snapshot')).split('@')[1] ?? ''
    const [id = '', version = '', changes = '', ...commit] = tag.split('-')
    const forged = [
      [id, '2s', changes, ...commit],
      [id, version, '7', ...commit],
      [id, version, changes, 'AbCdEfGh_-9'],
    ].map((parts) => parts.join('-'))
    const states = [
      '',
      'x',
      '.',
      '%40',
      `0${tag}`,
      `${tag}.`,
      `${tag}@`,
      tag.toUpperCase(),
      STRANGE_TAG,
      other,
      ...forged,
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
    const browser = { accept: 'text/html,application/xhtml+xml' }
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
        const page = await get(`${base}/${key}`, browser)
        assert.deepEqual([page.status, page.headers.get('content-type')], [404, 'text/html; charset=utf-8'])
        assert.match(await page.text(), /but no item URLs/)
      }
  })

  it('have one tag each: another number of changes in the tag of an earlier state is 404', async (t) => {
    const { store, get } = await openService(t)
    await fill(store, 'events', numbered(9))
    await change(store)
    const snapshot = await follow(get, '/events', 'snapshot')
    await store.remove('events', '9')
    assert.notEqual(await follow(get, '/events', 'snapshot'), snapshot)
    assert.equal((await get(snapshot)).status, 200)
    const forged = snapshot.replace(/-(\w+)-(?=[\w-]{11}$)/, (_, changes: string) => {
      return `-${(Number.parseInt(changes, 36) - 1).toString(36)}-`
    })
    assert.notEqual(forged, snapshot)
    for (const end of ['', '..'])
      for (const headers of [{}, { 'if-none-match': '*' }])
        assert.equal((await get(`${forged}${end}`, headers)).status, 404, forged)
  })

  it('tell nothing of a collection that the caller may not know', async () => {
    const { store, get } = service()
    const reader = await tokenFor(store, ['read:secret'])
    const secret = await follow((url) => get(url, reader), '/secret', 'snapshot')
    assert.equal((await get(secret, reader)).status, 200)
    const tag = secret.split('@')[1] ?? ''
    for (const state of [tag, `${tag}..`, '', 'x', STRANGE_TAG, `${STRANGE_TAG}..`])
      for (const headers of [{}, await tokenFor(store, ['read:events'])]) {
        const hidden = await get(`/secret@${state}`, headers)
        const missing = await get(`/nothin@${state}`, headers)
        assert.equal(hidden.status, 404)
        assert.equal((await hidden.text()).replaceAll('secret', 'nothin'), await missing.text())
      }
    assert.equal((await service().again({ requireToken: true })(secret)).status, 401)
  })

  it('can only be read: every write is 405 (D13)', async () => {
    const { store, get } = service()
    const admin = await tokenFor(store, ['admin'])
    const urls = [...(await both()), '/events@', '/events@..', `/nothin@${STRANGE_TAG}`]
    for (const url of urls.flatMap((each) => [each, `${each}/7`])) {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        const response = await get(url, admin, method)
        assert.deepEqual([response.status, response.headers.get('allow')], [405, 'GET, HEAD, OPTIONS'], url)
      }
      const options = await get(url, {}, 'OPTIONS')
      assert.deepEqual([options.status, options.headers.get('allow')], [204, 'GET, HEAD, OPTIONS'])
    }
  })
})

describe('history that is not kept', () => {
  it('is 410 with what to do, and only for states that there were', async (t) => {
    const { store, get } = await openService(t)
    await fill(store, 'events', numbered(9))
    const snapshot = await follow(get, '/events', 'snapshot')
    await change(store)
    await store.forget('events')
    for (const url of [snapshot, `${snapshot}..`])
      for (const headers of [{}, { 'if-none-match': '*' }]) {
        const response = await get(url, headers)
        assert.deepEqual([response.status, response.headers.get('cache-control')], [410, 'no-store'])
        const { type, detail, hint } = await problemOf(response)
        assert.equal(type, `${BASE}/-/problems/state-expired`)
        assert.ok(detail.includes(`"${snapshot.split('@')[1]}"`), detail)
        assert.match(hint, /"snapshot" link/)
      }
    assert.equal((await walk(get, await follow(get, '/events', 'snapshot'))).length, 10)
    await store.drop('events')
    assert.equal((await get(snapshot)).status, 404)
    await fill(store, 'events', numbered(3))
    assert.equal((await problemOf(await get(snapshot))).type, `${BASE}/-/problems/state-not-found`)
  })

  it('is not linked, also not by a page that was kept with the link, and the tags differ', async (t) => {
    const { store, get } = await openService(t)
    await fill(store, 'events', numbered(3))
    await fill(store, 'venues', numbered(3), { isPaginated: false })
    assert.ok(!('snapshot' in (await envelopeOf(await get('/venues')))._links))
    const seen = new Map<string | null, string>()
    for (const retentionMs of [1_000_000, 0, 2_000_000]) {
      await store.setRetention('events', { retentionMs })
      const response = await get('/events')
      const text = await response.text()
      assert.equal(text.includes('"snapshot"'), retentionMs > 0)
      const tag = response.headers.get('etag')
      assert.equal(seen.get(tag) ?? text, text)
      seen.set(tag, text)
    }
  })
})

/** The store, and the methods that are called. */
function watch(store: Store, asked: string[]): Store {
  return new Proxy(store, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return (...parameters: unknown[]) => {
        asked.push(String(name))
        return value.apply(target, parameters)
      }
    },
  })
}
