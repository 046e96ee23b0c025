/** One write on its way: what was sent, and what is known about its fate. */

export interface WriteRequest {
  readonly method: 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly type?: string
  readonly body?: string
  /** It is sent without an idempotency key, and hence once only. Default false. */
  readonly isKeyless?: boolean
}

/**
 * 'unknown': the connection died, or the server could not tell. It may be there or not, but not in part.
 * 'refused': the server said that nothing was written.
 */
export type Fate = 'under way' | 'acknowledged' | 'unknown' | 'refused'

export class Write {
  /** Also its idempotency key, if it has one. */
  readonly id: string
  readonly request: WriteRequest
  /** Moments of the history's own clock. */
  readonly sentAt: number
  answeredAt = Number.POSITIVE_INFINITY
  fate: Fate = 'under way'
  /** Nobody knew what became of it when it was sent before. */
  mayBeDone = false

  constructor(id: string, request: WriteRequest, sentAt: number) {
    this.id = id
    this.request = request
    this.sentAt = sentAt
  }
}
