import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { ForbiddenOrigin, HttpError } from '../../src/client/index.ts'
import { CorrectServer, type Links } from '../check/correct-server.ts'
import { type Listening, serve } from '../check/hostile-servers.ts'
import { countItems, distorted, EVENTS, inProcess, relinked } from './hostile-server.ts'

const secrets = { token: 'reams_secret', headers: { 'X-Api-Key': 'secret', Cookie: 'session=secret' } }

function assertForbidden(error: unknown, target: string | undefined): true {
  assert.ok(error instanceof ForbiddenOrigin, String(error))
  assert.equal(error.target, target)
  return true
}

/** Redirects every request there. The page that was asked for goes along. */
function redirectTo(t: TestContext, target: () => string, status = 302): Promise<Listening> {
  return serve(t, (request, response, answerRight) => {
    const { pathname, search } = new URL(request.url ?? '/', 'http://localhost')
    if (pathname === '/events') return answerRight()
    response.writeHead(status, { Location: target() + search }).end()
  })
}

describe('a link to another origin', () => {
  const targets = [
    'http://evil.example/events?page=2',
    'https://events.example/events?page=2',
    'http://events.example:8080/events?page=2',
    'http://events.example@evil.example/events?page=2',
    '//evil.example/events?page=2',
    'file:///etc/passwd?page=2',
    'javascript:alert(1)',
    'data:application/json,{}',
    'blob:http://events.example/0',
  ]
  for (const href of targets)
    it(`is refused: ${href}`, async () => {
      const advice = /^(http|\/\/)/.test(href)
        ? 'That is not the origin http://events.example; the option allowedOrigins allows it'
        : 'Only http: and https: are supported'
      for (const relation of ['first', 'next', 'last']) {
        const distort = (envelope: Links) => relinked(envelope, { [relation]: { href } })
        const { fetch, requests } = distorted(distort)
        await assert.rejects(countItems(EVENTS, { fetch, ...secrets }), (error: Error) => {
          assertForbidden(error, new URL(href, EVENTS).href)
          const where = `the link ${relation} leads to ${new URL(href, EVENTS).protocol}.*`
          assert.match(error.message, new RegExp(`^Another origin: GET .*page=1 – ${where}\\. ${advice}\\.$`))
          assert.equal((error as ForbiddenOrigin).status, 200)
          return true
        })
        const found = requests.map(({ url }) => new URL(url).origin)
        assert.deepEqual(found, ['http://events.example'])
      }
    })

  it('is refused in a collection without pages too', async () => {
    const distort = (envelope: Links) => relinked(envelope, { next: { href: 'http://evil.example/' } })
    const { fetch } = distorted(distort, { isPaginated: false, items: 3 })
    await assert.rejects(countItems(EVENTS, { fetch }), ForbiddenOrigin)
  })

  it('is read where it is allowed, and nobody is asked there', async () => {
    const distort = (envelope: Links) =>
      JSON.parse(JSON.stringify(envelope).replaceAll('http://events.example', 'http://10.0.0.7:8080/internal'))
    const { fetch, requests } = distorted(distort)
    assert.equal(await countItems(EVENTS, { fetch, allowedOrigins: ['http://10.0.0.7:8080'] }), 1001)
    assert.deepEqual([...new Set(requests.map(({ url }) => new URL(url).origin))], ['http://events.example'])
  })

  it('does not matter where it is none of the page links', async () => {
    const distort = (envelope: Links) => relinked(envelope, { help: { href: 'https://help.example/' } })
    assert.equal(await countItems(EVENTS, distorted(distort)), 1001)
  })
})

describe('a redirect', () => {
  for (const status of [301, 302, 303, 307, 308])
    it(`is followed on the same origin, with all that the request had: ${status}`, async (t) => {
      const { origin, seen } = await redirectTo(t, () => '/events', status)
      assert.equal(await countItems(`${origin}/old`, secrets), 501)
      assert.ok(seen.length > 0)
      for (const { headers } of seen) assert.equal(headers.authorization, 'Bearer reams_secret')
    })

  it('is not followed to another origin: nothing is sent there', async (t) => {
    const other = await serve(t, (_request, _response, answerRight) => answerRight())
    const { origin, seen } = await redirectTo(t, () => other.url)
    await assert.rejects(countItems(`${origin}/old`, secrets), (error: Error) => {
      assertForbidden(error, `${other.url}?page=1`)
      assert.equal((error as ForbiddenOrigin).status, 302)
      return /– a redirect leads to http/.test(error.message)
    })
    assert.deepEqual([seen.length, other.seen.length], [1, 0])
  })

  it('is not followed to a file', async (t) => {
    const { origin } = await redirectTo(t, () => 'file:///etc/passwd')
    await assert.rejects(countItems(`${origin}/old`, secrets), (error) =>
      assertForbidden(error, 'file:///etc/passwd?page=1'),
    )
  })

  it('is not followed back from where it may go to where it may not', async (t) => {
    const { origin, seen } = await redirectTo(t, () => (seen.length < 3 ? '/older' : 'http://evil.example/'))
    await assert.rejects(countItems(`${origin}/old`, secrets), ForbiddenOrigin)
    assert.equal(seen.length, 3)
  })

  it('is followed to an origin that is allowed, but neither token nor headers go there', async (t) => {
    const other = await serve(t, (_request, _response, answerRight) => answerRight())
    const { origin } = await redirectTo(t, () => other.url)
    assert.equal(await countItems(`${origin}/old`, { ...secrets, allowedOrigins: [other.origin] }), 501)
    assert.ok(other.seen.length > 0)
    for (const { headers } of other.seen) assert.doesNotMatch(JSON.stringify(headers), /secret/)
    assert.match(other.seen[0]?.headers.accept ?? '', /application\/hal\+json/)
  })

  it('in a circle ends', async (t) => {
    const { origin, seen } = await redirectTo(t, () => '/old')
    await assert.rejects(countItems(`${origin}/old`, {}), (error) => {
      assert.ok(error instanceof HttpError && error.status === 302)
      return /page=1 – It redirects to \/old\?page=1, which is not followed\.$/.test(error.message)
    })
    assert.equal(seen.length, 6)
  })

  it('to nowhere, or with a password, is an error', async (t) => {
    for (const userInfo of [undefined, 'name:password@']) {
      const { url } = await serve(t, ({ headers }, response) => {
        const location = userInfo === undefined ? 'http://' : `http://${userInfo}${headers.host}/events`
        response.writeHead(302, { Location: location }).end()
      })
      await assert.rejects(countItems(url, {}), (error) => error instanceof HttpError && error.status === 302)
    }
  })

  it('that a browser hides is refused', async () => {
    const fetch = async () => Object.defineProperty(new Response(null), 'type', { value: 'opaqueredirect' })
    await assert.rejects(countItems(EVENTS, { fetch }), (error: Error) => {
      assertForbidden(error, undefined)
      return /a redirect leads to an address that the browser does not reveal\. Use that address instead\.$/.test(
        error.message,
      )
    })
  })

  it('that was followed without being asked is noticed', async () => {
    const followed = (url: string) => async (request: Request) => {
      const response = await inProcess(new CorrectServer({ items: 3 })).fetch(request)
      return Object.defineProperties(response, { redirected: { value: true }, url: { value: url } })
    }
    await assert.rejects(countItems(EVENTS, { fetch: followed('http://evil.example/events') }), ForbiddenOrigin)
    assert.equal(await countItems(EVENTS, { fetch: followed(`${EVENTS}/elsewhere`) }), 3)
  })
})
