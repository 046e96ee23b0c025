import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { fill, numbered } from './open-service.ts'
import { type Answer, NDJSON, problemIn, sharedWriteServer } from './write-server.ts'

const key = (name: string) => ({ 'Idempotency-Key': name })

/** All of an answer but when it was sent. */
function contentOf({ status, headers, text }: Answer) {
  const { date, ...rest } = headers
  return { status, headers: rest, text }
}

/** What the store makes of a write that comes again is told by its own suite. */
describe('a write that is sent again with its Idempotency-Key', () => {
  const server = sharedWriteServer(async () => {})

  /** A collection of its own for each test. */
  async function newCollection(): Promise<string> {
    const name = `c${Math.random().toString(36).slice(2)}`
    await fill(server().store, name, numbered(2))
    return name
  }

  type Write = readonly [what: string, method: string, rest: string, body: string | undefined, status: number]
  const writes: readonly Write[] = [
    ['an append', 'POST', '', '{"id":3}', 201],
    ['an append of many', 'POST', '', '[{"id":3},{"id":4}]', 201],
    ['a new item', 'PUT', '/a%2Fb', '{"id":"a/b"}', 201],
    ['a replaced item', 'PUT', '/1', '{"id":1,"a":1}', 200],
    ['a removed item', 'DELETE', '/1', undefined, 204],
    ['a patch', 'PATCH', '', '{"op":"put","item":{"id":3}}', 200],
  ]
  for (const [what, method, rest, body, status] of writes)
    it(`is answered as the first time, also after others, done once, and anew in a new collection: ${what}`, async () => {
      const { ask, store } = server()
      const name = await newCollection()
      const headers = { ...key('abc'), ...(method === 'PATCH' && NDJSON) }
      const write = async () => contentOf(await ask(method, `/${name}${rest}`, body, headers))
      const first = await write()
      assert.equal(first.status, status)
      const after = await store.head(name)
      const mark = method.startsWith('P') && rest === '' ? { 'idempotent-replayed': 'true' } : {}
      const repeated = { ...first, headers: { ...first.headers, ...mark } }
      assert.deepEqual(await write(), repeated)
      assert.deepEqual(await store.head(name), after)
      await ask('POST', `/${name}`, '{"id":"later"}')
      assert.deepEqual(await write(), repeated)
      assert.equal((await store.head(name))?.live, (after?.live ?? 0) + 1)
      await store.drop(name)
      await fill(store, name, numbered(2))
      assert.deepEqual(await write(), first)
      assert.equal((await store.head(name))?.live, after?.live)
    })

  it('is answered as the first time, and done anew when it is gone: a new collection', async () => {
    const { ask, store } = server()
    const create = async () =>
      contentOf(await ask('PUT', '/fresh', '{"key":"id"}', { ...key('abc'), 'If-None-Match': '*' }))
    const first = await create()
    assert.deepEqual([first.status, first.headers.location?.endsWith('/fresh')], [201, true])
    await ask('POST', '/fresh', '{"id":1}')
    assert.deepEqual(await create(), first)
    await store.drop('fresh')
    assert.deepEqual(await create(), first)
    assert.equal((await store.head('fresh'))?.live, 0)
  })

  it('is answered as the first time: a dropped collection, also for a token that may only write, and when there is another one', async () => {
    const { ask, store, tokenOf } = server()
    const name = await newCollection()
    const writer = await tokenOf([`write:${name}`])
    const tag = String((await ask('GET', `/${name}`)).headers.etag)
    const drop = async (headers = {}) =>
      contentOf(await ask('DELETE', `/${name}`, undefined, { ...writer, ...key('abc'), 'If-Match': tag, ...headers }))
    const first = await drop()
    assert.equal(first.status, 204)
    assert.deepEqual(await drop(), first)
    await fill(store, name, numbered(3))
    assert.deepEqual(await drop(), first)
    assert.equal((await store.head(name))?.live, 3)
  })

  it('is 422 with another body, and writes nothing', async () => {
    const { ask, store } = server()
    const name = await newCollection()
    await ask('POST', `/${name}`, '{"id":3}', key('abc'))
    for (const body of ['{"id":5}', '{"id": 3}', '[{"id":3}]', '{"id":3}\n']) {
      const answer = await ask('POST', `/${name}`, body, key('abc'))
      assert.match(problemIn(answer), /^422 idempotency-conflict: This key was already used/)
    }
    assert.equal((await store.head(name))?.live, 3)
  })

  it('is the same write when it is packed, in chunks, or has other parameters and headers', async () => {
    const { ask, store } = server()
    const name = await newCollection()
    const first = await ask('POST', `/${name}`, '{"id":3}', key('abc'))
    for (const [path, body, headers] of [
      [`/${name}`, gzipSync('{"id":3}'), { 'Content-Encoding': 'gzip' }],
      [`/${name}`, '{"id":3}', { 'Transfer-Encoding': 'chunked' }],
      [`/${name}?a=b`, '{"id":3}', { 'User-Agent': 'another' }],
    ] as const) {
      const { status, text } = await ask('POST', path, body, { ...key('abc'), ...headers })
      assert.deepEqual([status, text], [201, first.text])
    }
    assert.equal((await store.head(name))?.live, 3)
  })

  it('is another write with another key, method, path or token', async () => {
    const { ask, store, tokenOf } = server()
    const [name, other] = [await newCollection(), await newCollection()]
    const send = async (method: string, path: string, item: string, headers = {}) =>
      (await ask(method, path, item, { ...key('abc'), ...headers })).status
    assert.equal(await send('POST', `/${name}`, '{"id":3}'), 201)
    assert.equal(await send('POST', `/${other}`, '{"id":3}'), 201)
    assert.equal(await send('PUT', `/${name}/3`, '{"id":3}'), 200)
    assert.equal(await send('PUT', `/${name}/4`, '{"id":4}'), 201)
    assert.equal(await send('POST', `/${name}`, '{"id":5}', key('Abc')), 201)
    assert.equal(await send('POST', `/${name}`, '{"id":6}', await tokenOf([`write:${name}`])), 201)
    assert.deepEqual([(await store.head(name))?.live, (await store.head(other))?.live], [6, 3])
  })
})
