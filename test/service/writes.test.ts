import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { BASE, type EnvelopeJson, fill, numbered } from './open-service.ts'
import { type Content, GZIP, type Headers, NDJSON, problemIn, sharedWriteServer } from './write-server.ts'

describe('a write', () => {
  const server = sharedWriteServer(({ store }) => fill(store, 'events', numbered(2)), { limits: { itemBytes: 2000 } })

  async function idsIn(name: string): Promise<unknown[]> {
    const { _embedded }: EnvelopeJson = JSON.parse((await server().ask('GET', `/${name}`)).text)
    return (_embedded[name] ?? []).map((item) => (item as { id: unknown }).id)
  }

  it('appends an object, an array or NDJSON, plain or gzip, and says what there is now', async () => {
    const { store, ask } = server()
    await fill(store, 'appended', numbered(2))
    const one = await ask('POST', '/appended', '{"id": "a/b",\n "a": 1.10}')
    assert.deepEqual([one.status, one.headers.location], [201, `${BASE}/appended/a%2Fb`])
    assert.deepEqual(JSON.parse(one.text), { appended: 1, item_count: 3, version: 3 })
    const bodies: [body: Content, headers: Headers][] = [
      ['[{"id":4},{"id":5}]', {}],
      ['{"id":6}\n{"id":7}\n', NDJSON],
      [gzipSync('{"id":8}\n{"id":9}'), { ...NDJSON, ...GZIP }],
      [' [ ] ', {}],
    ]
    for (const [body, headers] of bodies) {
      const { status, headers: own } = await ask('POST', '/appended', body, headers)
      assert.deepEqual([status, own.location], [201, undefined])
    }
    assert.deepEqual(await idsIn('appended'), [1, 2, 'a/b', 4, 5, 6, 7, 8, 9])
    assert.equal((await store.head('appended'))?.version, 6)
  })

  it('makes a collection without a key where the service allows it, for a token that may, with the first items or not at all', async () => {
    const { store, askOf, tokenOf } = server()
    const ask = askOf({ createOnWrite: true })
    const creator = await tokenOf(['create:*'])
    const { status, text } = await ask('POST', '/logs', '{"a":1}', creator)
    assert.deepEqual([status, JSON.parse(text)], [201, { appended: 1, item_count: 1, version: 2 }])
    assert.equal((await store.head('logs'))?.keyField, null)
    assert.match(problemIn(await ask('POST', '/more', '{"a":', creator)), /^400/)
    assert.equal(await store.head('more'), undefined)
    const writer = await tokenOf(['write:*'])
    assert.match(problemIn(await ask('POST', '/more', '{"a":1}', writer)), /^404 collection-not-found/)
    const { text: changed } = await ask('PATCH', '/more', '{"op":"put","item":{"a":1}}', { ...creator, ...NDJSON })
    assert.equal(JSON.parse(changed).item_count, 1)
    const description = await (await ask('GET', '/-/openapi.json')).text
    assert.match(description, /A token that may `create:` the collection creates it/)
  })

  it('creates a collection with its settings, each of which has a default', async () => {
    const { ask } = server()
    const { status, headers, text } = await ask('PUT', '/made', '{"key":"id","private":true}')
    assert.deepEqual([status, headers.location], [201, `${BASE}/made`])
    const expected = { name: 'made', key: 'id', paginated: true, private: true, item_count: 0, version: 1 }
    assert.deepEqual(JSON.parse(text), expected)
    const plain = JSON.parse((await ask('PUT', '/plain', '{}')).text)
    assert.deepEqual([plain.key, plain.paginated, plain.private], [null, true, false])
    assert.equal(JSON.parse((await ask('PUT', '/venues', '{"paginated":false,"key":null}')).text).paginated, false)
  })

  it('creates an item, replaces it in its place and removes it', async () => {
    const { store, ask } = server()
    await fill(store, 'items', numbered(3))
    const created = await ask('PUT', '/items/a%2Fb', '{"id":"a/b"}')
    assert.deepEqual([created.status, JSON.parse(created.text)], [201, { item_count: 4, version: 3 }])
    const replaced = await ask('PUT', '/items/2', '{"id":2,"n":1}')
    assert.deepEqual([replaced.status, JSON.parse(replaced.text)], [200, { item_count: 4, version: 4 }])
    const { headers, text } = await ask('GET', '/items/2')
    assert.deepEqual([headers.etag, text], [replaced.headers.etag, '{"id":2,"n":1}'])
    const removed = await ask('DELETE', '/items/1')
    assert.deepEqual([removed.status, removed.text], [204, ''])
    assert.deepEqual(await idsIn('items'), [2, 3, 'a/b'])
  })

  const LIMIT = `{"id":"m","a":"${'x'.repeat(1983)}"}`
  const taken: readonly (readonly [what: string, body: Content, item: string, key: string, headers?: Headers])[] = [
    ['blanks and a byte-order mark around it', '\ufeff\r\n {"id":"d",\n"a":1}\t\n', '{"id":"d", "a":1}', 'd'],
    ['a byte-order mark before an array', '\ufeff[{"id":"e"}]', '{"id":"e"}', 'e'],
    ['blank lines and no last line break', '\n{"id":"f"}\r\n\n{"id":"g"}', '{"id":"g"}', 'g', NDJSON],
    ['a charset', '{"id":"h"}', '{"id":"h"}', 'h', { 'Content-Type': 'Application/JSON; Charset="UTF-8"' }],
    ['two gzip members', Buffer.concat(['{"id":', '"i"}'].map((part) => gzipSync(part))), '{"id":"i"}', 'i', GZIP],
    ['an encoding by its old name', gzipSync('{"id":"j"}'), '{"id":"j"}', 'j', { 'Content-Encoding': 'X-Gzip' }],
    ['no encoding, named', '{"id":"k"}', '{"id":"k"}', 'k', { 'Content-Encoding': 'identity' }],
    ['a body in chunks', '{"id":"l"}', '{"id":"l"}', 'l', { 'Transfer-Encoding': 'chunked' }],
    ['an item of just the limit', `\n${LIMIT}\n`, LIMIT, 'm'],
  ]
  for (const [what, body, item, key, headers] of taken)
    it(`takes ${what}`, async () => {
      const { ask } = server()
      const { status, text } = await ask('POST', '/events', body, headers)
      assert.equal(status, 201, text)
      assert.equal((await ask('GET', `/events/${encodeURIComponent(key)}`)).text, item)
    })
})
