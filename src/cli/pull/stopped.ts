/** The end of a pull before its time, and what is left of it. */

export class PullStopped extends Error {
  override readonly name = 'PullStopped'
  /** Says what is kept, and how to go on; empty if there is nothing to say. */
  readonly standing: string

  constructor(cause: unknown, standing: string) {
    super('the pull was stopped', { cause })
    this.standing = standing
  }
}
