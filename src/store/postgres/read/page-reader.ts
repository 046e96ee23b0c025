/** Reads a page in one statement, from where it lay when the collection was seen last: each answer is checked. */

import type { StateTag } from '../../../contract/state-tag.ts'
import { type Asking, awaitAll, KnownPast, presentState, readPageAt, readState } from '../../past.ts'
import type { Head, PageOptions, PageRead, PastRead, ReadOptions, StateOptions, StateRead } from '../../store.ts'
import { headOf, readHead, type StoredHead, shardKeyOf, shownHead } from '../rows/head.ts'
import { pastRows } from '../rows/history.ts'
import type { Rows } from '../rows/rows.ts'
import type { Connections } from '../server/connection.ts'
import { askFor, HoleCounts, pageOf, readParts } from './page-parts.ts'
import { inSnapshot, readPage, readWhole } from './read.ts'
import type { SharedReads } from './shared-reads.ts'

/** Collections that are remembered, at most. */
const MAX_SEEN = 10_000

/** Stretches of hole counts that are remembered, of some kilobytes each, before all are forgotten. */
const MAX_STRETCHES = 2_000

/** Before a snapshot is taken: while others write, what was asked for may lie elsewhere by then. */
const MAX_ASKS = 6

/** Reads of the past at a time: fewer than there are connections. */
const MAX_PAST_READS = 4

/** A collection as it was read last. */
interface Seen {
  readonly head: StoredHead
  readonly holes: HoleCounts
}

export class PageReader {
  readonly #connections: Connections
  readonly #shared: SharedReads
  readonly #seen = new Map<string, Seen>()
  readonly #past = new KnownPast()
  #pastReads = 0
  readonly #waiting: (() => void)[] = []
  #stretches = 0

  constructor(connections: Connections, shared: SharedReads) {
    this.#connections = connections
    this.#shared = shared
  }

  /** Whether it was public when it was seen last: then it can be read at once, and is judged by the head that comes along. */
  wasPublic(name: string): boolean {
    return this.#seen.get(name)?.head.isPrivate === false
  }

  /** Whether a collection is public, as far as is known. Else one head is read, whether there is one or not. */
  async isPublic(name: string): Promise<boolean> {
    if (this.wasPublic(name)) return true
    const head = await readHead(this.#shared, name)
    this.#remember(name, head)
    return head?.isPrivate === false
  }

  async read(name: string, page: number): Promise<PageRead | undefined> {
    const shardKey = shardKeyOf(name)
    let seen = this.#seen.get(name)
    for (let asks = 0; asks < MAX_ASKS; asks++) {
      if (seen?.head.isPaginated === false) break
      const guess = seen?.holes.findParts(seen.head, page)
      if (seen !== undefined && guess === undefined) {
        if (seen.holes.missing === undefined) break
        seen = await this.#fill(seen)
        if (seen === undefined) return undefined
        continue
      }
      // Without holes page 1 is ream 0.
      const asked = seen && guess ? askFor(guess, seen.head) : { reams: [page - 1], hasTail: false }
      const found = await readParts(this.#shared, { name, shardKey }, asked)
      seen = this.#remember(name, found[0] && headOf(name, found[0]))
      if (seen === undefined) return undefined
      const parts = seen.head.isPaginated && seen.holes.findParts(seen.head, page)
      const read = parts && pageOf(found, seen.head, parts)
      if (read) return read
    }
    return this.#connections.retry((rows) => this.#readSurely(rows, name, page))
  }

  /** A page of an earlier state. Where nothing has changed since, it is the page of today. */
  async readAt(name: string, tag: StateTag, page: number, options: PageOptions): Promise<PastRead | undefined> {
    if (this.#seen.get(name)?.head.commitId === tag.commitId) {
      const read = await this.read(name, page)
      if (options.isPublicOnly && read?.head.isPrivate) return undefined
      if (read?.head.commitId === tag.commitId) return { ...read, ...presentState(read.head, tag) }
    }
    const { form = 'raw' } = options
    return this.readPast(name, options, (head) => readPageAt(head, tag, page, form, this.#past))
  }

  readStateAt(name: string, tag: StateTag, options: StateOptions): Promise<StateRead | undefined> {
    return this.readPast(name, options, (head) => readState(head, tag, options.page, this.#past))
  }

  /**
   * Anything about the past of a collection. It can take long, so others have connections left meanwhile. Whoever may see only
   * public ones is not even told that there is no such state.
   */
  async readPast<T>(
    name: string,
    { isPublicOnly = false }: ReadOptions,
    read: (head: Head) => Asking<T>,
  ): Promise<T | undefined> {
    while (this.#pastReads >= MAX_PAST_READS) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#pastReads++
    try {
      return await this.#connections.retry((rows) =>
        inSnapshot(rows, async () => {
          const head = await readHead(rows, name)
          this.#remember(name, head)
          if (isPublicOnly && head?.isPrivate) return undefined
          return head && awaitAll(read(shownHead(head)), pastRows(rows, head))
        }),
      )
    } finally {
      this.#pastReads--
      this.#waiting.shift()?.()
    }
  }

  async #fill({ head, holes }: Seen): Promise<Seen | undefined> {
    this.#stretches++
    return this.#remember(head.name, await holes.fill(this.#shared, head))
  }

  async #readSurely(rows: Rows, name: string, page: number): Promise<PageRead | undefined> {
    if (this.#seen.get(name)?.head.isPaginated === false) {
      const whole = await readWhole(rows, name)
      if (whole === undefined || !whole.head.isPaginated) return whole
    }
    return inSnapshot(rows, async () => {
      const seen = this.#remember(name, await readHead(rows, name))
      if (seen === undefined) return undefined
      if (!seen.head.isPaginated) return readWhole(rows, name)
      return readPage(rows, seen.head, page, seen.holes)
    })
  }

  #remember(name: string, head: StoredHead | undefined): Seen | undefined {
    if (head === undefined) {
      this.#seen.delete(name)
      return undefined
    }
    if (this.#stretches > MAX_STRETCHES) {
      this.#seen.clear()
      this.#stretches = 0
    }
    const last = this.#seen.get(name)
    const seen = { head, holes: last?.holes.areOf(head) ? last.holes : new HoleCounts(head) }
    const [oldest] = this.#seen.keys()
    if (last === undefined && this.#seen.size === MAX_SEEN) this.#seen.delete(oldest ?? '')
    this.#seen.set(name, seen)
    return seen
  }
}
