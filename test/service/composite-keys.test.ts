import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readItems } from '../store/store-reading.ts'
import { BASE, type EnvelopeJson, fill, openService } from './open-service.ts'
import { Description, type Part, partIn } from './openapi/description.ts'
import { NDJSON, problemIn, sharedWriteServer } from './write-server.ts'

const ITEM = '{"tenant":"x,y","id":7,"n":1}'
/** The comma of the tenant is escaped, the one between the fields is not. */
const PATH = '/seats/x%5C,y,7'

describe('a collection whose key has several fields', () => {
  const server = sharedWriteServer(({ store }) => fill(store, 'seats', [ITEM], { keyField: 'tenant,id' }))

  it('is created with them, and is the same one only for the same fields in the same order', async () => {
    const { ask } = server()
    const { status, text } = await ask('PUT', '/made', '{"key":"tenant,id"}')
    assert.deepEqual([status, JSON.parse(text).key], [201, 'tenant,id'])
    assert.equal((await ask('PUT', '/made', '{"key":"tenant,id"}')).status, 200)
    const other = await ask('PUT', '/made', '{"key":"id,tenant"}')
    assert.match(problemIn(other), /^409 conflict: .* the key "tenant,id", and this asks for the key "id,tenant"\. /)
    const entry: EnvelopeJson = JSON.parse((await ask('GET', '/')).text)
    assert.partialDeepStrictEqual(entry._embedded['collections'], [{ name: 'made', key: 'tenant,id' }])
  })

  it('has its items at their keys, however the comma is encoded', async () => {
    const { ask } = server()
    for (const path of [PATH, '/seats/x%5C%2Cy%2C7', '/-/json/seats/x%5c,y,7']) {
      const { status, text, headers } = await ask('GET', path)
      assert.deepEqual([status, text], [200, ITEM], path)
      assert.equal((await ask('GET', path, undefined, { 'If-None-Match': headers.etag ?? '' })).status, 304)
    }
    assert.match(problemIn(await ask('GET', '/seats/x,y,7')), /^404 item-not-found: .*the key "x,y,7"/)
  })

  it('takes items of any value, and says where each is', async () => {
    const { store, ask } = server()
    await fill(store, 'posted', [], { keyField: 'tenant,id' })
    const locations = {
      '{"id":8,"tenant":"a"}': 'a,8',
      '{"id":"","tenant":""}': ',',
      '{"id":"b/c?","tenant":"\\\\"}': '%5C%5C,b%2Fc%3F',
      '{"id":12345678901234567890,"tenant":".."}': '..,12345678901234567890',
    }
    for (const [item, key] of Object.entries(locations)) {
      const { status, headers } = await ask('POST', '/posted', item)
      assert.deepEqual([status, headers.location], [201, `${BASE}/posted/${key}`])
      assert.equal((await ask('GET', `/posted/${key}`)).text, item)
    }
    assert.deepEqual(await readItems(store, 'posted'), Object.keys(locations))
    const again = await ask('POST', '/posted', '[{"tenant":"a","id":9},{"tenant":"a","id":"8"}]')
    assert.match(problemIn(again), /^409 conflict: .*"a,8"/)
    assert.match(again.text, /PUT it to .*\/posted\/a,8/)
    for (const [item, reason] of [
      ['{"tenant":"a"}', 'the key field "id" is missing'],
      ['{"tenant":null,"id":1}', 'the key field "tenant" is null; a key is a string or an integer'],
      [`{"tenant":"${','.repeat(512)}","id":1}`, 'the key of the fields "tenant", "id" has 1,026 bytes; '],
    ] as const)
      assert.ok(problemIn(await ask('POST', '/posted', item)).startsWith(`400 invalid-item: The body: ${reason}`))
  })

  it('creates, replaces and removes an item at its URL, which has to be its own', async () => {
    const { store, ask } = server()
    await fill(store, 'put', [ITEM], { keyField: 'tenant,id' })
    assert.equal((await ask('PUT', '/put/x%5C,y,7', '{"tenant":"x,y","id":"7"}')).status, 200)
    assert.equal((await ask('PUT', '/put/x,7', '{"id":7,"tenant":"x"}')).status, 201)
    const elsewhere = problemIn(await ask('PUT', '/put/7,x', '{"id":7,"tenant":"x"}'))
    assert.equal(elsewhere, '400 key-mismatch: The path has the key "7,x", the item "x,7".')
    assert.deepEqual(await readItems(store, 'put'), ['{"tenant":"x,y","id":"7"}', '{"id":7,"tenant":"x"}'])
    assert.equal((await ask('DELETE', '/put/x%5C,y,7')).status, 204)
    assert.deepEqual(await readItems(store, 'put'), ['{"id":7,"tenant":"x"}'])
  })

  it('is patched by key, and its changes name the same keys', async () => {
    const { store, ask } = server()
    await fill(store, 'patched', [ITEM, '{"tenant":"a","id":1}'], { keyField: 'tenant,id' })
    const { text } = await ask('GET', '/patched')
    const snapshot = (JSON.parse(text) as EnvelopeJson)._links['snapshot']?.href ?? assert.fail()
    const lines = [
      '{"op":"put","item":{"tenant":"a","id":1,"n":2},"key":"a,1"}',
      '{"op":"delete","key":"x\\\\,y,7"}',
      '{"op":"put","item":{"tenant":"a\\\\","id":"b"}}',
    ]
    const patched = await ask('PATCH', '/patched', lines.join('\n'), NDJSON)
    assert.deepEqual([patched.status, JSON.parse(patched.text).replaced], [200, 1])
    const wrong = await ask('PATCH', '/patched', '{"op":"put","key":"1,a","item":{"tenant":"a","id":1}}', NDJSON)
    assert.match(problemIn(wrong), /^400 key-mismatch: Line 1 has the key "1,a", its item "a,1"\.$/)
    const changes = JSON.parse((await ask('GET', `${new URL(snapshot).pathname}..`)).text) as EnvelopeJson
    assert.equal(changes.item_count, 3)
    assert.partialDeepStrictEqual(Object.values(changes._embedded), [
      [
        { op: 'put', key: 'a,1' },
        { op: 'delete', key: 'x\\,y,7' },
        { op: 'put', key: 'a\\\\,b' },
      ],
    ])
  })

  it('is described with all of its fields', async (t) => {
    const { store, get } = await openService(t)
    await fill(store, 'seats', [], { keyField: 'tenant,a\\,b' })
    const { document } = new Description(await (await get('/-/openapi.json')).text())
    const within = (part: Part, ...names: readonly string[]) => names.reduce(partIn, part)
    const part = { type: ['string', 'integer'], maxLength: 1024, description: 'A part of the key of the item.' }
    assert.deepEqual(within(document, 'components', 'schemas', 'seats.item')['allOf'], [
      { $ref: '#/components/schemas/Item' },
      { type: 'object', required: ['tenant', 'a,b'], properties: { tenant: part, 'a,b': part } },
    ])
    const content = within(document, 'paths', '/seats/{key}', 'put', 'requestBody', 'content', 'application/json')
    assert.deepEqual(content['examples'], { item: { value: { tenant: 7, 'a,b': 7 } } })
  })
})
