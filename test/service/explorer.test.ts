import assert from 'node:assert/strict'
import { hash, randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { itemRun } from '../../src/items/item-run.ts'
import { createService } from '../../src/service/create-service.ts'
import { listen } from '../../src/service/node/listen.ts'
import type { Store } from '../../src/store/store.ts'
import { BASE, bytesOf, fill, numbered, openService } from './open-service.ts'
import { sendRaw } from './raw-http.ts'

const CHROME = {
  Accept:
    'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7',
  'Sec-Fetch-Mode': 'navigate',
}
const FIREFOX = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }

const HTML: readonly [string, Record<string, string>][] = [
  ['Chrome', CHROME],
  ['Firefox', FIREFOX],
  [
    'Safari',
    { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'Sec-Fetch-Mode': 'navigate' },
  ],
  ['an old browser without Sec-Fetch', { Accept: 'text/html, application/xhtml+xml, */*' }],
  ['a browser that navigates and lists HTML alone', { Accept: 'text/html', 'Sec-Fetch-Mode': 'navigate' }],
  ['capital letters', { Accept: 'TEXT/HTML, Application/XHTML+XML' }],
  ['a low weight', { Accept: 'text/html;q=0.1, application/xhtml+xml;q=0.1, */*' }],
]

const DATA: readonly [string, Record<string, string>][] = [
  ['nobody in particular', {}],
  ['curl', { Accept: '*/*' }],
  ['fetch', { Accept: '*/*', 'Sec-Fetch-Mode': 'cors' }],
  ['Java', { Accept: 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2' }],
  ['fetch that asks for HTML', { Accept: 'text/html', 'Sec-Fetch-Mode': 'cors' }],
  ['one who takes anything and navigates', { Accept: '*/*', 'Sec-Fetch-Mode': 'navigate' }],
  ['one who navigates and takes JSON', { Accept: 'application/json', 'Sec-Fetch-Mode': 'navigate' }],
  ['one who lists XHTML alone', { Accept: 'application/xhtml+xml, */*' }],
  ['one who does not want HTML', { Accept: 'text/html;q=0, application/xhtml+xml, */*', 'Sec-Fetch-Mode': 'navigate' }],
  ['one who does not want XHTML, and does not navigate', { Accept: 'text/html, application/xhtml+xml;q=0' }],
  ['one who takes any text', { Accept: 'text/*', 'Sec-Fetch-Mode': 'navigate' }],
]

const TARGETS = [
  '/',
  '/events',
  '/events?page=2',
  '/events/7',
  '/venues',
  '/nothing',
  '/events/nothing',
  '/events?page=0',
]

async function tokenFor(store: Store, scopes: readonly string[]): Promise<Record<string, string>> {
  const token = `reams_${randomBytes(32).toString('base64url')}`
  const record = { hash: hash('sha256', token, 'hex'), scopes, createdAt: 0, expiresAt: null, revokedAt: null }
  await store.addToken({ name: randomBytes(6).toString('hex'), ...record })
  return { Authorization: `Bearer ${token}` }
}

const isHtml = (response: Response) => response.headers.get('content-type') === 'text/html; charset=utf-8'

async function openExplorer(t: Parameters<typeof openService>[0], options: Parameters<typeof openService>[1] = {}) {
  const opened = await openService(t, options)
  await fill(opened.store, 'events', numbered(1234))
  await fill(opened.store, 'venues', numbered(40), { isPaginated: false, keyField: null })
  await fill(opened.store, 'secrets', ['{"id":"s1"}'], { isPrivate: true })
  return opened
}

describe('who gets HTML (D12)', () => {
  for (const [who, headers] of HTML)
    it(`${who} does, on every path of data`, async (t) => {
      const { get } = await openExplorer(t)
      for (const target of TARGETS) assert.ok(isHtml(await get(target, headers)), target)
    })

  for (const [who, headers] of DATA)
    it(`${who} does not, and gets the bytes of a service without the explorer`, async (t) => {
      const { get, again } = await openExplorer(t)
      const plain = again({ explorer: false })
      for (const target of TARGETS) {
        const [data, expected] = [await get(target, headers), await plain(target, headers)]
        assert.deepEqual([data.status, [...data.headers]], [expected.status, [...expected.headers]], target)
        assert.deepEqual(await bytesOf(data), await bytesOf(expected), target)
      }
    })

  it('nobody does where the explorer is off, and there are no files for it', async (t) => {
    const { get } = await openExplorer(t, { explorer: false })
    for (const target of TARGETS) {
      const [browser, curl] = [await get(target, CHROME), await get(target)]
      assert.deepEqual(await bytesOf(browser), await bytesOf(curl), target)
    }
    assert.equal((await get('/-/explorer/explorer-0123456789abcdef.js')).status, 404)
  })

  it('a browser gets data at the service’s own paths, and at paths that lead nowhere', async (t) => {
    const { get } = await openExplorer(t)
    for (const target of ['/-/health', '/-/problems/invalid-page', '/-/nothing', '/events/', '/a/b/c'])
      assert.match((await get(target, CHROME)).headers.get('content-type') ?? '', /json/, target)
  })

  it('a browser gets the data itself below /-/json', async (t) => {
    const { get } = await openExplorer(t)
    for (const target of ['/events', '/events?page=2', '/events/7', '/venues', '/nothing']) {
      const [raw, data] = [await get(`/-/json${target}`, CHROME), await get(target)]
      assert.deepEqual([raw.status, await bytesOf(raw)], [data.status, await bytesOf(data)], target)
    }
    assert.equal((await get('/-/json/events', {}, 'POST')).status, 405)
  })

  it('a write is answered as ever, whoever sends it', async (t) => {
    const { get } = await openExplorer(t)
    const refused = await get('/events', CHROME, 'POST')
    assert.deepEqual([refused.status, refused.headers.get('content-type')], [401, 'application/problem+json'])
    assert.equal(
      (await get('/events', CHROME, 'OPTIONS')).headers.get('allow'),
      'GET, POST, PUT, DELETE, HEAD, OPTIONS',
    )
  })
})

describe('a page of the explorer', () => {
  it('comes with the headers that keep it safe, and those of the data', async (t) => {
    const { get } = await openExplorer(t)
    for (const target of TARGETS) {
      const { headers } = await get(target, CHROME)
      assert.equal(headers.get('vary'), 'Accept, Accept-Encoding')
      assert.equal(headers.get('x-content-type-options'), 'nosniff')
      assert.equal(headers.get('referrer-policy'), 'no-referrer')
      const policy = headers.get('content-security-policy') ?? ''
      assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; /)
      assert.match(policy, /; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'/)
      assert.doesNotMatch(policy, /unsafe|http|\*/)
      const expected = (await get(target)).headers.get('cache-control')
      assert.equal(headers.get('cache-control'), expected, target)
    }
  })

  it('has a tag of its own, which another encoding, page, base URL or state does not have', async (t) => {
    const { get, again, store } = await openExplorer(t)
    const tagOf = async (headers: Record<string, string> = CHROME, target = '/events', ask = get) =>
      (await ask(target, headers)).headers.get('etag') ?? assert.fail('no ETag')
    const other = again({ baseUrl: 'https://example.com' })
    const tags = [
      await tagOf(),
      await tagOf({ ...CHROME, 'Accept-Encoding': 'gzip' }),
      await tagOf({}),
      await tagOf({ 'Accept-Encoding': 'gzip' }),
      await tagOf(CHROME, '/events?page=2'),
      await tagOf(CHROME, '/venues'),
      await tagOf(CHROME, '/'),
      await tagOf(CHROME, '/events', other),
    ]
    assert.equal(await tagOf(), tags[0])
    await store.append('events', itemRun(['{"id":5000}'], { keyField: 'id' }))
    tags.push(await tagOf(), await tagOf(CHROME, '/'))
    assert.equal(new Set(tags).size, tags.length)
  })

  it('is not sent again to who has it, and data is not taken for it', async (t) => {
    const { get } = await openExplorer(t)
    for (const target of ['/', '/events?page=2', '/events/7', '/venues'])
      for (const encoding of ['identity', 'gzip']) {
        const headers = { ...CHROME, 'Accept-Encoding': encoding }
        const whole = await get(target, headers)
        const etag = whole.headers.get('etag') ?? assert.fail('no ETag')
        const again = await get(target, { ...headers, 'If-None-Match': etag })
        assert.equal(again.status, 304)
        assert.equal(again.headers.get('etag'), etag)
        assert.equal(again.headers.get('cache-control'), whole.headers.get('cache-control'))
        assert.equal(again.headers.get('vary'), 'Accept, Accept-Encoding')
        assert.equal((await get(target, { 'Accept-Encoding': encoding, 'If-None-Match': etag })).status, 200)
        const dataTag = (await get(target, { 'Accept-Encoding': encoding })).headers.get('etag') ?? ''
        assert.equal((await get(target, { ...headers, 'If-None-Match': dataTag })).status, 200)
      }
  })

  it('that was made before is not taken for one that has become another', async (t) => {
    const { get, store } = await openExplorer(t)
    const known = { ...CHROME, ...(await tokenFor(store, [])) }
    const cachingOf = async (headers: Record<string, string>) => (await get('/', headers)).headers.get('cache-control')
    assert.deepEqual([await cachingOf(CHROME), await cachingOf(known)], ['no-cache', 'private, no-cache'])
    assert.equal(await cachingOf(CHROME), 'no-cache')
    for (const target of ['/events', '/events/7']) {
      assert.match(await (await get(target, CHROME)).text(), />7</)
      assert.doesNotMatch(await (await get(target, CHROME)).text(), /other/)
    }
    await store.put('events', itemRun(['{"id":7,"name":"other"}'], { keyField: 'id' }))
    for (const target of ['/events', '/events/7']) assert.match(await (await get(target, CHROME)).text(), /other/)
    await store.setPrivate('events', true)
    for (const target of ['/events', '/events/7']) assert.equal((await get(target, CHROME)).status, 404)
  })

  it('beyond the last is the last', async (t) => {
    const { get } = await openExplorer(t)
    const [last, beyond] = [await get('/events?page=3', CHROME), await get('/events?page=99999999999999999999', CHROME)]
    assert.deepEqual([...beyond.headers], [...last.headers])
    assert.equal(await beyond.text(), await last.text())
  })

  it('is the same as gzip, and HEAD agrees with GET', async (t) => {
    const { get } = await openExplorer(t)
    for (const target of TARGETS)
      for (const encoding of ['identity', 'gzip']) {
        const headers = { ...FIREFOX, 'Accept-Encoding': encoding }
        const [got, head] = [await get(target, headers), await get(target, headers, 'HEAD')]
        assert.deepEqual([head.status, [...head.headers]], [got.status, [...got.headers]])
        assert.equal((await bytesOf(head)).length, 0)
        const body = await bytesOf(got)
        assert.equal(body.length, Number(got.headers.get('content-length')))
        const plain = await bytesOf(await get(target, FIREFOX))
        assert.deepEqual(encoding === 'gzip' ? gunzipSync(body) : body, plain)
      }
  })

  it('comes over a socket as it comes from fetch', async (t) => {
    const { store } = await openExplorer(t)
    const service = createService({ store, baseUrl: BASE })
    const { port, close } = await listen({ port: 0, ...service, baseUrl: BASE })
    t.after(() => close(0))
    for (const target of TARGETS) {
      const expected = await service.fetch(new Request(BASE + target, { headers: CHROME }))
      const body = await bytesOf(expected)
      const head = `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nConnection: close\r\n`
      const lines = Object.entries(CHROME).map(([name, value]) => `${name}: ${value}\r\n`)
      const raw = await sendRaw(port, `${head}${lines.join('')}\r\n`)
      const split = raw.indexOf('\r\n\r\n')
      const answered = raw.subarray(0, split).toString().toLowerCase()
      assert.match(answered, new RegExp(`^http/1.1 ${expected.status} `))
      for (const [name, value] of expected.headers)
        assert.ok(answered.includes(`${name}: ${value}`.toLowerCase()), `${target} ${name}`)
      assert.deepEqual(raw.subarray(split + 4), body, target)
    }
  })

  it('works under a path, where a proxy takes the prefix off and where none does, and under another host', async (t) => {
    const { again } = await openExplorer(t)
    const get = again({ baseUrl: 'https://data.example.com/api/v1' })
    for (const from of ['http://127.0.0.1:8080', 'https://data.example.com/api/v1', 'http://tunnel:9000/api/v1']) {
      const page = await (await get(`${from}/events?page=2`, CHROME)).text()
      const links = [...page.matchAll(/(?:href|src|action)="([^"]*)"/g)].map(([, link = '']) => link)
      assert.ok(links.length > 500)
      for (const link of links) assert.match(link, /^\/api\/v1\//)
      assert.match(page, / data-base-url="https:\/\/data\.example\.com\/api\/v1"/)
      for (const link of links.filter((each) => each.includes('/-/explorer/')))
        assert.equal((await get(new URL(link, from).href)).status, 200)
    }
  })
})

describe('what the pages say without a script', () => {
  it('entry: each collection that may be read, with its size', async (t) => {
    const { get, store } = await openExplorer(t)
    await fill(store, 'empty', [])
    const page = await (await get('/', CHROME)).text()
    assert.match(page, /<body data-view="entry" data-base-url="http:\/\/127\.0\.0\.1:8080">/)
    assert.match(page, /<a href="\/events">events<\/a><\/th>\n<td class="number">1,234<\/td><td class="number">3<\/td>/)
    assert.match(page, /<a href="\/venues">venues<\/a><\/th>\n<td class="number">40<\/td><td class="number">–<\/td>/)
    assert.match(page, /<rect width="100.0" height="10"\/>[^\n]*paginated · key: id/)
    const changedAt = (await store.collections()).find(({ name }) => name === 'events')?.changedAt ?? assert.fail()
    assert.ok(page.includes(`<time datetime="${new Date(changedAt).toISOString()}">`))
    assert.doesNotMatch(page, /secrets/)
  })

  it('entry of nothing: says how to begin', async (t) => {
    const { get } = await openService(t)
    assert.match(await (await get('/', CHROME)).text(), /Nothing to see yet/)
  })

  it('collection: the links of the data, a field to jump, and all items with links', async (t) => {
    const { get } = await openExplorer(t)
    const page = await (await get('/events?page=2', CHROME)).text()
    assert.match(page, /<body data-view="collection" [^>]* data-collection="events" data-page="2">/)
    assert.match(page, /1,234 items · page 2 of 3 · items 501 to 1,000/)
    const pager = [...page.matchAll(/<a rel="(\w+)" href="([^"]+)">/g)].map(([, rel, href]) => `${rel} ${href}`)
    assert.deepEqual(pager, ['first /events', 'prev /events?page=1', 'next /events?page=3', 'last /events?page=3'])
    assert.match(
      page,
      /<form method="get" action="\/events">.*<input type="number" name="page" min="1" max="3" value="2"/,
    )
    assert.equal(page.split('<tr>').length - 1, 501)
    assert.match(page, /<th scope="row"><a href="\/events\/501">501<\/a><\/th><td class="number">501<\/td>/)
    assert.match(page, /<a href="\/-\/json\/events\?page=2">raw JSON<\/a>/)
  })

  it('collection: at its ends there is nothing to go on to', async (t) => {
    const { get } = await openExplorer(t)
    assert.doesNotMatch(await (await get('/events', CHROME)).text(), /rel="prev"/)
    assert.doesNotMatch(await (await get('/events?page=3', CHROME)).text(), /rel="next"/)
  })

  it('collection without pages: all items, and no pager; a large one, the first of them', async (t) => {
    const { get, store } = await openExplorer(t)
    const page = await (await get('/venues', CHROME)).text()
    assert.doesNotMatch(page, /pager|data-page|<a href="\/venues\//)
    assert.equal(page.split('<tr>').length - 1, 41)
    await fill(store, 'many', numbered(2000), { isPaginated: false })
    const many = await (await get('/many', CHROME)).text()
    assert.equal(many.split('<tr>').length - 1, 501)
    assert.match(many, /The first 500 items are shown; the raw JSON has all\./)
  })

  it('collection with many fields: all items, and as many columns as a browser lays out well', async (t) => {
    const { get, store } = await openExplorer(t)
    const wide = `{${Array.from({ length: 100 }, (_, place) => `"field${place}":${place}`)}}`
    await fill(
      store,
      'wide',
      Array.from({ length: 500 }, () => wide),
      { keyField: null },
    )
    const page = await (await get('/wide', CHROME)).text()
    assert.equal(page.split('<tr>').length - 1, 501)
    assert.equal(page.split('<th scope="col">').length - 1, 51)
    assert.match(page, /<p class="notes">50 more fields have no column here\.<\/p>/)
  })

  it('empty collection: says so', async (t) => {
    const { get, store } = await openExplorer(t)
    await fill(store, 'empty', [])
    await fill(store, 'empty-whole', [], { isPaginated: false })
    for (const name of ['empty', 'empty-whole']) {
      const page = await (await get(`/${name}`, CHROME)).text()
      assert.match(page, /0 items.*\n<section class="notice"><h2>No items yet<\/h2>/)
    }
  })

  it('items: columns in the order of their first appearance, numbers as they were written', async (t) => {
    const { get, store } = await openExplorer(t)
    const items = [
      '{"id":"a/b c","n":12345678901234567890,"e":1E5,"z":-0,"m":1.10}',
      '{"id":"ü","extra":true,"n":null,"o":{"a":[1.0,{"b":"}"}]},"l":["x"]}',
    ]
    await fill(store, 'kinds', items)
    const page = await (await get('/kinds', CHROME)).text()
    const heads = [...page.matchAll(/<th scope="col">([^<]*)<\/th>/g)].map(([, name]) => name)
    assert.deepEqual(heads, ['#', 'id', 'n', 'e', 'z', 'm', 'extra', 'o', 'l'])
    assert.match(page, /<a href="\/kinds\/a%2Fb%20c">1<\/a>/)
    assert.match(page, /"number">12345678901234567890<.*"number">1E5<.*"number">-0<.*"number">1\.10</)
    assert.match(
      page,
      /"null">null<.*"boolean">true<.*"object">\{&quot;a&quot;:\[1\.0,\{&quot;b&quot;:&quot;\}&quot;\}\]\}</,
    )
  })

  it('items: with blanks between their parts they are the same', async (t) => {
    const { get, store } = await openExplorer(t)
    await fill(store, 'blanks', ['{ "id" : 1 ,\t"o" : { "a" : [ 1 , "]}," ] } , "s\\"" : "x\\"}" }'])
    const page = await (await get('/blanks', CHROME)).text()
    const cells = '<td class="object">{ "a" : [ 1 , "]}," ] }</td><td>x"}</td>'.replace(/"(?!object|>)/g, '&quot;')
    assert.ok(page.includes(`<a href="/blanks/1">1</a></th><td class="number">1</td>${cells}</tr>`), page)
    assert.match(page, /<th scope="col">s&quot;<\/th>/)
  })

  it('item: indented JSON with every digit, and where its raw form is', async (t) => {
    const { get, store } = await openExplorer(t)
    await fill(store, 'kinds', ['{"id":"a/b","n":12345678901234567890,"l":[1.10,{}],"s":"\\u0041\\n"}'])
    const page = await (await get('/kinds/a%2Fb', CHROME)).text()
    assert.match(page, /<body data-view="item" [^>]* data-collection="kinds" data-key="a\/b">/)
    const [, json = ''] = /<pre class="json" tabindex="0">([^<]*)<\/pre>/.exec(page) ?? assert.fail(page)
    const lines = ['{', '  "id": "a/b",', '  "n": 12345678901234567890,', '  "l": [', '    1.10,', '    {}', '  ],']
    assert.equal(json.replaceAll('&quot;', '"'), [...lines, '  "s": "\\u0041\\n"', '}'].join('\n'))
    assert.match(page, /<a href="\/-\/json\/kinds\/a%2Fb">raw JSON<\/a>/)
  })

  it('problem: title, detail and hint, with the status and the headers of the data’s own', async (t) => {
    const { get } = await openExplorer(t)
    for (const target of ['/nothing', '/Events', '/events/nothing', '/venues/1', '/events?page=0', '/events/%zz']) {
      const [page, data] = [await get(target, CHROME), await get(target)]
      assert.equal(page.status, data.status)
      const { title, detail, hint } = (await data.json()) as Record<string, string>
      const text = (await page.text()).replaceAll('&quot;', '"').replaceAll('&#39;', "'")
      for (const part of [title, detail, hint]) assert.ok(text.includes(`>${part}<`), `${target}: ${part}`)
      assert.match(text, /<body data-view="problem" data-base-url=/)
      assert.match(text, /<script type="module" src="\/-\/explorer\//)
    }
  })

  it('problem of the service itself: a page too', async (t) => {
    const { store } = await openExplorer(t)
    const broken = new Proxy(store, {
      get: (_, name) => (name === 'page' ? () => Promise.reject(new Error('x')) : null),
    })
    const { fetch } = createService({ store: broken, onError: () => {} })
    const response = await fetch(new Request(`${BASE}/events`, { headers: CHROME }))
    assert.deepEqual([response.status, isHtml(response)], [500, true])
  })
})

describe('who may see a page', () => {
  it('a private collection is not there for a browser without a token, and is with one', async (t) => {
    const { get, store } = await openExplorer(t)
    const refused = await get('/secrets', CHROME)
    assert.equal(refused.status, 404)
    const absent = await (await get('/absent!', CHROME)).text()
    assert.equal((await refused.text()).replaceAll('secrets', 'absent!'), absent)
    assert.equal((await get('/secrets/s1', CHROME)).status, 404)
    const allowed = { ...CHROME, ...(await tokenFor(store, ['read:secrets'])) }
    const page = await get('/secrets', allowed)
    assert.equal(page.headers.get('cache-control'), 'private, no-cache')
    assert.match(await page.text(), /s1/)
    assert.match(await (await get('/secrets/s1', allowed)).text(), /s1/)
    assert.match(await (await get('/', allowed)).text(), /secrets.*\n.*\n.*private/)
  })

  it('where tokens are required, the page of the refusal still finds its files', async (t) => {
    const { again, store } = await openExplorer(t)
    const get = again({ requireToken: true })
    for (const target of ['/', '/events', '/events/7', '/nothing']) {
      const refused = await get(target, CHROME)
      assert.deepEqual([refused.status, isHtml(refused)], [401, true])
      assert.equal(refused.headers.get('www-authenticate'), 'Bearer')
      assert.equal(refused.headers.get('cache-control'), 'no-store')
      const text = await refused.text()
      assert.doesNotMatch(text, /events/)
      for (const [, path = ''] of text.matchAll(/"(\/-\/explorer\/[^"]+)"/g))
        assert.equal((await get(path)).status, 200)
    }
    assert.equal((await get('/-/json/events', CHROME)).status, 401)
    assert.equal((await get('/events', { ...CHROME, ...(await tokenFor(store, [])) })).status, 200)
  })

  it('a token that is not valid is refused with a page', async (t) => {
    const { get } = await openExplorer(t)
    const refused = await get('/events', { ...CHROME, Authorization: 'Bearer nonsense' })
    assert.deepEqual([refused.status, isHtml(refused)], [401, true])
  })
})

describe('the files of the explorer, served', () => {
  it('are kept for ever, typed, and known by their names', async (t) => {
    const { get } = await openExplorer(t)
    const page = await (await get('/', CHROME)).text()
    const paths = [...page.matchAll(/"(\/-\/explorer\/[^"]+)"/g)].map(([, path = '']) => path)
    const types = ['image/svg+xml', 'text/css; charset=utf-8', 'text/javascript; charset=utf-8']
    assert.equal(paths.length, 3)
    for (const [place, path] of paths.entries()) {
      const response = await get(path)
      assert.equal(response.headers.get('content-type'), types[place])
      assert.equal(response.headers.get('cache-control'), 'public, max-age=31536000, immutable')
      assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
      const gzip = await get(path, { 'Accept-Encoding': 'gzip' })
      assert.equal(gzip.headers.get('content-encoding'), 'gzip')
      assert.notEqual(gzip.headers.get('etag'), response.headers.get('etag'))
      assert.deepEqual(gunzipSync(await bytesOf(gzip)), await bytesOf(response))
      const etag = response.headers.get('etag') ?? ''
      assert.equal((await get(path, { 'If-None-Match': etag })).status, 304)
      assert.equal((await get(path.replace(/-[0-9a-f]{16}/, '-0123456789abcdef'))).status, 404)
      assert.equal((await get(path, {}, 'POST')).status, 405)
    }
  })
})

describe('hostile items', () => {
  const HOSTILE = [
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    "'onmouseover='alert(1)",
    '</td></table></main></body><script src="https://evil.example/x.js"></script>',
    '<!--',
    ']]>',
    '&lt;script&gt;',
    'javascript:alert(1)',
    '\u202e\u0000\u0007\ud800',
    '</pre><svg onload=alert(1)>',
    '$' + '{alert(1)}{{alert(1)}}',
  ]

  it('are text in every place: as names, values, keys and fields of the key', async (t) => {
    const { get, store } = await openService(t)
    const items = HOSTILE.map((text, place) => {
      const json = JSON.stringify(text)
      const id = JSON.stringify(`${place}${text.replace('\u0000\u0007\ud800', '')}`)
      return `{"id":${id},${json}:${json},"o":{${json}:[${json}]}}`
    })
    await fill(store, 'hostile', items)
    await fill(store, 'keyed', ['{"<b>":"x"}'], { keyField: '<b>' })
    const pages = ['/', '/hostile', '/keyed', '/%3Cscript%3E', '/hostile?page=%3Cscript%3E']
    for (const item of items) {
      const { id } = JSON.parse(item) as { id: string }
      pages.push(`/hostile/${encodeURIComponent(id)}`, `/hostile/nothing${encodeURIComponent(id)}`)
    }
    for (const target of pages) {
      const html = (await (await get(target, CHROME)).text()).replace(/ data-key="[^"]*"/, '')
      assert.equal(html.match(/<script/g)?.length, 1, target)
      assert.doesNotMatch(html, /<(?:img|!--)|<svg on|<b>|\0|\u202e/, target)
      const tags = [...html.matchAll(/<[a-z](?:[^>"]|"[^"]*")*>/g)].map(([tag]) => tag)
      for (const tag of tags) assert.doesNotMatch(tag, /\son\w+=|javascript:/i, target)
    }
  })

  it('are shown in part where they are too much', async (t) => {
    const { get, store } = await openService(t)
    const wide = `{${Array.from({ length: 300 }, (_, place) => `"field${place}":${place}`)}}`
    const long = `{"long":"${'\\u003c'.repeat(40_000)}","after":1}`
    const deep = `{"deep":${'['.repeat(500)}${']'.repeat(500)}}`
    await fill(store, 'large', [long, deep, `{"number":${'9'.repeat(20_000)}}`, wide], { keyField: null })
    const page = await (await get('/large', CHROME)).text()
    assert.ok(page.length < 100_000, String(page.length))
    assert.match(page, /more fields have no column here\. Of 2 large items only the beginning is shown\./)
    assert.ok(page.includes(`${'&lt;'.repeat(120)}…`))
    assert.ok(page.includes(`${'9'.repeat(120)}…`))
  })

  it('nested deep are not mostly blanks', async (t) => {
    const { get, store } = await openService(t)
    await fill(store, 'deep', [`{"id":1,"deep":${'['.repeat(500)}${'1,'.repeat(90_000)}1${']'.repeat(500)}}`])
    const page = await (await get('/deep/1', CHROME)).text()
    assert.match(page, /\n {80}1,\n {80}1,/)
    assert.doesNotMatch(page, / {81}/)
  })

  it('do not make a page of hundreds of megabytes', async (t) => {
    const { get, store } = await openService(t)
    const filler = '<'.repeat(250_000)
    const items = Array.from({ length: 100 }, (_, place) => `{"id":${place},"filler":"${filler}"}`)
    await fill(store, 'heavy', items)
    const page = await (await get('/heavy', CHROME)).text()
    assert.ok(page.length < 1_000_000, String(page.length))
    const item = await (await get('/heavy/7', CHROME)).text()
    assert.match(item, /Only the beginning is shown; the raw JSON has all\./)
    assert.ok(item.length < 2_000_000)
    const names = Array.from({ length: 190 }, (_, place) => `"${place}":"${'<'.repeat(120)}"`)
    await fill(
      store,
      'dense',
      Array.from({ length: 500 }, () => `{${names}}`),
      { keyField: null },
    )
    const dense = await (await get('/dense', CHROME)).text()
    assert.ok(dense.length < 6_000_000, String(dense.length))
    assert.match(dense, /The first \d+ items are shown; the others would be too much for a page\./)
  })
})
