/** Page arithmetic: what a `page` parameter means, which page is the last, which items stand on a page. */

/** Items on a page. Fixed: no parameter, header or setting changes it (C3). */
export const PAGE_SIZE = 500

/** Longest run of digits that is a safe integer whatever the digits are. */
const SAFE_DIGITS = 15

/**
 * Reads the values of the `page` parameter, as many as the query gave. Absent or empty means page 1 (D1).
 * A number too long for arithmetic is cut to one that is still beyond every last page (D2).
 * Answers undefined for everything that is not a page number (D3).
 */
export function parsePage(values: readonly string[]): number | undefined {
  if (values.length > 1) return undefined
  const value = values[0] ?? ''
  if (value === '') return 1
  if (!/^[0-9]+$/.test(value)) return undefined
  const digits = value.replace(/^0+/, '')
  if (digits === '') return undefined
  return digits.length > SAFE_DIGITS ? Number.MAX_SAFE_INTEGER : Number(digits)
}

/** The number of the last page; an empty collection has one page (D5). */
export function lastPage(itemCount: number): number {
  return Math.max(1, Math.ceil(itemCount / PAGE_SIZE))
}

/** The page that answers a request for `requested`: beyond the last page it is the last page (C7). */
export function effectivePage(requested: number, itemCount: number): number {
  return Math.min(requested, lastPage(itemCount))
}

/** The ranks of the items on a page: from `start`, up to but not including `end`. */
export function pageRange(page: number, itemCount: number): { start: number; end: number } {
  const start = (page - 1) * PAGE_SIZE
  return { start, end: Math.min(start + PAGE_SIZE, itemCount) }
}

/** How many pages hold as many items as a page can. No append changes them. */
export function fullPages(itemCount: number): number {
  return Math.floor(itemCount / PAGE_SIZE)
}

/** Items of an unpaginated collection, at most (D10). */
export const UNPAGINATED_LIMIT = 10_000
