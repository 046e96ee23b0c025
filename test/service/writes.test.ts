import assert from 'node:assert/strict'
import { hash, randomBytes } from 'node:crypto'
import { describe, it, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { createService, type ServiceOptions } from '../../src/service/create-service.ts'
import { BASE, envelopeOf, fill, numbered, openService, type ProblemJson } from './open-service.ts'

type Headers = Record<string, string>

const JSON_TYPE = { 'Content-Type': 'application/json' }
const NDJSON = { 'Content-Type': 'application/x-ndjson' }

async function openWritable(t: TestContext, options: Partial<ServiceOptions> = {}) {
  const { store } = await openService(t)
  const { fetch } = createService({ store, ...options })
  const tokenOf = async (...scopes: string[]): Promise<Headers> => {
    const token = `reams_${randomBytes(32).toString('base64url')}`
    const record = { hash: hash('sha256', token, 'hex'), scopes, createdAt: 0, expiresAt: null, revokedAt: null }
    await store.addToken({ name: randomBytes(6).toString('hex'), ...record })
    return { Authorization: `Bearer ${token}` }
  }
  const admin = await tokenOf('admin')
  const send = async (method: string, path: string, body?: string | Uint8Array, headers: Headers = {}) =>
    fetch(
      new Request(BASE + path, {
        method,
        headers: withoutEmpty({ ...admin, ...(body !== undefined && JSON_TYPE), ...headers }),
        ...(body !== undefined && { body: body as string }),
      }),
    )
  const items = async (name: string) => (await envelopeOf(await send('GET', `/${name}`)))._embedded[name]
  return { store, send, items, tokenOf }
}

/** An empty value stands for a header that is not sent. */
function withoutEmpty(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ''))
}

async function problemIn(response: Response): Promise<string> {
  const { type, detail } = (await response.json()) as ProblemJson
  return `${response.status} ${type.split('/').at(-1)}: ${detail}`
}

describe('POST to a collection', () => {
  it('appends an object, an array or NDJSON, plain or gzip, and says what there is now', async (t) => {
    const { store, send, items } = await openWritable(t)
    await fill(store, 'events', numbered(2))
    const one = await send('POST', '/events', '{"id": 3,\n "a": 1.10}')
    assert.equal(one.status, 201)
    assert.deepEqual(await one.json(), { appended: 1, item_count: 3, version: 3 })
    assert.equal(one.headers.get('location'), `${BASE}/events/3`)
    const bodies: [body: string | Uint8Array, headers: Headers][] = [
      ['[{"id":4},{"id":5}]', {}],
      ['{"id":6}\n{"id":7}\n', NDJSON],
      [gzipSync('{"id":8}\n{"id":9}'), { ...NDJSON, 'Content-Encoding': 'gzip' }],
    ]
    for (const [body, headers] of bodies) {
      const answer = await send('POST', '/events', body, headers)
      assert.equal(answer.status, 201)
      assert.equal(answer.headers.get('location'), null)
    }
    assert.deepEqual(
      (await items('events'))?.map((item) => (item as { id: number }).id),
      [1, 2, 3, 4, 5, 6, 7, 8, 9],
    )
  })

  const wrong: [what: string, body: string | Uint8Array, headers: Headers, expected: RegExp][] = [
    ['no JSON', 'hello', {}, /^400 invalid-/],
    ['nothing', '', {}, /^400 invalid-body: The body is empty/],
    ['a number', '17', {}, /^400 invalid-/],
    ['a bad element', '[{"id":7},{"id":8},9]', {}, /^400 invalid-\w+: Element 2: /],
    ['a bad line', '{"id":7}\n{"id":', NDJSON, /^400 invalid-item: Line 2: /],
    ['two objects', '{"id":7},{"id":8}', {}, /^400 invalid-body: The body holds more than one object/],
    ['a missing key', '{"a":1}', {}, /^400 invalid-item: the key field "id" is missing/],
    ['an empty key', '{"id":""}', {}, /^400 invalid-item/],
    ['a key that is there', '[{"id":7},{"id":1}]', {}, /^409 conflict: An item with the key "1" is there already/],
    ['invalid UTF-8', Buffer.from('{"id":"\xff"}', 'latin1'), {}, /^400 invalid-body/],
    ['nesting', `{"id":7,"a":${'['.repeat(600)}${']'.repeat(600)}}`, {}, /^400 invalid-item/],
    ['no type', '{"id":7}', { 'Content-Type': '' }, /^415 unsupported-media-type/],
    ['another type', '{"id":7}', { 'Content-Type': 'text/plain' }, /^415 unsupported-media-type/],
    ['another encoding', '{"id":7}', { 'Content-Encoding': 'br' }, /^415 unsupported-media-type/],
    ['no gzip', '{"id":7}', { 'Content-Encoding': 'gzip' }, /^400 invalid-body: The body is not gzip/],
    [
      'a bomb',
      gzipSync(Buffer.alloc(4_000_000, 0x20)),
      { 'Content-Encoding': 'gzip' },
      /^413 content-too-large: Unpacked/,
    ],
    ['a large item', `{"id":7,"a":"${'x'.repeat(3000)}"}`, {}, /^413 content-too-large: .*2,000/],
    [
      'a large body',
      `[${'{"id":7},'.repeat(900_000)}{}]`,
      {},
      /^413 content-too-large: The body has .*8,000,000 bytes/,
    ],
    ['many items', `[${'{},'.repeat(20)}{}]`, {}, /^(413 content-too-large: .*10 items|400 invalid-item)/],
    ['a bad idempotency key', '{"id":7}', { 'Idempotency-Key': 'a b' }, /^400 invalid-idempotency-key/],
  ]
  for (const [what, body, headers, expected] of wrong)
    it(`refuses ${what}, and writes nothing`, async (t) => {
      const limits = { bodyBytes: 8_000_000, itemBytes: 2000, requestItems: 10 }
      const { store, send } = await openWritable(t, { limits })
      await fill(store, 'events', numbered(2))
      assert.match(await problemIn(await send('POST', '/events', body, headers)), expected)
      assert.equal((await store.head('events'))?.version, 2)
    })

  it('makes a collection without a key for a token that may', async (t) => {
    const { store, send, tokenOf } = await openWritable(t)
    const answer = await send('POST', '/logs', '{"a":1}', await tokenOf('create:*'))
    assert.deepEqual([answer.status, await answer.json()], [201, { appended: 1, item_count: 1, version: 2 }])
    assert.deepEqual((await store.head('logs'))?.keyField, null)
    assert.match(await problemIn(await send('POST', '/more', '{"a":', await tokenOf('create:*'))), /^400/)
    assert.equal(await store.head('more'), undefined)
  })

  it('refuses the 10,001st item of an unpaginated collection', async (t) => {
    const { store, send } = await openWritable(t)
    await fill(store, 'venues', numbered(10_000), { isPaginated: false })
    assert.match(await problemIn(await send('POST', '/venues', '{"id":10001}')), /^409 conflict: .*10,000/)
  })
})

describe('PUT and DELETE of a collection', () => {
  it('creates it once, and refuses other settings', async (t) => {
    const { send } = await openWritable(t)
    const settings = '{"key":"id","paginated":true,"private":false}'
    assert.equal((await send('PUT', '/events', settings)).status, 201)
    assert.equal((await send('PUT', '/events', settings)).status, 200)
    assert.match(await problemIn(await send('PUT', '/events', '{"key":"code"}')), /^409 conflict: .*"id".*"code"/)
    for (const wrong of ['[]', '{', '{"kee":"id"}', '{"key":7}', '{"paginated":"yes"}', '{"private":1}'])
      assert.match(await problemIn(await send('PUT', '/other', wrong)), /^400 invalid-body/)
    assert.match(await problemIn(await send('PUT', '/Events', settings)), /^400 invalid-name/)
  })

  it('drops it with the ETag that one of its pages has now', async (t) => {
    const { store, send } = await openWritable(t)
    await fill(store, 'events', numbered(501))
    const drop = (tag?: string) => send('DELETE', '/events', undefined, tag === undefined ? {} : { 'If-Match': tag })
    const old = (await send('GET', '/events?page=2')).headers.get('etag') ?? ''
    await send('POST', '/events', '{"id":900}')
    assert.match(await problemIn(await drop()), /^428 precondition-required/)
    for (const tag of [old, '"x"', old.replace('.2.1.', '.9.1.')]) assert.equal((await drop(tag)).status, 412)
    const now =
      (await send('GET', '/events?page=2', undefined, { 'Accept-Encoding': 'gzip' })).headers.get('etag') ?? ''
    assert.equal((await drop(`W/${now}`)).status, 412)
    assert.equal((await drop(`"x", ${now}`)).status, 204)
    assert.equal((await send('GET', '/events')).status, 404)
  })
})

describe('PUT and DELETE of an item', () => {
  it('creates, replaces in its place and removes, under conditions', async (t) => {
    const { store, send, items } = await openWritable(t)
    await fill(store, 'events', numbered(3))
    const created = await send('PUT', '/events/a%2Fb', '{"id":"a/b"}')
    assert.deepEqual([created.status, await created.json()], [201, { item_count: 4, version: 3 }])
    const tag = (await send('GET', '/events/2')).headers.get('etag') ?? ''
    const replaced = await send('PUT', '/events/2', '{"id":2,"n":1}', { 'If-Match': tag })
    assert.equal(replaced.status, 200)
    assert.equal(replaced.headers.get('etag'), (await send('GET', '/events/2')).headers.get('etag'))
    assert.match(await problemIn(await send('PUT', '/events/2', '{"id":2}', { 'If-Match': tag })), /^412/)
    assert.match(await problemIn(await send('PUT', '/events/2', '{"id":2}', { 'If-None-Match': '*' })), /^412/)
    assert.match(await problemIn(await send('PUT', '/events/9', '{"id":9}', { 'If-Match': '*' })), /^412/)
    assert.match(await problemIn(await send('PUT', '/events/9', '{"id":8}')), /^400 key-mismatch: .*"9".*"8"/)
    assert.match(await problemIn(await send('DELETE', '/events/9')), /^404 item-not-found/)
    assert.match(await problemIn(await send('DELETE', '/events/2', undefined, { 'If-Match': tag })), /^412/)
    assert.equal((await send('DELETE', '/events/1')).status, 204)
    assert.deepEqual(await items('events'), [{ id: 2, n: 1 }, { id: 3 }, { id: 'a/b' }])
  })
})

describe('a write that is sent again with its Idempotency-Key', () => {
  it('is answered as the first time and written once; with another body it is 422', async (t) => {
    const { store, send, tokenOf } = await openWritable(t)
    await fill(store, 'events', numbered(2))
    const key = { 'Idempotency-Key': 'abc' }
    const first = await (await send('POST', '/events', '{"id":3}', key)).text()
    await send('POST', '/events', '{"id":4}')
    const again = await send('POST', '/events', '{"id":3}', key)
    assert.deepEqual([again.status, await again.text()], [201, first])
    assert.equal(again.headers.get('location'), `${BASE}/events/3`)
    assert.match(await problemIn(await send('POST', '/events', '{"id":5}', key)), /^422 idempotency-conflict/)
    const other = await send('POST', '/events', '{"id":6}', { ...key, ...(await tokenOf('write:events')) })
    assert.equal(other.status, 201, 'the key of another sender is another key')
    assert.equal((await store.head('events'))?.live, 5)
  })

  it('may be tried again after it was refused', async (t) => {
    const { store, send } = await openWritable(t)
    await fill(store, 'events', numbered(2))
    const key = { 'Idempotency-Key': 'abc' }
    assert.equal((await send('POST', '/events', '{"id":1}', key)).status, 409)
    assert.equal((await send('POST', '/events', '{"id":3}', key)).status, 201)
  })
})

describe('who may write', () => {
  it('follows the table, with every method and path', async (t) => {
    const { store, send, tokenOf } = await openWritable(t)
    const none = { Authorization: '' }
    const callers: [who: string, headers: () => Promise<Headers>, expected: string][] = [
      ['a bad token', async () => ({ Authorization: 'Bearer x' }), '401 401 401'],
      ['nobody', async () => none, '401 401 401'],
      ['no scope', () => tokenOf('read:other'), '403 404 404'],
      ['read', () => tokenOf('read:open', 'read:secret'), '403 403 404'],
      ['write', () => tokenOf('write:open', 'write:secret', 'write:nothing'), 'done done 404'],
    ]
    for (const [who, headersOf, expected] of callers)
      for (const method of ['POST', 'PUT', 'DELETE', 'PUT item', 'DELETE item']) {
        for (const name of ['open', 'secret']) {
          if ((await store.head(name)) !== undefined) await store.drop(name)
          await fill(store, name, numbered(2), { isPrivate: name === 'secret' })
        }
        const [verb = '', item] = method.split(' ')
        const statuses: string[] = []
        for (const name of ['open', 'secret', 'nothing']) {
          const body = verb === 'DELETE' ? undefined : item || verb === 'POST' ? '{"id":1}' : '{"key":"id"}'
          const headers = await headersOf()
          const answer = await send(verb, `/${name}${item ? '/1' : ''}`, body, headers)
          statuses.push([401, 403, 404].includes(answer.status) ? String(answer.status) : 'done')
        }
        assert.equal(statuses.join(' '), expected, `${who}: ${method}`)
      }
  })
})
