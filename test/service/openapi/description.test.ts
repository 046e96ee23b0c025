import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import type { ServiceOptions } from '../../../src/service/create-service.ts'
import { DEFAULT_LIMITS } from '../../../src/service/limits.ts'
import { describeService } from '../../../src/service/openapi/describe-service.ts'
import type { RateLimits } from '../../../src/service/rate-limit.ts'
import { ROUTES } from '../../../src/service/routes.ts'
import { fill, numbered, openService, sharedService } from '../open-service.ts'
import { Description, partIn } from './description.ts'

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

describe('the description', () => {
  const service = sharedService(async (store) => {
    await fill(store, 'drafts', [], { keyField: null })
    await fill(store, 'events', numbered(3))
    await fill(store, 'secret', numbered(3), { isPrivate: true })
  })
  const read = async (options: Partial<ServiceOptions> = {}) =>
    (await service().again(options)('/-/openapi.json')).text()

  it('has every path with every method of the routes, and the same for each collection', async () => {
    const { paths, operations } = new Description(await read())
    const described = operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`)
    const isOwn = (text: string) => /(^| )\/[a-z]/.test(text)
    assert.deepEqual(described.filter((each) => !isOwn(each)).toSorted(), routedOperations().toSorted())
    assert.deepEqual(paths.filter(isOwn).toSorted(), ['/drafts', '/events', '/events/{key}'])
    for (const own of paths.filter(isOwn)) {
      const like = own.includes('{key}') ? '/{collection}/{key}' : '/{collection}'
      const methodsOf = (path: string) => operations.filter((each) => each.path === path).map(({ method }) => method)
      assert.deepEqual(methodsOf(own), methodsOf(like))
    }
  })

  it('names the base URL as its server', async () => {
    const url = 'https://api.reams.test/v1'
    assert.deepEqual(new Description(await read({ baseUrl: url })).document['servers'], [{ url }])
  })

  it('has no HTML where there is no explorer', async () => {
    assert.match(await read(), /text\/html/)
    assert.doesNotMatch(await read({ explorer: false }), /text\/html|To a browser|Content-Security-Policy/)
  })

  it('has a tag, and 304 for a client that has it; it stays the same while items are written', async () => {
    const { store, get } = service()
    const { headers } = await get('/-/openapi.json')
    assert.equal(headers.get('content-type'), 'application/json')
    const statusNow = async () => (await get('/-/openapi.json', { 'If-None-Match': headers.get('etag') ?? '' })).status
    await store.delete('events', ['2'])
    assert.equal(await statusNow(), 304)
    await fill(store, 'venues', [])
    assert.equal(await statusNow(), 200)
  })

  it('has paths for the first 50 collections, and says that there are more', async () => {
    const { store } = service()
    const introduction = ({ document }: Description) => String(partIn(document, 'info')['description'])
    const names = Array.from({ length: 50 }, (_, index) => `c${String(index).padStart(2, '0')}`)
    for (const name of names.slice(0, 47)) await store.create(name)
    assert.doesNotMatch(introduction(new Description(await read())), /of their own/)
    for (const name of names.slice(47)) await store.create(name)
    const description = new Description(await read())
    assert.match(introduction(description), /The first 50 collections .* the other 3 /)
    assert.ok(description.paths.includes('/c49') && !description.paths.includes('/events'))
    assert.equal(description.pathOf('/events'), '/{collection}')
  })
})

/** A service as it is described. */
const INSTANCE = { baseUrl: 'https://api.reams.test/v1', requiresToken: false, createsOnWrite: false, others: 0 }
const DESCRIBED = { ...INSTANCE, hasExplorer: true, limits: DEFAULT_LIMITS, rateLimits: {}, collections: [] }

/** The scopes that an operation needs by D19, or undefined where nobody needs a token. That the service asks for them is tested with the table of D19. */
function scopesFor(path: string, method: string, requiresToken: boolean): string[] | undefined {
  const [, name] = path.split('/')
  if (`${method} ${path}` === 'put /{collection}') return [`create:${name}`]
  if (['post', 'patch', 'put', 'delete'].includes(method)) return [`write:${name}`]
  if (name === 'secret' && method !== 'options') return [`read:${name}`]
  return requiresToken && !/^\/-\/(health|problems)/.test(path) ? [] : undefined
}

for (const requiresToken of [false, true])
  it(`the security that the description names is that of D19, ${requiresToken ? 'where everybody needs a token' : 'where reads are open'}`, () => {
    const collections = ['events', 'secret'].map((name) => {
      return { name, keyField: 'id', isPaginated: true, isPrivate: name === 'secret' }
    })
    const text = JSON.stringify(describeService({ ...DESCRIBED, collections, requiresToken }))
    const { operations } = new Description(text)
    for (const { path, method, operation } of operations) {
      const scopes = scopesFor(path, method, requiresToken)
      const expected = scopes === undefined ? [{}, { token: [] }] : [{ token: scopes }]
      assert.deepEqual(operation['security'], expected, `${method} ${path}`)
    }
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

  const limit = { requests: 20, seconds: 60 }
  for (const [what, said, rateLimits] of [
    ['reads, with no collection and no explorer', '20 reads per minute.', { reads: limit }],
    ['writes', '20 writes per minute.', { writes: limit }],
    [
      'both, where everybody needs a token',
      '20 reads per minute and 20 writes per minute.',
      { reads: limit, writes: limit },
    ],
  ] satisfies [string, string, RateLimits][])
    it(`has none with limits for ${what}; health has no limit`, async () => {
      const [requiresToken, hasExplorer] = [what.startsWith('both'), !what.includes('no explorer')]
      const instance = { ...DESCRIBED, requiresToken, createsOnWrite: requiresToken, hasExplorer, others: 3 }
      const text = JSON.stringify(describeService({ ...instance, rateLimits }))
      // A run of the linter takes long. The description for writes alone has nothing that the others have not.
      if (what !== 'writes') assert.deepEqual(await flawsIn(text), [])
      assert.ok(text.includes(`may send ${said}`), said)
      const description = new Description(text)
      const isLimited = (method: string, target: string) =>
        description.problemsOf(description.operationOf(method, target)).includes('rate-limited')
      for (const method of ['GET', 'HEAD', 'OPTIONS'])
        assert.deepEqual(
          [isLimited(method, '/events'), isLimited(method, '/-/health')],
          [rateLimits.reads !== undefined, false],
        )
      for (const method of ['POST', 'PUT', 'DELETE'])
        assert.equal(isLimited(method, '/events'), rateLimits.writes !== undefined)
    })

  it('is really judged: what is wrong is found', async (t) => {
    const { get } = await openService(t)
    const source = await (await get('/-/openapi.json')).text()
    const wrong = source.replace('"operationId":"readEntry"', '"operationId":"readHealth"')
    const flaws = (await flawsIn(wrong.replaceAll('"href":"', '"hrev":"'))).join()
    for (const flaw of [/unique/, /no-invalid-media-type-examples/]) assert.match(flaws, flaw)
  })
})
