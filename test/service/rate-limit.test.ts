import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createService } from '../../src/service/create-service.ts'
import { incomingOf } from '../../src/service/incoming.ts'
import { createLimiter, MAX_CALLERS, type RateLimits } from '../../src/service/rate-limit.ts'
import { fill, numbered, openService, problemOf } from './open-service.ts'
import { openSocket, readToEnd } from './raw-http.ts'
import { problemIn, startWriteServer } from './write-server.ts'

const HOUR = 3_600
const NOBODY = { Authorization: '' }
const BROWSER = { Accept: 'text/html,application/xhtml+xml' }

/** `2 of 3 reads`, as far as the headers say. */
function leftOf(headers: Readonly<Record<string, unknown>>): string {
  const [, name, left] = /^"(\w+)";r=(\d+);t=\d+$/.exec(String(headers['ratelimit'])) ?? []
  const [, , quota] = /^"(\w+)";q=(\d+);w=3600$/.exec(String(headers['ratelimit-policy'])) ?? []
  return `${left} of ${quota} ${name}`
}

function leftIn(header: string | undefined): number {
  return Number(/;r=(\d+);/.exec(header ?? '')?.[1])
}

describe('rate limits', () => {
  it('count reads and writes apart, whatever their outcome, and tell what is left', async (t) => {
    const rateLimits = { reads: { requests: 9, seconds: HOUR }, writes: { requests: 3, seconds: HOUR } }
    const { store, ask } = await startWriteServer(t, { rateLimits })
    await fill(store, 'events', numbered(1))
    const cases: readonly [status: number, left: string, ...Parameters<typeof ask>][] = [
      [200, '8 of 9 reads', 'GET', '/events'],
      [304, '7 of 9 reads', 'GET', '/events', undefined, { 'If-None-Match': '*' }],
      [200, '6 of 9 reads', 'HEAD', '/events'],
      [204, '5 of 9 reads', 'OPTIONS', '/events'],
      [404, '4 of 9 reads', 'GET', '/nope'],
      [404, '3 of 9 reads', 'GET', '/-/nope'],
      [400, '2 of 9 reads', 'GET', '/events?page=0'],
      [200, '1 of 9 reads', 'GET', '/events', undefined, BROWSER],
      [201, '2 of 3 writes', 'POST', '/events', '{"id":2}'],
      [409, '1 of 3 writes', 'POST', '/events', '{"id":2}'],
      [204, '0 of 3 writes', 'DELETE', '/events/2'],
      [429, '0 of 3 writes', 'DELETE', '/events/1'],
      [429, '0 of 3 writes', 'PATCH', '/events'],
      [200, '0 of 9 reads', 'GET', '/events/1'],
      [429, '0 of 9 reads', 'GET', '/events/1'],
      [429, '0 of 9 reads', 'GET', '/events', undefined, BROWSER],
    ]
    for (const [status, left, ...request] of cases) {
      const answer = await ask(...request)
      assert.equal(`${answer.status}, ${leftOf(answer.headers)}`, `${status}, ${left}`, request.join(' '))
      const { 'retry-after': retryAfter } = answer.headers
      if (status !== 429) assert.equal(retryAfter, undefined)
      else assert.match(String(retryAfter), /^(3600|3[0-5]\d\d)$/)
    }
  })

  it('are explained by a problem, which browsers get as a page', async (t) => {
    const rateLimits = { reads: { requests: 1, seconds: 60 } }
    const { ask } = await startWriteServer(t, { rateLimits })
    assert.equal((await ask('GET', '/')).status, 200)
    assert.equal(problemIn(await ask('GET', '/')), '429 rate-limited: The limit is 1 read per minute from one token.')
    const page = await ask('GET', '/', undefined, BROWSER)
    assert.equal(page.status, 429)
    assert.match(page.text, /<h1.*Too many requests/)
    assert.match(page.text, /· request test ·/)
    assert.equal((await ask('GET', '/', undefined, NOBODY)).status, 200)
    assert.match(problemIn(await ask('GET', '/', undefined, NOBODY)), /from one address\.$/)
  })

  it('are counted by valid tokens, and by address for all others: a made-up token gives no new limit', async (t) => {
    const rateLimits = { reads: { requests: 2, seconds: HOUR } }
    const { ask, tokenOf } = await startWriteServer(t, { rateLimits })
    const [one, other] = [await tokenOf([]), await tokenOf([])]
    const revoked = await tokenOf([], { revokedAt: 1 })
    const statusOf = async (headers: Record<string, string>) => (await ask('GET', '/', undefined, headers)).status
    for (const token of [one, other]) {
      assert.equal(await statusOf(token), 200)
      assert.equal(await statusOf(token), 200)
      assert.equal(await statusOf(token), 429)
    }
    assert.equal(await statusOf(NOBODY), 200)
    assert.equal(await statusOf({ Authorization: 'Bearer made-up' }), 401)
    assert.equal(await statusOf({ Authorization: 'Bearer made-up-too' }), 429)
    assert.equal(await statusOf(revoked), 429)
    assert.equal(await statusOf({ ...NOBODY, 'X-Forwarded-For': '198.51.100.1' }), 429)
  })

  it('are counted by what a trusted proxy says', async (t) => {
    const rateLimits = { reads: { requests: 1, seconds: HOUR } }
    const { ask } = await startWriteServer(t, { rateLimits, trustedProxies: ['127.0.0.0/8'] })
    const statusFor = async (address: string) =>
      (await ask('GET', '/', undefined, { ...NOBODY, 'X-Forwarded-For': address })).status
    assert.equal(await statusFor('198.51.100.1'), 200)
    assert.equal(await statusFor('198.51.100.2'), 200)
    assert.equal(await statusFor('198.51.100.3, 198.51.100.1'), 429)
    assert.equal(await statusFor('2001:db8::1'), 200)
    assert.equal(await statusFor('2001:db8::2'), 429)
  })

  it('leave out the health of the service, and what its pages for browsers load', async (t) => {
    const { ask } = await startWriteServer(t, { rateLimits: { reads: { requests: 1, seconds: HOUR } } })
    for (let count = 0; count < 3; count++) {
      const { status, headers } = await ask('GET', '/-/health')
      assert.equal(`${status} ${headers['ratelimit']}`, '200 undefined')
    }
    assert.equal((await ask('OPTIONS', '/-/health')).headers['ratelimit'], undefined)
    const [style = ''] = /\/-\/explorer\/[^"]+\.css/.exec((await ask('GET', '/', undefined, BROWSER)).text) ?? []
    assert.equal((await ask('GET', '/', undefined, BROWSER)).status, 429)
    assert.equal((await ask('GET', style)).status, 200)
  })

  it('can be set for one kind alone', async (t) => {
    const { store, ask } = await startWriteServer(t, { rateLimits: { writes: { requests: 1, seconds: HOUR } } })
    await fill(store, 'events', [])
    assert.equal((await ask('POST', '/events', '{"id":1}')).status, 201)
    assert.equal((await ask('POST', '/events', '{"id":2}')).status, 429)
    const { status, headers } = await ask('GET', '/events')
    assert.equal(`${status} ${headers['ratelimit']}`, '200 undefined')
  })

  it('refuse a write before its body is read', async (t) => {
    const { store, port, headOf } = await startWriteServer(t, {
      rateLimits: { writes: { requests: 1, seconds: HOUR } },
    })
    await fill(store, 'events', [])
    const head = { 'Content-Type': 'application/json', 'Content-Length': '8', Expect: '100-continue' }
    for (const expected of [[100, 201], [429]]) {
      const socket = await openSocket(port)
      socket.write(headOf('POST', '/events', { ...head, Connection: 'close' }))
      if (expected.includes(100)) socket.write('{"id":1}')
      const text = (await readToEnd(socket)).toString('latin1')
      assert.deepEqual(
        [...text.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => Number(status)),
        expected,
      )
    }
  })

  it('begin again when their time is over', async (t) => {
    const { ask } = await startWriteServer(t, { rateLimits: { reads: { requests: 1, seconds: 1 } } })
    const statuses = [(await ask('GET', '/')).status, (await ask('GET', '/')).status]
    while (statuses.at(-1) !== 200) statuses.push((await ask('GET', '/')).status)
    assert.ok(statuses.includes(429))
  })

  it('take requests to `fetch` without a token and an address for those of one caller', async (t) => {
    const { store, get } = await openService(t, { rateLimits: { reads: { requests: 1, seconds: HOUR } } })
    assert.equal((await get('/')).status, 200)
    const refused = await get('/', { 'X-Forwarded-For': '198.51.100.1' })
    assert.equal((await problemOf(refused)).detail, 'The limit is 1 read per hour from one address.')
    const { fetch } = createService({ store, rateLimits: { reads: { requests: 1, seconds: HOUR } } })
    const statuses = []
    for (const remoteAddress of ['198.51.100.1', '198.51.100.2', '::ffff:198.51.100.2'])
      statuses.push((await fetch(new Request('http://a.example/'), { remoteAddress })).status)
    assert.deepEqual(statuses, [200, 200, 429])
  })

  it('are counted by whoever the options name', async (t) => {
    const counted: string[] = []
    const { get } = await openService(t, {
      rateLimits: { reads: { requests: 5, seconds: 10 } },
      createRateCounter: (name, { requests }) => ({
        count: async (caller) => ({ requests: counted.push(`${name} ${requests} ${caller}`) + 4, resetMs: 1_001 }),
      }),
    })
    assert.equal((await get('/')).headers.get('ratelimit'), '"reads";r=0;t=2')
    const refused = await get('/')
    assert.equal(refused.headers.get('retry-after'), '2')
    assert.equal((await problemOf(refused)).detail, 'The limit is 5 reads per 10 seconds from one address.')
    assert.deepEqual(counted, ['reads 5 address ', 'reads 5 address '])
  })

  it('forget those who asked for nothing for longest, when there are very many callers', async () => {
    const count = createLimiter({ rateLimits: { reads: { requests: 2, seconds: HOUR } } }) ?? assert.fail()
    const request = incomingOf(new Request('http://a.example/'))
    const leftFor = async (address: string) => leftIn((await count(request, undefined, address))['RateLimit'])
    assert.equal(await leftFor('first'), 1)
    assert.equal(await leftFor('second'), 1)
    assert.equal(await leftFor('first'), 0)
    for (let others = 1; others < MAX_CALLERS; others++) await count(request, undefined, String(others))
    assert.equal(await leftFor('2'), 0, 'known')
    assert.equal(await leftFor('second'), 1, 'forgotten')
  })

  const wrong: readonly RateLimits[] = [
    { reads: { requests: 0, seconds: 1 } },
    { reads: { requests: 1.5, seconds: 1 } },
    { writes: { requests: 1, seconds: 0 } },
    { writes: { requests: 1, seconds: Number.NaN } },
  ]
  for (const rateLimits of wrong)
    it(`cannot be ${JSON.stringify(rateLimits)}`, async (t) => {
      await assert.rejects(
        openService(t, { rateLimits }),
        /^TypeError: Invalid rate limit of (reads|writes): expected /,
      )
    })
})
