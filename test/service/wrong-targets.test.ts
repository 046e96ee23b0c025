import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatKeyFields } from '../../src/contract/key.ts'
import { fill, numbered } from './open-service.ts'
import { NDJSON, problemIn, sharedWriteServer } from './write-server.ts'

describe('a write that does not fit', () => {
  const server = sharedWriteServer(async ({ store }) => {
    await fill(store, 'events', numbered(2))
    await fill(store, 'logs', ['{"a":1}'], { keyField: null })
    await fill(store, 'venues', numbered(9999), { isPaginated: false })
  })
  const object = /^400 invalid-body: Invalid settings: expected one JSON object\.$/
  const keyText =
    /^400 invalid-body: .*"key" must be the name of a field, or several .*; 1 to 256 characters in all, or null\.$/
  const badNames =
    /^400 invalid-body: .*"key" is ".*": (a name is empty|the field "a" is named twice|no item can have .*|a backslash .*); expected the name of a field, or several names .*\.$/
  const trueOrFalse = /^400 invalid-body: .*"(paginated|private)" must be true or false\.$/
  const noSetting = /^400 invalid-body: .*there is no setting "(kee|__proto__)"\.$/
  const mismatch = /^400 key-mismatch: /
  const badKey = /^400 key-mismatch: The key "(%ff|a%2)" is not percent-encoded UTF-8\.$/
  const badName = /^400 invalid-name: ".*" is not 1 to 64 of a-z 0-9 _ - \. /
  const noPath = /^(404 path-not-found|405 method-not-allowed): /
  const settings: readonly (readonly [expected: RegExp, ...bodies: string[]])[] = [
    [object, '', '{', '[]', 'null'],
    [noSetting, '{"kee":"id"}', '{"__proto__":{"key":"id"}}'],
    [keyText, '{"key":7}', '{"key":""}', '{"key":["a","b"]}', `{"key":"${'x'.repeat(257)}"}`],
    [badNames, '{"key":"a,"}', '{"key":"a,a"}', '{"key":"a,\\ud800"}', '{"key":"a\\\\"}'],
    [trueOrFalse, '{"paginated":null}', '{"private":1}'],
    [/^413 content-too-large: The body has 20,000 bytes; the limit is 16,384/, ' '.repeat(20_000)],
  ]
  const wrong: readonly (readonly [path: string, body: string, expected: RegExp])[] = [
    ...settings.flatMap(([expected, ...bodies]) => bodies.map((body) => ['/other', body, expected] as const)),
    ['/events', '{"key":"code"}', /^409 conflict: .* the key "id", and this asks for the key "code"\. /],
    ['/events', '{}', /^409 conflict: .* the key "id", and this asks for no key\. (?!.*import)/],
    ['/events', '{"key":"id","paginated":false}', /^409 conflict: .* this asks for unpaginated\. /],
    ['/events', '{"key":"id","private":true}', /^409 conflict: .* public, and this asks for private\. /],
    ['/events/9', '{"id":8}', /^400 key-mismatch: The path has the key "9", the item "8"\.$/],
    ['/events/A', '{"id":"a"}', mismatch],
    ['/events/%C3%A9', '{"id":"e\u0301"}', mismatch],
    ['/events/%ff', '{"id":"a"}', badKey],
    ['/events/a%2', '{"id":"a"}', badKey],
    ['/events/9', '[{"id":9}]', /^400 invalid-body: The body: it is an array, not an object\.$/],
    ['/events/9', '{}', /^400 invalid-item: The body: the key field "id" is missing\.$/],
    ['/events/9', '', /^400 invalid-body: The body: it is empty\.$/],
    ['/nothing/9', '{"id":9}', /^404 collection-not-found: There is no collection "nothing"\.$/],
    ['/logs/9', '{"id":9}', /^409 conflict: The collection "logs" has no key field, /],
    ...['Events', 'x'.repeat(65), '%65vents', 'a~b'].map((name) => [`/${name}`, '{}', badName] as const),
    ...['/-events', '/events/', '/events/1/2', '//events', '/'].map((path) => [path, '{}', noPath] as const),
  ]
  it('is refused, with the reason, and changes nothing', async () => {
    const { ask, store } = server()
    const before = await store.collections()
    for (const [path, body, expected] of wrong) assert.match(problemIn(await ask('PUT', path, body)), expected, path)
    assert.deepEqual(await store.collections(), before)
  })

  it('is refused: settings as NDJSON, and an item as more than one line', async () => {
    const { ask } = server()
    const settings = await ask('PUT', '/other', '{}', NDJSON)
    assert.match(problemIn(settings), /^415 unsupported-media-type: Settings must be sent as application\/json\.$/)
    const two = await ask('PUT', '/events/2', '{"id":2}\n{"id":2}\n', NDJSON)
    assert.match(problemIn(two), /^400 invalid-body: Expected one item, got 2\.$/)
    assert.equal((await ask('PUT', '/events/2', '{"id":2}\n', NDJSON)).status, 200)
  })

  it('is refused: what goes beyond 10,000 items of an unpaginated collection', async () => {
    const { ask } = server()
    const beyond = await ask('POST', '/venues', '[{"id":"a"},{"id":"b"}]')
    assert.match(problemIn(beyond), /^409 conflict: .* at most 10,000 items; with these it would have 10,001\./)
    assert.equal((await ask('POST', '/venues', '{"id":"a"}')).status, 201)
    assert.match(problemIn(await ask('PUT', '/venues/b', '{"id":"b"}')), /^409 conflict: /)
  })

  it('but asks for the settings that there are is answered with 200, and with 412 to one who wants to create', async () => {
    const { ask, store } = server()
    const { live: item_count, version } = (await store.head('events')) ?? assert.fail()
    const again = await ask('PUT', '/events', '\ufeff{"key":"id"}')
    assert.deepEqual([again.status, again.headers.location], [200, undefined])
    const expected = { name: 'events', key: 'id', paginated: true, private: false, item_count, version }
    assert.deepEqual(JSON.parse(again.text), expected)
    const refused = await ask('PUT', '/events', '{"key":"id"}', { 'If-None-Match': '*' })
    assert.match(problemIn(refused), /^412 precondition-failed: There is already a collection "events"\.$/)
  })

  it('is 503 while an import writes to the collection, with the time to try again and without its machine', async () => {
    const { ask, store } = server()
    const load = await store.load('events')
    const answer = await ask('DELETE', '/events', undefined, { 'If-Match': '*' })
    const detail = 'An import or a copy of this collection is running.'
    assert.equal(problemIn(answer), `503 collection-busy: ${detail}`)
    assert.equal(answer.headers['retry-after'], '1')
    await load.abort()
  })
})

describe('keys', () => {
  const server = sharedWriteServer(({ store }) => fill(store, 'events', numbered(2)))

  it('with a slash, a percent sign, unicode or 300 characters are found by their escaped path', async () => {
    const { ask } = server()
    for (const key of ['a/b', 'a%2Fb', 'é', 'e\u0301', 'x'.repeat(300), 'a b', '?', '#', '+', '\ufeff', '7']) {
      const path = `/events/${encodeURIComponent(key)}`
      const item = JSON.stringify({ id: key })
      const statuses = [(await ask('PUT', path, item)).status, (await ask('PUT', path, item)).status]
      assert.equal((await ask('GET', path)).text, item)
      for (let count = 0; count < 2; count++) statuses.push((await ask('DELETE', path)).status)
      assert.deepEqual(statuses, [201, 200, 204, 404], key)
    }
  })

  it('can stand in any field, also one that has to be escaped', async () => {
    const { ask } = server()
    const fields = { quote: 'a"b\\', comma: 'a,b', nul: 'a\u0000b', proto: '__proto__', unicode: 'é😀' }
    for (const [name, field] of Object.entries(fields)) {
      const key = formatKeyFields([field])
      assert.equal((await ask('PUT', `/${name}`, JSON.stringify({ key }))).status, 201)
      const item = `{${JSON.stringify(field)}:"k"}`
      assert.equal((await ask('POST', `/${name}`, item)).status, 201, name)
      assert.equal((await ask('GET', `/${name}/k`)).text, item)
    }
  })
})

describe('conditions', () => {
  const server = sharedWriteServer(({ store }) => fill(store, 'events', numbered(501)))
  const tagOf = async (path: string) => String((await server().ask('GET', path)).headers.etag)

  it('on an item are a list of tags, of which weak ones never match strongly, or a star', async () => {
    const { ask } = server()
    const put = async (headers: Record<string, string>) => (await ask('PUT', '/events/1', '{"id":1}', headers)).status
    const tag = await tagOf('/events/1')
    for (const value of [tag, '*', ` ${tag} `, `"a", ${tag}`, `"a",${tag},W/"b"`])
      assert.equal(await put({ 'If-Match': value }), 200, value)
    for (const value of ['"a"', `W/${tag}`, tag.slice(1, -1), tag.slice(0, -1), 'abc', '""', '**', '"a", *'])
      assert.equal(await put({ 'If-Match': value }), 412, value)
    for (const value of [tag, '*', `W/${tag}`, `"a", ${tag}`])
      assert.equal(await put({ 'If-None-Match': value }), 412, value)
    for (const value of ['"a"', 'W/"a"', '"a", "b"']) assert.equal(await put({ 'If-None-Match': value }), 200, value)
    assert.equal(await put({ 'If-Match': tag, 'If-None-Match': '"a"' }), 200)
    assert.equal(await put({ 'If-Match': tag, 'If-None-Match': tag }), 412)
  })

  it('on an item that is not there can only ask that it stays so', async () => {
    const { ask, store } = server()
    const before = await store.head('events')
    for (const [method, ifMatch] of [['PUT', '*'] as const, ['PUT', '"a"'] as const, ['DELETE', '*'] as const]) {
      const answer = await ask(method, '/events/none', '{"id":"none"}', { 'If-Match': ifMatch })
      assert.match(problemIn(answer), /^412 precondition-failed: /)
    }
    assert.deepEqual(await store.head('events'), before)
    assert.equal((await ask('PUT', '/events/none', '{"id":"none"}', { 'If-None-Match': '*' })).status, 201)
  })

  it('on a collection are the tag of any of its pages as it is now, in any encoding', async () => {
    const { ask, store } = server()
    await fill(store, 'gone', numbered(501))
    const drop = async (headers: Record<string, string>) => {
      const answer = await ask('DELETE', '/gone', undefined, headers)
      return answer.status < 400 ? String(answer.status) : problemIn(answer)
    }
    const old = await tagOf('/gone?page=2')
    await ask('POST', '/gone', '{"id":900}')
    const now = await tagOf('/gone?page=2')
    assert.equal(await drop({}), '428 precondition-required: Dropping a collection needs If-Match.')
    const beyond = now.replace(/\.2\.(\w+)\.identity/, '.3.$1.identity')
    assert.notEqual(beyond, now)
    const ofOthers = await Promise.all([tagOf('/gone/1'), tagOf('/events')])
    const others = [old, '"x"', 'x', `W/${now}`, beyond, now.slice(1, -1), ...ofOthers]
    for (const tag of others)
      assert.equal(await drop({ 'If-Match': tag }), '412 precondition-failed: No page of "gone" has this ETag now.')
    assert.equal((await store.head('gone'))?.live, 502)
    const packed = String((await ask('GET', '/gone', undefined, { 'Accept-Encoding': 'gzip' })).headers.etag)
    assert.equal(await drop({ 'If-Match': `"x", ${packed}` }), '204')
    assert.equal(await drop({ 'If-Match': packed }), '404 collection-not-found: There is no collection "gone".')
  })
})
