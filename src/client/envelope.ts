/** Reads the envelope of a page, and checks that it does not contradict itself. */

import { lastPage, pageRange } from '../contract/page.ts'
import { ForbiddenOrigin, InvalidPage } from './client-error.ts'

/** Everything under `_links`. */
export type Links = Readonly<Record<string, unknown>>

export interface Envelope {
  /** Of the whole collection. */
  readonly itemCount: number
  readonly isPaginated: boolean
  readonly number: number
  readonly lastPage: number
  readonly links: Links
}

export interface LinkRequest {
  readonly url: string
  readonly allows: (target: URL) => boolean
}

/** The page that was requested. */
export interface PageRequest extends LinkRequest {
  readonly page: number
}

/** Returns the number of items on the page; `expected` is undefined in a collection without pages. */
export type CountItems = (expected: number | undefined) => number

/** Throws an InvalidPage that says what is wrong, or a ForbiddenOrigin for a page link to an origin that is not allowed. */
export function readEnvelope(
  fields: Readonly<Record<string, unknown>>,
  asked: PageRequest,
  countItems: CountItems,
): Envelope {
  const { page } = asked
  const { item_count: itemCount, _links: links } = fields
  if (!isObject(links)) throw new InvalidPage(asked, `_links is ${shown(links)}, not an object`)
  if (itemCount === undefined) return readWhole(links, asked, countItems(undefined))
  if (typeof itemCount !== 'number' || !Number.isSafeInteger(itemCount) || itemCount < 0)
    throw new InvalidPage(asked, `item_count is ${shown(itemCount)}, not a whole number`)
  const last = lastPage(itemCount)
  const number = Math.min(page, last)
  const { start, end } = pageRange(number, itemCount)
  const length = countItems(end - start)
  if (length !== end - start)
    throw new InvalidPage(
      asked,
      `it holds ${length} items. By its item_count of ${itemCount}, page ${number} of ${last} should hold ${end - start}`,
    )
  checkLinks(links, number, last, asked)
  return { itemCount, isPaginated: true, number, lastPage: last, links }
}

/** A collection without pages has neither a count nor page links (D10); links without a count are an error. */
function readWhole(links: Links, asked: PageRequest, itemCount: number): Envelope {
  for (const relation of ['first', 'prev', 'next', 'last'])
    if (linkedPage(links, relation, asked) !== undefined)
      throw new InvalidPage(asked, `item_count is missing, though there is a link ${relation}`)
  return { itemCount, isPaginated: false, number: 1, lastPage: 1, links }
}

/** The contract leaves open what `prev` of the first page and `next` of the last one are, as long as they lead no further in. */
function checkLinks(links: Links, number: number, last: number, asked: PageRequest): void {
  for (const [relation, page] of Object.entries({ first: 1, prev: number - 1, next: number + 1, last })) {
    const linked = linkedPage(links, relation, asked)
    if (linked === `${page}`) continue
    const isPastEnd = page < 1 || page > last
    const isAtEnd = !/\D/.test(linked ?? '') && (page < 1 ? Number(linked) < 2 : Number(linked) >= last)
    if (isPastEnd && (linked === undefined || isAtEnd)) continue
    const is = linked === undefined ? 'is missing' : `leads to page ${linked}`
    const should = isPastEnd ? 'there should be none' : `it should lead to page ${page}`
    throw new InvalidPage(asked, `the link ${relation} ${is}. On page ${number} of ${last} ${should}`)
  }
}

/** The page that a link leads to, without leading zeros; undefined if there is no such link, or null. */
function linkedPage(links: Links, relation: string, asked: PageRequest): string | undefined {
  const link = links[relation]
  if (link === undefined || link === null) return undefined
  const target = targetOf(link, asked.url)
  if (target === undefined)
    throw new InvalidPage(asked, `the link ${relation} is ${shown(link)}, not an object with a URL as its href`)
  if (!asked.allows(target)) throw new ForbiddenOrigin(asked, `the link ${relation}`, 200, target.href)
  return (
    target.searchParams
      .getAll('page')
      .join()
      .replace(/^0+(?=.)/, '') || '1'
  )
}

/**
 * The name of the snapshot that a page of the collection at `url` links (D22): `events@<tag>` for `events`. It stands beside
 * the collection, so nothing else of the link is used. Undefined if there is none: others may mean something else by it.
 */
export function snapshotName(links: Links, asked: LinkRequest): string | undefined {
  const target = targetOf(links['snapshot'], asked.url)
  if (!target || !asked.allows(target)) return undefined
  const name = lastPart(target.pathname)
  return name.startsWith(`${lastPart(asked.url)}@`) ? name : undefined
}

function targetOf(link: unknown, base: string): URL | undefined {
  const href = isObject(link) && link['href']
  return typeof href === 'string' && URL.canParse(href, base) ? new URL(href, base) : undefined
}

function lastPart(path: string): string {
  return path.replace(/.*\//, '')
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A value as it is shown in a message. */
function shown(value: unknown): string {
  return value === undefined ? 'missing' : JSON.stringify(value).slice(0, 100)
}
