import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createService } from '../../src/service/create-service.ts'
import { incomingOf } from '../../src/service/incoming.ts'
import { createLimiter, MAX_CALLERS, type RateLimits } from '../../src/service/rate-limit.ts'
import { BROWSER, fill, numbered } from './open-service.ts'
import { openSocket, readToEnd } from './raw-http.ts'
import { JSON_TYPE, NOBODY, problemIn, sharedWriteServer, type WriteServer } from './write-server.ts'

const HOUR = 3_600

/** `2 of 3 reads`, as far as the headers say. */
function leftOf(headers: Readonly<Record<string, unknown>>): string {
  const [, name, left] = /^"(\w+)";r=(\d+);t=\d+$/.exec(String(headers['ratelimit'])) ?? []
  const [, , quota] = /^"(\w+)";q=(\d+);w=3600$/.exec(String(headers['ratelimit-policy'])) ?? []
  return `${left} of ${quota} ${name}`
}

describe('rate limits', () => {
  const server = sharedWriteServer(({ store }) => fill(store, 'events', numbered(1)), {
    rateLimits: { writes: { requests: 1, seconds: HOUR } },
  })
  /** Asks a service with such a limit for reads. */
  const limited = (requests: number, seconds = HOUR, address?: string) =>
    server().askOf({ rateLimits: { reads: { requests, seconds } } }, address)

  async function assertStatuses(ask: WriteServer['ask'], all: readonly (readonly [number, Record<string, string>])[]) {
    const statuses = []
    for (const [, headers] of all) statuses.push((await ask('GET', '/', undefined, headers)).status)
    assert.deepEqual(
      statuses,
      all.map(([status]) => status),
    )
  }

  it('count reads and writes apart, whatever their outcome, and tell what is left', async () => {
    const rateLimits = { reads: { requests: 9, seconds: HOUR }, writes: { requests: 3, seconds: HOUR } }
    const ask = server().askOf({ rateLimits })
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

  it('are explained by a problem, which browsers get as a page', async () => {
    const ask = limited(1, 60)
    assert.equal((await ask('GET', '/')).status, 200)
    assert.equal(problemIn(await ask('GET', '/')), '429 rate-limited: The limit is 1 read per minute from one token.')
    const page = await ask('GET', '/', undefined, BROWSER)
    assert.equal(page.status, 429)
    assert.match(page.text, /<h1.*Too many requests[\s\S]*· request test ·/)
    assert.equal((await ask('GET', '/', undefined, NOBODY)).status, 200)
    assert.match(problemIn(await ask('GET', '/', undefined, NOBODY)), /from one address\.$/)
  })

  it('are counted by valid tokens, and by address for all others: a made-up token gives no new limit', async () => {
    const { tokenOf } = server()
    const [one, other] = [await tokenOf([]), await tokenOf([])]
    await assertStatuses(limited(2), [
      ...[one, other].flatMap((token) => [200, 200, 429].map((status) => [status, token] as const)),
      [200, NOBODY],
      [401, { Authorization: 'Bearer made-up' }],
      [429, { Authorization: 'Bearer made-up-too' }],
      [429, await tokenOf([], { revokedAt: 1 })],
      [429, { ...NOBODY, 'X-Forwarded-For': '198.51.100.1' }],
    ])
  })

  it('are counted by what a trusted proxy says', async () => {
    const rateLimits = { reads: { requests: 1, seconds: HOUR } }
    const from = (address: string) => ({ ...NOBODY, 'X-Forwarded-For': address })
    await assertStatuses(server().askOf({ rateLimits, trustedProxies: ['127.0.0.0/8'] }, '127.0.0.1'), [
      [200, from('198.51.100.1')],
      [200, from('198.51.100.2')],
      [429, from('198.51.100.3, 198.51.100.1')],
      [200, from('2001:db8::1')],
      [429, from('2001:db8::2')],
    ])
  })

  it('are counted by the address of a connection, and together for requests to `fetch` without one', async () => {
    const { fetch } = createService({ store: server().store, rateLimits: { reads: { requests: 1, seconds: HOUR } } })
    const statuses = []
    for (const remoteAddress of ['198.51.100.1', '198.51.100.2', '::ffff:198.51.100.2', undefined, undefined]) {
      const request = new Request('http://a.example/')
      statuses.push((await fetch(request, remoteAddress === undefined ? {} : { remoteAddress })).status)
    }
    assert.deepEqual(statuses, [200, 200, 429, 200, 429])
  })

  it('leave out the health of the service, and what its pages for browsers load', async () => {
    const ask = limited(1)
    for (const method of ['GET', 'GET', 'GET', 'OPTIONS']) {
      const { status, headers } = await ask(method, '/-/health')
      assert.deepEqual([status < 300, headers['ratelimit']], [true, undefined])
    }
    const [style = ''] = /\/-\/explorer\/[^"]+\.css/.exec((await ask('GET', '/', undefined, BROWSER)).text) ?? []
    assert.equal((await ask('GET', '/', undefined, BROWSER)).status, 429)
    assert.equal((await ask('GET', style)).status, 200)
  })

  it('can be set for writes alone, and refuse one over a socket before its body is read', async () => {
    const { port, headOf, ask } = server()
    const head = { ...JSON_TYPE, 'Content-Length': '13', Expect: '100-continue', Connection: 'close' }
    for (const expected of [[100, 201], [429]]) {
      const socket = await openSocket(port)
      socket.write(headOf('POST', '/events', head))
      if (expected.includes(100)) socket.write('{"id":"sent"}')
      const text = (await readToEnd(socket)).toString('latin1')
      assert.deepEqual(
        [...text.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => Number(status)),
        expected,
      )
    }
    const { status, headers } = await ask('GET', '/events')
    assert.equal(`${status} ${headers['ratelimit']}`, '200 undefined')
  })

  it('begin again when their time is over', async () => {
    const ask = limited(1, 1)
    const statuses = [(await ask('GET', '/')).status, (await ask('GET', '/')).status]
    while (statuses.at(-1) !== 200 || !statuses.includes(429)) {
      await sleep(100)
      statuses.push((await ask('GET', '/')).status)
    }
  })

  it('are counted by whoever the options name', async () => {
    const counted: string[] = []
    const ask = server().askOf({
      rateLimits: { reads: { requests: 5, seconds: 10 } },
      createRateCounter: (name, { requests }) => ({
        count: async (caller) => ({ requests: counted.push(`${name} ${requests} ${caller}`) + 4, resetMs: 1_001 }),
      }),
    })
    assert.equal((await ask('GET', '/', undefined, NOBODY)).headers['ratelimit'], '"reads";r=0;t=2')
    const refused = await ask('GET', '/', undefined, NOBODY)
    assert.equal(refused.headers['retry-after'], '2')
    assert.match(problemIn(refused), /The limit is 5 reads per 10 seconds from one address\.$/)
    assert.deepEqual(counted, ['reads 5 address ', 'reads 5 address '])
  })

  it('forget those who asked for nothing for longest, when there are very many callers', async () => {
    const count = createLimiter({ rateLimits: { reads: { requests: 2, seconds: HOUR } } }) ?? assert.fail()
    const request = incomingOf(new Request('http://a.example/'))
    const leftFor = async (address: string) => {
      const { RateLimit } = await count(request, undefined, address)
      return Number(/;r=(\d+);/.exec(RateLimit ?? '')?.[1])
    }
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
    it(`cannot be ${JSON.stringify(rateLimits)}`, () => {
      const expected = /^TypeError: Invalid rate limit of (reads|writes): expected /
      assert.throws(() => createService({ store: server().store, rateLimits }), expected)
    })
})
