import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { itemRun } from '../../src/items/item-run.ts'
import { BASE, bytesOf, envelopeOf, fill, numbered, openService, problemOf } from './open-service.ts'

describe('GET of a paginated collection', () => {
  test('answers every page with the exact count, its items and its links, at every size around a page', async (t) => {
    const { store, get } = await openService(t)
    for (const size of [0, 1, 499, 500, 501, 999, 1000, 1001]) {
      const name = `of-${size}`
      const url = `${BASE}/${name}`
      await fill(store, name, numbered(size))
      const last = Math.max(1, Math.ceil(size / 500))
      for (let page = 1; page <= last; page++) {
        const response = await get(`/${name}?page=${page}`)
        assert.equal(response.status, 200)
        assert.deepEqual(await envelopeOf(response), {
          item_count: size,
          _links: {
            self: { href: `${url}?page=${page}` },
            first: { href: url },
            ...(page > 1 && { prev: { href: `${url}?page=${page - 1}` } }),
            ...(page < last && { next: { href: `${url}?page=${page + 1}` } }),
            last: { href: `${url}?page=${last}` },
          },
          _embedded: {
            [name]: numbered(size)
              .slice((page - 1) * 500, page * 500)
              .map((text) => JSON.parse(text)),
          },
        })
      }
    }
  })

  test('has the headers that a client needs, and no other that could change', async (t) => {
    const { store, get } = await openService(t)
    await fill(store, 'events', numbered(3))
    const response = await get('/events')
    const body = await bytesOf(response.clone())
    const { etag, ...headers } = Object.fromEntries(response.headers)
    assert.match(etag ?? '', /^"[^"]+"$/)
    assert.deepEqual(headers, {
      'content-type': 'application/hal+json',
      'content-length': String(body.length),
      'cache-control': 'no-cache',
      vary: 'Accept, Accept-Encoding',
      'x-content-type-options': 'nosniff',
    })
  })

  test('a page beyond the last answers the bytes and headers of the last page (C7)', async (t) => {
    const { store, get } = await openService(t)
    await fill(store, 'events', numbered(1001))
    const beyond = ['4', '0004', '2147483648', '4294967297', '9007199254740993', '9'.repeat(40), '1'.padEnd(1000, '0')]
    for (const encoding of ['identity', 'gzip']) {
      const last = await get('/events?page=3', { 'accept-encoding': encoding })
      const bytes = await bytesOf(last)
      for (const page of beyond) {
        const response = await get(`/events?page=${page}`, { 'accept-encoding': encoding })
        assert.equal(response.status, 200)
        assert.deepEqual([...response.headers], [...last.headers])
        assert.deepEqual(await bytesOf(response), bytes)
      }
    }
  })

  test('no page, an empty one, 1 and 01 are the same answer (D1, D2)', async (t) => {
    const { store, get } = await openService(t)
    await fill(store, 'events', numbered(600))
    const first = await get('/events')
    const text = await first.text()
    for (const query of [
      '?page=',
      '?page',
      '?page=1',
      '?page=01',
      '?page=%31',
      '?',
      '?limit=3&size=9&Page=2&page[]=2',
    ]) {
      const response = await get(`/events${query}`)
      assert.equal(await response.text(), text, query)
      assert.deepEqual([...response.headers], [...first.headers])
    }
  })

  const invalid = [
    ['0', '0'],
    ['00', '00'],
    ['-1', '-1'],
    ['+1', '+1'],
    ['%2B1', '+1'],
    ['1.5', '1.5'],
    ['1e3', '1e3'],
    ['abc', 'abc'],
    ['%201', ' 1'],
    ['1%20', '1 '],
    ['1%00', '1\u0000'],
    ['%D9%A1', '١'],
    ['%EF%BC%91', '１'],
    ['0x10', '0x10'],
    ['1,2', '1,2'],
    ['null', 'null'],
  ] as const
  test('a value that is not a page number is a problem that names parameter and value (D3)', async (t) => {
    const { store, get } = await openService(t)
    await fill(store, 'events', numbered(3))
    for (const [sent, value] of invalid) {
      const response = await get(`/events?page=${sent}`)
      assert.equal(response.status, 400, sent)
      assert.equal(response.headers.get('content-type'), 'application/problem+json')
      assert.equal(response.headers.get('cache-control'), 'no-store')
      const problem = await problemOf(response)
      assert.equal(problem.type, `${BASE}/-/problems/invalid-page`)
      assert.ok(problem.detail.includes('"page"') && problem.detail.includes(JSON.stringify(value)), problem.detail)
    }
  })

  test('page given twice is a problem that names both values, however long they are (D3)', async (t) => {
    const { store, get } = await openService(t)
    await fill(store, 'events', numbered(3))
    const twice = await problemOf(await get('/events?page=1&page=1'))
    assert.equal(twice.status, 400)
    assert.match(twice.detail, /given 2 times: "1, 1"/)
    const long = await problemOf(await get(`/events?page=${'x'.repeat(9000)}`))
    assert.ok(long.detail.length < 200 && long.detail.includes('xxx…'))
  })

  test('an unknown collection is not found, whatever the page (D3)', async (t) => {
    const { get } = await openService(t)
    const response = await get('/nope?page=abc')
    assert.equal(response.status, 404)
    assert.match((await problemOf(response)).detail, /"nope"/)
  })

  test('items come byte for byte as they went in, each on a line of its own (D9)', async (t) => {
    const { store, get } = await openService(t)
    const items = [
      '{"id":12345678901234567890,"a":1.10,"b":1E5,"c":-0,"d":0.1e-7}',
      '{"id":"two","a":1,"a":2,"__proto__":{"x":1},"constructor":null}',
      '{"id":"ü\\u00fc😀\\ud83d\\ude00","text":"\\/ \\n \\" \u2028"}',
      '{"z":[],"id":"four","a":{},"":""}',
    ]
    await fill(store, 'events', items)
    for (const encoding of ['identity', 'gzip']) {
      const response = await get('/events', { 'accept-encoding': encoding })
      const bytes = await bytesOf(response)
      const text = encoding === 'gzip' ? gunzipSync(bytes).toString() : bytes.toString()
      assert.deepEqual(
        text.split('\n').slice(1, -2),
        items.map((item, index) => (index < 3 ? `${item},` : item)),
      )
    }
  })

  test('pages stay right while items are appended, replaced and deleted', async (t) => {
    const { store, get } = await openService(t)
    await fill(store, 'events', numbered(1200))
    await store.delete('events', ['1', '700', '1200'])
    await store.replace('events', itemRun(['{"id":2,"new":true}'], { keyField: 'id' }))
    await store.append('events', itemRun(['{"id":9999}'], { keyField: 'id' }))
    const expected = numbered(1200).filter((text) => !['{"id":1}', '{"id":700}', '{"id":1200}'].includes(text))
    expected[0] = '{"id":2,"new":true}'
    expected.push('{"id":9999}')
    const seen: unknown[] = []
    for (const page of [1, 2, 3]) {
      const plain = await bytesOf(await get(`/events?page=${page}`))
      const gzip = await bytesOf(await get(`/events?page=${page}`, { 'accept-encoding': 'gzip' }))
      assert.ok(gunzipSync(gzip).equals(plain))
      const envelope = JSON.parse(Buffer.from(plain).toString())
      assert.equal(envelope.item_count, 1198)
      seen.push(...envelope._embedded.events)
    }
    assert.deepEqual(
      seen,
      expected.map((text) => JSON.parse(text)),
    )
  })
})

describe('GET of an unpaginated collection', () => {
  test('answers whole, with self alone, whatever the page parameter (D10)', async (t) => {
    const { store, get } = await openService(t)
    await fill(store, 'venues', numbered(1100), { isPaginated: false })
    const first = await get('/venues')
    const text = await first.text()
    assert.deepEqual(JSON.parse(text), {
      _links: { self: { href: `${BASE}/venues` } },
      _embedded: { venues: numbered(1100).map((item) => JSON.parse(item)) },
    })
    for (const query of ['?page=2', '?page=0', '?page=abc', '?page=1&page=2', '?page=']) {
      const response = await get(`/venues${query}`)
      assert.equal(response.status, 200)
      assert.equal(await response.text(), text)
      assert.deepEqual([...response.headers], [...first.headers])
    }
  })

  test('an empty one is an empty array', async (t) => {
    const { store, get } = await openService(t)
    await fill(store, 'venues', [], { isPaginated: false })
    assert.deepEqual((await envelopeOf(await get('/venues')))._embedded, { venues: [] })
  })
})
