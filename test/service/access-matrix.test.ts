import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { formatTag, stateOf } from '../../src/contract/state-tag.ts'
import { tablesOf } from '../markdown.ts'
import { fill, numbered } from './open-service.ts'
import { type Answer, type Headers, NDJSON, NOBODY, sharedWriteServer, type WriteServer } from './write-server.ts'

const DOCS = readFileSync(join(import.meta.dirname, '../../docs/reference/contract.md'), 'utf8')
const [REQUESTS = [], COLLECTIONS = [], OTHERS = []] = tablesOf(/^### D19 [\s\S]*?(?=^##)/m.exec(DOCS)?.[0] ?? '')

/** A public collection, a private one and a name that is none, of one length: answers about them can be compared. */
const PUBLIC = 'events'
const PRIVATE = 'secret'
const NONE = 'absent'
const NAMES = [PUBLIC, PRIVATE, NONE]

/** The tag of a state that there never was. */
const NO_STATE = 'a1b2-2-3-AbCdEfGh_-9'

interface Caller {
  readonly who: string
  readonly headers: Headers
  /** For a token where none belongs. */
  readonly query?: string
}

/** All kinds of callers that one row stands for. */
async function callersOf(row: string, tokenOf: WriteServer['tokenOf']): Promise<Caller[]> {
  const withScopes = async (...scopes: string[]): Promise<Caller> => ({
    who: scopes.join(' ') || 'no scope',
    headers: await tokenOf(scopes),
  })
  const inLowerCase = ({ headers }: Caller): Caller => {
    const Authorization = String(headers['Authorization']).replace('Bearer ', 'bearer  ')
    return { who: 'bearer in lower case', headers: { Authorization } }
  }
  const onEach = (action: string) => withScopes(...NAMES.map((name) => `${action}:${name}`))
  switch (row.replace(/[:,].*/, '')) {
    case 'a bad token':
      return badTokens(tokenOf)
    case 'no token':
      return misplacedTokens((await tokenOf(['admin'])).Authorization)
    case 'a good token':
    case 'a good token without a scope on it':
      return [
        await withScopes(),
        await withScopes('read:other', 'write:other', 'create:other'),
        await withScopes('read:event', 'write:events2', 'create:', 'write', '*', 'write:Events', 'Admin'),
      ]
    case '`read':
      return [await onEach('read'), await withScopes('read:*')]
    case '`write':
      return [await onEach('write'), await withScopes('write:*'), inLowerCase(await withScopes('write:*'))]
    case '`create':
      return [await onEach('create'), await withScopes('create:*'), await withScopes('admin')]
    default:
      throw new Error(`Nobody is known as ${row}.`)
  }
}

function misplacedTokens(admin: string): Caller[] {
  const token = admin.slice('Bearer '.length)
  const query = `access_token=${token}&token=${token}&authorization=${encodeURIComponent(admin)}`
  return [
    { who: 'nobody', headers: NOBODY },
    { who: 'a token in the query', headers: NOBODY, query },
    { who: 'a token in other headers', headers: { ...NOBODY, Cookie: `token=${token}`, 'X-Token': token } },
  ]
}

async function badTokens(tokenOf: WriteServer['tokenOf']): Promise<Caller[]> {
  const { Authorization: admin } = await tokenOf(['admin'])
  const headers: Readonly<Record<string, Headers>> = {
    'no token behind Bearer': { Authorization: 'Bearer' },
    'a malformed token': { Authorization: 'Bearer x' },
    Basic: { Authorization: 'Basic YTpi' },
    'a token without a scheme': { Authorization: admin.slice('Bearer '.length) },
    'a token with more behind it': { Authorization: `${admin}x` },
    'two tokens': { Authorization: `${admin}, ${admin}` },
    'two headers': { Authorization: [admin, admin] },
    'an unknown token': { Authorization: `Bearer reams_${'A'.repeat(43)}` },
    'an expired token': await tokenOf(['admin'], { expiresAt: Date.now() - 1 }),
    'a revoked token': await tokenOf(['admin'], { revokedAt: Date.now() - 1 }),
  }
  return Object.entries(headers).map(([who, each]) => ({ who, headers: each }))
}

type Ask = WriteServer['ask']

interface Line {
  readonly method: string
  /** With `<collection>` and `<key>` in it. */
  readonly path: string
}

/** The requests that a cell names as `GET /<collection>`; HEAD counts as GET. */
function requestsIn(cell: string): Line[] {
  return [...cell.matchAll(/`([A-Z]+) (\/[^`]*)`/g)].flatMap(([, method = '', path = '']) =>
    (method === 'GET' ? ['GET', 'HEAD'] : [method]).map((each) => ({ method: each, path })),
  )
}

function requestsOf(kind: string): Line[] {
  return REQUESTS.filter(([, is]) => is === kind).flatMap(([cell = '']) => requestsIn(cell))
}

/** What "done" means for each write. */
const DONE: Readonly<Record<string, number>> = {
  'POST /<collection>': 201,
  'PATCH /<collection>': 200,
  'PUT /<collection>': 200,
  'DELETE /<collection>': 204,
  'PUT /<collection>/<key>': 200,
  'DELETE /<collection>/<key>': 204,
}

function statusOf(cell: string, { method, path }: Line): number {
  if (cell === 'done') return DONE[`${method} ${path}`] ?? 0
  if (cell === 'creates or 404') return `${method} ${path}` === 'PUT /<collection>' ? 201 : 404
  return Number(cell)
}

let lastId = 100

function bodyFor(line: string, isPrivate: boolean): string | undefined {
  if (line === 'POST /<collection>') return `{"id":${++lastId}}`
  if (line === 'PATCH /<collection>') return '{"op":"put","item":{"id":3}}'
  if (line === 'PUT /<collection>') return `{"key":"id","private":${isPrivate}}`
  return line === 'PUT /<collection>/<key>' ? '{"id":1}' : undefined
}

describe('who may do what (D19)', () => {
  const server = sharedWriteServer(fillAll)
  const known = new Map<string, Promise<Caller[]>>()
  const callers = (row: string): Promise<Caller[]> => {
    const found = known.get(row) ?? callersOf(row, server().tokenOf)
    known.set(row, found)
    return found
  }
  /** A service in this process. That a request over a socket is answered alike is in node/node-request.test.ts. */
  let ask: Ask
  /** One where everybody needs a token. */
  let askGuarded: Ask
  before(() => {
    ask = server().askOf({})
    askGuarded = server().askOf({ requireToken: true })
  })

  async function fillAll({ store }: WriteServer): Promise<void> {
    for (const { name } of await store.collections()) await store.drop(name)
    await fill(store, PUBLIC, numbered(2))
    await fill(store, PRIVATE, numbered(2), { isPrivate: true })
  }

  async function tagOf(name: string): Promise<string> {
    return (await ask('GET', `/${name}`)).headers.etag ?? '"none"'
  }

  /** Of the state that a collection is in. */
  async function stateTagOf(name: string): Promise<string> {
    const head = await server().store.head(name)
    return head === undefined ? NO_STATE : formatTag(stateOf(head))
  }

  /** Sends a request that would be right, if only the caller may. */
  async function send(ask: Ask, caller: Caller, { method, path }: Line, name: string): Promise<Answer> {
    const isRead = method === 'GET' || method === 'HEAD'
    const target = path
      .replace('<collection>', name)
      .replace('<key>', '1')
      .replace('<tag>', isRead ? await stateTagOf(name) : NO_STATE)
    const isDrop = method === 'DELETE' && path === '/<collection>'
    const headers = {
      ...caller.headers,
      ...(method === 'PATCH' && NDJSON),
      ...(isDrop && { 'If-Match': await tagOf(name) }),
    }
    const query = caller.query === undefined ? '' : `${target.includes('?') ? '&' : '?'}${caller.query}`
    const body = bodyFor(`${method} ${path}`, name === PRIVATE)
    return ask(method, target + query, body, headers)
  }

  /** An answer without its time, and with the name that it is about taken out. */
  function about(name: string, { status, headers, text }: Answer) {
    const { date, ...others } = headers
    return { status, headers: JSON.stringify(others).replaceAll(name, '…'), text: text.replaceAll(name, '…') }
  }

  /** What holds for every answer, whoever gets it. */
  function assertCareful({ status, headers }: Answer, isForSome: boolean, what: string): void {
    assert.equal(headers['www-authenticate'], status === 401 ? 'Bearer' : undefined, what)
    if (status >= 400) assert.deepEqual([headers['cache-control'], headers.etag], ['no-store', undefined], what)
    const expected = isForSome ? /^private, / : /^(no-cache|max-age=\d+, immutable)$/
    const caching = headers['cache-control'] ?? ''
    if (headers.etag !== undefined && caching !== 'no-store') assert.match(caching, expected, what)
  }

  it('stands in the docs, with every request', () => {
    assert.deepEqual([REQUESTS.length, COLLECTIONS.length, OTHERS.length], [2, 7, 9])
    assert.equal(requestsOf('read').length, 18)
    assert.deepEqual(
      requestsOf('write').map(({ method, path }) => `${method} ${path}`),
      Object.keys(DONE),
    )
  })

  for (const [row = '', ...cells] of COLLECTIONS) {
    const [readPublic = '', readPrivate = '', writePublic = '', writePrivate = '', readNone = '', writeNone = ''] =
      cells
    const reads = [readPublic, readPrivate, readNone]
    const writes = [writePublic, writePrivate, writeNone]
    const assertRow = async (ask: Ask, isGuarded: boolean) => {
      for (const caller of await callers(row)) {
        for (const line of requestsOf('read')) await assertLine(ask, caller, line, reads, isGuarded)
        for (const line of requestsOf('write')) {
          await assertLine(ask, caller, line, writes, isGuarded)
          if (/^DELETE|^PUT .*collection>$/.test(`${line.method} ${line.path}`) && /done|creates/.test(writes.join()))
            await fillAll(server())
        }
      }
    }
    if (!row.includes('--require-token')) it(`is as the table says: ${row}`, () => assertRow(ask, false))
    if (row !== 'no token')
      it(`is as the table says, where everybody needs a token: ${row}`, () => assertRow(askGuarded, true))
  }

  async function assertLine(ask: Ask, caller: Caller, line: Line, cells: readonly string[], isGuarded: boolean) {
    const answers: Answer[] = []
    for (const [index, name] of NAMES.entries()) {
      const answer = await send(ask, caller, line, name)
      const what = `${caller.who}: ${line.method} ${line.path} of ${name}`
      assert.equal(answer.status, statusOf(cells[index] ?? '', line), `${what}: ${answer.text}`)
      assertCareful(answer, isGuarded || name === PRIVATE, what)
      answers.push(answer)
    }
    const [, secret, absent] = answers
    if (secret && absent && (secret.status === 404 || secret.status === 401))
      assert.deepEqual(about(NONE, absent), about(PRIVATE, secret), `${caller.who}: ${line.method} ${line.path}`)
  }

  for (const [requests = '', bad = '', open = '', guarded = '', good = ''] of OTHERS)
    it(`is as the table says, and the same for every name: ${requests}`, async () => {
      await assertOther(ask, requests, 'a bad token', bad, false)
      await assertOther(ask, requests, 'no token', open, false)
      await assertOther(ask, requests, 'a good token', good, true)
      await assertOther(askGuarded, requests, 'a bad token', bad, true)
      await assertOther(askGuarded, requests, 'no token', guarded, true)
      await assertOther(askGuarded, requests, 'a good token', good, true)
    })

  async function assertOther(ask: Ask, requests: string, row: string, status: string, isForSome: boolean) {
    for (const caller of await callers(row))
      for (const line of requestsIn(requests)) {
        const seen = new Set<string>()
        for (const name of line.path.includes('<collection>') ? NAMES : [PUBLIC]) {
          const answer = await send(ask, caller, line, name)
          const what = `${caller.who}: ${line.method} ${line.path} of ${name}`
          assert.equal(answer.status, Number(status), `${what}: ${answer.text}`)
          assertCareful(answer, isForSome && !/^\/-\/(health|problems)/.test(line.path), what)
          if (['204', '405'].includes(status)) assert.match(answer.headers.allow ?? '', /^GET, .*HEAD, OPTIONS$/, what)
          seen.add(JSON.stringify(about(name, answer)))
        }
        assert.equal(seen.size, 1, `${caller.who}: ${line.method} ${line.path}`)
      }
  }

  it('tells a stranger nothing of a private collection, with whatever tag or page he asks', async () => {
    const tag = await tagOf(PRIVATE)
    const itemTag = String((await ask('GET', `/${PRIVATE}/1`)).headers.etag)
    const states = ['@', '@..', '@x', `@${NO_STATE}`, `@${NO_STATE}..`]
    const paths = ['', '?page=1', '?page=2', '?page=0', '?page=abc', '/1', '/9', '/%ff', ...states]
    for (const { headers } of [...(await callers('no token')), ...(await callers('a good token'))])
      for (const condition of ['', '*', tag, `W/${tag}`, itemTag])
        for (const path of paths) {
          const all = { ...headers, 'If-None-Match': condition, 'Accept-Encoding': 'gzip' }
          const secret = await ask('GET', `/${PRIVATE}${path}`, undefined, all)
          const absent = await ask('GET', `/${NONE}${path}`, undefined, all)
          assert.equal(secret.status, 404)
          assert.deepEqual(about(PRIVATE, secret), about(NONE, absent))
        }
  })

  type Entry = { _embedded: { collections: { name: string }[] } }
  const lists = {
    '/': (text: string) => (JSON.parse(text) as Entry)._embedded.collections.map(({ name }) => name),
    '/-/openapi.json': (text: string) => [...text.matchAll(/"\/(\w+)":\{/g)].map(([, name]) => name),
  }
  for (const [path, namesIn] of Object.entries(lists))
    it(`lists at ${path} what the caller may read, and nothing else, with a tag of its own`, async () => {
      const entry = async (headers: Headers) => {
        const { text, headers: own } = await ask('GET', path, undefined, headers)
        return { names: namesIn(text), text, tag: own.etag ?? '' }
      }
      const open = await entry(NOBODY)
      assert.deepEqual(open.names, [PUBLIC])
      assert.ok(!open.text.includes(PRIVATE))
      for (const { headers } of await callers('a good token')) assert.deepEqual(await entry(headers), open)
      for (const row of ['`read', '`write', '`create'])
        for (const { headers } of await callers(row)) {
          const whole = await entry(headers)
          assert.deepEqual(whole.names, [PUBLIC, PRIVATE])
          const statusOf = async (asking: Headers, tag: string) =>
            (await ask('GET', path, undefined, { ...asking, 'If-None-Match': tag })).status
          assert.equal(await statusOf(headers, whole.tag), 304)
          assert.deepEqual([await statusOf(headers, open.tag), await statusOf(NOBODY, whole.tag)], [200, 200])
        }
    })

  it('keeps what only some may read out of caches that many share, 304 included', async () => {
    for (const path of [`/${PRIVATE}`, `/${PRIVATE}/1`, '/', '/-/openapi.json', `/${PUBLIC}`, `/${PUBLIC}/1`]) {
      const caching = path.startsWith(`/${PUBLIC}`) ? 'no-cache' : 'private, no-cache'
      const { headers } = await ask('GET', path)
      const known = await ask('GET', path, undefined, { 'If-None-Match': headers.etag ?? '' })
      const seen = [known.status, headers['cache-control'], known.headers['cache-control']]
      assert.deepEqual(seen, [304, caching, caching], path)
    }
  })

  it('refuses a token from the request on that follows its revocation', async () => {
    const { tokenOf, store } = server()
    const headers = await tokenOf(['read:*'], { name: 'leaver' })
    assert.equal((await ask('GET', `/${PRIVATE}`, undefined, headers)).status, 200)
    await store.revokeToken('leaver', Date.now())
    for (const path of [`/${PRIVATE}`, `/${PUBLIC}`, '/', '/-/health'])
      assert.equal((await ask('GET', path, undefined, headers)).status, 401)
  })
})
