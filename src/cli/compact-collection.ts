/** Rewrites a collection into full reams: the same items in the same order, without the holes between them. */

import { inOrder } from '../client/in-order.ts'
import { lastPage } from '../contract/page.ts'
import { ItemError } from '../items/item-scanner.ts'
import { damagedReam } from '../store/ream.ts'
import type { Head, Load, PageRead, Store } from '../store/store.ts'
import { ItemConflict, StoreError } from '../store/store-error.ts'
import { ReadAhead } from './read-ahead.ts'
import { RunMaker } from './stored-items.ts'

/** Pages that are read while earlier ones are being written, at most: a database far away then takes no longer. */
const PAGES_AHEAD = 8
const BYTES_IN_FLIGHT = 4 * 1024 * 1024

export interface CompactOptions {
  /** Its reason is thrown when it is aborted before the commit. */
  readonly signal: AbortSignal
  /** Told how many items have been read so far. */
  readonly onItems?: (items: number) => void
}

export interface Compacted {
  readonly head: Head
  /** Holes that were there, and are not any more. */
  readonly closed: number
}

/** A replacement by its own items: seen whole or not at all, and until then other writers are refused as by any load. */
export async function compactCollection(store: Store, name: string, options: CompactOptions): Promise<Compacted> {
  const load = await store.load(name, { isReplacement: true })
  try {
    const before = await appendOwnItems(load, store, name, options)
    options.signal.throwIfAborted()
    const { head } = await load.commit()
    return { head, closed: before.next - before.live }
  } catch (error) {
    // When even this fails, the next writer removes what is left; the first error is the one to tell.
    await load.abort().catch(() => {})
    options.signal.throwIfAborted()
    throw error instanceof ItemError || error instanceof ItemConflict ? damagedReam() : error
  }
}

/** Read page by page, not from one snapshot: nobody changes items meanwhile, and a long snapshot would let the log grow. */
async function appendOwnItems(load: Load, store: Store, name: string, options: CompactOptions): Promise<Head> {
  const { signal, onItems = () => {} } = options
  const ahead = new ReadAhead(BYTES_IN_FLIGHT)
  const runs = new RunMaker(load.settings.keyField)
  const first = await readPage(store, name, 1)
  const { head } = first
  const last = head.isPaginated ? lastPage(head.live) : 1
  let items = 0
  try {
    for await (const read of inOrder(1, last, pagesAhead(first), (page) => readPage(store, name, page))) {
      signal.throwIfAborted()
      if (!hasSameItems(head, read.head)) throw changed(name)
      const run = runs.runOf(read.segments)
      await ahead.add(load.append(run), run.text.byteLength)
      items += run.count
      onItems(items)
    }
  } finally {
    // All must have come to its end before `abort`.
    await ahead.end()
  }
  return head
}

/** As many as go into the bytes that may be in flight, if the others are like this one. */
function pagesAhead({ segments }: PageRead): number {
  const bytes = segments.reduce((sum, { rawLength }) => sum + rawLength, 0)
  return Math.max(1, Math.min(PAGES_AHEAD, Math.floor(BYTES_IN_FLIGHT / bytes)))
}

async function readPage(store: Store, name: string, page: number): Promise<PageRead> {
  const read = await store.page(name, page)
  if (read === undefined) throw changed(name)
  return read
}

/** Not by `commitId`: the collection may be made private or public meanwhile. */
function hasSameItems(then: Head, now: Head): boolean {
  return then.id === now.id && then.fullPagesId === now.fullPagesId && then.live === now.live
}

/** So the lease is lost, which the next step would show too, and nothing of the load will ever be seen. */
function changed(name: string): StoreError {
  return new StoreError('collection-changed', `The collection "${name}" was changed meanwhile. Run it again.`)
}
