import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { UNPAGINATED_LIMIT } from '../../src/contract/page.ts'
import type { Store } from '../../src/store/store.ts'
import { readItems } from '../store/store-reading.ts'
import { fill, numbered } from './open-service.ts'
import { type Content, GZIP, type Headers, NDJSON, problemIn, sharedWriteServer } from './write-server.ts'

const LIMITS = { bodyBytes: 100_000, itemBytes: 2000, requestItems: 50 }

const randomText = (length: number): string => randomBytes(length).toString('base64url').slice(0, length)

const lines = (...all: readonly string[]): string => all.join('\n')
const put = (item: string): string => `{"op":"put","item":${item}}`
const remove = (key: string): string => `{"op":"delete","key":"${key}"}`

describe('PATCH of a collection', () => {
  const server = sharedWriteServer(({ store }) => fill(store, 'events', numbered(3)), { limits: LIMITS })
  const patch = (target: string, body: Content, headers: Headers = {}) =>
    server().ask('PATCH', target, body, { ...NDJSON, ...headers })
  const stateOf = async (store: Store, name: string) =>
    [(await store.head(name))?.version, await readItems(store, name)] as const

  it('replaces in place, appends and deletes, in the order of the lines, in one version, byte for byte', async () => {
    const { store } = server()
    await fill(store, 'ordered', numbered(4))
    const { status, text } = await patch(
      '/ordered',
      lines(
        '{"op":"put","item":{"id":2, "x":1.10},"version":7,"key":"2"}',
        '{"op":"delete","key":"1","version":7}\r',
        '',
        ' { "item" : {"id":"a/b","y":[1 , 2]} , "op" : "put" } ',
        '{"op":"put","it\\u0065m":{"id":"gone"},"x":{"item":{"id":"inner"}}}',
        '{"op":"delete","key":"gone"}',
        '{"op":"delete","key":"4"}',
        '{"op":"put","item":{"id":4,"again":true}}',
        '{"op":"put","item":{"id":4,"again":"\\u00e4"}}',
      ),
    )
    const counts = { appended: 3, replaced: 2, deleted: 3, item_count: 4, version: 3 }
    assert.deepEqual([status, JSON.parse(text)], [200, counts])
    const texts = ['{"id":2, "x":1.10}', '{"id":3}', '{"id":"a/b","y":[1 , 2]}', '{"id":4,"again":"\\u00e4"}']
    assert.deepEqual(await stateOf(store, 'ordered'), [3, texts])
  })

  it('takes what a POST takes: an item that is nested 512 deep, and none that is nested deeper', async () => {
    const nested = (id: number, depth: number): string =>
      `{"id":${id},"x":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`
    assert.equal((await server().ask('POST', '/events', nested(512, 512))).status, 201)
    const { status, text } = await patch('/events', `{"op":"put","item":${nested(512, 512)}}`)
    assert.deepEqual([status, JSON.parse(text).replaced], [200, 1])
    for (const depth of [513, 600]) {
      const puts = lines('{"op":"put","item":{"id":1}}', `{"op":"put","item":${nested(1, depth)}}`)
      const refused = await patch('/events', puts)
      assert.match(problemIn(refused), /^400 invalid-item: Line 2\b.*nested deeper than 512/)
    }
  })

  it('takes gzip, many changes that close quires and reams, and a collection without a key, to which it appends', async () => {
    const { store } = server()
    const many = numbered(50, 100).map(put)
    assert.equal((await patch('/events', gzipSync(lines(...many)), GZIP)).status, 200)
    await fill(store, 'new', [], { keyField: null })
    const { status, text } = await patch('/new', lines(put('{"id":1}'), put('{"id":1}')))
    const counts = { appended: 2, replaced: 0, deleted: 0, item_count: 2, version: 2 }
    assert.deepEqual([status, JSON.parse(text)], [200, counts])
    assert.deepEqual(await readItems(store, 'new'), ['{"id":1}', '{"id":1}'])
  })

  it('passes over keys that are not there if it is told to, and changes nothing if nothing is left', async () => {
    const { store } = server()
    await fill(store, 'skipped', numbered(2))
    const body = lines('{"op":"delete","key":"9"}', '{"op":"delete","key":"1"}')
    assert.match(problemIn(await patch('/skipped', body)), /^409 conflict: .*no item with the key "9"/s)
    const done = JSON.parse((await patch('/skipped?missing=skip', body)).text)
    assert.deepEqual(done, { appended: 0, replaced: 0, deleted: 1, item_count: 1, version: 3 })
    assert.equal(JSON.parse((await patch('/skipped?missing=skip', body)).text).version, 3)
    for (const target of ['/skipped?missing=', '/skipped?missing=no', '/skipped?missing=skip&missing=skip'])
      assert.match(problemIn(await patch(target, body)), /^400 .*missing/s)
  })

  it('looks at no tag, as POST does not: it is about many items', async () => {
    const { store } = server()
    await fill(store, 'tagged', numbered(2))
    for (const condition of [{ 'If-Match': '"x"' }, { 'If-None-Match': '*' }])
      assert.equal((await patch('/tagged', '{"op":"put","item":{"id":1}}', condition)).status, 200)
  })

  it('never lets an unpaginated collection have too many, not even between two of its lines', async () => {
    const { store } = server()
    await fill(store, 'full', numbered(UNPAGINATED_LIMIT), { isPaginated: false })
    const append = put('{"id":"new"}')
    for (const body of [append, lines(append, remove('9'))])
      assert.match(problemIn(await patch('/full', body)), /^409 conflict: .*10,000/s)
    assert.equal((await patch('/full', '{"op":"put","item":{"id":1,"x":1}}')).status, 200)
    assert.equal(JSON.parse((await patch('/full', lines(remove('9'), append))).text).item_count, UNPAGINATED_LIMIT)
  })

  const WRONG: readonly [what: string, body: Content, problem: RegExp, headers?: Headers][] = [
    ['nothing', '\n \n', /^400 invalid-body: .*empty/s],
    ['a line that is no JSON', '{"op":', /^400 invalid-item: .*Line 1: it is truncated/s],
    ['a line that is no object', '[1]', /^400 .*Line 1: it is an array/s],
    ['a line that is no change', '{"id":1}', /^400 invalid-item: .*Line 1: there is no "op"/s],
    ['an unknown op', '{"op":"reset"}', /^400 invalid-item: .*Line 1: the op "reset" is unknown/s],
    ['an op that is no text', '{"op":{}}', /^400 invalid-item: .*Line 1: the op .* is unknown/s],
    ['an op that throws', '{"op":{"toString":1,"toJSON":2}}', /^400 .*the op \{"toString":1,"toJSON":2\} is unknown/s],
    ['a delete without a key', '{"op":"delete"}', /^400 invalid-item: .*Line 1: a delete has no "key"/s],
    ['a key that is no text', '{"op":"delete","key":1}', /^400 invalid-item: .*Line 1: the key is not a string/s],
    ['a put without an item', '{"op":"put"}', /^400 invalid-item: .*Line 1: a put has no "item"/s],
    ['a put whose item is no object', '{"op":"put","item":[]}', /^400 invalid-item: .*it is an array, not an object/s],
    ['a put whose item has no key', put('{"a":1}'), /^400 invalid-item: .*key field "id" is missing/s],
    ['a line with more behind it', remove('1') + remove('2'), /^400 .*Line 1: something follows/s],
    ['a change on two lines', '{"op":"delete",\n"key":"1"}', /^400 invalid-item: .*Line 1: it is truncated/s],
    ['bytes that are no UTF-8', Buffer.from(remove('\xff'), 'latin1'), /^400 invalid-body: .*Line 1/s],
    ['an item twice', '{"op":"put","item":{"id":1},"item":{"id":2}}', /^400 invalid-item: .*more than once/s],
    ['another key', '{"op":"put","key":"x","item":{"id":"y"}}', /^400 key-mismatch: .*Line 1.*"x".*"y"/s],
    [
      'another long key',
      `{"op":"put","key":"${'x'.repeat(5000)}","item":{"id":"y"}}`,
      /^400 .* the key "x{100}…", its item "y"\.$/,
    ],
    ['half a surrogate pair', remove('\\ud800'), /^409 conflict: .*no item with the key/s],
    ['a long line', remove('x'.repeat(10_193)), /^413 .*Line 1: it has more than 10,192 bytes/s],
    ['a large item', put(`{"id":1,"x":"${'x'.repeat(2000)}"}`), /^413 content-too-large: .*Line 1/s],
    ['too many', `${put('{"id":1}')}\n`.repeat(51), /^413 content-too-large: .*more than 50 changes/s],
    ['gzip that is truncated', gzipSync(remove('1')).subarray(0, -9), /^400 .*truncated/s, GZIP],
    ['gzip of too much', gzipSync(remove(randomText(100_000))), /^413 .*decompressed/s, GZIP],
    ['a key deleted twice', lines(remove('1'), remove('1')), /^409 conflict: .*"1"/s],
  ]
  for (const [what, body, problem, headers] of WRONG)
    it(`refuses ${what}, also behind changes that are right, and changes nothing`, async () => {
      const { store } = server()
      const before = await stateOf(store, 'events')
      assert.match(problemIn(await patch('/events', body, headers)), problem)
      if (typeof body === 'string' && body.includes('"op"') && headers === undefined)
        assert.match(problemIn(await patch('/events', `{"op":"put","item":{"id":"new"}}\n${body}`)), /^4/)
      assert.deepEqual(await stateOf(store, 'events'), before)
    })

  it('refuses a delete in a collection without a key', async () => {
    const { store } = server()
    await store.create('keyless')
    const body = lines('{"op":"put","item":{"id":1}}', '{"op":"delete","key":"1"}')
    assert.match(problemIn(await patch('/keyless', body)), /^409 conflict: .*no key field/s)
    assert.equal((await store.head('keyless'))?.live, 0)
  })
})
