/** `reams compact NAME`: rewrites a collection without the holes that deleted items left, which make pages slower to read. */

import { inOrder } from '../../client/in-order.ts'
import { counted } from '../../contract/message-text.ts'
import { lastPage } from '../../contract/page.ts'
import { ItemError } from '../../items/item-scanner.ts'
import { damagedReam } from '../../store/ream.ts'
import type { Head, Load, PageRead, Store } from '../../store/store.ts'
import { ItemConflict, StoreError } from '../../store/store-error.ts'
import { Interruption } from '../interruption.ts'
import { existingHead, withStore } from '../open-store.ts'
import { formatDuration, print, sizeOf } from '../output.ts'
import { startProgress } from '../progress.ts'
import { BYTES_IN_FLIGHT, ReadAhead, runMaker } from '../read-ahead.ts'
import type { CliCommand, SettingValues } from '../setting-values.ts'

export const COMPACT: CliCommand = {
  name: 'compact',
  group: 'Load and change',
  usage: 'NAME [options]',
  summary: 'close the holes that deleted items left',
  description: `Rewrites a collection without the holes that deleted items left: pages after a
hole cost more to read. Items, order and keys stay. Readers are not disturbed;
other writers of the collection are refused meanwhile. It is all or nothing.`,
  operands: [{ syntax: '<NAME>', description: 'the collection' }],
  settings: ['store'],
  examples: [{ line: 'reams compact events --store my.db', purpose: 'after many deletes' }],
  run: runCompact,
}

/** Pages that are read while earlier ones are being written, at most: so a distant database takes no longer. */
const PAGES_AHEAD = 8

async function runCompact([name = '']: readonly string[], settings: SettingValues): Promise<undefined> {
  using interruption = new Interruption()
  const { signal } = interruption
  await withStore(settings.get('store'), {}, async (store) => {
    const before = await existingHead(store, name)
    if (before.live === before.next) {
      await print(`${name}: ${sizeOf(before)}, no holes. There is nothing to do.`)
      return
    }
    const startedAt = performance.now()
    const progress = startProgress(`compacting ${name}`, before.live)
    const onItems = (items: number): void => progress.update(items, items)
    const { head, closed } = await compactCollection(store, name, { signal, onItems }).finally(() => progress.stop())
    const duration = formatDuration(performance.now() - startedAt)
    await print(`${name}: ${counted(closed, 'hole')} closed in ${duration}; the collection has ${sizeOf(head)}.`)
  })
}

interface CompactOptions {
  /** Its reason is thrown when it is aborted before the commit. */
  readonly signal: AbortSignal
  /** Told how many items have been read so far. */
  readonly onItems?: (items: number) => void
}

/** Replaces a collection by its own items: visible as a whole or not at all. Until then other writers are refused. */
export async function compactCollection(
  store: Store,
  name: string,
  options: CompactOptions,
): Promise<{ head: Head; closed: number }> {
  const load = await store.load(name, { isReplacement: true })
  try {
    const before = await appendOwnItems(load, store, name, options)
    options.signal.throwIfAborted()
    const { head } = await load.commit()
    return { head, closed: before.next - before.live }
  } catch (error) {
    // If even this fails, the next writer removes what is left; the first error is the one to report.
    await load.abort().catch(() => {})
    options.signal.throwIfAborted()
    throw error instanceof ItemError || error instanceof ItemConflict ? damagedReam() : error
  }
}

/** Reads page by page, not from one snapshot: nobody changes items meanwhile, and a long snapshot would let the log grow. */
async function appendOwnItems(load: Load, store: Store, name: string, options: CompactOptions): Promise<Head> {
  const { signal, onItems = () => {} } = options
  const ahead = new ReadAhead()
  const runOf = runMaker(load.settings.keyField)
  const first = await readPage(store, name, 1)
  const { head } = first
  // As many as go into the bytes in flight, if the others are like the first one.
  const pageBytes = first.segments.reduce((sum, { rawLength }) => sum + rawLength, 0)
  const pagesAhead = Math.max(1, Math.min(PAGES_AHEAD, Math.floor(BYTES_IN_FLIGHT / pageBytes)))
  const last = head.isPaginated ? lastPage(head.live) : 1
  let items = 0
  try {
    for await (const read of inOrder(1, last, pagesAhead, (page) => readPage(store, name, page))) {
      signal.throwIfAborted()
      if (!hasSameItems(head, read.head)) throw changed(name)
      const run = runOf(read.segments)
      await ahead.add(load.append(run), run.text.byteLength)
      items += run.count
      onItems(items)
    }
  } finally {
    // All must have ended before `abort`.
    await ahead.end()
  }
  return head
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

/** Then the lease is lost too, and nothing of the load will ever be visible. */
function changed(name: string): StoreError {
  return new StoreError('collection-changed', `The collection "${name}" was changed in the meantime. Run it again.`)
}
