/** What the checker keeps of a response's JSON: the parts that rules ask about, and not the items themselves. */

import { shorten } from '../../contract/message-text.ts'
import { PAGE_SIZE } from '../../contract/page.ts'
import {
  type Fingerprint,
  fingerprintOf,
  type ItemFacts,
  isJsonObject,
  itemFactsOf,
  type JsonObject,
  kindOf,
  shown,
} from './items.ts'

export const PAGE_RELATIONS = ['first', 'prev', 'next', 'last'] as const

export type PageRelation = (typeof PAGE_RELATIONS)[number]

export interface Document {
  /** The kind of the whole: "an object" if it can be an envelope at all. */
  readonly kind: string
  /** The whole, shortened for a message. */
  readonly shown: string
  /** As it stands there; undefined if absent. */
  readonly itemCount: unknown
  /** The same if it is a whole number of at least 0 that can be computed with. */
  readonly count: number | undefined
  readonly linksKind: string
  /** The relations of `_links` by name; none if it is not an object. */
  readonly links: ReadonlyMap<string, unknown>
  readonly embeddedKind: string
  /** The names of the arrays in `_embedded`, and all its names. */
  readonly arrays: readonly string[]
  readonly embedded: readonly string[]
  /** The items: the array with the name of the collection, or else the longest of those whose length fits the count. */
  readonly items: ItemFacts | undefined
  /** Stands for everything but `_embedded`. */
  readonly frame: Fingerprint
  /** The whole object if it is small: for problem details. */
  readonly whole: JsonObject | undefined
}

/** Of other links only the form is checked; this many are enough. */
const MAX_LINKS = 100
const MAX_LINK_CHARACTERS = 64 * 1024
const MAX_WHOLE_CHARACTERS = 64 * 1024

/** Larger documents are parsed without a look at the digits of each number, which takes much longer. */
const MAX_EXACT_CHARACTERS = 2 ** 21
/** A whole number that may be too long for JavaScript, such as a 64-bit identifier. */
const LONG_NUMBER = /[:,[\s]-?[0-9]{16,}\s*[,\]}]/

export function documentOf(text: string, collectionName: string): Document {
  const isExact = text.length < MAX_EXACT_CHARACTERS && LONG_NUMBER.test(text)
  const value: unknown = isExact ? JSON.parse(text, keepDigits) : JSON.parse(text)
  const object = isJsonObject(value) ? value : {}
  const { item_count: itemCount, _links: links, _embedded: embedded } = object
  const embeddedObject = isJsonObject(embedded) ? embedded : {}
  const arrays = Object.keys(embeddedObject).filter((name) => Array.isArray(embeddedObject[name]))
  return {
    kind: kindOf(value),
    shown: shown(text.length > MAX_WHOLE_CHARACTERS ? text.slice(0, MAX_WHOLE_CHARACTERS) : value),
    itemCount: typeof itemCount === 'object' && itemCount !== null ? kindOf(itemCount) : itemCount,
    count: Number.isSafeInteger(itemCount) && Number(itemCount) >= 0 ? Number(itemCount) : undefined,
    linksKind: kindOf(links),
    links: new Map(relationsOf(links)),
    embeddedKind: kindOf(embedded),
    arrays: arrays.slice(0, MAX_LINKS).map(shorten),
    embedded: Object.keys(embeddedObject).slice(0, MAX_LINKS).map(shorten),
    items: itemsOf(embeddedObject, arrays, collectionName, itemCount),
    frame: fingerprintOf(JSON.stringify(isJsonObject(value) ? { ...value, _embedded: undefined } : value)),
    whole: isJsonObject(value) && text.length <= MAX_WHOLE_CHARACTERS ? value : undefined,
  }
}

/** Keeps apart two numbers that are one in JavaScript, such as 1234567890123456789 and …790. */
function keepDigits(name: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source
  const isInexact = typeof value === 'number' && source !== undefined && String(value) !== source
  return isInexact && name !== 'item_count' ? `number ${source}` : value
}

function relationsOf(links: unknown): [string, unknown][] {
  if (!isJsonObject(links)) return []
  const known = [...PAGE_RELATIONS, 'self'].filter((name) => Object.hasOwn(links, name))
  const others = Object.keys(links).filter((name) => !known.includes(name))
  return [...known, ...others.slice(0, MAX_LINKS)].map((name) => [shorten(name), bounded(links[name])])
}

/** No rule can use a longer one. */
function bounded(relation: unknown): unknown {
  const { length } = JSON.stringify(relation)
  return length > MAX_LINK_CHARACTERS ? `(${length} characters)` : relation
}

function itemsOf(
  embedded: JsonObject,
  arrays: readonly string[],
  collectionName: string,
  itemCount: unknown,
): ItemFacts | undefined {
  const lengthOf = (name: string) => (Array.isArray(embedded[name]) ? embedded[name].length : 0)
  const onLastPage = Number(itemCount) % PAGE_SIZE
  const lengths = Number(itemCount) < PAGE_SIZE ? [onLastPage] : [PAGE_SIZE, onLastPage]
  const fitting = arrays.filter((name) => lengths.includes(lengthOf(name)))
  const longest = (fitting.length > 0 ? fitting : arrays).toSorted((a, b) => lengthOf(b) - lengthOf(a))[0]
  const items = embedded[arrays.includes(collectionName) ? collectionName : (longest ?? '')]
  return Array.isArray(items) ? itemFactsOf(items) : undefined
}

/** Whether this belongs to a paginated collection: it has a count or one of the four links. */
export function isPaginated({ itemCount, links }: Document): boolean {
  return itemCount !== undefined || PAGE_RELATIONS.some((name) => links.has(name))
}

/** Whether two documents are equal but for white space between tokens. */
export function saysTheSame(a: Document, b: Document): boolean {
  const partsOf = ({ frame, embedded, items }: Document) => JSON.stringify([frame, embedded, items?.contents])
  return partsOf(a) === partsOf(b)
}
