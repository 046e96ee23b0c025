/** What can be wrong with a mirror beside what its origin and its store say. */

/** The origin does not know a state that it had, or the mirror is not as it was: it is to be copied anew. */
export class HistoryLost extends Error {}

/** What only the user can mend. */
export class MirrorError extends Error {
  readonly kind: 'usage' | 'data'

  constructor(kind: MirrorError['kind'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }
}
