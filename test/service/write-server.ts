/** A service on a real store and a port of its own, and requests to it over real sockets, well-formed or not. */

import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { createService, type ServiceOptions } from '../../src/service/create-service.ts'
import { type ListenOptions, listen } from '../../src/service/node/listen.ts'
import type { Store, TokenRecord } from '../../src/store/store.ts'
import { openTestStore, type TestStore } from '../store/test-store.ts'
import { BASE, type Closer, type ProblemJson, SAME_ID, shared, tokenFor } from './open-service.ts'
import { answersOn, openSocket, type RawAnswer } from './raw-http.ts'

/** An empty value stands for a header that is not sent, several for one that is sent several times. */
export type Headers = Readonly<Record<string, string | string[]>>

export type Content = string | Uint8Array

/** Nobody's request. */
export const NOBODY = { Authorization: '' }
export const JSON_TYPE = { 'Content-Type': 'application/json' }
export const NDJSON = { 'Content-Type': 'application/x-ndjson' }
export const GZIP = { 'Content-Encoding': 'gzip' }

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

export interface WriteServer extends Pick<TestStore, 'store' | 'location'> {
  readonly port: number
  /** Sends a request with a token that may do everything, unless the headers say otherwise. */
  readonly ask: (method: string, path: string, body?: Content, headers?: Headers) => Promise<Answer>
  /** The same on another port. */
  readonly askAt: (port: number) => WriteServer['ask']
  /** The same of another service on the store, in this process. */
  readonly askOf: (options: Partial<ServiceOptions>, remoteAddress?: string) => WriteServer['ask']
  /** The same, and a `GET /events/1` behind it on the same connection: both answers. */
  readonly askTwice: (method: string, path: string, body?: Content, headers?: Headers) => Promise<RawAnswer[]>
  /** The head of a request as text, with the token and the headers, up to the empty line. */
  readonly headOf: (method: string, path: string, headers?: Headers) => string
  /** Headers with a new token. */
  readonly tokenOf: (scopes: readonly string[], change?: Partial<TokenRecord>) => Promise<{ Authorization: string }>
}

type Options = Partial<ServiceOptions> & { readonly listen?: Partial<ListenOptions> }

export async function startWriteServer(t: Closer, options: Options = {}): Promise<WriteServer> {
  const { store, location, remove } = await openTestStore()
  const service = createService({ store, ...options })
  const { port, close } = await listen({ port: 0, ...service, ...options.listen })
  const agent = new Agent({ keepAlive: true })
  t.after(async () => {
    agent.destroy()
    await close(0)
    await remove()
  })
  return { store, location, port, ...(await requestsTo(port, store, agent)) }
}

/** The same for all tests of a suite. To be called where the suite is described. */
export function sharedWriteServer(fill: (server: WriteServer) => Promise<void>, options: Options = {}) {
  return shared(async (t) => {
    const server = await startWriteServer(t, options)
    await fill(server)
    return server
  })
}

async function requestsTo(port: number, store: Store, agent: Agent) {
  const tokenOf: WriteServer['tokenOf'] = (scopes, change) => tokenFor(store, scopes, change)
  const admin = await tokenOf(['admin'])
  const headersFor = (body: Content | undefined, headers: Headers = {}): Headers => {
    const type = body === undefined ? {} : JSON_TYPE
    const all = { ...SAME_ID, ...admin, ...type, ...headers }
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''))
  }
  const askAt: WriteServer['askAt'] = (anyPort) => (method, path, body, headers) =>
    askOver(agent, anyPort, method, path, body, headersFor(body, headers))
  const askOf: WriteServer['askOf'] = (options, remoteAddress) => {
    const { fetch } = createService({ store, ...options })
    return async (method, path, body, given) => {
      const headers = Object.entries(headersFor(body, given)).flatMap(([name, values]) =>
        [values].flat().map((value): [string, string] => [name, value]),
      )
      const init = { method, headers, ...(body !== undefined && { body: Buffer.from(body) }) }
      const response = await fetch(new Request(BASE + path, init), remoteAddress === undefined ? {} : { remoteAddress })
      return { status: response.status, headers: Object.fromEntries(response.headers), text: await response.text() }
    }
  }
  const headOf: WriteServer['headOf'] = (method, path, headers) =>
    headText(method, path, headersFor(undefined, headers))
  const askTwice: WriteServer['askTwice'] = async (method, path, body = '', headers = {}) => {
    const socket = await openSocket(port)
    const length = 'Transfer-Encoding' in headers ? '' : `Content-Length: ${Buffer.byteLength(body)}\r\n`
    socket.write(headText(method, path, headersFor(body, headers)).replace(/\r\n$/, `${length}\r\n`))
    socket.write(body)
    socket.write(headText('GET', '/events/1', { ...admin, Connection: 'close' }))
    return answersOn(socket)
  }
  return { ask: askAt(port), askAt, askOf, askTwice, headOf, tokenOf }
}

function headText(method: string, path: string, headers: Headers): string {
  const lines = Object.entries({ Host: 'a', ...headers }).flatMap(([name, value]) =>
    [value].flat().map((each) => `${name}: ${each}\r\n`),
  )
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`
}

function askOver(agent: Agent, port: number, method: string, path: string, body: Content = '', headers: Headers = {}) {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const outgoing = request({ agent, host: '127.0.0.1', port, method, path, headers }, async (incoming) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    const { statusCode: status = 0, headers: own } = incoming
    resolve({ status, headers: own, text: Buffer.concat(chunks).toString() })
  })
  outgoing.on('error', reject)
  outgoing.end(body)
  return promise
}

/** A body as one chunk a part. */
export function chunked(...parts: readonly Content[]): Buffer {
  const pieces = parts.map((part) => [`${Buffer.byteLength(part).toString(16)}\r\n`, part, '\r\n'])
  return Buffer.concat([...pieces.flat(), '0\r\n\r\n'].map((piece) => Buffer.from(piece)))
}

/** `400 invalid-body: The body is empty.` */
export function problemIn({ status, text }: Pick<Answer, 'status' | 'text'>): string {
  const { type, detail, status: own } = JSON.parse(text) as ProblemJson
  return `${status === own ? status : `${status}, not ${own},`} ${type.split('/').at(-1)}: ${detail}`
}

/** The same for an answer over a raw socket. */
export function problemInRaw(answer: RawAnswer | undefined): string {
  return answer === undefined ? 'no answer' : problemIn({ status: answer.status, text: answer.body.toString() })
}
