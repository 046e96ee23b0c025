/** The errors of the client, one class for each way in which a request can fail. */

import { makeVisible } from '../contract/message-text.ts'

/** How much of what a server wrote is quoted in a message. */
const QUOTED_CHARACTERS = 500

/** What was asked for. */
export interface RequestLine {
  readonly url: string
  /** Default: GET. */
  readonly method?: string
}

/** The problem details (RFC 9457) of an answer. */
export interface ProblemDetails {
  readonly type?: string
  readonly title?: string
  readonly detail?: string
  /** What to do about it. Not in the RFC; Reams has it (D14). */
  readonly hint?: string
}

interface ErrorOptions {
  readonly status?: number | undefined
  readonly problem?: ProblemDetails | undefined
  readonly cause?: unknown
}

/** Its message reads `what: GET https://… – why`. */
export class ClientError extends Error {
  override readonly name: string = 'ClientError'
  declare readonly method: string
  declare readonly url: string
  /** Of the answer, where there was one. */
  declare readonly status: number | undefined
  /** The problem details of the answer (RFC 9457), where it had some. */
  declare readonly problem: ProblemDetails | undefined

  constructor(what: string, request: RequestLine, why: string, options: ErrorOptions = {}) {
    const { url, method = 'GET' } = request
    const { status, problem, cause } = options
    const message = `${quoted(what)}: ${method} ${url}${why && ` – ${quoted(why)}`}`
    super(message, cause === undefined ? undefined : { cause })
    Object.assign(this, { method, url, status, problem })
  }
}

/** The server cannot be reached, or its answer breaks off. */
export class ConnectionLost extends ClientError {
  override readonly name = 'ConnectionLost'

  constructor(request: RequestLine, why: string, cause?: unknown) {
    super('The connection failed', request, `${why}.`, { cause })
  }
}

/** The answer was not complete in time. */
export class TimeoutError extends ClientError {
  override readonly name = 'TimeoutError'

  constructor(request: RequestLine, timeoutMs: number) {
    const why = `the response was not complete after ${timeoutMs} ms. The option timeoutMs sets the limit.`
    super('Request timed out', request, why)
  }
}

/** The answer has another status than the one that was expected. */
export class HttpError extends ClientError {
  override readonly name = 'HttpError'
  declare readonly status: number
  /** The pause that the server asked for by `Retry-After`. */
  declare readonly retryAfterMs: number | undefined

  constructor(request: RequestLine, response: Response, problem?: ProblemDetails, retryAfterMs?: number) {
    const { status, statusText, headers } = response
    const location = headers.get('location')
    const why = [
      problem?.detail ?? problem?.title,
      problem?.hint,
      location && `It redirects to ${location}, which is not followed.`,
      retryAfterMs && `It asks to wait ${Math.ceil(retryAfterMs / 1000)} s.`,
    ]
    const what = `Request failed with status ${`${status} ${statusText}`.trim()}`
    super(what, request, why.filter(Boolean).join(' '), { status, problem })
    this.retryAfterMs = retryAfterMs
  }
}

/** The answer is not a page of a collection, or contradicts itself. */
export class InvalidPage extends ClientError {
  override readonly name = 'InvalidPage'

  constructor(request: RequestLine, why: string, cause?: unknown, what = 'The response breaks the contract') {
    super(what, request, `${why}.`, { status: 200, cause })
  }
}

/** The answer is above the limit of bytes. What it had beyond that was not read. */
export class PageTooLarge extends ClientError {
  override readonly name = 'PageTooLarge'

  constructor(request: RequestLine, pageBytes: number) {
    const why = `it has more than ${pageBytes} bytes, decompressed. The option pageBytes sets the limit.`
    super('The response is too large', request, why, { status: 200 })
  }
}

/** A link or a redirect leads to another origin than the one that was asked. */
export class ForbiddenOrigin extends ClientError {
  override readonly name = 'ForbiddenOrigin'
  /** Where it leads; undefined where a browser does not show that. */
  declare readonly target: string | undefined

  /** `what` is the link, or the redirect. */
  constructor(request: RequestLine, what: string, status: number | undefined, target?: string) {
    super('Another origin', request, `${what} leads to ${whereAndWhy(request.url, target)}`, { status })
    this.target = target
  }
}

/** Something was removed from the collection while it was read, so that items may be missing or twice; or its snapshot is gone. */
export class CollectionChanged extends ClientError {
  override readonly name = 'CollectionChanged'

  /** `why` says what showed it. */
  constructor(request: RequestLine, why: string, options?: ErrorOptions) {
    super(
      'The collection changed while it was read',
      request,
      `${why}, so items may be missing or duplicated. Read it again.`,
      options,
    )
  }
}

function whereAndWhy(url: string, target: string | undefined): string {
  if (target === undefined) return 'an address that the browser does not reveal. Use that address instead.'
  if (!/^https?:/.test(target)) return `${target}. Only http: and https: are supported.`
  return `${target}. That is not the origin ${new URL(url).origin}; the option allowedOrigins allows it.`
}

function quoted(text: string): string {
  return makeVisible(text.slice(0, QUOTED_CHARACTERS))
}
