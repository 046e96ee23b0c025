/** The connection was lost after COMMIT was sent and before it was answered: all of it was done, or nothing. */

export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown'
}
