/** Limits on what a mirror takes from its origin, so that an origin that grows without end does not fill the disk. */

import { counted, formatCount } from '../contract/message-text.ts'
import type { Head, Store } from '../store/store.ts'
import { MirrorError } from './mirror-error.ts'

export interface LimitOptions {
  /** The most items that the mirror may have. */
  readonly maxItems: number
  /** The most bytes that the JSON texts of its items may have. */
  readonly maxBytes: number
  /** Says in a sentence that little space is left where the store is; undefined while there is enough. */
  readonly checkSpace: () => Promise<string | undefined>
}

/** Bytes between two looks at the space that is left. */
const BYTES_A_LOOK = 16 * 1024 * 1024

export class MirrorLimits {
  readonly #options: LimitOptions
  readonly #url: string
  /** No less than the bytes of the mirror's items; undefined while that is not known. */
  #size: number | undefined
  #bytesSinceLook = Number.POSITIVE_INFINITY

  /** `url` is that of the origin, for messages. */
  constructor(options: LimitOptions, url: string) {
    this.#options = options
    this.#url = url
  }

  /** Refuses a collection that says it has too many items, before any of them is copied. */
  checkClaim(itemCount: number): void {
    const { maxItems } = this.#options
    if (itemCount > maxItems) throw this.#tooMany(`${this.#url} has ${counted(itemCount, 'item')}`)
  }

  /** Counts the items of a copy, or those of one version. */
  newCount(): ItemCount {
    const { maxItems, maxBytes } = this.#options
    return new ItemCount((items, bytes) => {
      if (items > maxItems) throw this.#tooMany(`${this.#url} sends too many items`)
      if (bytes > maxBytes) throw this.#tooLarge(`The items of ${this.#url} have more bytes than that`)
    })
  }

  /** The mirror was copied, and has so many bytes. */
  setSize(bytes: number): void {
    this.#size = bytes
  }

  /** Checks the space that is left, now and then; `bytes` have come since the last call. */
  async checkSpace(bytes: number): Promise<void> {
    this.#bytesSinceLook += bytes
    if (this.#bytesSinceLook < BYTES_A_LOOK) return
    this.#bytesSinceLook = 0
    const shortage = await this.#options.checkSpace()
    if (shortage !== undefined)
      throw new MirrorError('usage', `${shortage} The mirror of ${this.#url} stops here, and stays as it is.`)
  }

  /** Checks the mirror as it is, after puts of so many bytes. Its exact size is read only where they could be too many. */
  async checkMirror(store: Store, { name, live }: Head, bytes: number): Promise<void> {
    const { maxItems, maxBytes } = this.#options
    await this.checkSpace(bytes)
    if (live > maxItems) throw this.#tooMany(`The mirror "${name}" has ${counted(live, 'item')}`)
    if (maxBytes === Number.POSITIVE_INFINITY) return
    this.#size = (this.#size ?? Number.POSITIVE_INFINITY) + bytes
    if (this.#size > maxBytes) this.#size = await store.textBytes(name)
    if (this.#size > maxBytes) throw this.#tooLarge(`The items of the mirror "${name}" have more bytes than that`)
  }

  #tooMany(what: string): MirrorError {
    const limit = `a mirror may have ${formatCount(this.#options.maxItems)}`
    return new MirrorError('usage', `${what}, and ${limit}. ${STAYS} --max-items raises the limit.`)
  }

  #tooLarge(what: string): MirrorError {
    const limit = `The limit is ${formatCount(this.#options.maxBytes)} bytes`
    return new MirrorError('usage', `${what}. ${limit}. ${STAYS} --max-bytes raises the limit.`)
  }
}

const STAYS = 'What is mirrored already stays as it is.'

export class ItemCount {
  readonly #check: (items: number, bytes: number) => void
  #items = 0
  #bytes = 0

  constructor(check: (items: number, bytes: number) => void) {
    this.#check = check
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Throws a MirrorError where there are too many. */
  add(items: number, bytes: number): void {
    this.#items += items
    this.#bytes += bytes
    this.#check(this.#items, this.#bytes)
  }
}
