import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { BASE, type EnvelopeJson, fill, numbered } from './open-service.ts'
import { type Content, type Headers, problemIn, startWriteServer, type WriteServer } from './write-server.ts'

const NDJSON = { 'Content-Type': 'application/x-ndjson' }

async function pageOf({ ask }: WriteServer, path: string): Promise<EnvelopeJson> {
  return JSON.parse((await ask('GET', path)).text)
}

/** The ids of all items, in order, from page to page along the links. */
async function walk(server: WriteServer, name: string): Promise<unknown[]> {
  const ids: unknown[] = []
  for (let path: string | undefined = `/${name}`; path !== undefined; ) {
    const { _embedded, _links }: EnvelopeJson = await pageOf(server, path)
    ids.push(...(_embedded[name] ?? []).map((item) => (item as { id: unknown }).id))
    path = _links['next']?.href.slice(BASE.length)
  }
  return ids
}

describe('POST to a collection', () => {
  it('appends an object, an array or NDJSON, plain or gzip, and says what there is now', async (t) => {
    const server = await startWriteServer(t)
    const { store, ask } = server
    await fill(store, 'events', numbered(2))
    const one = await ask('POST', '/events', '{"id": "a/b",\n "a": 1.10}')
    assert.equal(one.status, 201)
    assert.deepEqual(JSON.parse(one.text), { appended: 1, item_count: 3, version: 3 })
    assert.equal(one.headers.location, `${BASE}/events/a%2Fb`)
    const bodies: [body: Content, headers: Headers][] = [
      ['[{"id":4},{"id":5}]', {}],
      ['{"id":6}\n{"id":7}\n', NDJSON],
      [gzipSync('{"id":8}\n{"id":9}'), { ...NDJSON, 'Content-Encoding': 'gzip' }],
    ]
    for (const [body, headers] of bodies) {
      const { status, headers: own } = await ask('POST', '/events', body, headers)
      assert.deepEqual([status, own.location], [201, undefined])
    }
    assert.deepEqual(await walk(server, 'events'), [1, 2, 'a/b', 4, 5, 6, 7, 8, 9])
  })

  it('takes the largest number of items, and serves them in order', async (t) => {
    const server = await startWriteServer(t)
    await server.store.create('events', { keyField: 'id' })
    const { status, text } = await server.ask('POST', '/events', numbered(100_000).join('\n'), NDJSON)
    assert.deepEqual([status, JSON.parse(text)], [201, { appended: 100_000, item_count: 100_000, version: 2 }])
    const { item_count, _embedded } = await pageOf(server, '/events?page=200')
    assert.deepEqual(
      [item_count, _embedded['events']?.[0], _embedded['events']?.[499]],
      [100_000, { id: 99_501 }, { id: 100_000 }],
    )
    assert.deepEqual((await server.store.verify()).findings, [])
    const more = await server.ask('POST', '/events', numbered(100_001, 200_000).join('\n'), NDJSON)
    assert.match(problemIn(more), /^413 content-too-large: The request has more than 100,000 items\.$/)
  })

  it('makes a collection without a key for a token that may, with the first items or not at all', async (t) => {
    const { store, ask, tokenOf } = await startWriteServer(t)
    const creator = await tokenOf(['create:*'])
    const { status, text } = await ask('POST', '/logs', '{"a":1}', creator)
    assert.deepEqual([status, JSON.parse(text)], [201, { appended: 1, item_count: 1, version: 2 }])
    assert.deepEqual((await store.head('logs'))?.keyField, null)
    assert.match(problemIn(await ask('POST', '/more', '{"a":', creator)), /^400/)
    assert.equal(await store.head('more'), undefined)
  })

  it('leaves every one of many at once whole, alone or refused', async (t) => {
    const server = await startWriteServer(t)
    await fill(server.store, 'events', numbered(2))
    const bodies = Array.from(
      { length: 40 },
      (_, index) => `[{"id":${100 + index}},{"id":${index % 4 === 0 ? 1 : 200 + index}}]`,
    )
    const answers = await Promise.all(bodies.map((body) => server.ask('POST', '/events', body)))
    assert.equal(answers.filter(({ status }) => status === 201).length, 30)
    assert.equal(answers.filter(({ status }) => status === 409).length, 10)
    const ids = await walk(server, 'events')
    assert.equal(ids.length, 62)
    for (let index = 2; index < ids.length; index += 2) assert.equal(ids[index + 1], Number(ids[index]) + 100)
  })
})

describe('PUT of a collection', () => {
  it('creates it with its settings, each of which has a default', async (t) => {
    const { ask } = await startWriteServer(t)
    const { status, headers, text } = await ask('PUT', '/events', '{"key":"id","private":true}')
    assert.deepEqual([status, headers.location], [201, `${BASE}/events`])
    const expected = { name: 'events', key: 'id', paginated: true, private: true, item_count: 0, version: 1 }
    assert.deepEqual(JSON.parse(text), expected)
    const plain = JSON.parse((await ask('PUT', '/logs', '{}')).text)
    assert.deepEqual([plain.key, plain.paginated, plain.private], [null, true, false])
    assert.equal(JSON.parse((await ask('PUT', '/venues', '{"paginated":false,"key":null}')).text).paginated, false)
  })
})

describe('PUT and DELETE of an item', () => {
  it('create, replace in its place and remove', async (t) => {
    const server = await startWriteServer(t)
    const { store, ask } = server
    await fill(store, 'events', numbered(3))
    const created = await ask('PUT', '/events/a%2Fb', '{"id":"a/b"}')
    assert.deepEqual([created.status, JSON.parse(created.text)], [201, { item_count: 4, version: 3 }])
    const replaced = await ask('PUT', '/events/2', '{"id":2,"n":1}')
    assert.deepEqual([replaced.status, JSON.parse(replaced.text)], [200, { item_count: 4, version: 4 }])
    const { headers, text } = await ask('GET', '/events/2')
    assert.deepEqual([headers.etag, text], [replaced.headers.etag, '{"id":2,"n":1}'])
    const removed = await ask('DELETE', '/events/1')
    assert.deepEqual([removed.status, removed.text], [204, ''])
    assert.deepEqual(await walk(server, 'events'), [2, 3, 'a/b'])
  })

  it('leave counts, links and every page right, at any depth', async (t) => {
    const server = await startWriteServer(t)
    const { store, ask } = server
    await fill(store, 'events', numbered(2001))
    for (const id of [1, 500, 501, 1250, 2000, 2001]) assert.equal((await ask('DELETE', `/events/${id}`)).status, 204)
    for (const id of [2, 1251]) assert.equal((await ask('PUT', `/events/${id}`, `{"id":${id},"a":1}`)).status, 200)
    assert.equal((await ask('PUT', '/events/new', '{"id":"new"}')).status, 201)
    const left = Array.from({ length: 1999 }, (_, index) => index + 1).filter((id) => ![1, 500, 501, 1250].includes(id))
    assert.deepEqual(await walk(server, 'events'), [...left, 'new'])
    const { item_count, _links } = await pageOf(server, '/events?page=9')
    assert.deepEqual([item_count, _links['self']?.href], [1996, `${BASE}/events?page=4`])
    assert.deepEqual((await store.verify()).findings, [])
  })
})
