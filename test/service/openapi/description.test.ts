import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { formatTag, stateOf } from '../../../src/contract/state-tag.ts'
import { DEFAULT_LIMITS } from '../../../src/service/limits.ts'
import { describeService } from '../../../src/service/openapi/describe-service.ts'
import { ROUTES } from '../../../src/service/routes.ts'
import { fill, numbered, openService } from '../open-service.ts'
import { startWriteServer, type WriteServer } from '../write-server.ts'
import { Description, type Part, partIn } from './description.ts'

/**
 * The files that pages for browsers load: their names change with their content, and only such a page knows them.
 * And the items of a snapshot, which have no address: that route only says so.
 */
const NOT_OF_THE_API = /^\/-\/explorer\/|@:tag.*\/:key$/

/** `GET /{collection}`, and HEAD and OPTIONS, which every route has. */
function routedOperations(): string[] {
  return ROUTES.filter(({ path }) => !NOT_OF_THE_API.test(path)).flatMap(({ path, methods }) =>
    [...Object.keys(methods), 'HEAD', 'OPTIONS'].map(
      (method) => `${method} ${path.replace(/:(\w+)(\{.*?\})?/g, '{$1}')}`,
    ),
  )
}

describe('the description, beside the routes', () => {
  it('has every path with every method, and no other', async (t) => {
    const { get } = await openService(t)
    const { operations } = new Description(await (await get('/-/openapi.json')).text())
    const described = operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`)
    assert.deepEqual(described.toSorted(), routedOperations().toSorted())
  })

  it('has for each collection the paths that it has, with the methods of the route', async (t) => {
    const { store, get } = await openService(t)
    await fill(store, 'events', numbered(3))
    await fill(store, 'drafts', [], { keyField: null })
    await fill(store, 'secret', numbered(3), { isPrivate: true })
    const description = new Description(await (await get('/-/openapi.json')).text())
    const own = description.paths.filter((path) => /^\/[a-z]/.test(path))
    assert.deepEqual(own.toSorted(), ['/drafts', '/events', '/events/{key}'])
    for (const path of own) {
      const like = path.includes('{key}') ? '/{collection}/{key}' : '/{collection}'
      const methodsOf = (each: string) =>
        description.operations.filter((operation) => operation.path === each).map(({ method }) => method)
      assert.deepEqual(methodsOf(path), methodsOf(like))
    }
  })
})

describe('the description', () => {
  it('names the base URL as its server', async (t) => {
    const get = (await openService(t)).again({ baseUrl: 'https://api.reams.test/v1' })
    const { document } = new Description(await (await get('/v1/-/openapi.json')).text())
    assert.deepEqual(document['servers'], [{ url: 'https://api.reams.test/v1' }])
  })

  it('has no HTML where there is no explorer', async (t) => {
    const service = await openService(t)
    await fill(service.store, 'events', numbered(3))
    const read = async (explorer: boolean) => await (await service.again({ explorer })('/-/openapi.json')).text()
    assert.match(await read(true), /text\/html/)
    assert.doesNotMatch(await read(false), /text\/html|To a browser|Content-Security-Policy/)
  })

  it('has a tag, and 304 for a client that has it; it stays the same while items are written', async (t) => {
    const { store, get } = await openService(t)
    await fill(store, 'events', numbered(3))
    const first = await get('/-/openapi.json')
    assert.equal(first.headers.get('content-type'), 'application/json')
    const tag = first.headers.get('etag') ?? ''
    await store.delete('events', ['2'])
    assert.equal((await get('/-/openapi.json', { 'If-None-Match': tag })).status, 304)
    await fill(store, 'venues', [])
    assert.equal((await get('/-/openapi.json', { 'If-None-Match': tag })).status, 200)
  })

  it('has paths for the first 50 collections, and says that there are more', async (t) => {
    const { store, get } = await openService(t)
    const read = async () => new Description(await (await get('/-/openapi.json')).text())
    const names = Array.from({ length: 52 }, (_, index) => `c${String(index).padStart(2, '0')}`)
    for (const name of names.slice(0, 50)) await store.create(name)
    const introduction = ({ document }: Description) => String(partIn(document, 'info')['description'])
    assert.doesNotMatch(introduction(await read()), /of their own/)
    for (const name of names.slice(50)) await store.create(name)
    const description = await read()
    assert.match(introduction(description), /The first 50 collections .* the other 2 /)
    assert.ok(description.paths.includes('/c49') && !description.paths.includes('/c50'))
    assert.equal(description.pathOf('/c50'), '/{collection}')
  })
})

/** What each operation asks for: scopes, or undefined where nobody needs a token. */
function scopesOf(operation: Part): string[] | undefined {
  const [first = {}] = operation['security'] as { readonly token?: string[] }[]
  return first.token
}

/** A request that would be right, if only the caller may. */
function requestOf(
  path: string,
  method: string,
  isPrivate: boolean,
  tag: string,
): [path: string, body: string | undefined] {
  const target = path
    .replace('{problem}', 'conflict')
    .replace('{collection}', 'events')
    .replace('{key}', '1')
    .replace('{tag}', tag)
  const settings = `{"key":"id","private":${isPrivate}}`
  const put = target.endsWith('/1') ? '{"id":1}' : settings
  const bodies: Readonly<Record<string, string>> = { put, post: '{"id":3}', patch: '{"op":"put","item":{"id":3}}' }
  return [target, bodies[method]]
}

async function refill({ store }: WriteServer): Promise<void> {
  for (const { name } of await store.collections()) await store.drop(name)
  await fill(store, 'events', numbered(2))
  await fill(store, 'secret', numbered(2), { isPrivate: true })
}

describe('the security that the description names', () => {
  for (const requireToken of [false, true])
    it(`is what the service asks for, ${requireToken ? 'where everybody needs a token' : 'where reads are open'}`, async (t) => {
      const server = await startWriteServer(t, { requireToken })
      const { ask, tokenOf, store } = server
      await refill(server)
      const { operations } = new Description((await ask('GET', '/-/openapi.json')).text)
      for (const { path, method, operation } of operations) {
        const id = `${method} ${path}`
        const scopes = scopesOf(operation)?.map((scope) => scope.replace('{collection}', 'events'))
        const tag = formatTag(stateOf((await store.head('events')) ?? assert.fail()))
        const [target, body] = requestOf(path, method, path.startsWith('/secret'), tag)
        const type = method === 'patch' ? { 'Content-Type': 'application/x-ndjson' } : {}
        const send = async (headers: { Authorization: string }) =>
          (await ask(method.toUpperCase(), target, body, { ...headers, ...type, 'If-Match': '*' })).status
        const alone = await send({ Authorization: '' })
        if (scopes === undefined) assert.ok(alone < 400, `${id}: ${alone} without a token`)
        else assert.ok(alone === 401 || alone === 404, `${id}: ${alone} without a token`)
        const allowed = await send(await tokenOf(scopes ?? []))
        assert.ok(allowed < 400, `${id}: ${allowed} with ${scopes}`)
        if (scopes?.some((scope) => /^(write|create)/.test(scope))) await refill(server)
      }
    })
})

/** Rules of the linter that do not fit, each with the reason. */
const LEFT_OUT = {
  // The licence of the data is known to whoever runs the service, not to the service.
  'info-license': 'off',
  // It looks at no patterns: a collection has no `@` in its name, so its path is none of a snapshot.
  'no-ambiguous-paths': 'off',
} as const

async function flawsIn(source: string): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'], rules: LEFT_OUT })
  const found = await lintFromString({ source, config })
  return found.map(
    ({ severity, ruleId, message, location: [at] }) => `${severity} ${ruleId}: ${message} ${at?.pointer ?? ''}`,
  )
}

describe('the description, by a linter', () => {
  it('has no errors and no warnings: with collections of every kind, and with names that are hard to tell apart', async (t) => {
    const { store, get } = await openService(t)
    await fill(store, 'events', numbered(3))
    await fill(store, 'venues', numbered(3), { isPaginated: false })
    for (const name of ['events.page', 'events.item', 'events-page', 'any', 'service', 'item', '7', 'constructor'])
      await fill(store, name, [], { keyField: null })
    for (const [index, keyField] of ['__proto__', '$ref', '<b>', 'a/b~c', 'ключ'].entries())
      await fill(store, `key.${index}`, [], { keyField })
    assert.deepEqual(await flawsIn(await (await get('/-/openapi.json')).text()), [])
  })

  it('has none without any collection, with another base URL, where everybody needs a token, and without an explorer', async () => {
    const baseUrl = 'https://api.reams.test/v1'
    const instance = {
      baseUrl,
      requiresToken: true,
      createsOnWrite: true,
      limits: DEFAULT_LIMITS,
      rateLimits: {},
      collections: [],
      others: 3,
    }
    for (const hasExplorer of [true, false])
      assert.deepEqual(await flawsIn(JSON.stringify(describeService({ ...instance, hasExplorer }))), [])
  })

  it('has none with limits for reads, for writes and for both; health has no limit', async () => {
    const access = { requiresToken: false, createsOnWrite: false }
    const instance = { baseUrl: 'https://a.example', ...access, hasExplorer: true, limits: DEFAULT_LIMITS }
    const limit = { requests: 20, seconds: 60 }
    for (const [rateLimits, said, isRead, isWritten] of [
      [{ reads: limit }, '20 reads per minute.', true, false],
      [{ writes: limit }, '20 writes per minute.', false, true],
      [{ reads: limit, writes: limit }, '20 reads per minute and 20 writes per minute.', true, true],
    ] as const) {
      const text = JSON.stringify(describeService({ ...instance, rateLimits, collections: [], others: 0 }))
      assert.deepEqual(await flawsIn(text), [])
      assert.ok(text.includes(`may send ${said}`), said)
      const description = new Description(text)
      const isLimited = (method: string, target: string) =>
        description.problemsOf(description.operationOf(method, target)).includes('rate-limited')
      for (const method of ['GET', 'HEAD', 'OPTIONS']) assert.equal(isLimited(method, '/events'), isRead)
      for (const method of ['POST', 'PUT', 'DELETE']) assert.equal(isLimited(method, '/events'), isWritten)
      for (const method of ['GET', 'HEAD', 'OPTIONS']) assert.equal(isLimited(method, '/-/health'), false)
    }
  })

  it('is really judged: what is wrong is found', async (t) => {
    const { get } = await openService(t)
    const source = await (await get('/-/openapi.json')).text()
    assert.match(
      (await flawsIn(source.replace('"operationId":"readEntry"', '"operationId":"readHealth"'))).join(),
      /unique/,
    )
    assert.match((await flawsIn(source.replaceAll('"href":"', '"hrev":"'))).join(), /no-invalid-media-type-examples/)
  })
})
