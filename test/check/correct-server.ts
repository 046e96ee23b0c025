/**
 * A server that keeps the contract, in plain node:http and without a line of src/. It is made of small steps, so that a
 * mutant is this server with one of them replaced.
 */

import { createHash } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'

export interface ServerOptions {
  /** The items of the collection, or how many of the form `{"id": 17, "title": "Event 17"}`. Default: 1001. */
  readonly items?: readonly unknown[] | number
  /** Default: true. */
  readonly isPaginated?: boolean
  /** Whether the JSON is indented. Default: false. */
  readonly isPretty?: boolean
  /** Whether fields and links come in the opposite order. Default: false. */
  readonly isReversed?: boolean
  /** Whether there are links and fields of which the contract knows nothing. Default: false. */
  readonly hasExtras?: boolean
  /** Whether pages link snapshots, and these the changes since (D22, D23). Default: false. */
  readonly hasHistory?: boolean
}

export interface Asked {
  readonly method: string
  readonly path: string
  /** As it stands behind the question mark. */
  readonly query: string
  readonly headers: IncomingHttpHeaders
}

export interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

export type Links = Readonly<Record<string, unknown>>
export type Encoding = 'gzip' | 'identity'

/** What a step throws where the answer is an error. */
export class Problem extends Error {
  readonly status: number
  readonly type: string
  readonly hint: string

  constructor(status: number, type: string, detail: string, hint: string) {
    super(detail)
    this.status = status
    this.type = type
    this.hint = hint
  }
}

export class CorrectServer {
  readonly name = 'events'
  readonly options: ServerOptions
  items: readonly unknown[]
  /** What stands for the name in addresses: the same, but for a snapshot and for changes. */
  path = 'events'
  /** Every state that was linked, in order. */
  readonly states: (readonly unknown[])[] = []
  /** Set when the server listens. */
  baseUrl = ''

  constructor(options: ServerOptions = {}) {
    const { items = 1001 } = options
    this.options = options
    this.items = typeof items === 'number' ? numberedItems(items) : items
  }

  answer(asked: Asked): Answered {
    try {
      return this.route(asked)
    } catch (error) {
      if (error instanceof Problem) return this.problem(error)
      throw error
    }
  }

  route(asked: Asked): Answered {
    const { path } = asked
    const [, tag, dots] = /^\/events@(.*?)(\.\.)?$/.exec(path) ?? []
    const isKnown = path === '/' || path === `/${this.name}` || path.startsWith('/-/problems/')
    if (!isKnown && !(tag !== undefined && this.options.hasHistory)) throw this.notFound(path)
    if (asked.method === 'OPTIONS') return this.optionsAnswer()
    if (!['GET', 'HEAD'].includes(asked.method))
      throw new Problem(405, 'method-not-allowed', `The method is ${asked.method}.`, `Use one of ${ALLOW}.`)
    if (path === '/') return this.represent(this.entryPoint(), asked)
    if (tag !== undefined) return this.past(tag, dots !== undefined, asked).collection(asked)
    return path === `/${this.name}` ? this.collection(asked) : this.represent({ description: `About ${path}.` }, asked)
  }

  // Its history.

  /** A server of a snapshot in place of the collection, or of the changes since. */
  past(tag: string, isChanges: boolean, _asked: Asked): CorrectServer {
    const path = this.pastPath(tag, isChanges)
    const view: CorrectServer = Object.create(this)
    const items = isChanges ? this.changesSince(tag) : this.stateAt(tag)
    const historyLinks = (page: number, asked: Asked) =>
      isChanges ? this.changesLinks(page === view.lastPage(asked)) : this.snapshotLinks(tag)
    const cacheControl = () => (isChanges ? this.cacheControl() : 'public, max-age=60, immutable')
    return Object.assign(view, { path, items, historyLinks, cacheControl })
  }

  pastPath(tag: string, isChanges: boolean): string {
    return `${this.name}@${tag}${isChanges ? '..' : ''}`
  }

  /** Of the state that it is in. */
  tag(): string {
    const index = this.states.indexOf(this.items)
    return `t${index === -1 ? this.states.push(this.items) - 1 : index}`
  }

  stateAt(tag: string): readonly unknown[] {
    const state = this.states[this.indexOf(tag)]
    if (state === undefined) throw this.notFound(`/${this.pastPath(tag, false)}`)
    return state
  }

  changesSince(tag: string): readonly unknown[] {
    this.stateAt(tag)
    this.tag()
    const states = this.states.slice(this.indexOf(tag))
    return states.slice(1).flatMap((state, index) => changesBetween(states[index] ?? [], state, index))
  }

  indexOf(tag: string): number {
    return /^t\d+$/.test(tag) ? Number(tag.slice(1)) : -1
  }

  /** Of a live page. */
  historyLinks(_page: number, _asked: Asked): Links {
    return this.options.hasHistory ? { snapshot: { href: `${this.baseUrl}/${this.pastPath(this.tag(), false)}` } } : {}
  }

  snapshotLinks(tag: string): Links {
    return { changes: { href: `${this.baseUrl}/${this.pastPath(tag, true)}` }, ...this.latestVersion() }
  }

  changesLinks(isLast: boolean): Links {
    const end = `${this.baseUrl}/${this.pastPath(this.tag(), false)}`
    return { ...(isLast && { snapshot: { href: end } }), ...this.latestVersion() }
  }

  latestVersion(): Links {
    return { 'latest-version': { href: `${this.baseUrl}/${this.name}` } }
  }

  cacheControl(): string {
    return 'no-cache'
  }

  collection(asked: Asked): Answered {
    if (!this.isPaginated(asked)) return this.represent(this.whole(asked), asked)
    return this.represent(this.envelope(this.effectivePage(this.requestedPage(asked), asked), asked), asked)
  }

  isPaginated(_asked: Asked): boolean {
    return this.options.isPaginated ?? true
  }

  entryPoint(): Links {
    return { _links: { self: { href: `${this.baseUrl}/` }, [this.name]: { href: `${this.baseUrl}/${this.name}` } } }
  }

  // Which page is asked for, and which one is answered.

  requestedPage(asked: Asked): bigint {
    return this.parsePage(new URLSearchParams(asked.query).getAll('page'))
  }

  parsePage(values: readonly string[]): bigint {
    const [value = ''] = values
    if (values.length > 1) throw this.invalidPage(values.join(' and '))
    if (value === '') return 1n
    if (!/^[0-9]+$/.test(value) || BigInt(value) === 0n) throw this.invalidPage(value)
    return BigInt(value)
  }

  effectivePage(requested: bigint, asked: Asked): number {
    const last = this.lastPage(asked)
    return requested > BigInt(last) ? last : Number(requested)
  }

  pageSize(_asked: Asked): number {
    return 500
  }

  lastPage(asked: Asked): number {
    return Math.max(1, Math.ceil(this.items.length / this.pageSize(asked)))
  }

  // What stands on it.

  envelope(page: number, asked: Asked): Links {
    return this.arranged({
      item_count: this.itemCount(page, asked),
      ...(this.options.hasExtras && { generated_by: 'a server', pages: { size: 500 } }),
      _links: this.arranged(this.links(page, asked)),
      _embedded: this.embedded(this.itemsOn(page, asked)),
    })
  }

  whole(asked: Asked): Links {
    return { _links: { self: { href: this.href(undefined, asked) } }, _embedded: this.embedded(this.items) }
  }

  itemCount(_page: number, _asked: Asked): unknown {
    return this.items.length
  }

  itemsOn(page: number, asked: Asked): readonly unknown[] {
    const size = this.pageSize(asked)
    return this.items.slice((page - 1) * size, page * size)
  }

  embedded(items: readonly unknown[]): unknown {
    return { [this.name]: items, ...(this.options.hasExtras && { note: 'There is only one array.' }) }
  }

  links(page: number, asked: Asked): Links {
    const last = this.lastPage(asked)
    const to = (target?: number) => ({ href: this.href(target, asked) })
    return {
      self: to(page),
      first: to(),
      ...(page > 1 && { prev: to(page - 1) }),
      ...(page < last && { next: to(page + 1) }),
      last: to(last),
      ...this.historyLinks(page, asked),
      ...(this.options.hasExtras && {
        search: { href: `${this.baseUrl}/search{?q}`, templated: true },
        help: [{ href: '/help', title: 'Help' }, { href: 'https://help.example/' }],
      }),
    }
  }

  href(page: number | undefined, asked: Asked): string {
    return `${this.collectionUrl(asked)}${page === undefined ? '' : `?page=${page}`}`
  }

  collectionUrl(_asked: Asked): string {
    return `${this.baseUrl}/${this.path}`
  }

  arranged(fields: Links): Links {
    return this.options.isReversed ? Object.fromEntries(Object.entries(fields).reverse()) : fields
  }

  // How it is sent.

  represent(document: unknown, asked: Asked): Answered {
    const plain = Buffer.from(this.serialize(document))
    const encoding = this.encoding(asked)
    const headers = this.headers(plain, encoding, asked)
    const tag = headers['ETag']
    if (tag !== undefined && this.isFresh(tag, asked)) return { status: 304, headers, body: Buffer.alloc(0) }
    return { status: 200, headers, body: encoding === 'gzip' ? this.gzip(plain, asked) : plain }
  }

  serialize(document: unknown): string {
    return JSON.stringify(document, null, this.options.isPretty ? 2 : undefined)
  }

  encoding({ headers }: Asked): Encoding {
    return quality(headers['accept-encoding']?.toString() ?? '', ['gzip', '*']) > 0 ? 'gzip' : 'identity'
  }

  gzip(plain: Buffer, _asked: Asked): Buffer {
    return gzipSync(plain, { level: 1 })
  }

  headers(plain: Buffer, encoding: Encoding, asked: Asked): Record<string, string> {
    return {
      'Content-Type': this.mediaType(asked),
      'Cache-Control': this.cacheControl(),
      Vary: 'Accept, Accept-Encoding',
      ETag: this.etag(plain, encoding, asked),
      ...(encoding === 'gzip' && { 'Content-Encoding': 'gzip' }),
    }
  }

  mediaType({ headers: { accept = '*/*' } }: Asked): string {
    const [json, hal] = ['application/json', 'application/hal+json'].map((type) =>
      quality(accept, [type, 'application/*', '*/*']),
    )
    return (json ?? 0) > (hal ?? 0) ? 'application/json' : 'application/hal+json'
  }

  etag(plain: Buffer, encoding: Encoding, _asked: Asked): string {
    return `"${createHash('sha256').update(plain).digest('hex').slice(0, 20)}-${encoding}"`
  }

  isFresh(tag: string, { headers }: Asked): boolean {
    const known = headers['if-none-match']?.split(',').map((each) => each.trim().replace(/^W\//, '')) ?? []
    return known.includes('*') || known.includes(tag)
  }

  optionsAnswer(): Answered {
    return { status: 204, headers: { Allow: ALLOW }, body: Buffer.alloc(0) }
  }

  // What can go wrong.

  notFound(path: string): Problem {
    return new Problem(404, 'not-found', `There is nothing at ${path}.`, 'GET / lists what there is.')
  }

  invalidPage(value: string): Problem {
    return new Problem(400, 'invalid-page', `The parameter page is "${value}".`, 'Give a whole number from 1 on.')
  }

  problem({ status, type, message, hint }: Problem): Answered {
    const document = { type: `${this.baseUrl}/-/problems/${type}`, title: type, status, detail: message, hint }
    const headers = { 'Content-Type': 'application/problem+json', ...(status === 405 && { Allow: ALLOW }) }
    return { status, headers, body: Buffer.from(JSON.stringify(document)) }
  }

  send({ status, headers, body }: Answered, _asked: Asked, response: ServerResponse): void {
    const hasLength = status !== 204 && status !== 304
    response.writeHead(status, { ...headers, ...(hasLength && { 'Content-Length': String(body.length) }) })
    // Node.js itself leaves out the body of an answer to HEAD.
    response.end(body)
  }
}

const ALLOW = 'GET, HEAD, OPTIONS'

/** The weight that the first of these names has in a header such as Accept; 0 where none is listed. */
function quality(header: string, names: readonly string[]): number {
  const weights = new Map(
    header.split(',').map((part) => {
      const [name = '', ...parameters] = part.split(';').map((each) => each.trim().toLowerCase())
      return [name, Number(parameters.find((each) => each.startsWith('q='))?.slice(2) ?? 1)]
    }),
  )
  const listed = names.find((name) => weights.has(name))
  return listed === undefined ? 0 : (weights.get(listed) ?? 0)
}

/** What leads from one state to the next: items that follow, or all of them anew. */
function changesBetween(before: readonly unknown[], after: readonly unknown[], version: number): unknown[] {
  const put = (item: unknown) => ({ op: 'put', version, item })
  const isAppend = before.every((item, index) => item === after[index])
  return isAppend ? after.slice(before.length).map(put) : [{ op: 'reset', version }, ...after.map(put)]
}

export function numberedItems(count: number, first = 1): unknown[] {
  return Array.from({ length: count }, (_, index) => ({ id: first + index, title: `Event ${first + index}` }))
}

/** The server as a `fetch` in this process, without a socket. */
export function inProcess(server: CorrectServer, baseUrl: string): (request: Request) => Promise<Response> {
  server.baseUrl = baseUrl
  return async ({ method, url, headers }) => {
    const { pathname, search } = new URL(url)
    const asked = { method, path: pathname, query: search.slice(1), headers: Object.fromEntries(headers) }
    const answered = server.answer(asked)
    const hasBody = method !== 'HEAD' && ![204, 304].includes(answered.status)
    const length = { 'Content-Length': String(answered.body.length) }
    return new Response(hasBody ? new Uint8Array(answered.body) : null, {
      status: answered.status,
      headers: { ...answered.headers, ...(hasBody || method === 'HEAD' ? length : {}) },
    })
  }
}

export interface RunningServer {
  /** Of its collection. */
  readonly url: string
  /** How many it has received. */
  requests(): number
  close(): Promise<void>
}

/** Listens on a port of its own. */
export async function startServer(server: CorrectServer): Promise<RunningServer> {
  let requests = 0
  const http = createServer((request, response) => {
    requests++
    const asked = askedOf(request)
    request.resume()
    try {
      server.send(server.answer(asked), asked, response)
    } catch {
      // A mutant that stumbles is a server that answers 500.
      response.writeHead(500, { 'Content-Type': 'text/plain' }).end('Internal Server Error')
    }
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const { port } = http.address() as AddressInfo
  server.baseUrl = `http://127.0.0.1:${port}`
  return {
    url: `${server.baseUrl}/${server.name}`,
    requests: () => requests,
    close: async () => {
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    },
  }
}

export function askedOf({ method = 'GET', url = '/', headers }: IncomingMessage): Asked {
  const [path = '/', ...rest] = url.split('?')
  return { method, path, query: rest.join('?'), headers }
}
