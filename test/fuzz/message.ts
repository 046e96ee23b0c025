/** One request, well-formed or not, and what is known about its answer. */

export interface Message {
  readonly bytes: Buffer
  /**
   * ordinary: well-formed. One answer, and the connection stays open unless the answer is an error.
   * last: one answer, after which the server may close the connection.
   * cut off: at most one answer.
   * odd: any number of answers; the connection must come to an end.
   */
  readonly kind: 'ordinary' | 'last' | 'cut off' | 'odd'
  readonly isHead?: boolean
  /** The statuses that are right. Default: any but a failure of the server. */
  readonly statuses?: readonly number[]
  /** The collection whose items a 200 holds. */
  readonly shows?: string
  /** The ids of the items that it appends to the log: all of them once, or none. */
  readonly appends?: readonly string[]
}

/** Replaced by the ETag of the last answer, where messages are sent in turns. */
export const LAST_TAG = '"the-tag-of-the-last-answer"'

/** How many answers these messages must get, unless one of the answers closes the connection. */
export function answersDue(sent: readonly Message[]): number {
  const ordinary = sent.findIndex(({ kind }) => kind !== 'ordinary')
  if (ordinary < 0) return sent.length
  return sent[ordinary]?.kind === 'last' ? ordinary + 1 : ordinary
}
