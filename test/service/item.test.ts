import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { itemRun } from '../../src/items/item-run.ts'
import { fill, openService, problemOf } from './open-service.ts'

describe('GET of an item', () => {
  test('answers the text of the item, nothing added, with a tag that changes with it', async (t) => {
    const { store, get } = await openService(t)
    const item = '{"id":12345678901234567890,"price":1.10,"a":1,"a":2}'
    await fill(store, 'events', [item])
    const response = await get('/events/12345678901234567890')
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-type'), 'application/json')
    assert.equal(response.headers.get('content-length'), String(item.length))
    assert.equal(response.headers.get('cache-control'), 'no-cache')
    assert.equal(await response.text(), item)
    const tag = response.headers.get('etag') ?? ''
    await store.append('events', itemRun(['{"id":2}'], { keyField: 'id' }))
    assert.equal((await get('/events/12345678901234567890', { 'if-none-match': tag })).status, 304)
    await store.replace('events', itemRun(['{"id":12345678901234567890}'], { keyField: 'id' }))
    assert.equal((await get('/events/12345678901234567890', { 'if-none-match': tag })).status, 200)
  })

  test('the key is percent-decoded UTF-8, a slash included', async (t) => {
    const { store, get } = await openService(t)
    await fill(store, 'events', ['{"id":"a/b"}', '{"id":"ü 😀"}', '{"id":"%2F"}', '{"id":"a?b#c"}', '{"id":"+"}'])
    for (const key of ['a/b', 'ü 😀', '%2F', 'a?b#c', '+']) {
      const response = await get(`/events/${encodeURIComponent(key)}`)
      assert.deepEqual(await response.json(), { id: key })
    }
    assert.deepEqual(await (await get('/events/+')).json(), { id: '+' })
  })

  test('a key that is not there, or cannot be one, is not found', async (t) => {
    const { store, get } = await openService(t)
    await fill(store, 'events', ['{"id":7}'])
    for (const key of ['8', '07', '7.0', '%', '%zz', '%ff', '%C3', '7%00', '%20', 'toString']) {
      const response = await get(`/events/${key}`)
      assert.equal(response.status, 404, key)
      assert.match((await problemOf(response)).type, /item-not-found$/)
    }
  })

  test('a collection without a key says so', async (t) => {
    const { store, get } = await openService(t)
    await fill(store, 'events', ['{"id":7}'], { keyField: null })
    const problem = await problemOf(await get('/events/7'))
    assert.equal(problem.status, 404)
    assert.match(problem.detail, /"events" has no key field/)
  })

  test('an unknown collection is named', async (t) => {
    const { get } = await openService(t)
    const problem = await problemOf(await get('/nope/7'))
    assert.match(problem.type, /collection-not-found$/)
    assert.match(problem.detail, /"nope"/)
  })
})
