/** What went wrong with PostgreSQL or on the way to it, told by its code. */

/** A URL of a database, or what completes it, is not valid. */
export class PostgresUrlError extends Error {
  override readonly name = 'PostgresUrlError'
}

/** The SQLSTATE of an error that the server reported. */
export function stateOf(error: unknown): string | undefined {
  const isReported = error instanceof Error && 'code' in error && 'severity' in error
  return isReported && typeof error.code === 'string' ? error.code : undefined
}

/** An error of several addresses has no message of its own, and that of a missing password speaks of something else. */
export function messageOf(error: Error): string {
  if (/^SASL: .*password/.test(error.message)) return 'The server requires a password, and none was given'
  if (error instanceof AggregateError && error.message === '')
    return error.errors.map((each) => (each instanceof Error ? each.message : String(each))).join(', ')
  return error.message
}

/** Whether the connection broke, so that the same may work on another one. */
export function isConnectionLost(error: unknown): boolean {
  const state = stateOf(error)
  if (state !== undefined) return /^(08P01|57P0[1235])/.test(state)
  // Whoever waited for a new one has waited long enough.
  if (!(error instanceof Error) || isConnectTimeout(error)) return false
  return LOST.test(error.message) || ('code' in error && LOST_CODES.includes(String(error.code)))
}

/** Whether a new connection was not there in time. */
export function isConnectTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'Connection terminated due to connection timeout'
}

const LOST = /^Connection terminated|not queryable/
const LOST_CODES: readonly string[] = ['ECONNRESET', 'EPIPE', 'ETIMEDOUT']
