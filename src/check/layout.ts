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
}

export async function findLayout(subject: Subject): Promise<Layout> {
  const bare = await subject.bare()
  const { document } = bare
  if (document === undefined || document.kind !== 'an object')
    return { kind: 'no envelope', itemCount: undefined, last: undefined, bare }
  if (!isPaginated(document)) {
    const hasParts = document.linksKind !== 'absent' || document.embeddedKind !== 'absent'
    return { kind: hasParts ? 'unpaginated' : 'no envelope', itemCount: undefined, last: undefined, bare }
  }
  return { kind: 'paginated', itemCount: document.count, last: await findLast(subject, document), bare }
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
  const left = (document.count ?? 0) - (counted - 1) * PAGE_SIZE
  const isCountedLast = isEnd(atCounted, subject) && atCounted.document?.items?.count === left
  const isLinkedLast =
    isEnd(atLinked, subject) &&
    (atLinked.document?.items?.count ?? 0) > 0 &&
    positionOf(atLinked, linked, subject) === linked
  return !isCountedLast && isLinkedLast ? linked : counted
}

function isEnd({ status, document }: Answer, subject: Subject): boolean {
  return status === 200 && document !== undefined && linkedPage(document, 'next', subject.linkUrl) === undefined
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
  const isUnanimous = claims.every((claim) => claim === first)
  return first !== undefined && claims.length > 1 && isUnanimous && first >= 1 ? first : asked
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
