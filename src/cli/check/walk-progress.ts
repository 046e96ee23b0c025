/** The progress bar of a walk: one for each collection, and again for each time that it is read. */

import { makeVisible } from '../../contract/message-text.ts'
import { PAGE_SIZE } from '../../contract/page.ts'
import { type Progress, startProgress } from '../progress.ts'

export class WalkProgress {
  #bar: Progress | undefined
  #collection = ''
  #page = 0

  /** As the checker calls it, with pages in ascending order. */
  readonly onPage = (collection: string, page: number, last: number): void => {
    if (collection !== this.#collection || page < this.#page) this.stop()
    this.#bar ??= startProgress(makeVisible(collection), last)
    this.#collection = collection
    this.#page = page
    this.#bar.update(page, page * PAGE_SIZE)
  }

  stop(): void {
    this.#bar?.stop()
    this.#bar = undefined
  }

  [Symbol.dispose](): void {
    this.stop()
  }
}
