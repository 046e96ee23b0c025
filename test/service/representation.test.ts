import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { bytesOf, fill, numbered, openService } from './open-service.ts'

test('application/json is answered to a client that prefers it, with the same bytes and tag (D12)', async (t) => {
  const { store, get } = await openService(t)
  await fill(store, 'events', numbered(600))
  for (const target of ['/events', '/']) {
    const hal = await get(target)
    const json = await get(target, { accept: 'application/json' })
    assert.equal(hal.headers.get('content-type'), 'application/hal+json')
    assert.equal(json.headers.get('content-type'), 'application/json')
    assert.equal(json.headers.get('etag'), hal.headers.get('etag'))
    assert.equal(await json.text(), await hal.text())
  }
})

test('a client that wants anything else gets HAL, never 406 (D12)', async (t) => {
  const { store, get } = await openService(t)
  await fill(store, 'events', numbered(3))
  for (const accept of ['text/html', 'text/html, image/gif, *; q=.2', 'image/png', 'application/hal+json;q=0', '?']) {
    const response = await get('/events', { accept })
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-type'), 'application/hal+json')
  }
})

test('the gzip answer inflates to the plain one, on every page, also where pages are cut from several reams', async (t) => {
  const { store, get } = await openService(t)
  await fill(store, 'events', numbered(1700))
  await store.delete('events', ['3', '501', '502', '1600'])
  await fill(store, 'whole', numbered(1700), { isPaginated: false })
  await fill(store, 'empty', [])
  for (const target of ['/events?page=1', '/events?page=2', '/events?page=3', '/events?page=4', '/whole', '/empty']) {
    const plain = await get(target)
    const gzip = await get(target, { 'accept-encoding': 'gzip' })
    assert.equal(plain.headers.get('content-encoding'), null)
    assert.equal(gzip.headers.get('content-encoding'), 'gzip')
    const bytes = await bytesOf(gzip)
    assert.equal(gzip.headers.get('content-length'), String(bytes.length))
    assert.equal(gunzipSync(bytes).toString(), await plain.text())
  }
})

test('HEAD has the status and headers of GET, Content-Length included, and no body (D13)', async (t) => {
  const { store, get } = await openService(t)
  await fill(store, 'events', numbered(600))
  for (const target of [
    '/events',
    '/events?page=2',
    '/events?page=0',
    '/events/7',
    '/nope',
    '/',
    '/-/health',
    '/-/openapi.json',
    '/a/b/c',
  ])
    for (const encoding of ['identity', 'gzip']) {
      const whole = await get(target, { 'accept-encoding': encoding })
      const head = await get(target, { 'accept-encoding': encoding }, 'HEAD')
      assert.equal(head.status, whole.status)
      assert.deepEqual([...head.headers], [...whole.headers])
      assert.equal(head.body, null)
      assert.equal(head.headers.get('content-length'), String((await bytesOf(whole)).length))
    }
})
