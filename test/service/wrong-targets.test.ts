import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fill, numbered } from './open-service.ts'
import { problemIn, sharedWriteServer } from './write-server.ts'

const TAG = /^"[\w-]{43}"$/

describe('settings', () => {
  const server = sharedWriteServer(({ store }) => fill(store, 'events', numbered(2)))

  const wrong: readonly [settings: string, reason: RegExp][] = [
    ['', /they are one JSON object/],
    ['{', /they are one JSON object/],
    ['[]', /they are one JSON object/],
    ['null', /they are one JSON object/],
    ['"id"', /they are one JSON object/],
    ['{"kee":"id"}', /there is no setting "kee"/],
    ['{"__proto__":{"key":"id"}}', /there is no setting "__proto__"/],
    ['{"key":7}', /"key" is the name of a field/],
    ['{"key":""}', /"key" is the name of a field/],
    ['{"key":"\\ud800"}', /"key" is the name of a field/],
    [`{"key":"${'x'.repeat(257)}"}`, /"key" is the name of a field/],
    ['{"paginated":"yes"}', /"paginated" is true or false/],
    ['{"paginated":null}', /"paginated" is true or false/],
    ['{"private":1}', /"private" is true or false/],
  ]
  for (const [settings, reason] of wrong)
    it(`are refused when they are ${settings.slice(0, 40) || 'missing'}`, async () => {
      const { ask, store } = server()
      const problem = problemIn(await ask('PUT', '/other', settings))
      assert.match(problem, /^400 invalid-body: These settings cannot be used: /)
      assert.match(problem, reason)
      assert.equal(await store.head('other'), undefined)
    })

  it('are refused as NDJSON, and when they are as large as items', async () => {
    const { ask, store } = server()
    const ndjson = await ask('PUT', '/other', '{}', { 'Content-Type': 'application/x-ndjson' })
    assert.match(problemIn(ndjson), /^415 unsupported-media-type: Settings are sent as application\/json\.$/)
    const large = await ask('PUT', '/other', ' '.repeat(20_000))
    assert.match(problemIn(large), /^413 content-too-large: The body has 20,000 bytes; at most 16,384 are taken\.$/)
    assert.equal(await store.head('other'), undefined)
  })

  it('of a collection that is there are refused when they differ, with both named and advice that fits', async () => {
    const { ask, store } = server()
    const before = await store.head('events')
    for (const [settings, expected] of [
      ['{"key":"code"}', /^409 conflict: .* the key "id", and this asks for the key "code"\. /],
      ['{}', /^409 conflict: .* the key "id", and this asks for no key\. /],
      ['{"key":"id","paginated":false}', /^409 conflict: .* paginated, and this asks for unpaginated\. /],
      ['{"key":"id","private":true}', /^409 conflict: .* public, and this asks for private\. /],
    ] as const) {
      const problem = problemIn(await ask('PUT', '/events', settings))
      assert.match(problem, expected)
      assert.doesNotMatch(problem, /import/)
    }
    assert.deepEqual(await store.head('events'), before)
  })

  it('that a collection has already are answered with 200, and with 412 to one who wants to create it', async () => {
    const { ask } = server()
    const again = await ask('PUT', '/events', '\ufeff{"key":"id"}')
    assert.deepEqual([again.status, again.headers.location], [200, undefined])
    const expected = { name: 'events', key: 'id', paginated: true, private: false, item_count: 2, version: 2 }
    assert.deepEqual(JSON.parse(again.text), expected)
    const refused = await ask('PUT', '/events', '{"key":"id"}', { 'If-None-Match': '*' })
    assert.match(problemIn(refused), /^412 precondition-failed: There is a collection "events" already\.$/)
  })

  it('can name any field as the key, also one that has to be escaped', async () => {
    const { ask } = server()
    for (const [name, key] of Object.entries({ quote: 'a"b\\', nul: 'a\u0000b', proto: '__proto__', unicode: 'é😀' })) {
      assert.equal((await ask('PUT', `/${name}`, JSON.stringify({ key }))).status, 201)
      const item = `{${JSON.stringify(key)}:"k"}`
      assert.equal((await ask('POST', `/${name}`, item)).status, 201, name)
      assert.equal((await ask('GET', `/${name}/k`)).text, item)
    }
  })
})

describe('a name that no collection can have', () => {
  const server = sharedWriteServer(({ store }) => fill(store, 'events', numbered(2)))
  for (const name of ['Events', 'x'.repeat(65), '%65vents', 'a%2Fb', 'a@b', '.a', '_a', '%C3%A9'])
    it(`is refused with the rule: ${name.slice(0, 20)}`, async () => {
      const { ask, store } = server()
      for (const [method, body] of [
        ['POST', '{}'],
        ['PUT', '{}'],
      ] as const) {
        const { text, status } = await ask(method, `/${name}`, body)
        assert.equal(status, 400, text)
        assert.match(problemIn({ status, text }), /^400 invalid-name: ".*" is not 1 to 64 of a-z 0-9 _ - \. and /)
      }
      assert.deepEqual((await store.collections()).length, 1)
    })

  it('is a path of the service, or none at all, with a dash at its beginning or a slash at its end', async () => {
    const { ask } = server()
    for (const path of ['/-events', '/events/', '/events/1/', '/events/1/2', '//events', '/'])
      assert.match(problemIn(await ask('PUT', path, '{}')), /^(404 path-not-found|405 method-not-allowed): /, path)
  })
})

describe('a PUT of an item', () => {
  const server = sharedWriteServer(async ({ store }) => {
    await fill(store, 'events', numbered(2))
    await fill(store, 'logs', ['{"a":1}'], { keyField: null })
  })
  const wrong: readonly [what: string, path: string, body: string, expected: RegExp][] = [
    [
      'another key in the path',
      '/events/9',
      '{"id":8}',
      /^400 key-mismatch: The path has the key "9", the item "8"\.$/,
    ],
    ['a key that differs in its case', '/events/A', '{"id":"a"}', /^400 key-mismatch: /],
    ['a letter in two parts', '/events/%C3%A9', '{"id":"e\u0301"}', /^400 key-mismatch: /],
    [
      'a key that is not UTF-8',
      '/events/%ff',
      '{"id":"a"}',
      /^400 key-mismatch: The key "%ff" is not percent-encoded UTF-8\.$/,
    ],
    ['half an escape', '/events/a%2', '{"id":"a"}', /^400 key-mismatch: The key "a%2" is not percent-encoded UTF-8\.$/],
    ['an array', '/events/9', '[{"id":9}]', /^400 invalid-body: The body: it is an array, not an object\.$/],
    ['two items', '/events/9', '{"id":9}{"id":9}', /^400 invalid-body: The body: something follows the object/],
    ['no key', '/events/9', '{}', /^400 invalid-item: The body: the key field "id" is missing\.$/],
    ['nothing', '/events/9', '', /^400 invalid-body: The body: it is empty\.$/],
    ['no such collection', '/nothing/9', '{"id":9}', /^404 collection-not-found: There is no collection "nothing"\.$/],
    ['a collection without a key', '/logs/9', '{"id":9}', /^409 conflict: The collection "logs" has no key field, /],
  ]
  for (const [what, path, body, expected] of wrong)
    it(`is refused for ${what}`, async () => {
      const { ask, store } = server()
      const before = await store.collections()
      assert.match(problemIn(await ask('PUT', path, body)), expected)
      assert.deepEqual(await store.collections(), before)
    })

  it('takes NDJSON of one line, and no more', async () => {
    const { ask } = server()
    const ndjson = { 'Content-Type': 'application/x-ndjson' }
    assert.equal((await ask('PUT', '/events/10', '{"id":10}\n', ndjson)).status, 201)
    const two = await ask('PUT', '/events/10', '{"id":10}\n{"id":10}\n', ndjson)
    assert.match(problemIn(two), /^400 invalid-body: One item is expected, and there are 2\.$/)
  })

  it('finds a key with a slash, a percent sign, unicode or 300 characters by its escaped path', async () => {
    const { ask } = server()
    for (const key of ['a/b', 'a%2Fb', 'é', 'e\u0301', 'x'.repeat(300), 'a b', '?', '#', '\ufeff', '7']) {
      const path = `/events/${encodeURIComponent(key)}`
      const item = JSON.stringify({ id: key })
      assert.equal((await ask('PUT', path, item)).status, 201, key)
      assert.equal((await ask('PUT', path, item)).status, 200, key)
      assert.equal((await ask('GET', path)).text, item)
      assert.equal((await ask('DELETE', path)).status, 204, key)
      assert.match(problemIn(await ask('DELETE', path)), /^404 item-not-found: /)
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
    assert.match(tag, TAG)
    for (const value of [tag, '*', ` ${tag} `, `"a", ${tag}`, `"a",${tag},W/"b"`, '"a, b", *'.replace('*', tag)])
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
    for (const [method, headers] of [
      ['PUT', { 'If-Match': '*' }],
      ['PUT', { 'If-Match': '"a"' }],
      ['DELETE', { 'If-Match': '*' }],
    ] as const)
      assert.match(problemIn(await ask(method, '/events/none', '{"id":"none"}', headers)), /^412 precondition-failed: /)
    assert.deepEqual(await store.head('events'), before)
    assert.equal((await ask('PUT', '/events/none', '{"id":"none"}', { 'If-None-Match': '*' })).status, 201)
    assert.equal((await ask('DELETE', '/events/none')).status, 204)
  })

  it('on a collection are the tag of any of its pages as it is now, in any encoding', async () => {
    const { ask, store } = server()
    await fill(store, 'gone', numbered(501))
    const drop = async (headers: Record<string, string>) => ask('DELETE', '/gone', undefined, headers)
    const old = await tagOf('/gone?page=2')
    await ask('POST', '/gone', '{"id":900}')
    const now = await tagOf('/gone?page=2')
    assert.match(problemIn(await drop({})), /^428 precondition-required: Dropping a collection needs If-Match\.$/)
    const itemTag = await tagOf('/gone/1')
    const beyond = now.replace(/\.2\.(\d+)\.identity/, '.3.$1.identity')
    assert.notEqual(beyond, now)
    for (const tag of [old, '"x"', 'x', `W/${now}`, itemTag, beyond, await tagOf('/events'), now.slice(1, -1)])
      assert.match(
        problemIn(await drop({ 'If-Match': tag })),
        /^412 precondition-failed: No page of "gone" has this ETag now\.$/,
      )
    assert.equal((await store.head('gone'))?.live, 502)
    const packed = String((await ask('GET', '/gone', undefined, { 'Accept-Encoding': 'gzip' })).headers.etag)
    assert.equal((await drop({ 'If-Match': `"x", ${packed}` })).status, 204)
    assert.match(
      problemIn(await drop({ 'If-Match': packed })),
      /^404 collection-not-found: There is no collection "gone"\.$/,
    )
  })
})

describe('a collection that an import is writing to', () => {
  const server = sharedWriteServer(({ store }) => fill(store, 'events', numbered(2)))

  it('is 503 for every other write, with the time to try again and without the machine that imports', async () => {
    const { ask, store } = server()
    const load = await store.load('events')
    const tag = String((await ask('GET', '/events')).headers.etag)
    for (const [method, path, body] of [
      ['POST', '/events', '{"id":3}'],
      ['PUT', '/events/1', '{"id":1}'],
      ['DELETE', '/events/1', undefined],
      ['DELETE', '/events', undefined],
    ] as const) {
      const answer = await ask(method, path, body, { 'If-Match': path === '/events' ? tag : '*' })
      assert.equal(
        problemIn(answer),
        '503 collection-busy: An import, a copy or a compaction of this collection is under way.',
      )
      assert.equal(answer.headers['retry-after'], '1')
    }
    await load.abort()
    assert.equal((await ask('POST', '/events', '{"id":3}')).status, 201)
  })
})
