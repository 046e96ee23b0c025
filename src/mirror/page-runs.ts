/** The items of an origin's pages, checked and packed for the store. */

import type { Page, ReadItem } from '../client/page.ts'
import { PAGE_SIZE } from '../contract/page.ts'
import { ItemError, type ItemOptions, ItemPacker, type OwnRun } from '../items/item-run.ts'
import { ItemScanner } from '../items/item-scanner.ts'
import { MirrorError } from './mirror-error.ts'

const OPEN_OBJECT = 0x7b

export class PageRuns {
  readonly #url: string
  readonly #scanner: ItemScanner
  readonly #packer: ItemPacker
  /** By the body of a page, what was packed when it was read; that of the newest page is still in the packer. */
  readonly #packed = new WeakMap<Uint8Array, OwnRun>()
  #newest: Uint8Array | undefined

  /** `url` is that of the origin, for messages. */
  constructor(url: string, options: ItemOptions) {
    this.#url = url
    this.#scanner = new ItemScanner(options)
    this.#packer = new ItemPacker(this.#scanner)
  }

  /** For whoever reads the pages: an item that it finds with this is packed, and need not be looked at again. */
  readonly readItem: ReadItem = (body, start) => {
    if (body !== this.#newest) this.#begin(body)
    const scanner = this.#scanner
    const end = body[start] === OPEN_OBJECT ? scanner.find(body, start, body.length) : -1
    if (end < 0 || end - start > scanner.itemBytes) return -1
    try {
      scanner.readKey(body)
    } catch (error) {
      if (error instanceof ItemError) return -1
      throw error
    }
    this.#packer.add(body, start, end)
    return end
  }

  #begin(body: Uint8Array | undefined): void {
    const packed = this.#packer.take()
    if (this.#newest !== undefined) this.#packed.set(this.#newest, packed)
    this.#newest = body
  }

  /** Throws a MirrorError that says which item cannot be stored, and why. */
  of(page: Page): OwnRun {
    this.#begin(undefined)
    const packed = this.#packed.get(page.body)
    // Whoever has it may free its memory.
    this.#packed.delete(page.body)
    return packed?.count === page.length ? packed : this.#pack(page)
  }

  #pack(page: Page): OwnRun {
    const packer = this.#packer
    try {
      for (const text of page.texts()) {
        this.#scanner.check(text, 0, text.length)
        packer.add(text, 0, text.length)
      }
      return packer.take()
    } catch (error) {
      if (!(error instanceof ItemError)) throw error
      const place = (page.number - 1) * PAGE_SIZE + packer.count + 1
      throw new MirrorError('data', `Item ${place} of ${this.#url}: ${error.reason}.`, { cause: error })
    }
  }
}
