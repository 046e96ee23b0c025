/** How the collection is laid out, found out before any rule is tried: with pages or without, and which page is the last. */

import { PAGE_SIZE } from '../contract/page.ts'
import type { Collection } from './collection.ts'
import type { HttpResponse } from './http/response.ts'
import { type Document, isPaginated } from './page/document.ts'

export interface Layout {
  readonly kind: 'paginated' | 'unpaginated' | 'no envelope'
  /** `item_count` of the bare response if it is a number. */
  readonly itemCount: number | undefined
  /** The number of the last page, as far as the responses agree on one. */
  readonly last: number | undefined
  /** The response to the bare URL. */
  readonly bare: HttpResponse
  /** Whether pages seem to count from 0 (D1): next of the first one leads to page 1, and last is one too low. */
  readonly isFromZero: boolean
}

export async function findLayout(collection: Collection): Promise<Layout> {
  const bare = await collection.bare()
  const { document } = bare
  const nothing = { itemCount: undefined, last: undefined, bare, isFromZero: false }
  if (document === undefined || document.kind !== 'an object') return { kind: 'no envelope', ...nothing }
  if (!isPaginated(document))
    return { kind: document.embeddedKind === 'an object' ? 'unpaginated' : 'no envelope', ...nothing }
  const last = await findLast(collection, document)
  const [nextPage, lastPage] = ['next', 'last'].map((relation) => collection.linkedPage(document, relation))
  const isFromZero = nextPage === 1 && document.count !== undefined && lastPage === lastByCount(document.count) - 1
  return { kind: 'paginated', itemCount: document.count, last, bare, isFromZero }
}

/** The last page if the count is right. */
export function lastByCount(itemCount: number): number {
  return Math.max(1, Math.ceil(itemCount / PAGE_SIZE))
}

/**
 * The count and the link `last` should agree. If they do not, one of the two is wrong, and the pages themselves say which:
 * the last page has no `next`, is not empty, and holds what is left of the count.
 */
async function findLast(collection: Collection, document: Document): Promise<number | undefined> {
  const counted = document.count === undefined ? undefined : lastByCount(document.count)
  const linked = collection.linkedPage(document, 'last')
  if (counted === undefined || linked === undefined || counted === linked) return counted ?? linked
  const [atCounted, atLinked] = await Promise.all([collection.page(counted), collection.page(linked)])
  // One of them stands in for the other, which is beyond the last page (C7).
  if (atCounted.status === 200 && atCounted.digest === atLinked.digest) return Math.min(counted, linked)
  const left = (document.count ?? 0) - (counted - 1) * PAGE_SIZE
  const isCountedLast = isEnd(atCounted, counted, collection) && atCounted.document?.items?.count === left
  const isLinkedLast = isEnd(atLinked, linked, collection) && atLinked.document?.items?.count !== 0
  return !isCountedLast && isLinkedLast ? linked : counted
}

/** Whether this is the page that was requested, and nothing follows. */
function isEnd(response: HttpResponse, requested: number, collection: Collection): boolean {
  const { status, document } = response
  if (status !== 200 || document === undefined || pageNumberOf(response, requested, collection) !== requested)
    return false
  return collection.linkedPage(document, 'next') === undefined
}

/**
 * The number of the page that a response holds, by its own links: the requested one, unless at least two of them agree that
 * it is another one. A single link that disagrees is a wrong link, not another page.
 */
function pageNumberOf({ document }: HttpResponse, requested: number, collection: Collection): number {
  if (document === undefined) return requested
  const offsets = { self: 0, prev: 1, next: -1 }
  const claims = Object.entries(offsets).flatMap(([relation, offset]) => {
    const page = collection.linkedPage(document, relation)
    return page === undefined ? [] : [page + offset]
  })
  const [first] = claims
  const own = document.count === undefined ? requested : lastByCount(document.count)
  if (first === undefined) return Math.min(requested, own)
  if (first < 1 || claims.some((claim) => claim !== first)) return requested
  // By its own count the requested page is beyond the last one, and one claim is enough that this is the last.
  const isStandIn = first === own && first < requested
  return claims.length > 1 || isStandIn ? first : requested
}

/** A response that is a page: 200 with a JSON object. */
export interface Page {
  readonly response: HttpResponse
  readonly document: Document
  /** The number that was asked for. */
  readonly requested: number
  /** The number that it has by its own links. */
  readonly number: number
  /** The number of the last page, as far as it is known. */
  readonly last: number | undefined
}

export function pageOf(
  response: HttpResponse,
  requested: number,
  collection: Collection,
  layout: Layout,
): Page | undefined {
  const { status, document } = response
  if (status !== 200 || document?.kind !== 'an object') return undefined
  const number = pageNumberOf(response, requested, collection)
  return { response, document, requested, number, last: expectedLast(layout, document) }
}

/** The pages that a run reads if it does not walk through all: the ends, their neighbours and one in the middle. */
export function samplePages(last: number): number[] {
  const pages = [1, 2, Math.ceil(last / 2), last - 1, last].filter((page) => page >= 1 && page <= last)
  return [...new Set(pages)].sort((a, b) => a - b)
}

/** What `last` should be in a response: by its own count, unless it was found out that the count is what is wrong. */
export function expectedLast(layout: Layout, document: Document | undefined): number | undefined {
  const isCountRight = layout.itemCount === undefined || layout.last === lastByCount(layout.itemCount)
  return isCountRight && document?.count !== undefined ? lastByCount(document.count) : layout.last
}
