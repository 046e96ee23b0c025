/** What all errors of the client have in common: which request failed, and what the server said about it. */

import { makeVisible } from '../contract/message-text.ts'
import type { ProblemDetails } from './problem-details.ts'

/** Of what a server wrote, this much stands in a message. */
const QUOTED_CHARACTERS = 500

export interface ErrorOptions {
  readonly status?: number | undefined
  readonly problem?: ProblemDetails | undefined
  readonly cause?: unknown
}

/** Its message reads `what: GET https://… – why`. */
export class ClientError extends Error {
  override readonly name: string = 'ClientError'
  readonly method = 'GET'
  readonly url: string
  /** Of the answer, where there was one. */
  readonly status: number | undefined
  /** The problem details of the answer (RFC 9457), where it had some. */
  readonly problem: ProblemDetails | undefined

  constructor(what: string, url: string, why: string, { status, problem, cause }: ErrorOptions = {}) {
    super(`${quoted(what)}: GET ${url}${why && ` – ${quoted(why)}`}`, cause === undefined ? undefined : { cause })
    this.url = url
    this.status = status
    this.problem = problem
  }
}

function quoted(text: string): string {
  return makeVisible(text.slice(0, QUOTED_CHARACTERS))
}
