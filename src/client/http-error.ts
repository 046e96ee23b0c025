/** The error for an answer with another status than 200. */

import { ClientError, type ErrorOptions } from './client-error.ts'

export interface HttpErrorOptions extends ErrorOptions {
  readonly status: number
  readonly statusText: string
  readonly retryAfterMs: number | undefined
}

export class HttpError extends ClientError {
  override readonly name = 'HttpError'
  declare readonly status: number
  /** The pause that the server asked for by `Retry-After`. */
  readonly retryAfterMs: number | undefined

  constructor(url: string, options: HttpErrorOptions) {
    const { status, statusText, problem, retryAfterMs } = options
    const why = [problem?.detail ?? problem?.title, problem?.hint].filter((text) => text !== undefined)
    super(`Request failed with status ${`${status} ${statusText}`.trim()}`, url, why.join(' '), options)
    this.retryAfterMs = retryAfterMs
  }
}
