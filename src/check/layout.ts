/** How the collection is laid out, found out before any rule is tried: with pages or without, and which page is the last. */

import { PAGE_SIZE } from '../contract/page.ts'
import type { Answer } from './answer.ts'
import { type Document, isPaginated } from './document.ts'
import { isBroken, viewLink } from './link-view.ts'
import type { Subject } from './subject.ts'

export interface Layout {
  readonly kind: 'paginated' | 'unpaginated' | 'no envelope'
  /** `item_count` of the bare answer, if it is a number. */
  readonly itemCount: number | undefined
  /** The number of the last page, as far as the answers agree on one. */
  readonly last: number | undefined
  /** The answer to the bare URL. */
  readonly bare: Answer
  /** Whether pages seem to count from 0 (D1): next of the first one leads to page 1, and last one too low. */
  readonly isFromZero: boolean
}

export async function findLayout(subject: Subject): Promise<Layout> {
  const bare = await subject.bare()
  const { document } = bare
  const nothing = { itemCount: undefined, last: undefined, bare, isFromZero: false }
  if (document === undefined || document.kind !== 'an object') return { kind: 'no envelope', ...nothing }
  if (!isPaginated(document)) {
    return { kind: document.embeddedKind === 'an object' ? 'unpaginated' : 'no envelope', ...nothing }
  }
  const last = await findLast(subject, document)
  return { kind: 'paginated', itemCount: document.count, last, bare, isFromZero: isFromZero(document, subject) }
}

function isFromZero(document: Document, { linkUrl }: Subject): boolean {
  const [next, last] = ['next', 'last'].map((relation) => linkedPage(document, relation, linkUrl))
  return next === 1 && document.count !== undefined && last === lastByCount(document.count) - 1
}

/** By the count there are so many pages. */
export function lastByCount(itemCount: number): number {
  return Math.max(1, Math.ceil(itemCount / PAGE_SIZE))
}

/**
 * The count and the link `last` should agree. Where they do not, one of the two is wrong, and the pages themselves say
 * which: the last page has no `next`, is not empty, and holds what is left of the count.
 */
async function findLast(subject: Subject, document: Document): Promise<number | undefined> {
  const counted = document.count === undefined ? undefined : lastByCount(document.count)
  const linked = linkedPage(document, 'last', subject.linkUrl)
  if (counted === undefined || linked === undefined || counted === linked) return counted ?? linked
  const [atCounted, atLinked] = await Promise.all([subject.page(counted), subject.page(linked)])
  // One of them stands in for the other, which is beyond the last page (C7).
  if (atCounted.status === 200 && atCounted.digest === atLinked.digest) return Math.min(counted, linked)
  const left = (document.count ?? 0) - (counted - 1) * PAGE_SIZE
  const isCountedLast = isEnd(atCounted, counted, subject) && atCounted.document?.items?.count === left
  const isLinkedLast = isEnd(atLinked, linked, subject) && atLinked.document?.items?.count !== 0
  return !isCountedLast && isLinkedLast ? linked : counted
}

/** Whether this is the page that was asked for, and nothing follows. */
function isEnd(answer: Answer, asked: number, subject: Subject): boolean {
  const { status, document } = answer
  if (status !== 200 || document === undefined || positionOf(answer, asked, subject) !== asked) return false
  return linkedPage(document, 'next', subject.linkUrl) === undefined
}

/** The page that a relation leads to; undefined where it leads to none. */
export function linkedPage(document: Document, relation: string, collectionUrl: string): number | undefined {
  const link = viewLink(document.links.get(relation), collectionUrl)
  return link === undefined || isBroken(link) || !Number.isSafeInteger(link.page) ? undefined : link.page
}

/**
 * The number of the page that an answer holds, by its own links: that of the page that was asked for, unless at least two
 * of them agree that it is another one. A single link that disagrees is a wrong link, not another page.
 */
export function positionOf({ document }: Answer, asked: number, { linkUrl }: Subject): number {
  if (document === undefined) return asked
  const offsets = { self: 0, prev: 1, next: -1 }
  const claims = Object.entries(offsets).flatMap(([relation, offset]) => {
    const page = linkedPage(document, relation, linkUrl)
    return page === undefined ? [] : [page + offset]
  })
  const [first] = claims
  const own = document.count === undefined ? asked : lastByCount(document.count)
  if (first === undefined) return Math.min(asked, own)
  if (first < 1 || claims.some((claim) => claim !== first)) return asked
  // By its own count the page that was asked for is beyond the last one, and one claim is enough that this is the last.
  const isStandIn = first === own && first < asked
  return claims.length > 1 || isStandIn ? first : asked
}

/** The pages that a run reads when it does not walk through all: the ends, their neighbours and one in the middle. */
export function samplePages(last: number): number[] {
  const pages = [1, 2, Math.ceil(last / 2), last - 1, last].filter((page) => page >= 1 && page <= last)
  return [...new Set(pages)].sort((a, b) => a - b)
}

/** What `last` should be in an answer: by its own count, unless it was found out that the count is what is wrong. */
export function expectedLast(layout: Layout, document: Document | undefined): number | undefined {
  const isCountRight = layout.itemCount === undefined || layout.last === lastByCount(layout.itemCount)
  return isCountRight && document?.count !== undefined ? lastByCount(document.count) : layout.last
}
