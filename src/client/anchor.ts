/** An anchor: a page whose items are remembered, to see later whether anything before them was removed. */

import type { Page } from './page.ts'

/** As JSON it has about 4 KB. */
export interface Anchor {
  readonly page: number
  /** A number for each item of the page, made from its text. */
  readonly digest: string
  readonly itemCount: number
  readonly etag?: string
}

/**
 * What became of the items of an anchor: they stand where they stood; some were replaced, but none moved; or they may
 * have moved.
 */
export type AnchorResult = 'same' | 'replaced' | 'moved'

export function anchorAt(page: Page): Anchor {
  const { number, itemCount, etag } = page
  return { page: number, digest: digestOf(page).join(' '), itemCount, ...(etag !== undefined && { etag }) }
}

/** `page` is the anchor's page, read again. What was appended to it does not count. */
export function checkAnchor(anchor: Anchor, page: Page): AnchorResult {
  const before = anchor.digest === '' ? [] : anchor.digest.split(' ')
  const after = digestOf(page).slice(0, before.length)
  const isCountSame = anchor.itemCount === page.itemCount
  const isQuiet = isCountSame && anchor.etag === page.etag
  if (!isQuiet && isRepetitive(before)) return 'moved'
  if (before.some((item, place) => item !== after[place])) return areInPlace(before, after) ? 'replaced' : 'moved'
  return isCountSame && !isQuiet ? 'replaced' : 'same'
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
