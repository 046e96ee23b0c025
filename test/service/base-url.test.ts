import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createService } from '../../src/service/create-service.ts'
import { envelopeOf, fill, numbered, problemOf, sharedService } from './open-service.ts'

const DECEIT = {
  host: 'evil.example',
  forwarded: 'host=evil.example;proto=https',
  'x-forwarded-host': 'evil.example',
  'x-forwarded-proto': 'https',
  'x-forwarded-prefix': '/evil',
  'x-original-url': '/evil',
}

describe('links (D17)', () => {
  const service = sharedService((store) => fill(store, 'events', numbered(600)))
  test('begin with the base URL, whatever the headers and the URL of the request say', async () => {
    const get = service().again({ baseUrl: 'https://api.example.com' })
    const honest = await get('https://api.example.com/events')
    const text = await honest.text()
    assert.match(text, /"next":\{"href":"https:\/\/api\.example\.com\/events\?page=2"\}/)
    for (const headers of [DECEIT, { host: 'localhost:8080' }, { host: '127.0.0.1:8080' }]) {
      const response = await get('http://evil.example/events', headers)
      assert.equal(await response.text(), text)
      assert.deepEqual([...response.headers], [...honest.headers])
    }
    for (const path of ['/', '/nope', '/events?page=0', '/-/problems/invalid-page', '/-/openapi.json'])
      assert.doesNotMatch(await (await get(path, DECEIT)).text(), /evil/)
  })

  test('on loopback name the loopback host that the request names, if it is exactly ours', async () => {
    const get = service().again({ loopbackPort: 8080 })
    const firstFor = async (host: string) => (await envelopeOf(await get('/events', { host })))._links['first']?.href
    assert.equal(await firstFor('localhost:8080'), 'http://localhost:8080/events')
    assert.equal(await firstFor('[::1]:8080'), 'http://[::1]:8080/events')
    assert.equal(await firstFor('127.0.0.1:8080'), 'http://127.0.0.1:8080/events')
    for (const host of ['localhost', 'localhost:8081', 'LOCALHOST:8080', '127.0.0.1', '[::1]:9'])
      assert.equal(await firstFor(host), 'http://127.0.0.1:8080/events', host)
    const problem = await problemOf(await get('/nope', { host: 'localhost:8080' }))
    assert.equal(problem.type, 'http://localhost:8080/-/problems/collection-not-found')
  })

  test('on loopback are for no other host: a web page that was made to point here reads nothing', async () => {
    const get = service().again({ loopbackPort: 8080 })
    const hosts = ['evil.example', 'evil.example:8080', 'localhost.evil.example:8080', 'localhost:8080.evil.example']
    hosts.push('127.0.0.2:8080', '[::2]:8080', 'localhost.', '')
    for (const host of hosts)
      for (const path of ['/', '/events', '/events/1', '/-/health', '/nope']) {
        const response = await get(path, { ...DECEIT, host })
        assert.equal(response.status, 421, host)
        const { type, detail, hint } = await problemOf(response)
        assert.equal(type, 'http://127.0.0.1:8080/-/problems/misdirected-request')
        assert.equal(detail, `The request is for the host ${JSON.stringify(host)}.`)
        assert.match(hint, /--base-url/)
      }
    assert.equal((await get('/events')).status, 200, 'without a Host, as HTTP/1.0 may be')
  })

  test('on port 80 the port can be left out, and is', async () => {
    for (const host of ['localhost', 'localhost:80']) {
      const { _links } = await envelopeOf(await service().again({ loopbackPort: 80 })('/events', { host }))
      assert.equal(_links['first']?.href, 'http://localhost/events')
    }
  })
})

describe('a base URL with a path', () => {
  const service = sharedService((store) => fill(store, 'events', numbered(600)))

  test('is answered with its path and, behind a proxy that takes it off, without', async () => {
    const get = service().again({ baseUrl: 'https://example.com/api/v1/' })
    const texts = []
    for (const url of ['https://example.com/api/v1/events', 'http://10.0.0.1:8080/events']) {
      const envelope = await envelopeOf(await get(`${url}?page=2`))
      assert.equal(envelope._links['prev']?.href, 'https://example.com/api/v1/events?page=1')
      texts.push(JSON.stringify(envelope))
    }
    assert.equal(texts[0], texts[1])
    for (const url of ['https://example.com/api/v1', 'https://example.com/api/v1/', 'http://10.0.0.1:8080/'])
      assert.equal((await envelopeOf(await get(url)))._links['self']?.href, 'https://example.com/api/v1/')
    assert.equal((await get('https://example.com/api/v10/events')).status, 404)
    assert.equal((await get('https://example.com/api/events')).status, 404)
  })

  test('that is not one is refused when the service is made', () => {
    assert.throws(() => createService({ store: service().store, baseUrl: 'example.com/api' }), /not an absolute URL/)
  })
})
