import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkConformance } from '../../src/check/index.ts'
import { CorrectServer, inProcess } from './correct-server.ts'

/** An app in this process: a correct collection `events`, and an entry point that links what it is told to. */
function appWith(entry: unknown, base = 'http://app.invalid') {
  const asked: string[] = []
  const answer = inProcess(new CorrectServer({ items: 3 }), base)
  const fetch = async (request: Request) => {
    asked.push(request.url)
    return new URL(request.url).pathname === '/' ? Response.json(entry) : answer(request)
  }
  return { fetch, asked }
}

function linksTo(...hrefs: readonly string[]) {
  return { _links: { collections: hrefs.map((href) => ({ href })) } }
}

describe('an entry point', () => {
  it('that links nothing under its own address cannot be judged, and the note says what to do', async () => {
    const { fetch, asked } = appWith(linksTo('https://api.example.com/events', 'https://api.example.com/venues'))
    const report = await checkConformance('http://app.invalid', { fetch })
    assert.equal(report.verdict, 'undecided')
    assert.match(report.notes.join(), /not under http:\/\/app\.invalid\/: 2, such as .*--base-url/)
    assert.deepEqual(asked, ['http://app.invalid/'])
  })

  it('is judged with the base URL that its links have', async () => {
    const { fetch } = appWith(linksTo('https://api.example.com/events'), 'https://api.example.com')
    const report = await checkConformance('http://app.invalid', { fetch, baseUrl: 'https://api.example.com' })
    assert.deepEqual([report.verdict, report.notes], ['passed', []])
    const urls = report.collections.map(({ url }) => url)
    assert.deepEqual(urls, ['http://app.invalid/events'])
  })

  it('that links something elsewhere too says what was left out', async () => {
    const { fetch, asked } = appWith(linksTo('http://app.invalid/events', 'http://evil.invalid/events'))
    const report = await checkConformance('http://app.invalid/', { fetch })
    assert.equal(report.verdict, 'passed')
    assert.match(report.notes.join(), /not under .*: 1, such as .*evil\.invalid/)
    assert.ok(asked.every((url) => url.startsWith('http://app.invalid/')))
  })

  for (const href of ['http://app.invalid/..', 'http://app.invalid/%2e%2E', 'http://app.invalid/a\nb', '/events'])
    it(`is not led astray by ${JSON.stringify(href)}`, async () => {
      const { fetch, asked } = appWith(linksTo(href))
      const report = await checkConformance('http://app.invalid', { fetch })
      assert.deepEqual([report.verdict, asked.length, report.notes.length], ['undecided', 1, 1])
    })

  it('that links no collection cannot be judged', async () => {
    const { fetch } = appWith(linksTo())
    const { verdict, notes } = await checkConformance('http://app.invalid', { fetch })
    assert.deepEqual([verdict, notes], ['undecided', ['The entry point links no collection.']])
  })

  it('with more than a hundred collections says how many were checked', async () => {
    const { fetch } = appWith(linksTo(...Array.from({ length: 130 }, (_, index) => `http://app.invalid/c${index}`)))
    const report = await checkConformance('http://app.invalid', { fetch, rules: ['C10'] })
    assert.equal(report.collections.length, 100)
    assert.match(report.notes.join(), /links 130 collections; the first 100 were checked/)
  })

  for (const text of ['{"_embedded":"hello"}', '{"hello":1}'])
    it(`is none, nor a collection, where there is only ${text}`, async () => {
      const report = await checkConformance('http://app.invalid', { fetch: async () => new Response(text) })
      assert.equal(report.verdict, 'failed')
      assert.equal(report.rules.find(({ id }) => id === 'C1')?.status, 'fail')
    })
})

describe('named collections', () => {
  it('are checked once each, under the URL', async () => {
    const { fetch } = appWith({})
    const report = await checkConformance('http://app.invalid/', { fetch, collections: ['events', 'events'] })
    const urls = report.collections.map(({ url }) => url)
    assert.deepEqual(urls, ['http://app.invalid/events'])
    assert.equal(report.verdict, 'passed')
  })
})
