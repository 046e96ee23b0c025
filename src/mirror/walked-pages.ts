/** The pages of an origin that does not name its states: walked anew where something shows that they have changed. */

import { createHash, type Hash } from 'node:crypto'
import type { Collection } from '../client/collection.ts'
import { inOrder } from '../client/in-order.ts'
import type { Page } from '../client/page.ts'
import { ITEM_SEPARATOR } from '../contract/envelope.ts'
import type { Segment } from '../store/store.ts'

const AHEAD = 4

/** Asking for every page whether it has changed takes no more than this part of the time. */
const MAX_SHARE = 0.05

export class WalkedPages {
  readonly #live: Collection
  readonly #signal: AbortSignal
  /** The tags of the pages, where the server has some; undefined before the first walk. */
  #etags: readonly string[] | undefined
  #digest = ''
  #nextLookAt = 0
  /** Whether the last walk found the items that were there before. */
  isSame = false

  constructor(live: Collection, signal: AbortSignal) {
    this.#live = live
    this.#signal = signal
  }

  /** The items that the mirror has. */
  async remember(segments: AsyncIterable<Segment>): Promise<void> {
    const hash = createHash('sha256')
    for await (const segment of segments) addItems(hash, [segment.raw()])
    this.#digest = hash.digest('base64')
  }

  /**
   * By the tags of the first and the last page, and now and then of all pages: a server may have one tag for each page, of
   * which another one says nothing.
   */
  async hasChanged(): Promise<boolean> {
    const etags = this.#etags
    if (etags === undefined || etags.length === 0) return true
    if (await this.#isNewer(1, etags)) return true
    if (etags.length > 1 && (await this.#isNewer(etags.length, etags))) return true
    if (performance.now() < this.#nextLookAt) return false
    const startedAt = performance.now()
    const ask = (number: number) => this.#isNewer(number, etags)
    for await (const isNewer of inOrder(2, etags.length - 1, AHEAD, ask, this.#signal)) if (isNewer) return true
    const now = performance.now()
    this.#nextLookAt = now + (now - startedAt) / MAX_SHARE
    return false
  }

  async #isNewer(number: number, etags: readonly string[]): Promise<boolean> {
    const page = await this.#live.newerPage(number, etags[number - 1] ?? '', { signal: this.#signal })
    return page !== undefined
  }

  /** All pages, in order. Throws CollectionChanged where items were removed meanwhile. */
  async *walk(): AsyncGenerator<Page> {
    const hash = createHash('sha256')
    const etags: (string | undefined)[] = []
    for await (const page of this.#live.pages({ signal: this.#signal, live: true })) {
      etags.push(page.etag)
      addItems(hash, page.texts())
      yield page
    }
    const digest = hash.digest('base64')
    this.isSame = digest === this.#digest
    this.#digest = digest
    this.#etags = etags.every((etag) => etag !== undefined) ? etags : []
    this.#nextLookAt = 0
  }
}

/** The same whether the items come one by one or in runs. */
function addItems(hash: Hash, texts: Iterable<Uint8Array>): void {
  for (const text of texts) hash.update(text).update(ITEM_SEPARATOR)
}
