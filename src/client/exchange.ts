/** One request and its answer: within limits of time and bytes, and to no other origin. */

import { ACCEPTED, type Settings } from './client-options.ts'
import { ConnectionLost, reasonOf } from './connection-lost.ts'
import { withDeadline } from './deadline.ts'
import { ForbiddenOrigin } from './forbidden-origin.ts'
import { HttpError } from './http-error.ts'
import { PageTooLarge } from './page-too-large.ts'
import { problemDetails } from './problem-details.ts'
import { discardBody, readBody } from './read-body.ts'
import { retryAfterMs } from './retry.ts'
import { TimeoutError } from './timeout-error.ts'

/** An answer with status 200. */
export interface Answer {
  /** As it was asked. */
  readonly url: string
  readonly headers: Headers
  readonly body: Uint8Array
}

export interface Terms {
  readonly settings: Settings
  /** The one that is meant to be asked. */
  readonly origin: string
  readonly allows: (target: URL) => boolean
  /** Told when somebody answers, whatever it is. */
  readonly onAnswer: () => void
}

const MAX_REDIRECTS = 5
const PROBLEM_BYTES = 2 ** 16

/** Rejects with a ClientError, or with the reason of the signal. */
export function exchange(url: string, terms: Terms, signal: AbortSignal | undefined): Promise<Answer> {
  const { timeoutMs } = terms.settings
  const onTimeout = () => new TimeoutError(url, timeoutMs)
  return withDeadline((ending) => receive(url, terms, ending), timeoutMs, onTimeout, signal)
}

async function receive(url: string, terms: Terms, signal: AbortSignal): Promise<Answer> {
  const response = await follow(url, terms, signal)
  terms.onAnswer()
  const { status, headers } = response
  const limit = status === 200 ? terms.settings.pageBytes : PROBLEM_BYTES
  const body = await readBody(response, limit, signal).catch((error) => {
    if (status === 200) throw new ConnectionLost(url, `the answer broke off: ${reasonOf(error)}`, error)
    // The status says enough.
    return undefined
  })
  if (status !== 200) throw httpError(url, response, body)
  if (body === undefined) throw new PageTooLarge(url, limit)
  return { url, headers, body }
}

/** Follows redirects, as far as they stay where they may. */
async function follow(url: string, terms: Terms, signal: AbortSignal): Promise<Response> {
  let target = new URL(url)
  for (let redirects = 0; ; redirects++) {
    const response = await send(url, target, terms, signal)
    if (response.type === 'opaqueredirect') throw new ForbiddenOrigin(url, 'a redirect', undefined)
    // A `fetch` that follows by itself says so afterwards.
    const location = response.redirected ? response.url : redirectOf(response, target)
    if (location !== undefined && !terms.allows(new URL(location))) {
      discardBody(response)
      throw new ForbiddenOrigin(url, 'a redirect', response.status, location)
    }
    if (location === undefined || response.redirected || redirects === MAX_REDIRECTS) return response
    discardBody(response)
    target = new URL(location)
  }
}

async function send(url: string, target: URL, { settings, origin }: Terms, signal: AbortSignal): Promise<Response> {
  const headers = target.origin === origin ? settings.headers : { Accept: ACCEPTED }
  // Nothing from a cache: what is compared has to be how it is now.
  const request = new Request(target, { headers, signal, redirect: 'manual', cache: 'no-store' })
  try {
    return await settings.fetch(request)
  } catch (error) {
    throw new ConnectionLost(url, reasonOf(error), error)
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

function httpError(url: string, { status, statusText, headers }: Response, body: Uint8Array | undefined): HttpError {
  return new HttpError(url, {
    status,
    statusText,
    problem: body === undefined ? undefined : problemDetails(body),
    retryAfterMs: retryAfterMs(headers.get('retry-after'), Date.now()),
    location: headers.get('location'),
  })
}
