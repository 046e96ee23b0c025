/** What the pages of a collection must be, as checksums, from its items in order. */

import { crc32 } from 'node:zlib'
import { PAGE_SIZE } from '../contract/page.ts'
import { joinItems } from './ream.ts'

/** A checksum for each page that the items, in order, must give. */
export class PageDigests {
  readonly #digests: number[] = []
  #texts: string[] = []

  add(texts: readonly string[]): void {
    for (const text of texts) {
      this.#texts.push(text)
      if (this.#texts.length === PAGE_SIZE) this.#cut()
    }
  }

  finish(): readonly number[] {
    if (this.#texts.length > 0) this.#cut()
    return this.#digests
  }

  #cut(): void {
    this.#digests.push(crc32(joinItems(this.#texts)))
    this.#texts = []
  }
}
