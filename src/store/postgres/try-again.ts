/** Says to whoever began a transaction: end it, do what is asked, and begin anew. */

export class TryAgain extends Error {
  override readonly name = 'TryAgain'
  /** What a load left behind is in the way and is to be removed first. */
  readonly needsSweep: boolean

  constructor(needsSweep: boolean) {
    super('This has to be tried again.')
    this.needsSweep = needsSweep
  }
}
