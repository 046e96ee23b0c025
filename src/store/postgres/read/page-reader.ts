/** Reads pages, mostly in one statement: see `read-page.ts`. */

import type { StateTag } from '../../../contract/state-tag.ts'
import { readState } from '../../past.ts'
import { type AnyPage, readAnyPage, readAnyPageOf } from '../../read-any-page.ts'
import { ReadCache } from '../../read-cache.ts'
import { MOVED } from '../../read-page.ts'
import { runAsync, type Steps } from '../../rows.ts'
import type { PageRead, PastRead, StateOptions, StateRead } from '../../store.ts'
import type { StoredHead } from '../../tables.ts'
import type { PostgresRows } from '../rows/postgres-rows.ts'
import type { Rows } from '../rows/rows.ts'
import type { Connections } from '../server/connection.ts'
import { inSnapshot } from './snapshot.ts'

/** Reads of the past at a time: fewer than there are connections. */
const MAX_PAST_READS = 4

export class PageReader {
  readonly #connections: Connections
  readonly #shared: PostgresRows
  readonly #cache = new ReadCache()
  #pastReads = 0
  readonly #waiting: (() => void)[] = []

  constructor(connections: Connections, shared: PostgresRows) {
    this.#connections = connections
    this.#shared = shared
  }

  /** Whether it was public when it was seen last: then it can be read at once, and is judged by the head that comes along. */
  wasPublic(name: string): boolean {
    return this.#cache.head(name)?.isPrivate === false
  }

  /** Whether a collection is public, as far as is known. Else one head is read, whether there is one or not. */
  async isPublic(name: string): Promise<boolean> {
    if (this.wasPublic(name)) return true
    const head = await this.#shared.readHead(name)
    this.#cache.sawHead(name, head)
    return head?.isPrivate === false
  }

  async read(question: AnyPage): Promise<PageRead | PastRead | undefined> {
    const { name, isPublicOnly, past } = question
    const read = await runAsync(readAnyPage(question, this.#cache), this.#shared)
    if (read !== MOVED) return isPublicOnly && read?.head.isPrivate ? undefined : read
    const steps = (head: StoredHead) => readAnyPageOf(head, question, this.#cache)
    return past === undefined ? this.#inSnapshot(name, isPublicOnly, steps) : this.#readPast(name, isPublicOnly, steps)
  }

  findItem(name: string, key: string) {
    return this.#shared.findItem(name, key)
  }

  readStateAt(
    name: string,
    tag: StateTag,
    { isPublicOnly = false, page }: StateOptions,
  ): Promise<StateRead | undefined> {
    return this.#readPast(name, isPublicOnly, (head) => readState(head, tag, page, this.#cache))
  }

  /** Anything about the past of a collection. It can take long, so others have connections left meanwhile. */
  async #readPast<T>(
    name: string,
    isPublicOnly: boolean,
    read: (head: StoredHead) => Steps<T>,
  ): Promise<T | undefined> {
    while (this.#pastReads >= MAX_PAST_READS) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#pastReads++
    try {
      return await this.#inSnapshot(name, isPublicOnly, read)
    } finally {
      this.#pastReads--
      this.#waiting.shift()?.()
    }
  }

  /** Whoever may see only public collections is not even told that there is no such state. */
  #inSnapshot<T>(name: string, isPublicOnly: boolean, read: (head: StoredHead) => Steps<T>): Promise<T | undefined> {
    return this.#connections.retry((rows: Rows) =>
      inSnapshot(rows, async () => {
        const head = await rows.tables.readHead(name)
        this.#cache.sawHead(name, head)
        if (head === undefined || (isPublicOnly && head.isPrivate)) return undefined
        return runAsync(read(head), rows.tables)
      }),
    )
  }
}
