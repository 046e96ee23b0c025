/** What the checker keeps of an answer's JSON: the parts that rules ask about, and not the items themselves. */

import { shorten } from '../contract/message-text.ts'
import { type Fingerprint, fingerprintOf } from './fingerprint.ts'
import { type ItemFacts, itemFactsOf } from './item-facts.ts'
import { isJsonObject, type JsonObject, kindOf, shown } from './json-kind.ts'

export const PAGE_RELATIONS = ['first', 'prev', 'next', 'last'] as const

export type PageRelation = (typeof PAGE_RELATIONS)[number]

export interface Document {
  /** The kind of the whole: "an object" where there is an envelope at all. */
  readonly kind: string
  /** The whole, shortened for a message. */
  readonly shown: string
  /** As it stands there; undefined if absent. */
  readonly itemCount: unknown
  /** The same if it is a whole number of at least 0 that can be computed with. */
  readonly count: number | undefined
  /** The kind of `_links`. */
  readonly linksKind: string
  /** The relations of `_links` by name; none where it is no object. */
  readonly links: ReadonlyMap<string, unknown>
  readonly embeddedKind: string
  /** The names under which arrays stand in `_embedded`, and all its names. */
  readonly arrays: readonly string[]
  readonly embedded: readonly string[]
  /** The items: those under the name of the collection, or those of the longest array. */
  readonly items: ItemFacts | undefined
  /** Stands for everything but `_embedded`. */
  readonly frame: Fingerprint
  /** The whole object, if it is small: for problem details. */
  readonly whole: JsonObject | undefined
}

/** Other links are looked at for their form alone; this many are enough. */
const MAX_LINKS = 100
const MAX_LINK_CHARACTERS = 64 * 1024
const MAX_WHOLE_CHARACTERS = 64 * 1024

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
    count: isCount(itemCount) ? itemCount : undefined,
    linksKind: kindOf(links),
    links: new Map(relationsOf(links)),
    embeddedKind: kindOf(embedded),
    arrays: arrays.slice(0, MAX_LINKS).map(shorten),
    embedded: Object.keys(embeddedObject).slice(0, MAX_LINKS).map(shorten),
    items: itemsOf(embeddedObject, arrays, collectionName),
    frame: fingerprintOf(JSON.stringify(isJsonObject(value) ? { ...value, _embedded: undefined } : value)),
    whole: isJsonObject(value) && text.length <= MAX_WHOLE_CHARACTERS ? value : undefined,
  }
}

/** Beyond this size digits are not worth the time. */
const MAX_EXACT_CHARACTERS = 2 ** 21
/** A whole number that may be too long for JavaScript, such as an identifier of 64 bits. */
const LONG_NUMBER = /[:,[\s]-?[0-9]{16,}\s*[,\]}]/

/** Two numbers that are one in JavaScript, such as 1234567890123456789 and …790, stay two. */
function keepDigits(name: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source
  const isInexact = typeof value === 'number' && source !== undefined && String(value) !== source
  return isInexact && name !== 'item_count' ? `number ${source}` : value
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function relationsOf(links: unknown): [string, unknown][] {
  if (!isJsonObject(links)) return []
  const known = [...PAGE_RELATIONS, 'self'].filter((name) => Object.hasOwn(links, name))
  const others = Object.keys(links).filter((name) => !known.includes(name))
  return [...known, ...others.slice(0, MAX_LINKS)].map((name) => [shorten(name), bounded(links[name])])
}

/** Nothing that a rule could use is longer. */
function bounded(relation: unknown): unknown {
  const { length } = JSON.stringify(relation)
  return length > MAX_LINK_CHARACTERS ? `(${length} characters)` : relation
}

function itemsOf(embedded: JsonObject, arrays: readonly string[], collectionName: string): ItemFacts | undefined {
  const lengthOf = (name: string) => (Array.isArray(embedded[name]) ? embedded[name].length : 0)
  const longest = arrays.toSorted((a, b) => lengthOf(b) - lengthOf(a))[0]
  const items = embedded[arrays.includes(collectionName) ? collectionName : (longest ?? '')]
  return Array.isArray(items) ? itemFactsOf(items) : undefined
}

/** Whether the answer belongs to a paginated collection: it counts, or it has one of the four links. */
export function isPaginated({ itemCount, links }: Document): boolean {
  return itemCount !== undefined || PAGE_RELATIONS.some((name) => links.has(name))
}

/** Whether two answers say the same, whatever the blanks between their tokens. */
export function saysTheSame(a: Document, b: Document): boolean {
  const contentsOf = ({ items }: Document) => JSON.stringify(items?.contents)
  return (
    JSON.stringify([a.frame, a.embedded]) === JSON.stringify([b.frame, b.embedded]) && contentsOf(a) === contentsOf(b)
  )
}
