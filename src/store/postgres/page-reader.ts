/** Picks the cheapest statement for a page. What it remembers of a collection is a guess: each answer is checked. */

import { effectivePage } from '../../contract/page.ts'
import type { Head, PageRead } from '../store.ts'
import type { Connections } from './connection.ts'
import { readHead, shownHead } from './head.ts'
import { guessPage, guessTail, inSnapshot, isWhole, readPage, readPagePart, readWhole, sealedReams } from './read.ts'
import type { Rows } from './rows.ts'
import type { SharedReads } from './shared-reads.ts'

/** Collections that are remembered, at most. */
const MOST_SEEN = 10_000

export class PageReader {
  readonly #connections: Connections
  readonly #shared: SharedReads
  /** The heads that were read last. */
  readonly #seen = new Map<string, Head>()

  constructor(connections: Connections, shared: SharedReads) {
    this.#connections = connections
    this.#shared = shared
  }

  /** Whether it was public when it was seen last: then it can be read at once, and is judged by the head that comes along. */
  wasPublic(name: string): boolean {
    return this.#seen.get(name)?.isPrivate === false
  }

  /** Whether a collection is public, as far as is known. Else one head is read, whether there is one or not. */
  async isPublic(name: string): Promise<boolean> {
    if (this.wasPublic(name)) return true
    const head = await readHead(this.#shared, name)
    this.#remember(name, head && shownHead(head))
    return head?.isPrivate === false
  }

  async read(name: string, page: number): Promise<PageRead | undefined> {
    const seen = this.#seen.get(name)
    if (seen !== undefined && !isWhole(seen)) return this.#retryAny(name, page, seen)
    const guessed = seen === undefined ? page : effectivePage(page, seen.live)
    const isTail = seen !== undefined && guessed > sealedReams(seen)
    const { head, read } = await (isTail
      ? guessTail(this.#shared, name, page)
      : guessPage(this.#shared, name, page, guessed))
    this.#remember(name, head)
    return head === undefined ? undefined : (read ?? this.#retryAny(name, page, head))
  }

  /** On a connection of its own: it may take several statements. */
  #retryAny(name: string, page: number, seen: Head): Promise<PageRead | undefined> {
    return this.#connections.retry((rows) => this.#readAny(rows, name, page, seen))
  }

  async #readAny(rows: Rows, name: string, page: number, seen: Head): Promise<PageRead | undefined> {
    if (!seen.isPaginated) {
      const whole = await readWhole(rows, name)
      if (whole === undefined || !whole.head.isPaginated) return whole
    }
    const part = await readPagePart(rows, name, page)
    this.#remember(name, part?.head)
    if (part === undefined) return undefined
    // Made again since it was seen, and now with everything on one page.
    if (!part.head.isPaginated) return readWhole(rows, name)
    if (part.isComplete) return { head: shownHead(part.head), page: part.page, segments: part.segments }
    return inSnapshot(rows, () => readPage(rows, name, page))
  }

  #remember(name: string, head: Head | undefined): void {
    if (head === undefined) this.#seen.delete(name)
    else if (this.#seen.size < MOST_SEEN || this.#seen.has(name)) this.#seen.set(name, head)
  }
}
