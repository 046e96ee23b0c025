import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ROUTES } from '../../../src/service/routes.ts'
import { fill, numbered, openService } from '../open-service.ts'
import { Description, partIn } from './description.ts'

/** The files that pages for browsers load: their names change with their content, and only such a page knows them. */
const NOT_OF_THE_API = /^\/-\/explorer\//

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
