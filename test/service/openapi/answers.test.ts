import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { snapshotPath } from '../../../src/contract/link.ts'
import { PROBLEMS } from '../../../src/contract/problem.ts'
import { stateOf } from '../../../src/contract/state-tag.ts'
import { createService, type ServiceOptions } from '../../../src/service/create-service.ts'
import { type ListenOptions, listen } from '../../../src/service/node/listen.ts'
import type { Store } from '../../../src/store/store.ts'
import { StoreError } from '../../../src/store/store-error.ts'
import { keyed } from '../../store/items.ts'
import { interposed, mirror } from '../altered-store.ts'
import { BASE, BROWSER, fill, numbered } from '../open-service.ts'
import { answersTo, openSocket } from '../raw-http.ts'
import {
  type Answer,
  type Content,
  GZIP,
  type Headers,
  JSON_TYPE,
  NDJSON,
  NOBODY,
  sharedWriteServer,
} from '../write-server.ts'
import { type Described, Description, type Part, partIn } from './description.ts'

const LIMIT = { requests: 100, seconds: 1 }
/** Lets everything pass, or nothing. */
const counting = (requests: number) => () => ({ count: async () => ({ requests, resetMs: 1_000 }) })
const LIMITED = {
  limits: { bodyBytes: 20_000, itemBytes: 20_000, requestItems: 100 },
  rateLimits: { reads: LIMIT, writes: LIMIT },
  createRateCounter: counting(1),
}

/** `events` has paths of its own in the description; `later` is made afterwards, and the paths with parameters stand for it. */
const COLLECTIONS = ['events', 'later']
/** `TAG` stands for the tag of the collection's first state that is kept, `OLD` for one before. */
const PATHS = [
  ...['/', '/-/health', '/-/openapi.json', '/-/problems/conflict', '/-/json/events', '/-/json/events/7'],
  ...COLLECTIONS.flatMap((name) => [`/${name}`, `/${name}/7`]),
  ...['/later@TAG', '/later@TAG..', '/-/json/events@TAG', '/-/json/events@TAG..'],
]

/** Every operation, as a request that would be right. */
const EVERY = PATHS.flatMap((path) => methodsOf(path).map((method) => [method, path, bodyFor(method, path)] as const))

function methodsOf(path: string): string[] {
  const reads = ['GET', 'HEAD', 'OPTIONS']
  if (path === '/' || path.startsWith('/-/') || path.includes('@')) return reads
  return path.endsWith('/7') ? [...reads, 'PUT', 'DELETE'] : [...reads, 'POST', 'PATCH', 'PUT', 'DELETE']
}

function bodyFor(method: string, path: string): string | undefined {
  if (method === 'POST') return '{"id":900}'
  if (method === 'PATCH') return '{"op":"put","item":{"id":900}}'
  if (method !== 'PUT') return undefined
  return path.endsWith('/7') ? '{"id":7,"title":"Dance: Gardens"}' : '{"key":"id"}'
}

/** Changes are sent as lines, whatever is sent elsewhere. */
function typed(method: string, headers: Headers = {}): Headers {
  return method === 'PATCH' ? { ...NDJSON, ...headers } : headers
}

function describedOf({ status, headers, text }: Answer): Described {
  return { status, text, headers: new Map(Object.entries(headers).map(([name, value]) => [name, String(value)])) }
}

type Wrong = readonly [problem: string, method: string, path: string, body?: string | undefined, headers?: Headers]

describe('the description, beside what is really answered', () => {
  const server = sharedWriteServer(
    async ({ store }) => {
      const items = [...numbered(500), '{"id":501,"title":"Dance: Gardens"}', '{"id":502,"title":"Dance: Gardens"}']
      await fill(store, 'events', items)
      await fill(store, 'plain', numbered(3), { keyField: null })
      await fill(store, 'secret', numbered(3), { isPrivate: true })
      await fill(store, 'venues', numbered(3), { isPaginated: false })
    },
    { ...LIMITED, listen: { baseUrl: BASE } },
  )
  let witness: Description
  const tags = new Map<string, string>()

  before(async () => {
    const { ask, store } = server()
    witness = new Description((await ask('GET', '/-/openapi.json')).text)
    await fill(store, 'later', numbered(502))
    const note = async (name: string, tag: string) =>
      tags.set(`${name}@${tag}`, snapshotPath(name, stateOf((await store.head(name)) ?? assert.fail())))
    for (const name of COLLECTIONS) {
      await note(name, 'OLD')
      await store.put(name, keyed(['{"id":7}']))
      await store.forget(name)
      await note(name, 'TAG')
    }
  })

  /** A path with its tag. */
  function tagged(path: string): string {
    return path.replace(/\w+@(TAG|OLD)/, (place) => tags.get(place) ?? place)
  }

  /** Asks, and fails unless the answer is described and is the one expected. What is read is also asked for with HEAD. */
  async function expect(expected: number | string, method: string, target: string, body?: Content, headers?: Headers) {
    const answer = await server().ask(method, tagged(target), body, typed(method, headers))
    assert.equal(typeof expected === 'number' ? answer.status : nameOf(answer), expected, `${method} ${target}`)
    witness.see(method, target, describedOf(answer))
    if (method !== 'GET') return answer
    const head = await server().ask('HEAD', tagged(target), undefined, headers)
    assert.equal(head.status, answer.status)
    // The body that a HEAD leaves out says which problem it is.
    witness.see('HEAD', target, describedOf({ ...head, text: answer.text }))
    return answer
  }

  function nameOf({ text }: Answer): string {
    return JSON.parse(text).type.split('/').at(-1)
  }

  it('has the answer to every read that goes well', async () => {
    for (const path of PATHS) {
      await expect(200, 'GET', path)
      await expect(204, 'OPTIONS', path)
      if (path !== '/-/health') await expect(304, 'GET', path, undefined, { 'If-None-Match': '*' })
    }
    for (const path of ['/events?page=2', '/later?page=2', '/plain', '/secret/1', '/venues', '/venues?page=abc'])
      await expect(200, 'GET', path)
    await expect(200, 'GET', '/events?other=1', undefined, { Accept: 'application/json' })
    const { text } = await server().ask('GET', '/events')
    const packed = await server().ask('GET', '/events', undefined, { 'Accept-Encoding': 'gzip' })
    assert.equal(packed.headers['content-encoding'], 'gzip')
    witness.see('GET', '/events', describedOf({ ...packed, text }))
  })

  it('has the pages that a browser gets, and no other', async () => {
    const see = async (status: number, path: string, headers: Headers = {}) => {
      for (const method of ['GET', 'HEAD']) {
        const answer = await server().ask(method, tagged(path), undefined, { ...BROWSER, ...headers })
        assert.equal(answer.status, status, path)
        assert.match(String(answer.headers['content-security-policy']), /^default-src 'none'/)
        witness.assertDescribes(method, path, describedOf(answer))
      }
    }
    const states = ['/later@TAG', '/later@TAG..']
    const items = COLLECTIONS.flatMap((name) => [`/${name}`, `/${name}/7`])
    for (const path of ['/', ...items, ...states, '/venues', '/secret/1']) {
      await see(200, path)
      const { headers } = await server().ask('GET', tagged(path), undefined, BROWSER)
      await see(304, path, { 'If-None-Match': String(headers.etag) })
      await see(401, path, { Authorization: 'Bearer x' })
    }
    for (const name of COLLECTIONS) {
      await see(400, `/${name}?page=0`)
      await see(404, `/${name}/nope`)
    }
    for (const path of states) await see(400, `${path}?page=0`)
    for (const path of ['/nope', '/nope/7', '/later@nope', '/later@nope..', '/nope@TAG']) await see(404, path)
    for (const path of ['/later@OLD', '/later@OLD..']) await see(410, path)
    const others = PATHS.filter((path) => path.startsWith('/-/'))
    for (const path of others) {
      const answer = await server().ask('GET', tagged(path), undefined, BROWSER)
      witness.see('GET', path, describedOf(answer))
      assert.match(String(answer.headers['content-type']), /json$/)
    }
  })

  it('has the answer to every write that is done', async () => {
    const lines = { ...NDJSON, ...GZIP }
    for (const name of COLLECTIONS) {
      await expect(201, 'POST', `/${name}`, '{"id":900}', { 'Idempotency-Key': name })
      await expect(201, 'POST', `/${name}`, '[{"id":901},{"id":902}]')
      await expect(201, 'POST', `/${name}`, gzipSync('{"id":903}\n{"id":904}\n'), lines)
      await expect(200, 'PATCH', `/${name}`, '{"op":"delete","key":"904"}', { 'Idempotency-Key': name })
      await expect(200, 'PATCH', `/${name}?missing=skip`, gzipSync('{"op":"delete","key":"904"}'), lines)
      await expect(200, 'PUT', `/${name}`, '{"key":"id"}')
      await expect(201, 'PUT', `/${name}/905`, '{"id":905}')
      await expect(200, 'PUT', `/${name}/905`, '{"id":905}')
      await expect(204, 'DELETE', `/${name}/905`)
    }
    await expect(201, 'PUT', '/fresh', '{"key":"id","private":true}')
    await expect(204, 'DELETE', '/fresh', undefined, { 'If-Match': '*' })
  })

  const wrong: readonly Wrong[] = [
    ...COLLECTIONS.flatMap((name): readonly Wrong[] => [
      ['invalid-page', 'GET', `/${name}?page=0`],
      ['item-not-found', 'GET', `/${name}/nope`],
      ['invalid-body', 'POST', `/${name}`, ''],
      ['invalid-item', 'POST', `/${name}`, '{"title":"Dance: Gardens"}'],
      ['conflict', 'POST', `/${name}`, '{"id":7}'],
      ['invalid-body', 'PATCH', `/${name}`, ''],
      ['invalid-item', 'PATCH', `/${name}`, '{"id":7}'],
      ['key-mismatch', 'PATCH', `/${name}`, '{"op":"put","key":"7","item":{"id":8}}'],
      ['conflict', 'PATCH', `/${name}`, '{"op":"delete","key":"nope"}'],
      ['malformed-request', 'PATCH', `/${name}?missing=no`, '{"op":"delete","key":"nope"}'],
      ['invalid-body', 'PUT', `/${name}`, '{'],
      ['conflict', 'PUT', `/${name}`, '{}'],
      ['precondition-failed', 'PUT', `/${name}`, '{"key":"id"}', { 'If-None-Match': '*' }],
      ['precondition-required', 'DELETE', `/${name}`],
      ['precondition-failed', 'DELETE', `/${name}`, undefined, { 'If-Match': '"x"' }],
      ['invalid-body', 'PUT', `/${name}/7`, '[]'],
      ['invalid-item', 'PUT', `/${name}/7`, '{"id":7'],
      ['key-mismatch', 'PUT', `/${name}/7`, '{"id":8}'],
      ['precondition-failed', 'PUT', `/${name}/7`, '{"id":7}', { 'If-Match': '"x"' }],
      ['item-not-found', 'DELETE', `/${name}/nope`],
      ['precondition-failed', 'DELETE', `/${name}/7`, undefined, { 'If-Match': '"x"' }],
    ]),
    ...['/nope', '/Events', '/nope/7', '/secret', '/secret/1'].map(
      (path): Wrong => ['collection-not-found', 'GET', path, undefined, NOBODY],
    ),
    ...['', '/-/json'].flatMap((prefix) =>
      ['', '..'].flatMap((end): readonly Wrong[] => [
        ['invalid-page', 'GET', `${prefix}/events@TAG${end}?page=0`],
        ['collection-not-found', 'GET', `${prefix}/nope@TAG${end}`],
        ['state-not-found', 'GET', `${prefix}/events@nope${end}`],
        ['state-expired', 'GET', `${prefix}/events@OLD${end}`],
      ]),
    ),
    ['collection-not-found', 'POST', '/nope', '{}'],
    ['collection-not-found', 'PATCH', '/nope', '{"op":"put","item":{}}'],
    ['item-not-found', 'GET', '/plain/7'],
    ['conflict', 'PATCH', '/plain', '{"op":"delete","key":"7"}'],
    ['conflict', 'PUT', '/plain/7', '{"id":7}'],
    ['conflict', 'DELETE', '/plain/7'],
    ['invalid-page', 'GET', '/-/json/events?page=0'],
    ['item-not-found', 'GET', '/-/json/events/nope'],
    ['collection-not-found', 'GET', '/-/json/nope'],
    ['collection-not-found', 'GET', '/-/json/nope/7'],
    ['path-not-found', 'GET', '/-/problems/nope'],
  ]
  it('has what is wrong with a read, and with a write to a collection or an item', async () => {
    for (const [problem, method, path, body, headers] of wrong) await expect(problem, method, path, body, headers)
  })

  const writes = EVERY.filter(([method]) => ['POST', 'PATCH', 'PUT', 'DELETE'].includes(method))
  const bodies = writes.filter(([method]) => method !== 'DELETE')

  it('has what is wrong with any write', async () => {
    const { tokenOf } = server()
    const [reader, stranger] = [await tokenOf(['read:*']), await tokenOf([])]
    for (const [method, path, body] of writes) {
      const seen: Headers = method === 'DELETE' ? { 'If-Match': '*' } : {}
      await expect('invalid-idempotency-key', method, path, body, { ...seen, 'Idempotency-Key': 'a b' })
      await expect('forbidden', method, path, body, reader)
      await expect('collection-not-found', method, path.replace(/^\/\w+/, '/secret'), body, stranger)
      await expect('collection-not-found', method, path.replace(/^\/\w+/, '/nope'), body, stranger)
      await expect('invalid-name', method, path.replace(/^\/\w+/, '/Events'), body)
    }
  })

  it('has what is wrong with any body', async () => {
    for (const [method, path, body = ''] of bodies) {
      await expect('unsupported-media-type', method, path, body, { 'Content-Type': 'text/plain' })
      await expect('unsupported-media-type', method, path, body, { 'Content-Encoding': 'br' })
      await expect('content-too-large', method, path, body.padEnd(20_001))
      const key = { 'Idempotency-Key': `${method}-${path}` }
      await expect(method === 'POST' ? 201 : 200, method, path, body.replace('900', '907'), key)
      await expect('idempotency-conflict', method, path, `${body} `, key)
    }
  })

  // To create a collection that is there is no write.
  const changes = writes.filter(([method, path]) => method !== 'PUT' || path.endsWith('/7'))

  it('has a collection that is a mirror', async () => {
    const { store } = server()
    for (const name of COLLECTIONS) await mirror(store, name, 'https://data.example/events', ['{"id":"mirrored"}'])
    for (const [method, path, body] of changes)
      await expect('collection-mirrored', method, path, body, { 'If-Match': '*' })
    for (const name of COLLECTIONS) {
      await expect(200, 'PUT', `/${name}`, '{"key":"id"}')
      await store.detach(name)
    }
  })

  it('has an import that is in the way', async () => {
    const { store } = server()
    const inTheWay = async (name: string, requests: typeof EVERY) => {
      const load = await store.load(name)
      for (const [method, path, body] of requests)
        await expect('collection-busy', method, path.replace('later', name), body, { 'If-Match': '*' })
      await load.abort()
    }
    const toward = (name: string) => changes.filter(([, path]) => path.startsWith(`/${name}`))
    for (const name of COLLECTIONS) await inTheWay(name, toward(name))
    await inTheWay('fresh', [['PUT', '/later', '{}']])
  })

  it('has the bodies of others that are in the way', async () => {
    const { port, headOf, ask } = server()
    const holding = [await openSocket(port), await openSocket(port)]
    const head = headOf('POST', '/events', { ...JSON_TYPE, 'Content-Length': '15001' })
    for (const socket of holding) socket.write(head + 'nothing'.padEnd(15_000))
    // Until both have come.
    while ((await ask('POST', '/events', 'nothing'.padEnd(15_000))).status !== 503);
    for (const [method, path] of bodies) await expect('service-busy', method, path, 'nothing'.padEnd(15_000))
    for (const socket of holding) socket.destroy()
  })

  it('has a bad token, everywhere', async () => {
    for (const [method, path, body] of EVERY)
      if (method !== 'HEAD') await expect('unauthorized', method, path, body, { Authorization: 'Bearer x' })
  })

  /** Asks another server on the same store, or on what is made of it. */
  async function elsewhere(
    test: (port: number) => Promise<void>,
    store: Store,
    options: Partial<ListenOptions & ServiceOptions> = {},
  ) {
    const service = createService({ store, ...LIMITED, onError: () => {}, ...options })
    const { port, close } = await listen({ port: 0, baseUrl: BASE, ...service, ...options })
    await test(port).finally(() => close(0))
  }

  /** Sends requests there, and fails unless each is answered with that problem. */
  async function expectEach(name: string, requests: typeof EVERY, store: Store, options = {}, headers: Headers = {}) {
    const test = async (port: number) => {
      const ask = server().askAt(port)
      for (const [method, path, body] of requests) {
        const answer = await ask(method, tagged(path), body, typed(method, { 'If-Match': '*', ...headers }))
        assert.equal(answer.status, PROBLEMS[name as keyof typeof PROBLEMS].status, `${method} ${path}`)
        const text = answer.text || (await ask('GET', tagged(path), undefined, headers)).text
        witness.see(method, path, describedOf({ ...answer, text }))
      }
    }
    await elsewhere(test, store, options)
  }

  const isWriting = (method: string) => ['append', 'patch', 'put', 'remove', 'ensure', 'drop'].includes(method)
  const faults: readonly [string, Error, typeof EVERY, (method: string) => boolean][] = [
    ['store-unavailable', new StoreError('unavailable', 'secret'), EVERY, () => true],
    ['internal-error', new RangeError('secret'), EVERY, () => true],
    ['outcome-unknown', new StoreError('outcome-unknown', 'secret'), writes, isWriting],
    ['store-full', new StoreError('full', 'secret'), writes, isWriting],
    ['read-only', new StoreError('writes-denied', 'secret'), writes, isWriting],
  ]
  for (const [name, fault, requests, isFailing] of faults)
    it(`has a store that fails: ${name}`, () =>
      // In a way that the machine under a store could make it fail.
      expectEach(
        name,
        requests,
        interposed(server().store, (method) => (isFailing(method) ? () => Promise.reject(fault) : undefined)),
      ))

  it('has a request for another host', () =>
    expectEach('misdirected-request', EVERY, server().store, { loopbackPort: 8080 }, { Host: 'data.example' }))

  it('has a caller who asks too often, but not for health', () => {
    const counted = EVERY.filter(([, path]) => path !== '/-/health')
    return expectEach('rate-limited', counted, server().store, { createRateCounter: counting(101) })
  })

  const raw: readonly [string, (line: string) => string][] = [
    ['malformed-request', (line) => `${line}\r\n\r\n`],
    ['http-version-not-supported', (line) => `${line.replace('HTTP/1.1', 'HTTP/2.0')}\r\nHost: a\r\n\r\n`],
    ['header-too-large', (line) => `${line}\r\nHost: a\r\nCookie: ${'x'.repeat(20_000)}\r\n\r\n`],
    ['request-timeout', (line) => `${line}\r\nHost: a\r\n`],
  ]
  for (const [name, textOf] of raw)
    it(`has a request that cannot be read: ${name}`, async () => {
      const see = async (port: number, method: string, path: string) => {
        const [answer] = await answersTo(port, textOf(`${method} ${tagged(path)} HTTP/1.1`))
        assert.equal(answer?.status, PROBLEMS[name as keyof typeof PROBLEMS].status)
        const detail = witness.problems.find(({ type }) => type.endsWith(name))
        const { status, headers, body } = answer ?? assert.fail()
        witness.see(method, path, { status, headers, text: body.toString() || JSON.stringify(detail) })
      }
      const test = async (port: number) => {
        await Promise.all(EVERY.map(([method, path]) => see(port, method, path)))
      }
      await elsewhere(test, server().store, name === 'request-timeout' ? { headersTimeoutMs: 100 } : {})
    })

  it('has nothing else: all that is described was seen', () => {
    assert.deepEqual([...witness.described].toSorted(), [...witness.seen].toSorted())
  })

  it('has examples that are real: each problem was answered in these words', async () => {
    const { ask } = server()
    // Every tag of a state is another one.
    const said = (problem: object) =>
      JSON.stringify({ ...problem, request_id: 'any' }).replace(/[0-9a-z]+-[0-9a-z]+-[0-9a-z]+-[\w-]{11}(?=\\")/, 'TAG')
    const seen = [...witness.problems, JSON.parse((await ask('PATCH', '/events/7')).text)].map(said)
    const { document } = witness
    const components = partIn(document, 'components')
    const others = partIn(partIn(components, 'schemas'), 'Problem')['examples'] as Part[]
    const examples = Object.values(partIn(components, 'examples')).map((each) => (each as Part)['value'])
    assert.deepEqual([...examples, ...others].length, Object.keys(PROBLEMS).length)
    for (const example of [...examples, ...others])
      assert.ok(seen.includes(said(example as Part)), JSON.stringify(example))
  })
})
