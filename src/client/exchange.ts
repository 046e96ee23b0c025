/** One request and its answer: within limits of time and bytes, and to no other origin. */

import {
  ConnectionLost,
  ForbiddenOrigin,
  HttpError,
  PageTooLarge,
  type ProblemDetails,
  type RequestLine,
  reasonOf,
  TimeoutError,
} from './client-error.ts'
import { ACCEPTED, type Settings } from './client-options.ts'
import { onAbort, withDeadline } from './deadline.ts'

/** What is sent. */
export interface OutgoingRequest extends RequestLine {
  /** Beside those of the settings. */
  readonly headers?: Readonly<Record<string, string>>
  /** Nothing but GET follows redirects: a body goes where it was meant to go, or nowhere. */
  readonly body?: Uint8Array<ArrayBuffer>
}

/** What came back with status 200, or to a body with 201. */
export interface FetchedBody {
  /** As it was asked for. */
  readonly url: string
  readonly headers: Headers
  readonly body: Uint8Array
}

export interface ExchangeTerms {
  readonly settings: Settings
  /** The one that is meant to be asked. */
  readonly origin: string
  readonly allows: (target: URL) => boolean
  /** Told when somebody answers, whatever it is. */
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
  const isGood = status === (request.body === undefined ? 200 : 201)
  const limit = isGood ? terms.settings.pageBytes : PROBLEM_BYTES
  const body = await readBody(response, limit, signal).catch((error) => {
    if (isGood) throw new ConnectionLost(request, `the answer broke off: ${reasonOf(error)}`, error)
    // The status says enough.
    return undefined
  })
  if (!isGood) throw httpError(request, response, body)
  if (body === undefined) throw new PageTooLarge(request, limit)
  return { url: request.url, headers, body }
}

/** Follows redirects, as far as they stay where they may. */
async function follow(request: OutgoingRequest, terms: ExchangeTerms, signal: AbortSignal): Promise<Response> {
  let target = new URL(request.url)
  for (let redirects = 0; ; redirects++) {
    const response = await send(request, target, terms, signal)
    if (response.type === 'opaqueredirect') throw new ForbiddenOrigin(request, 'a redirect', undefined)
    if (request.body !== undefined) return response
    // A `fetch` that follows by itself says so afterwards.
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
  // Nothing from a cache: what is compared has to be how it is now.
  const sent = new Request(target, { method, headers, body, signal, redirect: 'manual', cache: 'no-store' })
  for (const [name, value] of Object.entries(request.headers ?? {})) sent.headers.set(name, value)
  try {
    return await settings.fetch(sent)
  } catch (error) {
    throw new ConnectionLost(request, reasonOf(error), error)
  }
}

/** Where an answer leads to; undefined if nowhere. */
function redirectOf({ status, headers }: Response, base: URL): string | undefined {
  const location = headers.get('location')
  if (![301, 302, 303, 307, 308].includes(status) || location === null || !URL.canParse(location, base))
    return undefined
  const { href, username, password } = new URL(location, base)
  // With a name or a password there can be no request.
  return username + password === '' ? href : undefined
}

function httpError(
  request: RequestLine,
  { status, statusText, headers }: Response,
  body: Uint8Array | undefined,
): HttpError {
  return new HttpError(request, {
    status,
    statusText,
    problem: body === undefined ? undefined : problemDetails(body),
    retryAfterMs: retryAfterMs(headers.get('retry-after'), Date.now()),
    location: headers.get('location'),
  })
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

/** The pause that a `Retry-After` header asks for, in seconds or as a date; undefined without one that can be read. */
export function retryAfterMs(header: string | null, now: number): number | undefined {
  if (header === null) return undefined
  if (/^\d+$/.test(header)) return Number(header) * 1000
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}

/** Ends with undefined, and reads no further, as soon as there is more than `limit`. */
async function readBody(
  response: Response,
  limit: number,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const reader = response.body?.getReader()
  if (reader === undefined) return new Uint8Array()
  const cancel = () => void reader.cancel().catch(() => {})
  // A body that came without a socket does not know of the signal.
  const unlink = onAbort(signal, cancel)
  const chunks: Uint8Array[] = []
  let length = 0
  // No more than this is made of that length: it is of the packed answer, and a browser may hide that there was one.
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

/** Reads nothing of it, so that its connection becomes free. */
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
