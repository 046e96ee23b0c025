/** Requests that more than one rule sends, so that they are sent once. */

import type { HttpResponse } from './http/response.ts'
import type { RuleCheck } from './rule.ts'

/** Names under which servers let clients choose the size of a page. */
export const SIZE_PARAMETERS = ['limit', 'per_page', 'page_size', 'size', 'count'] as const

/** Not the name of anything. */
export const UNKNOWN_PARAMETER = 'reams-check'

/** Further ones, which are tried only together. */
const OTHER_SIZE_PARAMETERS = 'pageSize perPage page%5Bsize%5D items_per_page max_results rows %24top'.split(' ')

/**
 * Queries with every size parameter at once: with a size smaller than the first page, if possible, and with one larger than
 * any. `page` stands before them, because some servers look at a size only together with it.
 */
export function sizeQueries({ layout }: RuleCheck): string[] {
  const items = layout.bare.document?.items?.count ?? 0
  return [items > 7 ? 7 : 1, 1000].map((size) =>
    ['page=1', ...[...SIZE_PARAMETERS, ...OTHER_SIZE_PARAMETERS].map((name) => `${name}=${size}`)].join('&'),
  )
}

/** Parameters that a server may know, but that belong in no link of the contract. */
export const FAMILIAR_QUERY = 'sort=id&order=desc&q=x&filter=x&fields=id&embed=x&lang=en'

/** The page on which parameters are tried: the second one, because it has the most links. */
export function probedPage({ layout }: RuleCheck): number {
  return Math.min(2, layout.last ?? 1)
}

/** The probed page, or the whole of an unpaginated collection, as a plain request gets it. */
export function probedResponse(check: RuleCheck): Promise<HttpResponse> {
  const { layout, collection } = check
  return layout.kind === 'paginated' ? collection.page(probedPage(check)) : Promise.resolve(layout.bare)
}

/** The same with a parameter that means nothing. */
export function responseWithUnknownParameter(check: RuleCheck): Promise<HttpResponse> {
  const query = `${UNKNOWN_PARAMETER}=1`
  return check.collection.query(check.layout.kind === 'paginated' ? `page=${probedPage(check)}&${query}` : query)
}

/** The largest number that is tried: 40 digits, and 1 to every 32- or 64-bit counter that overflows. */
const FORTY_DIGITS = 18446744073709551616n * 100000000000000000000n + 1n

/** Page numbers beyond the last page. */
export function pagesBeyond(last: number): bigint[] {
  return [BigInt(last) + 1n, BigInt(last) + 1000n, 2n ** 31n, 2n ** 53n + 1n, FORTY_DIGITS]
}
