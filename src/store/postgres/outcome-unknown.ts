/** COMMIT was sent, and no certain answer came, as when the connection was lost: all of it was done, or nothing. */

export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown'
}
