import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { Store } from '../../src/store/store.ts'
import { keyed } from '../store/items.ts'
import { fillAnew, interposed, mirror } from './altered-store.ts'
import { BASE, bytesOf, envelopeOf, fill, numbered, type OpenService, sharedService, tokenFor } from './open-service.ts'

const CHROME = {
  Accept:
    'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7',
}

const HTML: Readonly<Record<string, Record<string, string>>> = {
  Chrome: CHROME,
  Firefox: { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' },
  'Safari 5': { Accept: 'application/xml,application/xhtml+xml,text/html;q=0.9,text/plain;q=0.8,image/png,*/*;q=0.5' },
  'Internet Explorer 11': { Accept: 'text/html, application/xhtml+xml, */*' },
  'the script of the explorer': { Accept: 'text/html, application/xhtml+xml', 'Sec-Fetch-Mode': 'cors' },
  'capital letters': { Accept: 'TEXT/HTML, Application/XHTML+XML' },
  'a client that ranks JSON as high': { Accept: 'application/json, text/html, application/xhtml+xml' },
}

const DATA: Readonly<Record<string, Record<string, string>>> = {
  'nobody in particular': {},
  curl: { Accept: '*/*' },
  fetch: { Accept: '*/*', 'Sec-Fetch-Mode': 'cors' },
  Java: { Accept: 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2' },
  'a client that lists HTML alone': { Accept: 'text/html' },
  'a client that lists HTML alone and navigates': { Accept: 'text/html', 'Sec-Fetch-Mode': 'navigate' },
  'a client that accepts anything and navigates': { Accept: '*/*', 'Sec-Fetch-Mode': 'navigate' },
  'a client that lists XHTML alone': { Accept: 'application/xhtml+xml, */*' },
  'a client that rejects HTML': { Accept: 'text/html;q=0, application/xhtml+xml, */*' },
  'a client that rejects XHTML': { Accept: 'text/html, application/xhtml+xml;q=0' },
  'a client that accepts any text': { Accept: 'text/*' },
  'a client that prefers JSON': { Accept: 'application/json, text/html;q=0.9, application/xhtml+xml;q=0.9' },
  'a client that prefers HAL': { Accept: 'text/html;q=0.9, application/xhtml+xml, application/hal+json' },
  'a client that prefers anything else': { Accept: 'text/html;q=0.1, application/xhtml+xml;q=0.1, */*' },
}

const FOUND = ['/', '/events', '/events?page=2', '/events/7', '/venues']
const ASTRAY = [
  ...['/nothing', '/Events', '/events/nothing', '/venues/1', '/events?page=0', '/events/%zz', '/events/', '/a/b/c'],
  ...['/events@', '/events@nothing..', '/nothing@x'],
]
const TARGETS = [...FOUND, ...ASTRAY]

const isHtml = (response: Response) => response.headers.get('content-type') === 'text/html; charset=utf-8'
const tagOf = (response: Response) => response.headers.get('etag') ?? assert.fail('no ETag')
const cachingOf = (response: Response) => response.headers.get('cache-control')

describe('the explorer over HTTP', () => {
  const service = sharedService(async (store) => {
    await fill(store, 'events', numbered(501))
    await fill(store, 'venues', numbered(40), { isPaginated: false, keyField: null })
    await fill(store, 'secrets', ['{"id":"s1"}'], { isPrivate: true })
  })
  const get: OpenService['get'] = (...asked) => service().get(...asked)
  const textOf = async (target: string, headers: Record<string, string> = CHROME) => (await get(target, headers)).text()

  describe('who gets HTML (D12)', () => {
    for (const [who, headers] of Object.entries(HTML))
      it(`${who} does, on every path of data`, async () => {
        for (const target of TARGETS) assert.ok(isHtml(await get(target, headers)), target)
      })

    for (const [who, headers] of Object.entries(DATA))
      it(`${who} does not, and gets the bytes of a service without the explorer`, async () => {
        const plain = service().again({ explorer: false })
        for (const target of TARGETS) {
          const [data, expected] = [await get(target, headers), await plain(target, headers)]
          assert.deepEqual([data.status, [...data.headers]], [expected.status, [...expected.headers]], target)
          assert.deepEqual(await bytesOf(data), await bytesOf(expected), target)
        }
      })

    it('nobody does where the explorer is off, and there are no files for it', async () => {
      const plain = service().again({ explorer: false })
      for (const target of TARGETS)
        assert.deepEqual(await bytesOf(await plain(target, CHROME)), await bytesOf(await plain(target)), target)
      assert.equal((await plain('/-/explorer/explorer-0123456789abcdef.js')).status, 404)
    })

    it('a browser gets the data itself below /-/json', async () => {
      const { snapshot } = (await (await get('/events')).json())._links
      const state = snapshot.href.slice(BASE.length)
      for (const target of ['/events?page=2', '/events/7', '/venues', '/nothing', state, `${state}..`]) {
        const [raw, data] = [await get(`/-/json${target}`, CHROME), await get(target)]
        assert.deepEqual([raw.status, await bytesOf(raw)], [data.status, await bytesOf(data)], target)
      }
      assert.equal((await get('/-/json/events', {}, 'POST')).status, 405)
    })

    it('a browser gets pages of snapshots and of changes too, and other clients their data', async () => {
      const links = (await (await get('/events')).json())._links
      for (const end of ['', '..', '?page=2', '..?page=2']) {
        const url = `${links.snapshot.href}${end}`
        const [page, data] = [await get(url, CHROME), await get(url)]
        assert.deepEqual([page.status, isHtml(page), cachingOf(page)], [200, true, 'no-cache'])
        assert.equal((await get(url, { ...CHROME, 'If-None-Match': tagOf(page) })).status, 304)
        assert.match(data.headers.get('content-type') ?? '', /json/)
        // The page has a Cache-Control of its own: unlike the data of a snapshot, it changes with the explorer.
        if (!end.startsWith('..')) assert.match(cachingOf(data) ?? '', /^max-age=\d+, immutable$/)
      }
    })

    it('a write is answered as ever, whoever sends it', async () => {
      const refused = await get('/events', CHROME, 'POST')
      assert.deepEqual([refused.status, refused.headers.get('content-type')], [401, 'application/problem+json'])
      const { headers } = await get('/events', CHROME, 'OPTIONS')
      assert.equal(headers.get('allow'), 'GET, POST, PATCH, PUT, DELETE, HEAD, OPTIONS')
    })
  })

  describe('a page of the explorer', () => {
    it('has the status of the data, and the headers that keep it safe', async () => {
      for (const target of TARGETS) {
        const [page, data] = [await get(target, CHROME), await get(target)]
        const { headers } = page
        assert.equal(page.status, data.status, target)
        assert.equal(cachingOf(page), data.ok ? 'no-cache' : 'no-store', target)
        assert.equal(headers.get('vary'), 'Accept, Accept-Encoding')
        assert.equal(headers.get('x-content-type-options'), 'nosniff')
        assert.equal(headers.get('referrer-policy'), 'no-referrer')
        const policy = headers.get('content-security-policy') ?? ''
        assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; /)
        assert.match(policy, /; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'/)
        assert.doesNotMatch(policy, /unsafe|http|\*/)
        if (data.ok) continue
        const { title, detail, hint } = (await data.json()) as Record<string, string>
        const text = (await page.text()).replaceAll('&quot;', '"').replaceAll('&#39;', "'")
        for (const part of [title, detail, hint]) assert.ok(text.includes(`>${part}<`), `${target}: ${part}`)
      }
    })

    it('has a tag of its own, which another encoding, page, base URL or state does not have', async () => {
      const { again, store } = service()
      const other = again({ baseUrl: 'https://example.com' })
      const tags = [tagOf(await get('/events', CHROME)), tagOf(await other('/events', CHROME))]
      for (const target of ['/events?page=2', '/venues', '/']) tags.push(tagOf(await get(target, CHROME)))
      const gzip = { 'Accept-Encoding': 'gzip' }
      for (const headers of [{ ...CHROME, ...gzip }, gzip, {}]) tags.push(tagOf(await get('/events', headers)))
      assert.equal(tagOf(await get('/events', CHROME)), tags[0])
      await store.append('events', keyed(['{"id":5000}']))
      tags.push(tagOf(await get('/events', CHROME)), tagOf(await get('/', CHROME)))
      assert.equal(new Set(tags).size, tags.length)
    })

    it('is not sent again to who has it, and data is not taken for it', async () => {
      for (const target of FOUND)
        for (const encoding of ['identity', 'gzip']) {
          const headers = { ...CHROME, 'Accept-Encoding': encoding }
          const whole = await get(target, headers)
          const again = await get(target, { ...headers, 'If-None-Match': tagOf(whole) })
          assert.deepEqual([again.status, tagOf(again), cachingOf(again)], [304, tagOf(whole), cachingOf(whole)])
          assert.equal(again.headers.get('vary'), 'Accept, Accept-Encoding')
          const asData = await get(target, { 'Accept-Encoding': encoding, 'If-None-Match': tagOf(whole) })
          assert.equal(asData.status, 200)
          assert.equal((await get(target, { ...headers, 'If-None-Match': tagOf(asData) })).status, 200)
        }
    })

    it('that was made before is not taken for one that has become another', async () => {
      const { store } = service()
      await fill(store, 'changing', numbered(9))
      const known = { ...CHROME, ...(await tokenFor(store, [])) }
      assert.equal(cachingOf(await get('/', CHROME)), 'no-cache')
      assert.equal(cachingOf(await get('/', known)), 'private, no-cache')
      assert.equal(cachingOf(await get('/', CHROME)), 'no-cache')
      const targets = ['/changing', '/changing/7']
      for (const target of targets) assert.doesNotMatch(await textOf(target), /other name/)
      await store.put('changing', keyed(['{"id":7,"name":"other name"}']))
      for (const target of targets) assert.match(await textOf(target), /other name/)
      await store.setPrivate('changing', true)
      for (const target of targets) assert.equal((await get(target, CHROME)).status, 404)
      await store.drop('changing')
    })

    it('is the same as gzip, and HEAD agrees with GET', async () => {
      for (const target of TARGETS) {
        const plain = await bytesOf(await get(target, CHROME))
        for (const encoding of ['identity', 'gzip']) {
          const headers = { ...CHROME, 'Accept-Encoding': encoding }
          const [got, head] = [await get(target, headers), await get(target, headers, 'HEAD')]
          assert.deepEqual([head.status, [...head.headers]], [got.status, [...got.headers]])
          assert.equal((await bytesOf(head)).length, 0)
          const body = await bytesOf(got)
          assert.equal(body.length, Number(got.headers.get('content-length')))
          assert.deepEqual(encoding === 'gzip' ? gunzipSync(body) : body, plain)
        }
      }
    })

    it('is also the answer where the service itself fails', async () => {
      const store = interposed(service().store, (name) =>
        name === 'page' ? () => Promise.reject(new Error()) : undefined,
      )
      const response = await service().again({ store, cacheBytes: 0, onError: () => {} })('/events', CHROME)
      assert.deepEqual([response.status, isHtml(response)], [500, true])
    })
  })

  describe('a page of a mirror', () => {
    const ORIGIN = 'https://origin.example/news'
    const note = { source: ORIGIN, waiting: 3, holder: 'x' }

    /** A new mirror. */
    async function fillMirror(isPrivate = false): Promise<Store> {
      const { store } = service()
      await fillAnew(store, 'news', [], { isPrivate })
      await mirror(store, 'news', ORIGIN, ['{"id":1}'])
      return store
    }

    it('says what it is a copy of and how far it is behind, as do the list and, without what changes, the data', async () => {
      const store = await fillMirror()
      const asOf = Date.now() - 2000
      await store.noteFollowing('news', { ...note, asOf, seenAt: asOf + 1000 })
      const time = new Date(asOf).toISOString().slice(0, 19)
      for (const target of ['/news', '/']) {
        const text = await textOf(target)
        const link = '<a href="https://origin.example/news"[^>]*>https://origin.example/news</a>'
        assert.match(text, new RegExp(`${link}, 3 versions behind,`))
        assert.ok(text.includes(`<time class="ago" datetime="${time}Z">`), target)
        assert.doesNotMatch(text, /last report/)
      }
      assert.doesNotMatch(await textOf('/events'), /Mirror of/)
      const data = await get('/')
      const { collections } = (await envelopeOf(data.clone()))._embedded
      assert.partialDeepStrictEqual(collections, [{ mirrors: null }, { mirrors: ORIGIN }, { mirrors: null }])
      await store.noteFollowing('news', { ...note, asOf: asOf + 1000, seenAt: asOf + 2000 })
      assert.equal(tagOf(await get('/')), tagOf(data))
    })

    it('is the same until something else is known, and says since when nothing was heard', async () => {
      const store = await fillMirror()
      const [asOf, now] = [Date.now() - 3_600_000, Date.now()]
      const tagsAt = async (seenAt: number) => {
        await store.noteFollowing('news', { ...note, asOf, seenAt })
        return [tagOf(await get('/news', CHROME)), tagOf(await get('/', CHROME))]
      }
      const away = await tagsAt(now - 2000)
      assert.deepEqual(await tagsAt(now), away)
      const silent = await tagsAt(asOf)
      for (const place of [0, 1]) assert.notEqual(silent[place], away[place])
      assert.deepEqual(await tagsAt(asOf), silent)
      assert.match(await textOf('/news'), /last report <time/)
      // By a clock that was set back since.
      await tagsAt(now + 3_600_000)
      assert.match(await textOf('/news'), /last report <time/)
    })

    it('is there also while nothing is known, or can be', async () => {
      const store = await fillMirror()
      const away = () => Promise.reject(new Error('a server is away'))
      const partial = interposed(store, (name) => (name === 'followings' ? away : undefined))
      for (const ask of [get, service().again({ store: partial })])
        for (const target of ['/news', '/'])
          assert.match(await (await ask(target, CHROME)).text(), />https:\/\/origin.example\/news<\/a><\//)
    })

    it('that is private is hidden as any other, and its origin too', async () => {
      const store = await fillMirror(true)
      await store.noteFollowing('news', { ...note, asOf: 1, seenAt: 1 })
      assert.equal((await get('/news', CHROME)).status, 404)
      for (const headers of [CHROME, {}]) assert.doesNotMatch(await textOf('/', headers), /origin/)
    })
  })

  describe('who may see a page', () => {
    it('a private collection is not there for a browser without a token, and is with one', async () => {
      const refused = await get('/secrets', CHROME)
      assert.equal(refused.status, 404)
      const absent = await textOf('/absent!')
      assert.equal((await refused.text()).replaceAll('secrets', 'absent!'), absent)
      assert.equal((await get('/secrets/s1', CHROME)).status, 404)
      assert.doesNotMatch(await textOf('/'), /secrets/)
      const allowed = { ...CHROME, ...(await tokenFor(service().store, ['read:secrets'])) }
      const page = await get('/secrets', allowed)
      assert.equal(cachingOf(page), 'private, no-cache')
      assert.match(await page.text(), /s1/)
      assert.match(await textOf('/secrets/s1', allowed), /s1/)
      assert.match(await textOf('/', allowed), /secrets<[\s\S]*private/)
    })

    it('where tokens are required, the page of the refusal still finds its files', async () => {
      const get = service().again({ requireToken: true })
      for (const target of ['/', '/events', '/events/7', '/nothing']) {
        const refused = await get(target, CHROME)
        assert.deepEqual([refused.status, isHtml(refused), cachingOf(refused)], [401, true, 'no-store'])
        assert.equal(refused.headers.get('www-authenticate'), 'Bearer')
        const text = await refused.text()
        assert.doesNotMatch(text, /<table|501/)
        for (const [, path = ''] of text.matchAll(/"(\/-\/explorer\/[^"]+)"/g))
          assert.equal((await get(path)).status, 200)
      }
      assert.equal((await get('/-/json/events', CHROME)).status, 401)
      assert.ok(isHtml(await get('/events', { ...CHROME, Authorization: 'Bearer nonsense' })))
      assert.equal((await get('/events', { ...CHROME, ...(await tokenFor(service().store, [])) })).status, 200)
    })
  })

  it('serves the files of its pages typed, to be kept for ever, and known by their names', async () => {
    const page = await textOf('/')
    const paths = [...page.matchAll(/"(\/-\/explorer\/[^"]+)"/g)].map(([, path = '']) => path)
    const types = ['image/svg+xml', 'text/css; charset=utf-8', 'text/javascript; charset=utf-8']
    assert.equal(paths.length, 3)
    for (const [place, path] of paths.entries()) {
      const response = await get(path)
      assert.equal(response.headers.get('content-type'), types[place])
      assert.equal(cachingOf(response), 'public, max-age=31536000, immutable')
      assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
      const gzip = await get(path, { 'Accept-Encoding': 'gzip' })
      assert.equal(gzip.headers.get('content-encoding'), 'gzip')
      assert.notEqual(tagOf(gzip), tagOf(response))
      assert.deepEqual(gunzipSync(await bytesOf(gzip)), await bytesOf(response))
      assert.equal((await get(path, { 'If-None-Match': tagOf(response) })).status, 304)
      assert.equal((await get(path.replace(/-[0-9a-f]{16}/, '-0123456789abcdef'))).status, 404)
      assert.equal((await get(path, {}, 'POST')).status, 405)
    }
  })
})
