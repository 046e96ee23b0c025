import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { PROBLEMS } from '../../src/contract/problem.ts'
import { BASE, fill, numbered, openService, problemOf } from './open-service.ts'

describe('the entry point', () => {
  test('links every public collection and gives its exact count', async (t) => {
    const { store, get } = await openService(t)
    await fill(store, 'events', numbered(1234))
    await fill(store, 'secret', numbered(5), { isPrivate: true })
    await fill(store, 'venues', numbered(12), { isPaginated: false })
    const response = await get('/')
    assert.equal(response.status, 200)
    const times = new Map((await store.collections()).map(({ name, changedAt }) => [name, new Date(changedAt ?? 0)]))
    assert.deepEqual(await response.json(), {
      _links: {
        self: { href: `${BASE}/` },
        'service-desc': { href: `${BASE}/-/openapi.json` },
        collections: [
          { href: `${BASE}/events`, name: 'events' },
          { href: `${BASE}/venues`, name: 'venues' },
        ],
      },
      _embedded: {
        collections: [
          {
            name: 'events',
            item_count: 1234,
            paginated: true,
            private: false,
            key: 'id',
            changed_at: times.get('events')?.toISOString(),
            _links: { self: { href: `${BASE}/events` } },
          },
          {
            name: 'venues',
            item_count: 12,
            paginated: false,
            private: false,
            key: 'id',
            changed_at: times.get('venues')?.toISOString(),
            _links: { self: { href: `${BASE}/venues` } },
          },
        ],
      },
    })
  })

  test('of an empty store has empty lists', async (t) => {
    const { get } = await openService(t)
    assert.deepEqual(await (await get('/')).json(), {
      _links: {
        self: { href: `${BASE}/` },
        'service-desc': { href: `${BASE}/-/openapi.json` },
        collections: [],
      },
      _embedded: { collections: [] },
    })
  })
})

describe('paths that lead nowhere', () => {
  const notFound: Record<string, string> = {
    '/events/': 'path-not-found',
    '/Events': 'collection-not-found',
    '/nope': 'collection-not-found',
    '//events': 'path-not-found',
    '/events%00': 'collection-not-found',
    '/events%2Fx': 'collection-not-found',
    '/events%2F1': 'collection-not-found',
    '/%65vents': 'collection-not-found',
    '/events%20': 'collection-not-found',
    '/%2e%2e/x': 'collection-not-found',
    '/events;v=1': 'collection-not-found',
    '/@events': 'collection-not-found',
    '/events@1': 'collection-not-found',
    [`/${'e'.repeat(65)}`]: 'collection-not-found',
    [`/${'e'.repeat(9000)}`]: 'collection-not-found',
    '/%': 'collection-not-found',
    '/%ff': 'collection-not-found',
    '/events/1/2': 'path-not-found',
    '/events//': 'path-not-found',
    '/events//1': 'path-not-found',
    '/-': 'path-not-found',
    '/-/': 'path-not-found',
    '/-/nope': 'path-not-found',
    '/-/Health': 'path-not-found',
    '/-/health/': 'path-not-found',
    '/-/health/x': 'path-not-found',
    '/-events': 'path-not-found',
    '/-/problems': 'path-not-found',
    '/-/problems/': 'path-not-found',
    '/-/problems/nope': 'path-not-found',
    '/-/problems/toString': 'path-not-found',
    '/favicon.ico': 'collection-not-found',
  }
  test('are 404 problems', async (t) => {
    const { store, get } = await openService(t)
    await fill(store, 'events', numbered(3))
    for (const [path, name] of Object.entries(notFound)) {
      const response = await get(path)
      assert.equal(response.status, 404, path)
      assert.equal(response.headers.get('content-type'), 'application/problem+json')
      const problem = await problemOf(response)
      assert.equal(problem.type, `${BASE}/-/problems/${name}`, path)
      assert.ok(problem.detail.length < 250)
    }
  })

  test('one with a slash at the end hears what to do', async (t) => {
    const { get } = await openService(t)
    assert.match((await problemOf(await get('/events/'))).hint, /slash/)
  })
})

test('a private collection answers on every route as if it did not exist', async (t) => {
  const { store, get } = await openService(t)
  await fill(store, 'secret', numbered(3), { isPrivate: true })
  const asks: [string, string][] = [
    ['', 'GET'],
    ['', 'HEAD'],
    ['', 'OPTIONS'],
    ['', 'POST'],
    ['?page=2', 'GET'],
    ['?page=0', 'GET'],
    ['/1', 'GET'],
    ['/9', 'GET'],
    ['/%', 'GET'],
  ]
  for (const [rest, method] of asks) {
    const secret = await get(`/secret${rest}`, {}, method)
    const unknown = await get(`/nobody${rest}`, {}, method)
    assert.equal(secret.status, unknown.status)
    assert.deepEqual([...secret.headers], [...unknown.headers])
    assert.equal((await secret.text()).replaceAll('secret', 'nobody'), await unknown.text())
  }
})

/** Where there is more than reading. */
const ALLOW: Readonly<Record<string, string>> = {
  '/events': 'GET, POST, PUT, DELETE, HEAD, OPTIONS',
  '/events/1': 'GET, PUT, DELETE, HEAD, OPTIONS',
}

describe('methods (D13)', () => {
  test('OPTIONS lists what a path has', async (t) => {
    const { get } = await openService(t)
    for (const path of ['/', '/events', '/events/1', '/-/health', '/-/problems/invalid-page', '/-/openapi.json']) {
      const response = await get(path, {}, 'OPTIONS')
      assert.equal(response.status, 204)
      assert.equal(response.headers.get('allow'), ALLOW[path] ?? 'GET, HEAD, OPTIONS')
    }
  })

  test('any other method is 405 with Allow and a problem that names it', async (t) => {
    const { store, get } = await openService(t)
    await fill(store, 'events', numbered(3))
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'MADE-UP'])
      for (const path of ['/', '/events', '/events/1', '/-/health']) {
        if (ALLOW[path]?.includes(method)) continue
        const response = await get(path, {}, method)
        assert.equal(response.status, 405, `${method} ${path}`)
        assert.equal(response.headers.get('allow'), ALLOW[path] ?? 'GET, HEAD, OPTIONS')
        assert.ok((await problemOf(response)).detail.includes(method))
      }
  })
})

describe('problems', () => {
  test('the type of each leads to its description (D14)', async (t) => {
    const { get } = await openService(t)
    for (const [name, kind] of Object.entries(PROBLEMS)) {
      const response = await get(`/-/problems/${name}`)
      assert.equal(response.status, 200)
      assert.equal(response.headers.get('content-type'), 'application/json')
      assert.deepEqual(await response.json(), { type: `${BASE}/-/problems/${name}`, ...kind })
    }
  })
})

describe('a store that cannot be read', () => {
  test('is a 503 problem on every route that reads it, and the error is reported but not shown', async (t) => {
    const errors: unknown[] = []
    const { store, get } = await openService(t, { onError: (error) => errors.push(error) })
    await fill(store, 'events', numbered(3))
    assert.deepEqual(await (await get('/-/health')).json(), { status: 'ok' })
    await store.close()
    const paths = ['/', '/events', '/events/1', '/-/health', '/-/openapi.json']
    for (const path of paths) {
      const response = await get(path)
      assert.equal(response.status, 503, path)
      assert.equal(response.headers.get('cache-control'), 'no-store')
      const problem = await problemOf(response)
      assert.match(problem.type, /store-unavailable$/)
      for (const error of errors) assert.ok(error instanceof Error && !problem.detail.includes(error.message))
    }
    assert.equal(errors.length, paths.length)
  })

  test('an error that nobody foresaw is a 500 problem that shows nothing of it', async (t) => {
    const errors: unknown[] = []
    const { store, again } = await openService(t)
    const failing = Object.create(store, {
      page: { value: async () => Promise.reject(new RangeError('the secret reason')) },
    })
    const get = again({ store: failing, onError: (error) => errors.push(error) })
    const response = await get('/events')
    assert.equal(response.status, 500)
    const text = await response.text()
    assert.match(text, /internal-error/)
    assert.doesNotMatch(text, /secret reason/)
    assert.equal(errors.length, 1)
  })
})
