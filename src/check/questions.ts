/** Questions that more than one rule asks, so that they are sent once. */

import type { Answer } from './answer.ts'
import type { Trial } from './trial.ts'

/** Names under which servers let clients choose the size of a page. */
export const SIZE_PARAMETERS = ['limit', 'per_page', 'page_size', 'size', 'count'] as const

/** Not the name of anything. */
export const UNKNOWN_PARAMETER = 'reams-check'

/** Further ones, which are tried only together. */
const OTHER_SIZE_PARAMETERS = [
  'pageSize',
  'perPage',
  'page%5Bsize%5D',
  'items_per_page',
  'max_results',
  'rows',
  '%24top',
]

/**
 * Queries with every size parameter at once: with a size that is smaller than the first page, if anything can be, and with one
 * that is larger than any. `page` stands before them, because some servers look at a size only beside it.
 */
export function sizeQueries({ layout }: Trial): string[] {
  const items = layout.bare.document?.items?.count ?? 0
  return [items > 7 ? 7 : 1, 1000].map((size) =>
    ['page=1', ...[...SIZE_PARAMETERS, ...OTHER_SIZE_PARAMETERS].map((name) => `${name}=${size}`)].join('&'),
  )
}

/** Parameters that a server may know, and that belong in no link of the contract all the same. */
export const FAMILIAR_QUERY = 'sort=id&order=desc&q=x&filter=x&fields=id&embed=x&lang=en'

/** The page on which parameters are tried: the second one, because its links are the most. */
export function probedPage({ layout }: Trial): number {
  return Math.min(2, layout.last ?? 1)
}

/** The probed page with a parameter that means nothing. */
export function askWithUnknownParameter(trial: Trial): Promise<Answer> {
  const query = `${UNKNOWN_PARAMETER}=1`
  return trial.subject.query(trial.layout.kind === 'paginated' ? `page=${probedPage(trial)}&${query}` : query)
}

/** The largest of the numbers that are tried: 40 digits, and 1 to every counter of 32 or 64 bits that overflows. */
const FORTY_DIGITS = 18446744073709551616n * 100000000000000000000n + 1n

/** Page numbers beyond the last page. */
export function pagesBeyond(last: number): bigint[] {
  return [BigInt(last) + 1n, BigInt(last) + 1000n, 2n ** 31n, 2n ** 53n + 1n, FORTY_DIGITS]
}

/** Values of `page` that are not page numbers, as they stand in a query. */
export const INVALID_PAGES = ['0', '00', '-1', '%2B1', '1.5', '1e3', 'abc', '%201', '%D9%A1', '1&page=2'] as const
