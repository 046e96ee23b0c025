/** `reams compact NAME`: rewrites a collection without the holes that deleted items left, which make pages slower to read. */

import { inOrder } from '../../client/in-order.ts'
import { ITEM_SEPARATOR } from '../../contract/envelope.ts'
import { lastPage } from '../../contract/page.ts'
import { ItemPacker, type ItemRun } from '../../items/item-run.ts'
import { ItemError, ItemScanner } from '../../items/item-scanner.ts'
import { damagedReam, joinPieces } from '../../store/ream.ts'
import type { Head, Load, PageRead, Store } from '../../store/store.ts'
import { ItemConflict, StoreError } from '../../store/store-error.ts'
import type { CliCommand } from '../command.ts'
import { formatCount, formatDuration, sizeOf } from '../figures.ts'
import { Interruption } from '../interruption.ts'
import { existingHead, withStore } from '../open-store.ts'
import { print } from '../output.ts'
import { startProgress } from '../progress.ts'
import { ReadAhead } from '../read-ahead.ts'
import type { SettingValues } from '../setting-values.ts'

export const COMPACT: CliCommand = {
  name: 'compact',
  group: 'Load and change',
  usage: 'NAME [options]',
  summary: 'close the holes that deleted items left',
  description: `Rewrites a collection without the holes that deleted items left: pages after a
hole cost more to read. Items, order and keys stay. Readers are not disturbed;
other writers of the collection wait. All of it or, if something is wrong,
nothing.`,
  operands: [{ syntax: '<NAME>', description: 'the collection' }],
  settings: ['store'],
  examples: [{ line: 'reams compact events --store my.db', purpose: 'after many deletes' }],
  run: runCompact,
}

/** Pages that are read while earlier ones are being written, at most: so a distant database takes no longer. */
const PAGES_AHEAD = 8
const BYTES_IN_FLIGHT = 4 * 1024 * 1024

const LINE_BREAK = 10

async function runCompact([name = '']: readonly string[], settings: SettingValues): Promise<number> {
  using interruption = new Interruption()
  const { signal } = interruption
  return withStore(settings.get('store'), {}, async (store) => {
    const before = await existingHead(store, name)
    if (before.live === before.next) {
      await print(`${name}: ${sizeOf(before)}, no holes. There is nothing to do.`)
      return 0
    }
    const startedAt = performance.now()
    const progress = startProgress(`compacting ${name}`, before.live)
    const onItems = (items: number): void => progress.update(items, items)
    const { head, closed } = await compactCollection(store, name, { signal, onItems }).finally(() => progress.stop())
    const holes = `${formatCount(closed)} ${closed === 1 ? 'hole' : 'holes'} closed`
    const duration = formatDuration(performance.now() - startedAt)
    await print(`${name}: ${holes} in ${duration}; the collection has ${sizeOf(head)}.`)
    return 0
  })
}

export interface CompactOptions {
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
  const ahead = new ReadAhead(BYTES_IN_FLIGHT)
  // What is stored was within a limit when it came.
  const scanner = new ItemScanner({ keyField: load.settings.keyField, itemBytes: Number.POSITIVE_INFINITY })
  const packer = new ItemPacker(scanner)
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
      const run = runOf(read, scanner, packer)
      await ahead.add(load.append({ ...run, isTransferred: true }), run.text.byteLength)
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
  return new StoreError('collection-changed', `The collection "${name}" was changed meanwhile. Run it again.`)
}

/** The bytes stay as they are; only the keys are read out of them. */
function runOf({ segments }: PageRead, scanner: ItemScanner, packer: ItemPacker): ItemRun {
  const text = joinPieces(segments.map((segment) => segment.raw()))
  for (let start = 0; start < text.byteLength; ) {
    const lineBreak = text.indexOf(LINE_BREAK, start)
    const following = lineBreak === -1 ? text.byteLength + ITEM_SEPARATOR.length : lineBreak + 1
    const end = following - ITEM_SEPARATOR.length
    scanner.check(text, start, end)
    packer.add(text, start, end)
    start = following
  }
  const run = packer.take()
  const count = segments.reduce((sum, segment) => sum + segment.count, 0)
  if (run.count !== count || run.text.byteLength !== text.byteLength) throw damagedReam()
  return run
}
