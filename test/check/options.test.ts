import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type CheckOptions, checkConformance, RULES, type RuleId, WrongUse } from '../../src/check/index.ts'

const URL_OF_EVENTS = 'http://app.invalid/events'

describe('wrong use of the checker', () => {
  const cases: [url: string, options: CheckOptions, message: RegExp][] = [
    ['events', {}, /"events" is not an absolute URL\. Expected one such as https:/],
    ['ftp://app.invalid/events', {}, /begins with ftp:, expected http: or https:/],
    ['ftp://me:secret@app.invalid/events', {}, /contains a user name or a password/],
    [`${URL_OF_EVENTS}?page=1`, {}, /has a query or a fragment/],
    [URL_OF_EVENTS, { rules: ['C99' as RuleId] }, /no rule "C99"\. The rules are C1, /],
    [URL_OF_EVENTS, { rules: [] }, /expected at least one rule/],
    [URL_OF_EVENTS, { collections: ['..'] }, /Invalid collection name "\.\."/],
    [URL_OF_EVENTS, { baseUrl: 'x' }, /base URL "x" is not an absolute URL/],
    [URL_OF_EVENTS, { concurrency: 0 }, /Invalid "concurrency": expected a number of at least 1, got 0/],
    [URL_OF_EVENTS, { requests: 0 }, /Invalid "requests": .* got 0/],
    [URL_OF_EVENTS, { delayMs: -1 }, /Invalid "delayMs": .* got -1/],
    [URL_OF_EVENTS, { timeoutMs: Number.NaN }, /Invalid "timeoutMs": .* got NaN/],
    [URL_OF_EVENTS, { timeLimitMs: 0 }, /Invalid "timeLimitMs": .* got 0/],
    [URL_OF_EVENTS, { answerBytes: 0 }, /Invalid "answerBytes": .* got 0/],
  ]
  for (const [url, options, message] of cases)
    it(`${url} ${JSON.stringify(options)}`, async () => {
      const fetch = () => assert.fail('no request is sent')
      await assert.rejects(checkConformance(url, { fetch, ...options }), (error) => {
        assert.ok(error instanceof WrongUse)
        assert.match(error.message, message)
        assert.doesNotMatch(error.message, /secret/)
        return true
      })
    })
})

describe('the options of the checker', () => {
  it('let a caller choose the rules', async () => {
    const fetch = async () => new Response('[]')
    const { rules } = await checkConformance(URL_OF_EVENTS, { fetch, rules: ['D12', 'C1'] })
    const ids = rules.map(({ id }) => id)
    assert.deepEqual(ids, ['C1', 'D12'])
  })

  it('try all rules where none are chosen', async () => {
    const { rules } = await checkConformance(URL_OF_EVENTS, { fetch: async () => new Response('[]') })
    assert.equal(rules.length, RULES.length)
  })

  it('end a run by a signal, also while it waits for the server', { timeout: 20_000 }, async () => {
    for (const answer of [
      new Response(null, { status: 429, headers: { 'Retry-After': '60' } }),
      new Promise<Response>(() => {}),
    ]) {
      const controller = new AbortController()
      const reason = new Error('enough')
      setTimeout(() => controller.abort(reason), 50)
      const run = checkConformance(URL_OF_EVENTS, { fetch: () => answer, signal: controller.signal, timeoutMs: 60_000 })
      await assert.rejects(run, reason)
    }
  })

  for (const token of ['abc', 'SECRETab"cd/ef+gh=ijklmnop', 'plain-token-of-some-length'])
    it(`keep the token ${JSON.stringify(token)} out of the report, however a server repeats it`, async () => {
      const repeated = [token, encodeURIComponent(token), token.slice(0, 12)]
      const fetch = async (request: Request) => {
        assert.equal(request.headers.get('authorization'), `Bearer ${token}`)
        const type = new URLSearchParams({ type: repeated.join() }).toString()
        const href = `http://app.invalid/${repeated.join('/')}`
        const document = {
          item_count: repeated.join(),
          _links: { first: { href }, self: repeated },
          _embedded: repeated,
        }
        return Response.json(document, { headers: { 'content-type': type, etag: encodeURI(token) } })
      }
      const report = await checkConformance(URL_OF_EVENTS, { fetch, token })
      assert.equal(report.verdict, 'failed')
      for (const form of repeated) assert.ok(!JSON.stringify(report).includes(form), form)
    })
})
