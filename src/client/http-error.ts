/** The error for an answer with another status than 200. */

import { ClientError, type ErrorOptions } from './client-error.ts'

export interface HttpErrorOptions extends ErrorOptions {
  readonly status: number
  readonly statusText: string
  readonly retryAfterMs: number | undefined
  /** Where the server leads to, if that was not followed. */
  readonly location?: string | null
}

export class HttpError extends ClientError {
  override readonly name = 'HttpError'
  declare readonly status: number
  /** The pause that the server asked for by `Retry-After`. */
  readonly retryAfterMs: number | undefined

  constructor(url: string, options: HttpErrorOptions) {
    const { status, statusText, problem, retryAfterMs, location } = options
    const why = [
      problem?.detail ?? problem?.title,
      problem?.hint,
      location && `It leads to ${location}, and that is not followed.`,
      retryAfterMs && `It asks for a pause of ${Math.ceil(retryAfterMs / 1000)} s.`,
    ]
    super(`Request failed with status ${`${status} ${statusText}`.trim()}`, url, why.filter(Boolean).join(' '), options)
    this.retryAfterMs = retryAfterMs
  }
}
