import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createService, type Service } from '../../../src/service/create-service.ts'
import { BASE, fill, numbered } from '../open-service.ts'
import { answersTo } from '../raw-http.ts'
import { sharedWriteServer } from '../write-server.ts'

const TARGETS = [
  ...['/', '/events', '/events?page=2', '/events?page=99', '/events?page=02', '/events?page=+2', '/events?page=%32'],
  ...['/events?page=x', '/events?page=', '/events?page', '/events?page=1&page=2', '/events?x=1&page=2'],
  ...['/events?page=2#there', '/events?page=2;x', '/events?page=%ff', '/events?a\\b', '/events%00'],
  ...['/events/1', '/events/%31', '/events/%zz', '/events/%2e%2e', '/events/..', '/events/../events', '/events/./1'],
  ...['/events//1', '//events', '/events/', '/Events', '/%65vents', '/%2e%2e/x', '/nothing/here/at-all'],
  ...['/-/health', '/-/problems/path-not-found', '/-/openapi.json', '/-/nothing'],
  ...['http://elsewhere.example/events?page=2', 'https://127.0.0.1/events'],
]

type Header = readonly [name: string, value: string]

const HEADERS: readonly (readonly Header[])[] = [
  ['Accept-Encoding: gzip'],
  ['Accept-Encoding: gzip', 'accept-encoding: identity;q=0.1'],
  ['Accept: application/json'],
  ['Accept: text/html, */*;q=0.1', 'ACCEPT: application/json'],
  ['If-None-Match:    "x"  ,  *  '],
  ['Authorization: Bearer nonsense'],
  ['Authorization: Bearer a', 'Authorization: Bearer b'],
  ['X-Forwarded-Host: evil.example'],
  ['Expect: wonders'],
].map((lines) => lines.map((line) => line.split(': ') as [string, string]))

const HOSTS = ['127.0.0.1', 'localhost:80', 'UPPER.example', '[::1]:8080', 'a_b.example', '1.2.3.4']

/** What a server that speaks `fetch` hands over, and what comes over a socket of ours, is one request to the service. */
describe('a request over a socket is answered as one from fetch', () => {
  const server = sharedWriteServer(({ store }) => fill(store, 'events', numbered(1234)), { listen: { baseUrl: BASE } })
  let service: Service | undefined

  async function assertSame(method: string, target: string, given: readonly Header[] = [], host = '127.0.0.1') {
    const headers: readonly Header[] = [['X-Request-Id', 'the-same'], ...given]
    service ??= createService({ store: server().store })
    const url = target.startsWith('/') ? `http://localhost${target}` : target
    const expected = await service.fetch(
      new Request(url, { method, headers: headers.map(([name, value]) => [name, value]) }),
    )
    const lines = [['Host', host], ...headers].map(([name, value]) => `${name}: ${value}\r\n`)
    const text = `${method} ${target} HTTP/1.1\r\n${lines.join('')}`
    // Where the connection stays open, a page is sent in another way.
    const twice = `${text}\r\n${text}Connection: close\r\n\r\n`
    const answers = await answersTo(server().port, twice, { isHead: method === 'HEAD' })
    assert.equal(answers.length, 2, target)
    const body = Buffer.from(await expected.arrayBuffer())
    for (const answer of answers) {
      assert.equal(answer.status, expected.status, target)
      for (const name of [...expected.headers.keys(), 'content-length'])
        assert.equal(answer.headers.get(name), expected.headers.get(name) ?? undefined, `${target} ${name}`)
      assert.deepEqual(answer.body, body, target)
    }
  }

  for (const method of ['GET', 'HEAD', 'PROPFIND', 'QUERY'])
    it(`to every target, with ${method}`, async () => {
      for (const target of TARGETS) await assertSame(method, target)
    })

  it('with any headers', async () => {
    for (const headers of HEADERS)
      for (const target of ['/', '/events?page=2', '/events/7']) await assertSame('GET', target, headers)
  })

  it('for any host, where the base URL is set', async () => {
    for (const host of HOSTS) await assertSame('GET', '/events?page=2', [], host)
  })
})
