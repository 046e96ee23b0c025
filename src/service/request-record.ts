/** What was asked and answered, for whoever keeps a log, counts or limits; and the id by which a request is found again. */

import { randomUUID } from 'node:crypto'
import { holdsToken } from '../contract/scope.ts'
import type { Incoming } from './incoming.ts'

/** What the service knows of a request. Handlers fill it in. */
export interface RequestFacts {
  readonly requestId: string
  /** The pattern of the path, such as `/:collection`; `unknown` for a path without one, `malformed` for no HTTP. */
  readonly route: string
  /** Of the client: what a trusted proxy says, else the other end of the connection. Empty if it is not known. */
  readonly remoteAddress: string
  collection?: string
  /** The page that was answered. Undefined where the response is none. */
  page?: number
  /** Whether the page was in the cache. Undefined where it was not looked for. */
  cache?: 'hit' | 'miss'
  tokenName?: string
  /** How long it waited for a change, because it preferred to. */
  waitedMs?: number
}

export interface RequestRecord extends RequestFacts {
  /** Empty where the request was too broken to tell. */
  readonly method: string
  /** As it came, without the query. Empty as above. */
  readonly path: string
  /** `UNANSWERED` where the connection broke before there was a response. */
  readonly status: number
  /** From the end of the request's head until the response was handed over. */
  readonly durationMs: number
  /** Of the body that was sent. */
  readonly bytes: number
  /** The connection broke before the response was handed over. */
  readonly isAborted?: true
}

/** The target has a query, which may hold what must not be in a log. */
export type OnError = (error: unknown, request: Pick<Incoming, 'method' | 'target'>, requestId: string) => void

/** As nginx has it. */
export const UNANSWERED = 499

const REQUEST_ID = /^[\w.:-]{1,128}$/
/** W3C Trace Context. Neither id is all zeros; the version is not ff, and those after 00 may have more behind. */
const TRACE_PARENT =
  /^(?:00-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}|(?!00|ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-.*)?)$/

/** From `X-Request-Id`, else the trace id of `traceparent`, where they are well-formed; else a new one. */
export function requestIdOf(headers: Incoming['headers']): string {
  const given = headers.get('x-request-id')
  // An id gets into logs, and a token must not.
  if (given !== null && REQUEST_ID.test(given) && !holdsToken(given)) return given
  const parent = headers.get('traceparent')
  const traced = parent === null ? null : TRACE_PARENT.exec(parent)
  return traced?.[1] ?? traced?.[2] ?? randomUUID()
}
