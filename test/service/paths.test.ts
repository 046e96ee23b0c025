import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { PROBLEMS } from '../../src/contract/problem.ts'
import type { Store } from '../../src/store/store.ts'
import { StoreError, type StoreErrorCode } from '../../src/store/store-error.ts'
import { interposed } from './altered-store.ts'
import { BASE, BROWSER, fill, numbered, openService, problemOf, sharedService, tokenFor } from './open-service.ts'
import { problemIn } from './write-server.ts'

const BUSY = 'An import or a copy of this collection is running.'
const UNKNOWN = 'The store gave no definite answer while it committed the write.'
const failure = (code: StoreErrorCode) => new StoreError(code, 'the secret reason')

describe('paths', () => {
  const service = sharedService(async (store) => {
    await fill(store, 'events', numbered(12))
    await fill(store, 'secret', numbered(5), { isPrivate: true })
    await fill(store, 'venues', numbered(3), { isPaginated: false })
  })

  it('begin at the entry point, which links every public collection and gives its exact count', async () => {
    const { store, get } = service()
    const times = new Map((await store.collections()).map(({ name, changedAt }) => [name, new Date(changedAt ?? 0)]))
    const collection = (name: string, item_count: number, paginated: boolean) => {
      const settings = { paginated, private: false, key: 'id', mirrors: null }
      const changed_at = times.get(name)?.toISOString()
      return { name, item_count, changed_at, ...settings, _links: { self: { href: `${BASE}/${name}` } } }
    }
    const entry = await (await get('/')).json()
    assert.partialDeepStrictEqual(entry, {
      _links: { self: { href: `${BASE}/` }, 'service-desc': { href: `${BASE}/-/openapi.json` } },
      _embedded: { collections: [collection('events', 12, true), collection('venues', 3, false)] },
    })
    const linked = ['events', 'venues'].map((name) => ({ href: `${BASE}/${name}`, name }))
    assert.deepEqual(entry._links.collections, linked)
  })

  const notFound: Readonly<Record<string, readonly string[]>> = {
    'collection-not-found': [
      ...['/Events', '/nope', '/events%00', '/events%2Fx', '/%65vents', '/events%20', '/%2e%2e/x', '/events;v=1'],
      ...['/@events', `/${'e'.repeat(65)}`, `/${'e'.repeat(9000)}`, '/%', '/%ff', '/favicon.ico'],
    ],
    'path-not-found': [
      ...['/events/', '//events', '/events/1/2', '/events//', '/events//1', '/-', '/-/', '/-/nope', '/-/Health'],
      ...['/-/health/', '/-/health/x', '/-events', '/-/problems', '/-/problems/', '/-/problems/nope'],
      '/-/problems/toString',
    ],
  }
  for (const [name, paths] of Object.entries(notFound))
    it(`that lead nowhere are 404: ${name}`, async () => {
      for (const path of paths) {
        const response = await service().get(path)
        assert.deepEqual([response.status, response.headers.get('content-type')], [404, 'application/problem+json'])
        const { type, detail, hint } = await problemOf(response)
        assert.equal(type, `${BASE}/-/problems/${name}`, path)
        assert.ok(detail.length < 250)
        assert.equal(name === 'path-not-found' && path.endsWith('/'), hint.includes('slash'))
      }
    })

  /** Where there is more than reading. */
  const allowed: Readonly<Record<string, string>> = {
    '/events': 'GET, POST, PATCH, PUT, DELETE, HEAD, OPTIONS',
    '/events/1': 'GET, PUT, DELETE, HEAD, OPTIONS',
  }
  const own = ['/', '/events', '/events/1', '/-/health', '/-/problems/invalid-page', '/-/openapi.json']
  const states = ['@', '@..', '@a1b2-2-3-AbCdEfGh_-9', '@a1b2-2-3-AbCdEfGh_-9..', '@x/7', '@x../7']
  for (const path of [...own, ...states.map((state) => `/events${state}`)])
    it(`have the methods that OPTIONS lists, and any other is 405 with a problem that names it (D13): ${path}`, async () => {
      const { store, get } = service()
      const admin = await tokenFor(store, ['admin'])
      const allow = allowed[path] ?? 'GET, HEAD, OPTIONS'
      const options = await get(path, {}, 'OPTIONS')
      assert.deepEqual([options.status, options.headers.get('allow')], [204, allow])
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'MADE-UP']) {
        if (allow.includes(method)) continue
        const response = await get(path, admin, method)
        assert.deepEqual([response.status, response.headers.get('allow')], [405, allow], method)
        assert.ok((await problemOf(response)).detail.includes(method))
      }
    })

  it('are the types of problems, each with its description (D14)', async () => {
    for (const [name, kind] of Object.entries(PROBLEMS)) {
      const response = await service().get(`/-/problems/${name}`)
      assert.equal(response.headers.get('content-type'), 'application/json')
      assert.deepEqual(await response.json(), { type: `${BASE}/-/problems/${name}`, ...kind })
    }
  })
})

/** Every operation with a store that fails is in openapi/answers.test.ts. */
describe('a store that fails', () => {
  type Refusal = readonly [error: Error, problem: string, retryAfter: string | null, isReported: boolean]
  const refusals: readonly Refusal[] = [
    [failure('unavailable'), '503 store-unavailable: The store did not answer.', '1', true],
    [failure('overloaded'), '503 store-unavailable: Too many other requests are waiting for the store.', '1', true],
    [failure('read-only'), '503 store-unavailable: The store is read-only now.', '1', true],
    [failure('closed'), '503 store-unavailable: The store cannot be used.', null, true],
    [failure('busy'), `503 collection-busy: ${BUSY}`, '1', false],
    [failure('outcome-unknown'), `503 outcome-unknown: ${UNKNOWN}`, null, true],
    [failure('full'), '507 store-full: There is no room for this write.', null, false],
    [new RangeError('the secret reason'), '500 internal-error: The request could not be answered.', null, true],
  ]
  const service = sharedService((store) => fill(store, 'events', numbered(3)))
  for (const [error, problem, retryAfter, isReported] of refusals)
    it(`is answered without its reason, which is reported if it is a fault: ${problem}`, async () => {
      const errors: unknown[] = []
      const store = interposed(service().store, (name) => (name === 'page' ? () => Promise.reject(error) : undefined))
      const get = service().again({ store, cacheBytes: 0, onError: (each) => errors.push(each) })
      const response = await get('/events')
      const text = await response.text()
      assert.equal(problemIn({ status: response.status, text }), problem)
      assert.doesNotMatch(text, /secret reason/)
      const { headers } = response
      assert.deepEqual([headers.get('retry-after'), headers.get('cache-control')], [retryAfter, 'no-store'])
      assert.deepEqual(errors, isReported ? [error] : [])
    })

  it('is no health', async (t) => {
    const { store, get } = await openService(t, { onError: () => {} })
    assert.deepEqual(await (await get('/-/health')).json(), { status: 'ok' })
    await store.close()
    assert.equal((await get('/-/health')).status, 503)
  })
})

describe('a store of which a part is away', () => {
  const service = sharedService(async (store) => {
    await fill(store, 'here', numbered(3))
    await fill(store, 'there', numbered(3))
  })

  it('is told as such in the entry, on its page and in the health, without naming a server', async () => {
    const { store, get, again } = service()
    const away = ['node2:5432']
    const answers: Partial<Store> = {
      reachable: async () => ({ heads: (await store.collections()).filter(({ name }) => name === 'here'), away }),
      ping: async () => away,
    }
    const ask = again({ store: interposed(store, (name) => answers[name as keyof Store]) })
    const entry = (await (await ask('/')).json()) as { incomplete?: boolean; _embedded: { collections: object[] } }
    assert.deepEqual([entry.incomplete, entry._embedded.collections.length], [true, 1])
    const html = await (await ask('/', BROWSER)).text()
    assert.match(html, /and perhaps more: a part of the store is away/)
    const health = await ask('/-/health')
    assert.deepEqual([health.status, await health.text()], [200, '{"status":"degraded"}\n'])
    for (const text of [JSON.stringify(entry), html]) assert.doesNotMatch(text, /node2/)

    assert.doesNotMatch(await (await get('/')).text(), /incomplete/)
    assert.doesNotMatch(await (await get('/', BROWSER)).text(), /perhaps more/)
    assert.equal(await (await get('/-/health')).text(), '{"status":"ok"}\n')
  })
})
