/** The error for a server that cannot be reached, and for an answer that breaks off. */

import { ClientError } from './client-error.ts'

export class ConnectionLost extends ClientError {
  override readonly name = 'ConnectionLost'

  constructor(url: string, why: string, cause?: unknown) {
    super('The connection failed', url, `${why}.`, { cause })
  }
}

/** What `fetch` says about a failure: in Node.js the reason stands in the cause, in the code if nowhere else. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  if (!(cause instanceof Error)) return error.message
  return cause.message || ('code' in cause ? String(cause.code) : error.message)
}
