import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createService } from '../../src/service/create-service.ts'
import { listen } from '../../src/service/listen.ts'
import { BASE, fill, numbered } from './open-service.ts'
import { sendRaw } from './raw-http.ts'
import { sharedWriteServer } from './write-server.ts'

const TARGETS = [
  '/',
  '/events',
  '/events?page=2',
  '/events?page=99',
  '/events?page=02',
  '/events?page=+2',
  '/events?page=%32',
  '/events?page=x',
  '/events?page=',
  '/events?page',
  '/events?page=1&page=2',
  '/events?x=1&page=2',
  '/events?page=2#there',
  '/events?page=2;x',
  '/events/1',
  '/events/%31',
  '/events/%zz',
  '/events/%2e%2e',
  '/events/..',
  '/events/../events',
  '/events/./1',
  '/events//1',
  '//events',
  '/events/',
  '/Events',
  '/%65vents',
  '/ev\\ents',
  '/events/a b',
  '/-/health',
  '/-/problems/path-not-found',
  '/-/openapi.json',
  '/-/nothing',
  '/nothing/here/at-all',
  'http://elsewhere.example/events?page=2',
  'https://127.0.0.1/events',
  '*',
  '/é',
]

const HEADERS = [
  'Accept-Encoding: gzip',
  'Accept-Encoding: gzip\r\naccept-encoding: identity;q=0.1',
  'Accept: application/json',
  'Accept: text/html, */*;q=0.1\r\nACCEPT: application/json',
  'If-None-Match: *',
  'If-None-Match:    "x"  ,  *  ',
  'Authorization: Bearer nonsense',
  'Authorization: Bearer a\r\nAuthorization: Bearer b',
  'X-Forwarded-Host: evil.example',
  'Expect: 100-continue',
]

const HOSTS = [
  '127.0.0.1',
  'localhost:80',
  'UPPER.example',
  '[::1]:8080',
  'a b',
  'x@y',
  'x/y',
  '',
  'ü.example',
  '1.2.3.4:x',
]

/** An ordinary read goes a shorter way to the service. Nobody may be able to tell. */
describe('the short way of ordinary reads', () => {
  const server = sharedWriteServer(({ store }) => fill(store, 'events', numbered(1234)), { listen: { baseUrl: BASE } })
  let long: Awaited<ReturnType<typeof listen>>
  before(async () => {
    long = await listen({ port: 0, baseUrl: BASE, fetch: createService({ store: server().store }).fetch })
  })
  after(() => long.close(0))

  async function assertSame(head: string): Promise<void> {
    const request = `${head}Connection: close\r\n\r\n`
    assert.equal(await answerAt(server().port, request), await answerAt(long.port, request), head)
  }

  async function answerAt(port: number, request: string): Promise<string> {
    return (await sendRaw(port, request)).toString('latin1').replace(/^Date: .*\r\n/im, '')
  }

  for (const method of ['GET', 'HEAD'])
    it(`answers every target as the long way does, to ${method}`, async () => {
      for (const target of TARGETS) await assertSame(`${method} ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n`)
    })

  it('answers with any headers as the long way does', async () => {
    for (const header of HEADERS)
      for (const target of ['/', '/events?page=2', '/events/7'])
        await assertSame(`GET ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n${header}\r\n`)
  })

  it('answers to any host as the long way does', async () => {
    for (const host of HOSTS) await assertSame(`GET /events?page=2 HTTP/1.1\r\nHost: ${host}\r\n`)
    await assertSame('GET /events?page=2 HTTP/1.0\r\n')
  })
})
