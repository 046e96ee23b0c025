/**
 * A walk over all pages, in order: of a snapshot, or of live pages, and then it notices when the collection changes under it.
 * docs/decisions/0010 has the proof.
 */

import { PAGE_SIZE } from '../contract/page.ts'
import { CollectionChanged } from './client-error.ts'
import { type LinkRequest, snapshotName } from './envelope.ts'
import { inOrder } from './in-order.ts'
import type { Page } from './page.ts'

/** How far a walk has come: enough to resume it later. Can be kept as JSON. */
export interface WalkState {
  /** How many items were handed over. */
  readonly items: number
  /** As the last page that was handed over says. */
  readonly itemCount: number
  readonly anchor: Anchor
  /** The name of the array with the items. */
  readonly list?: string | undefined
  /** The name of the snapshot that is walked, beside the collection: a walk that is not at its end goes on there. */
  readonly snapshot?: string | undefined
}

/** What changed during a walk without harm. */
export interface Drift {
  /** How many items were appended. They were handed over too. */
  readonly appended: number
  /** Whether items were changed in their places: each was handed over once, as it was before or after. */
  readonly replaced: boolean
}

export interface Step<Item> {
  readonly page: Page<Item>
  /** The items of the page from this one on are new; all of them, unless a walk is resumed. */
  readonly first: number
  /** With this, a walk can be resumed behind this page. */
  readonly state: WalkState
  /** What is known of it so far; all of it in the last step. */
  readonly drift: Drift
}

/** Asks for a page by its number: a live one, or one of a snapshot by its name. */
export type Reader<Item> = (
  number: number,
  signal: AbortSignal | undefined,
  snapshot: string | undefined,
) => Promise<Page<Item>>

/** `url` is that of the collection. */
interface WalkOptions<Item> extends LinkRequest {
  readonly read: Reader<Item>
  readonly signal?: AbortSignal | undefined
  /** How many pages are read ahead. */
  readonly ahead: number
  /** Where an earlier walk ended. */
  readonly from?: WalkState | undefined
  /** Whether to walk live pages, also where they link a snapshot. */
  readonly live?: boolean | undefined
}

/**
 * One pass over the collection: at least one step, even if nothing on its page is new. Throws CollectionChanged when items may
 * have been skipped or repeated.
 */
export async function* walk<Item>(options: WalkOptions<Item>): AsyncGenerator<Step<Item>, void> {
  const { from, ahead, signal, live } = options
  let items = from?.items ?? 0
  let highestCount = from?.itemCount ?? 0
  let firstCount = 0
  let replaced = false
  let snapshot = from && from.items < from.itemCount ? from.snapshot : undefined
  const changed = (why: string) => new CollectionChanged(options, why)
  const nextPage = () => Math.floor(items / PAGE_SIZE) + 1

  async function read(number: number, ending = signal): Promise<Page<Item>> {
    // Responses may overtake one another, but one requested after this count was seen cannot be older.
    const count = highestCount
    const page = await options.read(number, ending, snapshot).catch((error) => {
      const isGone = snapshot && [404, 410].includes(error?.status)
      throw isGone ? new CollectionChanged(error, 'its snapshot is gone', error) : error
    })
    const { itemCount } = page
    if (snapshot ? itemCount !== count : itemCount < count)
      throw changed(`item_count went from ${count} to ${itemCount}`)
    if (page.number !== number) throw changed(`page ${number} is gone`)
    highestCount = Math.max(highestCount, itemCount)
    return page
  }

  async function check(anchor: Anchor): Promise<Page<Item>> {
    const page = await read(anchor.page)
    const result = checkAnchor(anchor, page)
    if (result === 'moved') throw changed(`the items of page ${anchor.page} are not where they were`)
    replaced ||= result === 'replaced'
    return page
  }

  /** The tag of a page of a snapshot says nothing about live pages. */
  function anchorAt(page: Page): Anchor {
    const { number, itemCount, etag } = page
    return { page: number, digest: digestOf(page).join(' '), itemCount, etag: snapshot ? undefined : etag }
  }

  function handOver(page: Page<Item>, anchor: Anchor): Step<Item> {
    // Pages that were read ahead are dropped.
    signal?.throwIfAborted()
    const first = items - (page.number - 1) * PAGE_SIZE
    if (first < 0) throw changed(`page ${page.number} does not continue after ${items} items`)
    items += page.length - first
    const drift = { appended: Math.max(0, items - firstCount), replaced }
    return { page, first, state: { items, itemCount: page.itemCount, anchor, list: page.name, snapshot }, drift }
  }

  let latest = await (from === undefined || snapshot ? read(from?.anchor.page ?? 1) : check(from.anchor))
  // A last page is whole by itself.
  const linked = snapshot || live || latest.isLast ? undefined : snapshotName(latest.links, options)
  if (linked) {
    snapshot = linked
    latest = await read(latest.number).catch((error) => {
      if (!(error instanceof CollectionChanged)) throw error
      // A link that leads nowhere is none: live pages are still there.
      snapshot = undefined
      return latest
    })
  }
  if (items > latest.itemCount) throw changed(`there are ${latest.itemCount} items, not ${items}`)
  firstCount = from?.itemCount ?? latest.itemCount
  // Here, the newest page is known to follow everything that was handed over.
  while (!latest.isLast) {
    let anchor = anchorAt(latest)
    if (latest.number === nextPage()) yield handOver(latest, anchor)
    const last = latest.lastPage
    const known = [latest]
    // Nothing moves in a snapshot.
    if (!snapshot && latest.number < last - 1) {
      const target = await read(last - 1)
      // Not earlier: the periods that the two anchors cover must overlap.
      await check(anchor)
      anchor = anchorAt(target)
      known.push(target)
    }
    const readUnknown = async (number: number, ending: AbortSignal) =>
      known.find((page) => page.number === number) ?? read(number, ending)
    for await (const page of inOrder(nextPage(), last, ahead, readUnknown, signal)) {
      if (page.number < last) yield handOver(page, anchor)
      else latest = page
    }
    if (!snapshot) await check(anchor)
  }
  yield handOver(latest, anchorAt(latest))
}

/** A page whose items are remembered, to see later whether anything before them was removed. As JSON it has about 4 KB. */
export interface Anchor {
  readonly page: number
  /** A number for each item of the page, made from its text. */
  readonly digest: string
  readonly itemCount: number
  readonly etag?: string | undefined
}

/**
 * What became of the items of an anchor: they stand where they stood; some were replaced, but none moved; or they may
 * have moved.
 */
type AnchorResult = 'same' | 'replaced' | 'moved'

/** `page` is the anchor's page, read again. What was appended to it does not count. */
function checkAnchor(anchor: Anchor, page: Page): AnchorResult {
  const before = anchor.digest === '' ? [] : anchor.digest.split(' ')
  const after = digestOf(page).slice(0, before.length)
  const isCountSame = anchor.itemCount === page.itemCount
  const isQuiet = isCountSame && anchor.etag === page.etag
  if (!isQuiet && isRepetitive(before)) return 'moved'
  if (before.some((item, place) => item !== after[place])) return areInPlace(before, after) ? 'replaced' : 'moved'
  return isCountSame && !isQuiet && anchor.etag ? 'replaced' : 'same'
}

/**
 * Whether most items are still there, and all of these where they stood. Something removed moves up all that follow, so
 * the last one tells.
 */
function areInPlace(before: readonly string[], after: readonly string[]): boolean {
  const known = new Set(before)
  const others = after.filter((item, place) => item !== before[place])
  return (
    before.at(-1) === after[before.length - 1] &&
    others.length <= before.length / 2 &&
    !others.some((item) => known.has(item))
  )
}

/** Whether the items look the same when they are moved up, by up to half of their number. */
function isRepetitive(items: readonly string[]): boolean {
  for (let shift = 1; shift <= items.length / 2; shift++)
    if (items.every((item, place) => place < shift || item === items[place - shift])) return true
  return false
}

/** FNV-1a of every item. */
function digestOf(page: Page): string[] {
  return Array.from(page.texts(), (text) => {
    let hash = 0x811c9dc5
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ (text[i] as number), 0x01000193)
    return (hash >>> 0).toString(36)
  })
}
