/** One request and its response, within limits of time and bytes, and to no other origin. */

import {
  ConnectionLost,
  ForbiddenOrigin,
  HttpError,
  PageTooLarge,
  type ProblemDetails,
  type RequestLine,
  TimeoutError,
} from './client-error.ts'
import { ACCEPTED, type Settings } from './client-options.ts'
import { onAbort, withDeadline } from './deadline.ts'

/** What is sent. */
export interface OutgoingRequest extends RequestLine {
  /** In addition to those of the settings. */
  readonly headers?: Readonly<Record<string, string>>
  /** A request with a body follows no redirects. */
  readonly body?: Uint8Array<ArrayBuffer>
}

/** A response with status 200, or 201 to a request with a body (200 too if it is a PUT), or 304 to one with a condition. */
export interface FetchedBody {
  /** The one that was requested, before any redirect. */
  readonly url: string
  readonly headers: Headers
  readonly body: Uint8Array
  /** The server says that the client has it already. */
  readonly isUnchanged: boolean
}

export interface ExchangeTerms {
  readonly settings: Settings
  /** The origin that gets the token and the headers. */
  readonly origin: string
  readonly allows: (target: URL) => boolean
  /** Called when any response arrives. */
  readonly onAnswer: () => void
}

const MAX_REDIRECTS = 5
const PROBLEM_BYTES = 2 ** 16
const PROBLEM_FIELDS = ['type', 'title', 'detail', 'hint']

/** Rejects with a ClientError, or with the reason of the signal. */
export function exchange(
  request: OutgoingRequest,
  terms: ExchangeTerms,
  signal: AbortSignal | undefined,
): Promise<FetchedBody> {
  const { timeoutMs } = terms.settings
  const onTimeout = () => new TimeoutError(request, timeoutMs)
  return withDeadline((ending) => receive(request, terms, ending), timeoutMs, onTimeout, signal)
}

async function receive(request: OutgoingRequest, terms: ExchangeTerms, signal: AbortSignal): Promise<FetchedBody> {
  const response = await follow(request, terms, signal)
  terms.onAnswer()
  const { status, headers } = response
  if (status === 304 && request.headers?.['If-None-Match'] !== undefined)
    return { url: request.url, headers, body: new Uint8Array(), isUnchanged: true }
  const isGood = status === (request.body === undefined ? 200 : 201) || (status === 200 && request.method === 'PUT')
  const limit = isGood ? terms.settings.pageBytes : PROBLEM_BYTES
  const body = await readBody(response, limit, signal).catch((error) => {
    if (isGood) throw new ConnectionLost(request, `the response was truncated: ${reasonOf(error)}`, error)
    // The status says enough.
    return undefined
  })
  if (!isGood) {
    const problem = body === undefined ? undefined : problemDetails(body)
    throw new HttpError(request, response, problem, retryAfterMs(headers.get('retry-after'), Date.now()))
  }
  if (body === undefined) throw new PageTooLarge(request, limit)
  return { url: request.url, headers, body, isUnchanged: false }
}

/** Follows redirects, within the origins that are allowed. */
async function follow(request: OutgoingRequest, terms: ExchangeTerms, signal: AbortSignal): Promise<Response> {
  let target = new URL(request.url)
  for (let redirects = 0; ; redirects++) {
    const response = await send(request, target, terms, signal)
    if (response.type === 'opaqueredirect') throw new ForbiddenOrigin(request, 'a redirect', undefined)
    if (request.body !== undefined) return response
    // A `fetch` that followed redirects by itself says so afterwards.
    const location = response.redirected ? response.url : redirectOf(response, target)
    if (location !== undefined && !terms.allows(new URL(location))) {
      discardBody(response)
      throw new ForbiddenOrigin(request, 'a redirect', response.status, location)
    }
    if (location === undefined || response.redirected || redirects === MAX_REDIRECTS) return response
    discardBody(response)
    target = new URL(location)
  }
}

async function send(
  request: OutgoingRequest,
  target: URL,
  { settings, origin }: ExchangeTerms,
  signal: AbortSignal,
): Promise<Response> {
  const { method = 'GET', body = null } = request
  const headers = target.origin === origin ? settings.headers : { Accept: ACCEPTED }
  // Never from a cache: pages are compared with one another.
  const sent = new Request(target, { method, headers, body, signal, redirect: 'manual', cache: 'no-store' })
  for (const [name, value] of Object.entries(request.headers ?? {})) sent.headers.set(name, value)
  try {
    return await settings.fetch(sent)
  } catch (error) {
    throw new ConnectionLost(request, reasonOf(error), error)
  }
}

/** Where a response redirects to; undefined if it does not. */
function redirectOf({ status, headers }: Response, base: URL): string | undefined {
  const location = headers.get('location')
  if (status < 300 || status > 399 || location === null || !URL.canParse(location, base)) return undefined
  const { href, username, password } = new URL(location, base)
  // `fetch` refuses URLs with a user name or a password.
  return username + password === '' ? href : undefined
}

/** The fields of a problem that are strings; undefined for a body without any. */
function problemDetails(body: Uint8Array): ProblemDetails | undefined {
  try {
    const fields = Object.entries(JSON.parse(new TextDecoder().decode(body)) ?? {})
    const known = fields.filter(([name, text]) => PROBLEM_FIELDS.includes(name) && typeof text === 'string')
    return known.length === 0 ? undefined : Object.fromEntries(known)
  } catch {
    return undefined
  }
}

/** The pause that a `Retry-After` header asks for, in seconds or as a date; undefined if there is none, or it is malformed. */
export function retryAfterMs(header: string | null, now: number): number | undefined {
  if (header === null) return undefined
  if (/^\d+$/.test(header)) return Number(header) * 1000
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}

/** Stops reading and returns undefined as soon as there are more bytes than `limit`. */
async function readBody(
  response: Response,
  limit: number,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const reader = response.body?.getReader()
  if (reader === undefined) return new Uint8Array()
  const cancel = () => void reader.cancel().catch(() => {})
  // A body that does not come from a socket may ignore the signal.
  const unlink = onAbort(signal, cancel)
  const chunks: Uint8Array[] = []
  let length = 0
  // The length is that of the compressed body, so it says nothing else; and a browser may hide that it was compressed.
  let isWithin = !(Number(response.headers.get('content-length')) > limit)
  try {
    while (isWithin) {
      const { value, done } = await reader.read()
      if (done) break
      chunks.push(value)
      length += value.length
      isWithin = length <= limit
    }
  } finally {
    unlink()
  }
  if (isWithin) return joined(chunks, length)
  cancel()
  return undefined
}

/** Frees its connection. */
function discardBody({ body }: Response): void {
  body?.cancel().catch(() => {})
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

/** What `fetch` says about a failure: in Node.js the reason stands in the cause, in the code if nowhere else. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause = error } = error
  if (!(cause instanceof Error)) return error.message
  return cause.message || ('code' in cause ? String(cause.code) : error.message)
}
