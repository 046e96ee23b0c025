/** Pages that every store offers, each as one of the questions of `read-any-page.ts`: how it is answered is up to the engine. */

import type { StateTag } from '../contract/state-tag.ts'
import { StoreWrites } from './changes.ts'
import type { AnyPage, PastQuestion } from './read-any-page.ts'
import { NO_ROOM } from './segment.ts'
import type { ListedHead, PageOptions, PageRead, PastRead, Reachable, Room, SegmentForm } from './store.ts'

export interface PageQuestion extends AnyPage {
  /** Around a single segment. */
  readonly room: Room
}

export abstract class StoreReads extends StoreWrites {
  /** `form` is undefined where the page is to be read at once. */
  protected abstract readAny(
    question: PageQuestion,
    form: SegmentForm | undefined,
  ): Promise<PageRead | PastRead | undefined>

  abstract collections(): Promise<ListedHead[]>

  /** An engine of several servers leaves out what is on those that are away. */
  async reachable(): Promise<Reachable> {
    return { heads: await this.collections(), away: [] }
  }

  page(name: string, page: number, options?: PageOptions): Promise<PageRead | undefined> {
    return this.#anyPage(name, page, undefined, options)
  }

  pageAt(name: string, tag: StateTag, page: number, options?: PageOptions): Promise<PastRead | undefined> {
    return this.#pastPage(name, page, { tag, isChanges: false }, options)
  }

  changesSince(name: string, tag: StateTag, page: number, options?: PageOptions): Promise<PastRead | undefined> {
    return this.#pastPage(name, page, { tag, isChanges: true }, options)
  }

  async #pastPage(name: string, page: number, past: PastQuestion, options?: PageOptions) {
    // A question about the past is answered with it.
    return (await this.#anyPage(name, page, past, options)) as PastRead | undefined
  }

  async #anyPage(name: string, page: number, past: PastQuestion | undefined, options: PageOptions = {}) {
    const { isPublicOnly = false, form, room = NO_ROOM } = options
    if (!(page >= 1)) throw new RangeError(`There is no page ${page}: pages are numbered from 1.`)
    this.activity.reads.page++
    return this.readAny({ name, page, isPublicOnly, past, form: form ?? 'raw', room }, form)
  }
}
