import assert from 'node:assert/strict'
import { hash, randomBytes } from 'node:crypto'
import { describe, it, type TestContext } from 'node:test'
import { envelopeOf, fill, numbered, openService, problemOf } from './open-service.ts'

const DAY_MS = 86_400_000

async function openGuarded(t: TestContext) {
  const service = await openService(t)
  await fill(service.store, 'open', numbered(3))
  await fill(service.store, 'secret', numbered(501), { isPrivate: true })
  const add = async (
    name: string,
    scopes: readonly string[],
    change: { expiresAt?: number; revokedAt?: number } = {},
  ) => {
    const token = `reams_${randomBytes(32).toString('base64url')}`
    const record = { name, hash: hash('sha256', token, 'hex'), scopes, createdAt: 0, expiresAt: null, revokedAt: null }
    await service.store.addToken({ ...record, ...change })
    return { Authorization: `Bearer ${token}` }
  }
  return { ...service, add }
}

/** Every path that shows data of a collection. */
const pathsOf = (name: string) => [`/${name}`, `/${name}?page=2`, `/${name}/1`]

describe('who may read', () => {
  it('follows the table, on every path', async (t) => {
    const { get, again, add } = await openGuarded(t)
    const guarded = again({ requireToken: true })
    const callers: [who: string, ask: typeof get, headers: Record<string, string>, expected: string][] = [
      ['malformed', get, { Authorization: 'Bearer x' }, '401 401 401'],
      ['basic', get, { Authorization: 'Basic abc' }, '401 401 401'],
      ['unknown', get, { Authorization: `Bearer reams_${'A'.repeat(43)}` }, '401 401 401'],
      ['expired', get, await add('expired', ['admin'], { expiresAt: Date.now() - 1 }), '401 401 401'],
      ['revoked', get, await add('revoked', ['admin'], { revokedAt: Date.now() - DAY_MS }), '401 401 401'],
      ['nobody', get, {}, '200 404 404'],
      ['nobody where tokens are required', guarded, {}, '401 401 401'],
      ['a scope on another', get, await add('other', ['read:open']), '200 404 404'],
      ['no scope where tokens are required', guarded, await add('none', []), '200 404 404'],
      ['read', get, await add('reader', ['read:secret'], { expiresAt: Date.now() + DAY_MS }), '200 200 404'],
      ['write', get, await add('writer', ['write:secret']), '200 200 404'],
      ['create', get, await add('creator', ['create:*']), '200 200 404'],
      ['admin', get, await add('admin', ['admin']), '200 200 404'],
    ]
    for (const [who, ask, headers, expected] of callers)
      for (const index of [0, 1, 2]) {
        const paths = ['open', 'secret', 'nothing'].map((name) => pathsOf(name)[index] ?? '')
        for (const method of ['GET', 'HEAD']) {
          const answers = await Promise.all(paths.map((path) => ask(path, headers, method)))
          assert.equal(answers.map(({ status }) => status).join(' '), expected, `${who}: ${method} ${paths.join(' ')}`)
          for (const { status, headers: own } of answers)
            assert.equal(own.get('www-authenticate'), status === 401 ? 'Bearer' : null)
        }
      }
  })

  it('shows a private collection as one that does not exist', async (t) => {
    const { get } = await openGuarded(t)
    const [secret, nothing] = await Promise.all(['/secret', '/nothing'].map((path) => get(path)))
    const text = async (response: Response | undefined) => (await response?.text())?.replaceAll('nothing', 'secret')
    assert.equal(await text(secret), await text(nothing))
    assert.deepEqual([...(secret?.headers ?? [])].length, [...(nothing?.headers ?? [])].length)
  })

  it('lists at the entry point what the caller may read', async (t) => {
    const { get, add } = await openGuarded(t)
    const names = async (headers: Record<string, string> = {}) =>
      (await envelopeOf(await get('/', headers)))._embedded['collections']?.map(
        (each) => (each as { name: string }).name,
      )
    assert.deepEqual(await names(), ['open'])
    assert.deepEqual(await names(await add('reader', ['read:secret'])), ['open', 'secret'])
  })

  it('keeps what only some may read out of caches that many share, 304 included', async (t) => {
    const { get, again, add } = await openGuarded(t)
    const headers = await add('reader', ['read:secret'])
    const answer = await get('/secret', headers)
    assert.equal(answer.headers.get('cache-control'), 'private, no-cache')
    const known = await get('/secret', { ...headers, 'If-None-Match': answer.headers.get('etag') ?? '' })
    assert.deepEqual([known.status, known.headers.get('cache-control')], [304, 'private, no-cache'])
    assert.equal((await get('/open', headers)).headers.get('cache-control'), 'no-cache')
    const guarded = await again({ requireToken: true })('/open', headers)
    assert.equal(guarded.headers.get('cache-control'), 'private, no-cache')
    assert.equal((await get('/', headers)).headers.get('cache-control'), 'private, no-cache')
  })

  it('leaves health and problems open to everybody, but for a bad token', async (t) => {
    const { again } = await openGuarded(t)
    const get = again({ requireToken: true })
    for (const path of ['/-/health', '/-/problems/unauthorized']) {
      assert.equal((await get(path)).status, 200)
      assert.equal((await get(path, { Authorization: 'Bearer x' })).status, 401)
    }
    for (const path of ['/', '/-/nothing', '/open/1/2']) assert.equal((await get(path)).status, 401)
    assert.equal((await get('/open', {}, 'POST')).status, 401)
  })

  it('takes a token from the header alone', async (t) => {
    const { get, add } = await openGuarded(t)
    const { Authorization } = await add('reader', ['read:secret'])
    assert.equal(
      (await get(`/secret?token=${Authorization.slice(7)}&access_token=${Authorization.slice(7)}`)).status,
      404,
    )
  })

  it('refuses a token from the request on that follows its revocation', async (t) => {
    const { get, store, add } = await openGuarded(t)
    const headers = await add('reader', ['read:secret'])
    assert.equal((await get('/secret', headers)).status, 200)
    await store.revokeToken('reader', Date.now())
    const { status, detail } = await problemOf(await get('/secret', headers))
    assert.deepEqual([status, detail], [401, 'The token is not valid.'])
  })
})
