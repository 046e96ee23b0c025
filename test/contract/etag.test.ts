import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import {
  matchesTag,
  namesPage,
  type PageTagParts,
  type PastTagParts,
  pageTag,
  pastTag,
} from '../../src/contract/etag.ts'

const PARTS: PageTagParts = {
  baseUrl: 'https://api.example.com',
  collectionId: 123_456_789,
  generation: 1,
  version: 7,
  commitId: 'AbC-_0123xy',
  hasHistory: true,
  page: 3,
  encoding: 'gzip-1',
}

describe('the tag of a page', () => {
  test('is a strong entity tag (D16)', () => {
    assert.match(pageTag(PARTS), /^"[\x21\x23-\x7e]+"$/)
  })

  const changes: Partial<PageTagParts>[] = [
    { baseUrl: 'https://api.example.org' },
    { collectionId: 123_456_790 },
    { generation: 2 },
    { version: 8 },
    { commitId: 'AbC-_0123xz' },
    { hasHistory: false },
    { page: 4 },
    { encoding: 'identity' },
    { encoding: 'gzip-2' },
  ]
  for (const change of changes)
    test(`changes with ${Object.keys(change)}`, () => {
      assert.notEqual(pageTag({ ...PARTS, ...change }), pageTag(PARTS))
    })
})

describe('the tag of a page of the past', () => {
  const state = { collectionId: 10, version: 71, changes: 5, commitId: 'AbC-_0123xy' }
  const past: PastTagParts = { baseUrl: PARTS.baseUrl, state, rewrittenBy: 'one', page: 3, encoding: 'gzip-1' }

  it('is a strong entity tag that no live page has', () => {
    assert.match(pastTag(past), /^"[\x21\x23-\x7e]+"$/)
    assert.notEqual(pastTag(past).split('.').length, pageTag(PARTS).split('.').length)
  })

  it('changes with all that the bytes depend on', () => {
    const until = { ...state, version: 72 }
    for (const change of [{ page: 4 }, { rewrittenBy: 'two' }, { until }, { encoding: 'identity' }] as const)
      assert.notEqual(pastTag({ ...past, ...change }), pastTag(past))
    assert.notEqual(pastTag({ ...past, until }), pastTag({ ...past, until: { ...until, changes: 6 } }))
  })

  it('says nothing about how items are compressed where they are not', () => {
    const plain = { ...past, encoding: 'identity' } as const
    assert.equal(pastTag({ ...plain, rewrittenBy: 'two' }), pastTag(plain))
  })
})

describe('If-None-Match', () => {
  const tag = pageTag(PARTS)
  const yes = [tag, `W/${tag}`, `"a", ${tag}`, `"a",W/"b" ,W/${tag},"c"`, '*', ' * ', `"a,b", ${tag}`]
  const no = [null, '', '"a"', 'W/"a"', tag.slice(1, -1), `"${tag.slice(1)}`.replace('"', '"x'), '"*"']
  for (const header of yes) test(`${header} names the tag`, () => assert.ok(matchesTag(header, tag)))
  for (const header of no) test(`${header} does not`, () => assert.ok(!matchesTag(header, tag)))
})

describe('If-Match', () => {
  const isNamed = (header: string, lastPage: number, change: Partial<PageTagParts> = {}) =>
    namesPage(header, { ...PARTS, ...change }, lastPage)
  const tagOf = (page: number, encoding: PageTagParts['encoding'] = 'identity') => pageTag({ ...PARTS, page, encoding })

  it('names any page of the state, in any encoding', () => {
    for (const header of ['*', ' * ', tagOf(1), tagOf(5), tagOf(5, 'gzip-9z'), `"a", ${tagOf(2)}`])
      assert.ok(isNamed(header, 5), header)
  })

  it('names no page that is not there, no other state, and nothing by a weak tag', () => {
    for (const header of ['', '"a"', tagOf(0), tagOf(6), `W/${tagOf(1)}`, `${tagOf(1).slice(0, -1)}x"`])
      assert.ok(!isNamed(header, 5), header)
    for (const change of [{ version: 8 }, { generation: 2 }, { commitId: 'AbC-_0123xz' }, { collectionId: 1 }])
      assert.ok(!isNamed(tagOf(1), 5, change))
  })

  it('names an unpaginated collection by page 0 alone', () => {
    assert.deepEqual([isNamed(tagOf(0), 0), isNamed(tagOf(1), 0)], [true, false])
  })
})
