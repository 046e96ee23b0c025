import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { TOKEN_PREFIX } from '../../src/contract/scope.ts'
import { formatTag, stateOf } from '../../src/contract/state-tag.ts'
import { keyed } from '../store/items.ts'
import { BASE, bytesOf, envelopeOf, fill, numbered, openService, problemOf, sharedService } from './open-service.ts'

/** Items that no parser may touch on their way. */
const EXACT = [
  '{"id":12345678901234567890,"a":1.10,"b":1E5,"c":-0,"d":0.1e-7}',
  '{"id":"two","a":1,"a":2,"__proto__":{"x":1},"constructor":null}',
  '{"id":"ü\\u00fc😀\\ud83d\\ude00","text":"\\/ \\n \\" \u2028"}',
  '{"z":[],"id":"four","a":{},"":""}',
]

describe('a read', () => {
  const service = sharedService(async (store) => {
    await fill(store, 'events', numbered(1001))
    await fill(store, 'whole', numbered(1100), { isPaginated: false })
    await fill(store, 'exact', EXACT)
    await fill(store, 'keyless', ['{"id":7}'], { keyField: null })
    await fill(store, 'secret', numbered(3), { isPrivate: true })
  })

  it('of a page has the exact count, its items and its links', async () => {
    const url = `${BASE}/events`
    const state = stateOf((await service().store.head('events')) ?? assert.fail())
    assert.deepEqual(await envelopeOf(await service().get('/events?page=2')), {
      item_count: 1001,
      _links: {
        self: { href: `${url}?page=2` },
        first: { href: url },
        prev: { href: `${url}?page=1` },
        next: { href: `${url}?page=3` },
        last: { href: `${url}?page=3` },
        snapshot: { href: `${url}@${formatTag(state)}` },
      },
      _embedded: { events: numbered(500, 501).map((text) => JSON.parse(text)) },
    })
  })

  it('of a page has the headers that a client needs, and no other that could change', async () => {
    const response = await service().get('/events')
    const body = await bytesOf(response.clone())
    const { etag, ...headers } = Object.fromEntries(response.headers)
    assert.match(etag ?? '', /^"[^"]+"$/)
    assert.deepEqual(headers, {
      'content-type': 'application/hal+json',
      'content-length': String(body.length),
      'cache-control': 'no-cache',
      vary: 'Accept, Accept-Encoding',
      'x-content-type-options': 'nosniff',
      'x-request-id': 'test',
    })
  })

  it('repeats a request id of the client, but no token', async () => {
    const idFor = async (given: string) => {
      const { headers } = await service().get('/events', { 'X-Request-Id': given })
      return headers.get('x-request-id') ?? ''
    }
    assert.equal(await idFor('a.b:c_d-1'), 'a.b:c_d-1')
    const token = TOKEN_PREFIX + randomBytes(32).toString('base64url')
    for (const given of [token, `id-${token}`])
      assert.match(await idFor(given), /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/)
  })

  const invalid: readonly [sent: string, shown: string][] = [
    ['0', '"0"'],
    ['+1', '"+1"'],
    ['%2B1', '"+1"'],
    ['1.5', '"1.5"'],
    ['1%00', '"1\\u0000"'],
    ['%D9%A1', '"١"'],
    ['1&page=1', 'given 2 times: "1, 1"'],
    ['x'.repeat(9000), `"${'x'.repeat(100)}…"`],
  ]
  it('of a value that is not a page number is a problem that names parameter and value (D3)', async () => {
    for (const [sent, shown] of invalid) {
      const response = await service().get(`/events?page=${sent}`)
      assert.deepEqual([response.status, response.headers.get('cache-control')], [400, 'no-store'], sent)
      const { type, detail } = await problemOf(response)
      assert.equal(type, `${BASE}/-/problems/invalid-page`)
      assert.ok(detail.includes('"page"') && detail.includes(shown), detail)
    }
    assert.equal((await service().get('/nope?page=abc')).status, 404)
  })

  it('has the items byte for byte as they went in, each on a line of its own (D9)', async () => {
    const text = await (await service().get('/exact')).text()
    assert.deepEqual(text.split('\n').slice(1, -2).join('\n'), EXACT.join(',\n'))
    assert.equal(await (await service().get('/exact/12345678901234567890')).text(), EXACT[0])
  })

  it('with HEAD has the status and headers of GET, Content-Length included, and no body (D13)', async () => {
    const pages = ['/events?page=2', '/events?page=0', '/events/7', '/nope', '/a/b/c']
    const targets = [...pages, '/', '/-/health', '/-/openapi.json']
    for (const target of targets)
      for (const encoding of ['identity', 'gzip']) {
        const whole = await service().get(target, { 'accept-encoding': encoding })
        const head = await service().get(target, { 'accept-encoding': encoding }, 'HEAD')
        assert.deepEqual([head.status, [...head.headers], head.body], [whole.status, [...whole.headers], null])
        assert.equal(head.headers.get('content-length'), String((await bytesOf(whole)).length))
      }
  })

  const missing: readonly (readonly [target: string, type: string, detail: RegExp])[] = [
    ['/events/8888', 'item', /"events" has no item with the key "8888"/],
    ['/events/07', 'item', /no item with the key "07"/],
    ['/events/7%00', 'item', /no item with the key "7\\u0000"/],
    ['/events/toString', 'item', /no item with the key/],
    ['/events/%zz', 'item', /"%zz" is not percent-encoded UTF-8/],
    ['/events/%C3', 'item', /"%C3" is not percent-encoded UTF-8/],
    ['/keyless/7', 'item', /"keyless" has no key field/],
    ['/nope/7', 'collection', /"nope"/],
    ['/secret/1', 'collection', /"secret"/],
    ['/nope', 'collection', /"nope"/],
  ]
  for (const [target, type, detail] of missing)
    it(`of ${target} is not found`, async () => {
      const response = await service().get(target)
      assert.equal(response.status, 404)
      const problem = await problemOf(response)
      assert.equal(problem.type, `${BASE}/-/problems/${type}-not-found`)
      assert.match(problem.detail, detail)
    })

  it('is 304 for a list, a weak tag and a star, with the headers that a cache needs', async () => {
    for (const target of ['/events', '/events?page=2', '/events?page=99', '/whole?page=abc', '/events/7', '/']) {
      const tag = (await service().get(target)).headers.get('etag') ?? assert.fail()
      for (const header of [tag, `W/${tag}`, `"a", W/"b",${tag}`, '*']) {
        const { status, body, headers } = await service().get(target, { 'if-none-match': header })
        assert.deepEqual([status, body], [304, null], `${target} ${header}`)
        const { 'x-request-id': _id, ...own } = Object.fromEntries(headers)
        assert.deepEqual(own, { etag: tag, 'cache-control': 'no-cache', vary: 'Accept, Accept-Encoding' })
      }
    }
  })

  it('that fails is not turned into a 304 by a star', async () => {
    for (const target of ['/events?page=0', '/nope', '/secret', '/secret/1', '/events/8888'])
      assert.ok((await service().get(target, { 'if-none-match': '*' })).status >= 400, target)
  })
})

it('the tag of a page changes with every write, that of an item when it does, and both when all is made again', async (t) => {
  const { store, get } = await openService(t)
  await fill(store, 'events', numbered(600))
  const run = (text: string) => keyed([text])
  const seen = { '/events': new Set<unknown>(), '/events/1': new Set<unknown>() }
  const look = async () => {
    for (const [target, tags] of Object.entries(seen)) {
      const tag = (await get(target)).headers.get('etag')
      assert.equal((await get(target, { 'if-none-match': tag ?? '' })).status, 304)
      tags.add(tag)
    }
    return [seen['/events'].size, seen['/events/1'].size]
  }
  assert.deepEqual(await look(), [1, 1])
  await store.append('events', run('{"id":601}'))
  assert.deepEqual(await look(), [2, 1])
  await store.replace('events', run('{"id":1,"x":1}'))
  assert.deepEqual(await look(), [3, 2])
  await store.drop('events')
  await fill(store, 'events', numbered(600))
  assert.deepEqual(await look(), [4, 2])
})
