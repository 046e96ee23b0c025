import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { itemRun } from '../../src/items/item-run.ts'
import { fill, numbered, type OpenService, openService } from './open-service.ts'

async function tagOf(get: OpenService['get'], target: string, encoding = 'identity'): Promise<string> {
  const tag = (await get(target, { 'accept-encoding': encoding })).headers.get('etag')
  assert.match(tag ?? '', /^"[^"]+"$/)
  return tag ?? ''
}

describe('the ETag of a page (D16)', () => {
  test('differs by page, by encoding, by base URL and by collection', async (t) => {
    const { store, get, again } = await openService(t)
    await fill(store, 'events', numbered(600))
    await fill(store, 'others', numbered(600))
    await fill(store, 'whole', numbered(600), { isPaginated: false })
    const tags = [
      await tagOf(get, '/events?page=1'),
      await tagOf(get, '/events?page=2'),
      await tagOf(get, '/events?page=1', 'gzip'),
      await tagOf(again({ baseUrl: 'https://api.example.com' }), '/events?page=1'),
      await tagOf(get, '/others?page=1'),
      await tagOf(get, '/whole'),
    ]
    assert.equal(new Set(tags).size, tags.length)
  })

  test('changes with every write, and is the same for the same state', async (t) => {
    const { store, get } = await openService(t)
    await fill(store, 'events', numbered(600))
    const tags = [await tagOf(get, '/events')]
    await store.append('events', itemRun(['{"id":601}'], { keyField: 'id' }))
    tags.push(await tagOf(get, '/events'))
    await store.replace('events', itemRun(['{"id":1,"x":1}'], { keyField: 'id' }))
    tags.push(await tagOf(get, '/events'))
    await store.delete('events', ['1'])
    tags.push(await tagOf(get, '/events'))
    assert.equal(new Set(tags).size, 4)
    assert.equal(await tagOf(get, '/events'), tags[3])
  })

  test('is another after the collection is dropped and made again with the same items', async (t) => {
    const { store, get } = await openService(t)
    await fill(store, 'events', numbered(3))
    const before = await tagOf(get, '/events')
    await store.drop('events')
    await fill(store, 'events', numbered(3))
    assert.equal((await get('/events', { 'if-none-match': before })).status, 200)
  })
})

describe('If-None-Match', () => {
  test('gives 304 without a body for a list, a weak tag and a star, with the headers that a cache needs', async (t) => {
    const { store, get } = await openService(t)
    await fill(store, 'events', numbered(600))
    await fill(store, 'whole', numbered(3), { isPaginated: false })
    for (const target of ['/events', '/events?page=2', '/events?page=99', '/whole?page=abc', '/events/7', '/']) {
      const tag = await tagOf(get, target)
      for (const header of [tag, `W/${tag}`, `"a", W/"b",${tag}`, '*']) {
        const response = await get(target, { 'if-none-match': header })
        assert.equal(response.status, 304, `${target} ${header}`)
        assert.equal(response.body, null)
        assert.deepEqual(Object.fromEntries(response.headers), {
          etag: tag,
          'cache-control': 'no-cache',
          vary: 'Accept, Accept-Encoding',
        })
      }
    }
  })

  test('gives the whole answer for another tag, for that of another page and for that of another encoding', async (t) => {
    const { store, get } = await openService(t)
    await fill(store, 'events', numbered(600))
    const others = ['"a"', await tagOf(get, '/events?page=2'), await tagOf(get, '/events', 'gzip')]
    for (const tag of others) assert.equal((await get('/events', { 'if-none-match': tag })).status, 200)
  })

  test('the tag of the last page is that of every page beyond it (C7)', async (t) => {
    const { store, get } = await openService(t)
    await fill(store, 'events', numbered(600))
    const tag = await tagOf(get, '/events?page=2')
    assert.equal((await get('/events?page=99999999999999999999', { 'if-none-match': tag })).status, 304)
  })

  test('a star does not turn an error into a 304', async (t) => {
    const { store, get } = await openService(t)
    await fill(store, 'events', numbered(1))
    await fill(store, 'secret', numbered(1), { isPrivate: true })
    const star = { 'if-none-match': '*' }
    assert.equal((await get('/events?page=0', star)).status, 400)
    assert.equal((await get('/nope', star)).status, 404)
    assert.equal((await get('/secret', star)).status, 404)
    assert.equal((await get('/secret/1', star)).status, 404)
    assert.equal((await get('/events/2', star)).status, 404)
  })
})
