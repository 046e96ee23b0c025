import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { viewLink } from '../../src/check/collection.ts'
import { checkConformance } from '../../src/check/index.ts'
import { inProcess, type Links } from './correct-server.ts'
import { idsWith, ruleOf } from './hostile-servers.ts'
import { spoiltServer } from './mutants/mutant.ts'

const URL_OF_EVENTS = 'https://api.example.com/v1/events'

function view(relation: unknown, collectionUrl = URL_OF_EVENTS) {
  const link = viewLink(relation, collectionUrl)
  assert.ok(link?.href !== undefined, JSON.stringify(link))
  return { ...link, href: link.href }
}

describe('a link', () => {
  const good: [href: string, page: number | undefined][] = [
    [URL_OF_EVENTS, undefined],
    [`${URL_OF_EVENTS}?page=1`, 1],
    [`${URL_OF_EVENTS}?page=0`, 0],
    [`${URL_OF_EVENTS}?page=007`, 7],
    [`${URL_OF_EVENTS}?page=9007199254740993`, 9007199254740992],
    [`${URL_OF_EVENTS}?page=100000000000000000000000000000`, 1e29],
    // The same URL, written otherwise.
    ['HTTPS://API.EXAMPLE.COM/v1/events?page=2', 2],
    ['https://api.example.com:443/v1/events?page=2', 2],
  ]
  for (const [href, page] of good)
    it(`is right: ${href}`, () => {
      const link = view({ href })
      assert.deepEqual([link.flaw, link.page, link.otherFields], [undefined, page, []])
    })

  const flawed: [href: string, flaw: RegExp, page: number | undefined][] = [
    ['/v1/events?page=2', /^is not an absolute URL: "\/v1\/events\?page=2"$/, 2],
    ['?page=2', /^is not an absolute URL/, 2],
    ['//api.example.com/v1/events?page=2', /^is not an absolute URL/, 2],
    ['', /^is not an absolute URL: ""$/, undefined],
    ['http://', /^is not an absolute URL/, undefined],
    ['http://api.example.com/v1/events', /^leads to "http:\/\/api.example.com", not to https:\/\/api.exam/, undefined],
    ['https://api.example.com:8443/v1/events', /^leads to "https:\/\/api.example.com:8443", not to/, undefined],
    ['https://api.example.com.evil.invalid/v1/events', /^leads to "https:\/\/api.example.com.evil.invalid"/, undefined],
    ['https://evil.invalid/v1/events?page=2', /^leads to "https:\/\/evil.invalid"/, 2],
    ['https://api.example.com@evil.invalid/v1/events', /^leads to "https:\/\/evil.invalid"/, undefined],
    ['javascript:alert(1)', /^leads to "null"/, undefined],
    ['https://user:secret@api.example.com/v1/events?page=2', /^holds a user name or password$/, 2],
    ['https://api.example.com/v1/events/?page=2', /^leads to the path "\/v1\/events\/", not to \/v1\/events$/, 2],
    ['https://api.example.com/v1/Events', /^leads to the path "\/v1\/Events"/, undefined],
    ['https://api.example.com/v1/event%73', /^leads to the path "\/v1\/event%73"/, undefined],
    ['https://api.example.com/v1/events;page=2', /^leads to the path/, undefined],
    [`${URL_OF_EVENTS}#page=2`, /^carries a fragment: "#page=2"$/, undefined],
    [`${URL_OF_EVENTS}?page=2#top`, /^carries a fragment: "#top"$/, 2],
    [`${URL_OF_EVENTS}?page=2&limit=500`, /^carries other parameters than page: \["limit"\]$/, 2],
    [`${URL_OF_EVENTS}?limit=500&page=2&x=`, /^carries other parameters than page: \["limit","x"\]$/, 2],
    [`${URL_OF_EVENTS}?Page=2`, /^carries other parameters than page: \["Page"\]$/, undefined],
    [`${URL_OF_EVENTS}?page[number]=2`, /^carries other parameters than page/, undefined],
    [`${URL_OF_EVENTS}?`, /^carries more than "page" and a number: "\?"$/, undefined],
    [`${URL_OF_EVENTS}#`, /^carries more than "page" and a number: "#"$/, undefined],
    [`${URL_OF_EVENTS}?page=2&`, /^carries more than "page" and a number: "\?page=2&"$/, 2],
    [`${URL_OF_EVENTS}?page=2&page=3`, /^carries more than "page" and a number: "\?page=2&page=3"$/, 2],
    [`${URL_OF_EVENTS}?page=`, /^carries more than "page" and a number: "\?page="$/, Number.NaN],
    [`${URL_OF_EVENTS}?page=abc`, /^carries more than "page" and a number/, Number.NaN],
    [`${URL_OF_EVENTS}?page=1.5`, /^carries more than "page" and a number/, Number.NaN],
    [`${URL_OF_EVENTS}?page=%32`, /^carries more than "page" and a number: "\?page=%32"$/, 2],
    [`${URL_OF_EVENTS}?p%61ge=2`, /^carries more than "page" and a number/, 2],
    [`${URL_OF_EVENTS}?page=٢`, /^carries more than "page" and a number/, Number.NaN],
    [`${URL_OF_EVENTS}?page=2\n`, /./, 2],
    [` ${URL_OF_EVENTS}?page=2`, /./, 2],
    [`${URL_OF_EVENTS}?page=2 `, /./, 2],
    ['https://api.example.com/v1/../v1/events?page=2', /./, 2],
    ['https://api.example.com\\v1\\events?page=2', /./, 2],
    ['https://api.example.com/v1/eve\nnts', /./, undefined],
    [`${URL_OF_EVENTS}{?page}`, /./, undefined],
  ]
  for (const [href, flaw, page] of flawed)
    it(`is not as C4 has it: ${JSON.stringify(href)}`, () => {
      const link = view({ href })
      assert.match(link.flaw ?? 'no flaw', flaw)
      assert.notEqual(link.flaw, undefined)
      assert.deepEqual(link.page, page)
      assert.doesNotMatch(link.flaw ?? '', /[\p{Cc}\p{Cf}]/u)
      assert.doesNotMatch(link.href, /[\p{Cc}\p{Cf}]/u)
    })

  it('is judged by the collection it belongs to', () => {
    const cases: [href: string, collectionUrl: string][] = [
      ['http://[::1]:8080/events?page=2', 'http://[::1]:8080/events'],
      ['http://127.0.0.1:8080/events?page=2', 'http://127.0.0.1:8080/events'],
      ['https://api.example.com/caf%C3%A9?page=2', 'https://api.example.com/caf%C3%A9'],
      ['https://api.example.com/café?page=2', 'https://api.example.com/caf%C3%A9'],
      ['https://api.example.com/?page=2', 'https://api.example.com/'],
    ]
    for (const [href, collectionUrl] of cases) assert.equal(view({ href }, collectionUrl).flaw, undefined, href)
    assert.match(view({ href: 'http://localhost:8080/events' }, 'http://127.0.0.1:8080/events').flaw ?? '', /leads to/)
  })

  it('names the fields beside href', () => {
    const link = view({ href: URL_OF_EVENTS, templated: false, __proto__: { type: 'x' }, title: 'Events' })
    assert.deepEqual(link.otherFields, ['templated', 'title'])
    assert.deepEqual(view(JSON.parse(`{"href": "${URL_OF_EVENTS}", "__proto__": 1}`)).otherFields, ['__proto__'])
  })

  it('is absent where it is null or not there', () => {
    assert.equal(viewLink(undefined, URL_OF_EVENTS), undefined)
    assert.equal(viewLink(null, URL_OF_EVENTS), undefined)
  })

  const broken: [relation: unknown, words: RegExp][] = [
    ['x', /^is a string: "x"$/],
    [17, /^is a number: 17$/],
    [false, /^is a boolean: false$/],
    [[], /^is an array: \[\]$/],
    [[{ href: URL_OF_EVENTS }], /^is an array: \[\{"href"/],
    [{}, /^has no href$/],
    [{ HREF: URL_OF_EVENTS }, /^has no href$/],
    [{ href: null }, /^has as its href null$/],
    [{ href: 17 }, /^has as its href 17$/],
    [{ href: [URL_OF_EVENTS] }, /^has as its href \["/],
    [{ href: { href: URL_OF_EVENTS } }, /^has as its href \{/],
    ['\u001b[2J', /^is a string: "\\u001b\[2J"$/],
  ]
  for (const [relation, words] of broken)
    it(`is none at all: ${JSON.stringify(relation)}`, () => {
      const link = viewLink(relation, URL_OF_EVENTS)
      assert.equal(link?.href, undefined)
      assert.match(link?.flaw ?? '', words)
    })

  it('is shown shortened, however long it is', () => {
    const link = view({ href: `https://evil.invalid/${'x'.repeat(1_000_000)}` })
    assert.ok(link.href.length < 200 && (link.flaw?.length ?? 0) < 400)
    const fields = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`field${index}`, 1]))
    assert.equal(view({ href: URL_OF_EVENTS, ...fields }).otherFields.length, 1000)
  })
})

/** Checks a server of three pages whose links are these, over its own. */
function checkLinks(linksOf: (page: number) => Links) {
  const server = spoiltServer({}, { links: (links, page) => ({ ...links, ...linksOf(page) }) })
  const fetch = inProcess(server, 'http://events.example')
  return checkConformance('http://events.example/events', { fetch })
}

describe('a link that is null', () => {
  it('at an end gives a warning of D4, and no rule that passes says that it is a link', async () => {
    const report = await checkLinks((page) => (page === 3 ? { next: null } : {}))
    assert.deepEqual([report.verdict, idsWith(report, 'warn')], ['passed', ['D4']])
    assert.equal(ruleOf(report, 'D4').detail, 'expected no next on the last page; got null')
    assert.match(ruleOf(report, 'C4').title, /^first, prev, next and last, unless absent or null, are objects /)
    assert.match(ruleOf(report, 'C5').title, /, prev and next wherever a page comes before or after; /)
    assert.match(ruleOf(report, 'C9').title, /; each additional one is a link object or an array of them\.$/)
  })

  it('where a page follows breaks C5, which says that it is null', async () => {
    const report = await checkLinks((page) => (page === 2 ? { next: null } : {}))
    assert.equal(ruleOf(report, 'C5').detail, 'expected a link next; got null')
  })

  it('and is not one of the four gives a warning of C9', async () => {
    const report = await checkLinks(() => ({ search: null }))
    assert.deepEqual([report.verdict, idsWith(report, 'warn')], ['passed', ['C9']])
    assert.match(ruleOf(report, 'C9').detail, /^expected search is a link .*; got null$/)
  })
})
