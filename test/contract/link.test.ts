import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { entryUrl, itemUrl, normalizeBaseUrl, pageLinks, problemUrl } from '../../src/contract/link.ts'

const BASE = 'https://api.example.com/v1'

describe('the base URL', () => {
  test('loses slashes at the end, a default port and upper case in the host', () => {
    assert.equal(normalizeBaseUrl('https://API.example.com:443/v1//'), BASE)
    assert.equal(normalizeBaseUrl('http://127.0.0.1:8080'), 'http://127.0.0.1:8080')
    assert.equal(normalizeBaseUrl('http://[::1]:8080/'), 'http://[::1]:8080')
  })

  test('has nothing in it that an entity tag or a link could not hold', () => {
    assert.equal(normalizeBaseUrl('https://bücher.example/a "b"'), 'https://xn--bcher-kva.example/a%20%22b%22')
  })

  for (const [text, reason] of [
    ['api.example.com', /not an absolute URL/],
    ['ftp://example.com', /expected http/],
    ['https://user:secret@example.com', /^(?!.*secret).*user name or a password/],
    ['https://exam"ple.com', /quotation mark/],
    ['https://example.com/?a=1', /query or a fragment/],
    ['https://example.com/#top', /query or a fragment/],
  ] as const)
    test(`is refused when it is ${text}`, () => {
      assert.throws(() => normalizeBaseUrl(text), reason)
    })
})

describe('the links of a page', () => {
  const to = (query: string) => ({ href: `${BASE}/events${query}` })

  test('first has no parameter, every other link has one, also to page 1 (C5)', () => {
    assert.partialDeepStrictEqual(pageLinks(BASE, 'events', 2, 1234), {
      self: to('?page=2'),
      first: to(''),
      prev: to('?page=1'),
      next: to('?page=3'),
      last: to('?page=3'),
    })
  })

  test('prev is absent on the first page, next on the last (D4)', () => {
    const [first, last] = [pageLinks(BASE, 'events', 1, 501), pageLinks(BASE, 'events', 2, 501)]
    assert.partialDeepStrictEqual(first, { first: to(''), next: to('?page=2'), last: to('?page=2') })
    assert.ok(!('prev' in first))
    assert.partialDeepStrictEqual(last, { first: to(''), prev: to('?page=1'), last: to('?page=2') })
    assert.ok(!('next' in last))
  })

  test('an empty collection and a full first page have one page (D5)', () => {
    for (const count of [0, 500]) {
      const links = pageLinks(BASE, 'events', 1, count)
      assert.partialDeepStrictEqual(links, { self: to('?page=1'), first: to(''), last: to('?page=1') })
      assert.ok(!('prev' in links || 'next' in links))
    }
  })
})

test('the key of an item stands percent-encoded in its URL', () => {
  assert.equal(itemUrl(BASE, 'events', 'a/b ü'), `${BASE}/events/a%2Fb%20%C3%BC`)
  assert.equal(itemUrl(BASE, 'events', 'x\\,y,7'), `${BASE}/events/x%5C,y,7`)
})

test('the entry point ends with a slash, a problem leads below /-/problems', () => {
  assert.equal(entryUrl(BASE), `${BASE}/`)
  assert.equal(problemUrl(BASE, 'invalid-page'), `${BASE}/-/problems/invalid-page`)
})
