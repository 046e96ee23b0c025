/** Knows a page of items again that was there before. */

import { fingerprintOf, keyOf } from './fingerprint.ts'
import { FingerprintTable } from './fingerprint-table.ts'
import type { ItemFacts } from './item-facts.ts'

export class PageMemory {
  readonly #table = new FingerprintTable()

  /**
   * The number of an earlier page with the same items. Equal items are legal; but a whole page of items that nearly all
   * differ from one another comes only once.
   */
  earlier(page: number, { contents }: ItemFacts): number | undefined {
    const keys = contents.map(keyOf)
    const isTelling = keys.length > 1 && new Set(keys).size >= keys.length - Math.max(1, keys.length / 100)
    const before = isTelling ? this.#table.add(fingerprintOf(keys.join()), page, 0)?.page : undefined
    return before === page ? undefined : before
  }
}
