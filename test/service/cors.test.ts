import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { BROWSER, fill, numbered, type OpenService, sharedService, tokenFor } from './open-service.ts'

const APP = 'https://app.example'
const OTHER = 'https://other.example'
const VARY = 'Accept, Accept-Encoding'
const EXPOSED = 'ETag, Preference-Applied, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id'
const HEADERS = ['access-control-allow-origin', 'access-control-expose-headers', 'vary']

/** Every header of CORS that an answer has, and Vary. */
function corsOf({ headers }: Response): (string | null)[] {
  const others = [...headers.keys()].filter((name) => name.startsWith('access-control-') && !HEADERS.includes(name))
  assert.deepEqual(others, [])
  return HEADERS.map((name) => headers.get(name))
}

/** Every kind of answer to a read, with its status and its own Vary. */
const READS: readonly [status: number, vary: string | null, target: string, headers?: Record<string, string>][] = [
  [200, VARY, '/'],
  [200, VARY, '/events'],
  [200, VARY, '/events/1'],
  [200, null, '/-/health'],
  [304, VARY, '/events', { 'If-None-Match': '*' }],
  [400, null, '/events?page=0'],
  [401, null, '/events', { Authorization: 'Bearer x' }],
  [404, null, '/nope'],
  [404, null, '/-/nope'],
  [404, VARY, '/nope', BROWSER],
]

describe('CORS', () => {
  const service = sharedService((store) => fill(store, 'events', numbered(1)))

  type Expected = (vary: string | null) => unknown
  async function eachRead(get: OpenService['get'], origin: string | undefined, expected: Expected) {
    for (const method of ['GET', 'HEAD'])
      for (const [status, vary, target, headers] of READS) {
        const answer = await get(target, { ...headers, ...(origin && { Origin: origin }) }, method)
        assert.equal(answer.status, status)
        assert.deepEqual(corsOf(answer), expected(vary), `${method} ${target}`)
      }
  }

  const preflight = (get: OpenService['get'], origin: string, method: string, target = '/events') =>
    get(target, { Origin: origin, 'Access-Control-Request-Method': method }, 'OPTIONS')

  it('is off by default', async () => {
    const { get } = service()
    await eachRead(get, APP, (vary) => [null, null, vary])
    assert.deepEqual(corsOf(await preflight(get, APP, 'GET')), [null, null, null])
  })

  it('lets pages of the origins in a list read every answer, and caches keep them apart', async () => {
    const get = service().again({ corsOrigins: ['https://app2.example:8443', `${APP}/`] })
    const varyOf = (vary: string | null) => (vary === null ? 'Origin' : `${vary}, Origin`)
    await eachRead(get, APP, (vary) => [APP, EXPOSED, varyOf(vary)])
    await eachRead(get, OTHER, (vary) => [null, null, varyOf(vary)])
    await eachRead(get, 'null', (vary) => [null, null, varyOf(vary)])
    await eachRead(get, undefined, (vary) => [null, null, varyOf(vary)])
  })

  it('lets pages of all origins read every answer, which is the same for all', async () => {
    const get = service().again({ corsOrigins: ['*'] })
    for (const origin of [APP, 'null', undefined]) await eachRead(get, origin, (vary) => ['*', EXPOSED, vary])
  })

  it('is there when a request is refused by a limit', async () => {
    const rateLimits = { reads: { requests: 1, seconds: 3_600 } }
    const get = service().again({ corsOrigins: [APP], rateLimits })
    for (const status of [200, 429]) {
      const answer = await get('/-/problems/conflict', { Origin: APP })
      assert.equal(answer.status, status)
      assert.equal(answer.headers.get('access-control-allow-origin'), APP)
    }
    assert.equal((await preflight(get, APP, 'GET')).status, 204, 'a preflight is not counted')
  })

  it('says to a browser that asks first what a page may send: a read with a token, a tag or an id', async () => {
    for (const own of [APP, '*']) {
      const get = service().again({ corsOrigins: [own], requireToken: true })
      for (const target of ['/events', '/events/1', '/', '/nope'])
        for (const method of ['GET', 'HEAD']) {
          const { status, headers } = await preflight(get, APP, method, target)
          assert.equal(status, 204)
          const shown = [...headers].filter(([name]) => name.startsWith('access-control-') || name === 'vary')
          assert.deepEqual(Object.fromEntries(shown), {
            'access-control-allow-headers': 'Authorization, If-None-Match, Prefer, X-Request-Id, traceparent',
            'access-control-allow-methods': 'GET, HEAD',
            'access-control-allow-origin': own,
            'access-control-max-age': '600',
            ...(own === APP && { vary: 'Origin' }),
          })
        }
    }
  })

  it('never allows a write, nor an origin that is not in the list', async () => {
    const { store, again } = service()
    const token = await tokenFor(store, ['admin'])
    for (const corsOrigins of [[APP], ['*']]) {
      const get = again({ corsOrigins })
      for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'get', ''])
        assert.deepEqual(corsOf(await preflight(get, APP, method)).slice(0, 2), [null, null], method)
      const writes = { POST: '/events', PUT: '/events/1', DELETE: '/events/7', PATCH: '/events' }
      for (const [method, target] of Object.entries(writes))
        assert.deepEqual(corsOf(await get(target, { ...token, Origin: APP }, method)), [null, null, null], method)
      const plain = await get('/events', { Origin: APP }, 'OPTIONS')
      assert.match(plain.headers.get('allow') ?? '', /^GET, /)
      assert.deepEqual(corsOf(plain), [null, null, null], 'no preflight')
    }
    assert.deepEqual(corsOf(await preflight(again({ corsOrigins: [APP] }), OTHER, 'GET')), [null, null, null])
  })

  it('does not answer for another host on loopback', async () => {
    const get = service().again({ corsOrigins: ['*'], loopbackPort: 8080 })
    const headers = { Host: 'data.example', Origin: APP, 'Access-Control-Request-Method': 'GET' }
    assert.equal((await get('/events', headers, 'OPTIONS')).status, 421)
  })

  const wrong = ['', 'null', 'app.example', 'ftp://app.example', `${APP}/path`, `${APP}?q`, 'https://*.example']
  for (const origin of [...wrong, '*.example', 'https://me@app.example'])
    it(`has no origin "${origin}"`, () =>
      assert.throws(() => service().again({ corsOrigins: [origin] }), {
        name: 'TypeError',
        message: `Invalid CORS origin "${origin}": expected an origin such as https://app.example.com, or * alone for every origin.`,
      }))
  it('has no other origin beside *', () =>
    assert.throws(() => service().again({ corsOrigins: ['*', APP] }), /Invalid CORS origin "\*"/))
})
