import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { fill, numbered } from './open-service.ts'
import { type Answer, problemIn, sharedWriteServer, type WriteServer } from './write-server.ts'

const key = (name: string) => ({ 'Idempotency-Key': name })

/** All of an answer but when it was sent. */
function contentOf({ status, headers, text }: Answer) {
  const { date, ...rest } = headers
  return { status, headers: rest, text }
}

/** A collection of its own for each test. */
async function collectionIn({ store }: WriteServer): Promise<string> {
  const name = `c${Math.random().toString(36).slice(2)}`
  await fill(store, name, numbered(2))
  return name
}

describe('a write that is sent again with its Idempotency-Key', () => {
  const server = sharedWriteServer(async () => {})

  const writes: readonly [what: string, method: string, rest: string, body: string | undefined, status: number][] = [
    ['an append', 'POST', '', '{"id":3}', 201],
    ['an append of many', 'POST', '', '[{"id":3},{"id":4}]', 201],
    ['a new item', 'PUT', '/a%2Fb', '{"id":"a/b"}', 201],
    ['a replaced item', 'PUT', '/1', '{"id":1,"a":1}', 200],
    ['a removed item', 'DELETE', '/1', undefined, 204],
  ]
  for (const [what, method, rest, body, status] of writes)
    it(`is answered as the first time, also after others, and done once: ${what}`, async () => {
      const { ask, store } = server()
      const name = await collectionIn(server())
      const write = async () => contentOf(await ask(method, `/${name}${rest}`, body, key('abc')))
      const first = await write()
      assert.equal(first.status, status)
      const after = await store.head(name)
      assert.deepEqual(await write(), first)
      assert.deepEqual(await store.head(name), after)
      await ask('POST', `/${name}`, '{"id":"later"}')
      assert.deepEqual(await write(), first)
      assert.equal((await store.head(name))?.live, (after?.live ?? 0) + 1)
    })

  for (const [what, method, rest, body] of writes)
    it(`is done anew after the collection was dropped and made again: ${what}`, async () => {
      const { ask, store } = server()
      const name = await collectionIn(server())
      const write = async () => contentOf(await ask(method, `/${name}${rest}`, body, key('abc')))
      const first = await write()
      const [after, items] = [await store.head(name), (await ask('GET', `/${name}`)).text]
      await store.drop(name)
      await fill(store, name, numbered(2))
      assert.deepEqual(await write(), first)
      assert.equal((await ask('GET', `/${name}`)).text, items)
      const again = await store.head(name)
      assert.notEqual(again?.id, after?.id)
      assert.deepEqual(await write(), first)
      assert.deepEqual(await store.head(name), again)
    })

  it('is answered as without the key when the collection is gone', async () => {
    const { ask, store } = server()
    const name = await collectionIn(server())
    const append = (headers = {}) => ask('POST', `/${name}`, '{"id":3}', headers)
    const put = (headers = {}) => ask('PUT', `/${name}/4`, '{"id":4}', headers)
    assert.deepEqual([(await append(key('abc'))).status, (await put(key('abc'))).status], [201, 201])
    await store.drop(name)
    assert.match(problemIn(await put()), /^404 collection-not-found: /)
    assert.match(problemIn(await put(key('abc'))), /^404 collection-not-found: /)
    const first = contentOf(await append(key('abc')))
    assert.equal((await store.head(name))?.live, 1)
    await store.drop(name)
    assert.deepEqual(contentOf(await append()), first)
  })

  it('is answered as the first time, and done anew when it is gone: a new collection', async () => {
    const { ask, store } = server()
    const create = async () =>
      contentOf(await ask('PUT', '/fresh', '{"key":"id"}', { ...key('abc'), 'If-None-Match': '*' }))
    const first = await create()
    assert.deepEqual([first.status, first.headers.location?.endsWith('/fresh')], [201, true])
    await ask('POST', '/fresh', '{"id":1}')
    assert.deepEqual(await create(), first)
    assert.equal((await ask('PUT', '/fresh', '{"key":"id"}')).status, 200)
    await store.drop('fresh')
    assert.deepEqual(await create(), first)
    assert.equal((await store.head('fresh'))?.live, 0)
  })

  it('is answered as the first time: a dropped collection, also for a token that may only write, and when there is another one', async () => {
    const { ask, store, tokenOf } = server()
    const name = await collectionIn(server())
    const writer = await tokenOf([`write:${name}`])
    const tag = String((await ask('GET', `/${name}`)).headers.etag)
    const drop = async (of: string, headers = {}) =>
      contentOf(await ask('DELETE', `/${of}`, undefined, { ...writer, ...key('abc'), 'If-Match': tag, ...headers }))
    const first = await drop(name)
    assert.equal(first.status, 204)
    assert.deepEqual(await drop(name), first)
    await fill(store, name, numbered(3))
    assert.deepEqual(await drop(name), first)
    assert.equal((await store.head(name))?.live, 3)
    assert.match(problemIn(await drop(name, key('other'))), /^412 precondition-failed: /)
    await store.drop(name)
    assert.match(problemIn(await drop(name, key('other'))), /^404 collection-not-found: /)
    assert.match(problemIn(await drop(name, { 'Idempotency-Key': '' })), /^404 collection-not-found: /)
  })

  it('is done once when it comes many times at once, and every one gets the same answer', async () => {
    const { ask, store } = server()
    const name = await collectionIn(server())
    const answers = await Promise.all(
      Array.from({ length: 20 }, async () =>
        contentOf(await ask('POST', `/${name}`, '[{"id":3},{"id":4}]', key('abc'))),
      ),
    )
    for (const answer of answers) assert.deepEqual({ ...answer, headers: {} }, { ...answers[0], headers: {} })
    assert.deepEqual(JSON.parse(answers[0]?.text ?? ''), { appended: 2, item_count: 4, version: 3 })
    assert.equal((await store.head(name))?.version, 3)
  })

  it('is 422 with another body, and writes nothing', async () => {
    const { ask, store } = server()
    const name = await collectionIn(server())
    await ask('POST', `/${name}`, '{"id":3}', key('abc'))
    for (const body of ['{"id":5}', '{"id": 3}', '[{"id":3}]', '{"id":3}\n'])
      assert.match(
        problemIn(await ask('POST', `/${name}`, body, key('abc'))),
        /^422 idempotency-conflict: A request with this key/,
      )
    assert.equal((await store.head(name))?.live, 3)
  })

  it('is the same write when it is packed, in chunks, or has other parameters and headers', async () => {
    const { ask, store } = server()
    const name = await collectionIn(server())
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
    const name = await collectionIn(server())
    const other = await collectionIn(server())
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

  it('is tried anew after it was refused, alone or many times at once', async () => {
    const { ask, store } = server()
    const name = await collectionIn(server())
    const refused = await Promise.all(Array.from({ length: 5 }, () => ask('POST', `/${name}`, '{"id":1}', key('abc'))))
    for (const answer of refused) assert.match(problemIn(answer), /^409 conflict: /)
    assert.match(problemIn(await ask('POST', `/${name}`, '{', key('abc'))), /^400 /)
    await store.delete(name, ['1'])
    assert.equal((await ask('POST', `/${name}`, '{"id":1}', key('abc'))).status, 201)
    assert.equal((await ask('POST', `/${name}`, '{"id":2}', key('abc'))).status, 422)
  })

  it('is forgotten after 24 hours', async () => {
    const { ask, store, ageRequests } = server()
    const name = await collectionIn(server())
    assert.equal((await ask('PUT', `/${name}/1`, '{"id":1}', key('abc'))).status, 200)
    const version = (await store.head(name))?.version ?? 0
    await ageRequests(86_000_000)
    assert.equal((await ask('PUT', `/${name}/1`, '{"id":1}', key('abc'))).status, 200)
    assert.equal((await store.head(name))?.version, version)
    await ageRequests(86_400_001)
    assert.equal((await ask('PUT', `/${name}/1`, '{"id":1,"a":2}', key('abc'))).status, 200)
    assert.equal((await store.head(name))?.version, version + 1)
  })
})
