/** A cache of pages in HTML: making one takes as long as dozens of answers with data. */

import { LRUCache } from 'lru-cache'
import type { Reply } from './reply.ts'

/** A few dozen usual ones. */
const MAX_BYTES = 8 * 1024 * 1024

export class HtmlPages {
  readonly #pages: LRUCache<string, Reply>

  /** With 0 bytes nothing is cached. */
  constructor(maxBytes: number) {
    this.#pages = new LRUCache({
      maxSize: Math.max(1, Math.min(maxBytes, MAX_BYTES)),
      sizeCalculation: ({ body }, key) => (body?.length ?? 0) + key.length,
    })
  }

  /** `key` has to name all that the page is made from. */
  async find(key: string, make: () => Promise<Reply>): Promise<Reply> {
    const kept = this.#pages.get(key)
    if (kept !== undefined) return kept
    const made = await make()
    this.#pages.set(key, made)
    return made
  }
}
