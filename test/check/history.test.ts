import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkConformance } from '../../src/check/index.ts'
import { CorrectServer, inProcess } from './correct-server.ts'
import { grow, spoiltServer } from './mutants/mutant.ts'

const BASE = 'http://events.example'

/** What rule D22 says of a server, and the addresses that were asked. */
async function judge(
  server: CorrectServer,
  { path = '/events', baseUrl = BASE, onRequest = (_number: number) => {} } = {},
) {
  const urls: string[] = []
  const answer = inProcess(server, baseUrl)
  const fetch = (request: Request) => {
    urls.push(request.url)
    onRequest(urls.length)
    return answer(request)
  }
  const report = await checkConformance(`${BASE}${path}`, { fetch, token: 'reams_secret', rules: ['D22'], baseUrl })
  const rule = report.rules.find(({ id }) => id === 'D22') ?? assert.fail('D22 is missing')
  return { ...rule, verdict: report.verdict, urls, notes: report.collections[0]?.notes }
}

/** A server whose pages have this as their link to a snapshot. */
const linking = (snapshot: unknown) => spoiltServer({ hasHistory: true }, { historyLinks: () => ({ snapshot }) })

describe('rule D22', () => {
  it('needs six requests, and is passed over without a link', async () => {
    const without = await judge(new CorrectServer())
    assert.deepEqual([without.status, without.detail, without.verdict], ['skip', 'no snapshot is linked', 'passed'])
    const { status, urls } = await judge(new CorrectServer({ hasHistory: true }))
    assert.equal(status, 'pass')
    assert.equal(urls.length - without.urls.length, 6)
  })

  it('asks where it was told to, also if links begin with another base URL', async () => {
    const { status, urls } = await judge(new CorrectServer({ hasHistory: true }), { baseUrl: 'https://public.example' })
    assert.equal(status, 'pass')
    assert.deepEqual([...new Set(urls.map((url) => new URL(url).origin))], [BASE])
  })

  it('sends nothing to another host, and nothing above the collection', async () => {
    for (const start of ['http://evil.example/events', `${BASE}/../events`, `${BASE}/other/events`, `${BASE}/x`]) {
      const href = `${start}@t0`
      const { status, detail, urls } = await judge(linking({ href }))
      assert.equal(status, 'warn')
      assert.equal(detail, `expected snapshot is {"href": "${BASE}/events@<tag>"}; got ${JSON.stringify({ href })}`)
      assert.ok(urls.every((url) => url.startsWith(EVENTS)))
    }
  })

  it('says what is no link at all', async () => {
    for (const snapshot of [null, 3, 'http://events.example/events@t0', [], { href: 3 }])
      assert.equal((await judge(linking(snapshot))).status, 'warn', JSON.stringify(snapshot))
  })

  it('does not apply to a snapshot, nor to changes', async () => {
    const server = new CorrectServer({ hasHistory: true })
    server.tag()
    for (const path of ['/events@t0', '/events@t0..'])
      assert.equal((await judge(server, { path })).detail, 'no snapshot is linked')
  })

  it('is tried again when a write has superseded the state, which is then kept no longer', async () => {
    for (let moment = 2; moment < 6; moment++) {
      const server = spoiltServer({ hasHistory: true }, (right) => ({
        stateAt: (tag) => {
          if (tag !== server.tag()) throw Object.assign(server.notFound(tag), { status: 410 })
          return right.stateAt(tag)
        },
      }))
      const onRequest = (number: number) => number === moment && grow(server)
      const { status, notes, detail } = await judge(server, { onRequest })
      assert.equal(status, 'pass', `before request ${moment}: ${detail}`)
      assert.deepEqual(notes, ['The data changed during the check; tried again: D22.'])
    }
  })
})

const EVENTS = `${BASE}/events`
