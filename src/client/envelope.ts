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

/** The page that was asked for, and what came. */
export interface PageRequest extends LinkRequest {
  readonly page: number
  /** How many items came. */
  readonly length: number
}

/** Throws an InvalidPage that says what is wrong, or a ForbiddenOrigin for a page link to an origin that is not allowed. */
export function readEnvelope(fields: Readonly<Record<string, unknown>>, asked: PageRequest): Envelope {
  const { page, length } = asked
  const { item_count: itemCount, _links: links } = fields
  if (!isObject(links)) throw new InvalidPage(asked, `_links is ${shown(links)}, not an object`)
  if (itemCount === undefined) return readWhole(links, asked)
  if (typeof itemCount !== 'number' || !Number.isSafeInteger(itemCount) || itemCount < 0)
    throw new InvalidPage(asked, `item_count is ${shown(itemCount)}, not a whole number`)
  const last = lastPage(itemCount)
  const number = Math.min(page, last)
  const { start, end } = pageRange(number, itemCount)
  if (length !== end - start)
    throw new InvalidPage(
      asked,
      `it holds ${length} items. By its item_count of ${itemCount}, page ${number} of ${last} should hold ${end - start}`,
    )
  checkLinks(links, number, last, asked)
  return { itemCount, isPaginated: true, number, lastPage: last, links }
}

/** A collection without pages has neither a count nor page links (D10); links without a count are an error. */
function readWhole(links: Links, asked: PageRequest): Envelope {
  for (const relation of ['first', 'prev', 'next', 'last'])
    if (linkedPage(links, relation, asked) !== undefined)
      throw new InvalidPage(asked, `item_count is missing, though there is a link ${relation}`)
  return { itemCount: asked.length, isPaginated: false, number: 1, lastPage: 1, links }
}

function checkLinks(links: Links, number: number, last: number, asked: PageRequest): void {
  const expected: Readonly<Record<string, number | undefined>> = {
    first: 1,
    prev: number - 1 || undefined,
    next: number < last ? number + 1 : undefined,
    last,
  }
  for (const [relation, page] of Object.entries(expected)) {
    const linked = linkedPage(links, relation, asked)
    if (linked === page?.toString()) continue
    const is = linked === undefined ? 'is missing' : `leads to page ${linked}`
    const should = page === undefined ? 'there should be none' : `it should lead to page ${page}`
    throw new InvalidPage(asked, `the link ${relation} ${is}. On page ${number} of ${last} ${should}`)
  }
}

/** The page that a link leads to, without leading zeros; undefined if there is no such link. Some servers write null for that. */
function linkedPage(links: Links, relation: string, asked: PageRequest): string | undefined {
  const link = links[relation]
  if (link === undefined || link === null) return undefined
  const target = targetOf(link, asked.url)
  if (target === undefined)
    throw new InvalidPage(asked, `the link ${relation} is ${shown(link)}, not an object with a URL as its href`)
  checkOrigin(target, relation, asked)
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
  if (!target || !lastPart(target.pathname).startsWith(`${lastPart(asked.url)}@`)) return undefined
  checkOrigin(target, 'snapshot', asked)
  return lastPart(target.pathname)
}

function targetOf(link: unknown, base: string): URL | undefined {
  const href = isObject(link) && link['href']
  return typeof href === 'string' && URL.canParse(href, base) ? new URL(href, base) : undefined
}

function checkOrigin(target: URL, relation: string, asked: LinkRequest): void {
  if (!asked.allows(target)) throw new ForbiddenOrigin(asked, `the link ${relation}`, 200, target.href)
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
