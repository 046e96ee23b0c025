/** What the checker keeps of the items on a page: how many, a hash of each, and whether all are objects. */

import { shorten } from '../../contract/message-text.ts'
import { UNPAGINATED_LIMIT } from '../../contract/page.ts'

/** A hash of 53 bits: short enough to keep for millions of items, long enough to take equal ones for equal. */
export type Fingerprint = number

export interface ItemFacts {
  readonly count: number
  /** One for the whole content of each item; none if there are too many. */
  readonly contents: readonly Fingerprint[]
  /** For each field that every item has as a string or a number: one for its value in each item. */
  readonly fields: ReadonlyMap<string, readonly Fingerprint[]>
  /** The first item that is not an object, if there is one. */
  readonly nonObject: { readonly index: number; readonly kind: string } | undefined
}

/** Fields looked at for each item: enough to find an identifier, few enough to stay cheap. */
const MAX_FIELDS = 12

export function itemFactsOf(items: readonly unknown[]): ItemFacts {
  // No page and no unpaginated collection has that many: their number is all that matters (C3, D10).
  if (items.length > UNPAGINATED_LIMIT)
    return { count: items.length, contents: [], fields: new Map(), nonObject: undefined }
  const index = items.findIndex((item) => !isJsonObject(item))
  return {
    count: items.length,
    contents: items.map((item) => fingerprintOf(JSON.stringify(sortFields(item)))),
    fields: index === -1 ? fieldsOf(items) : new Map(),
    nonObject: index === -1 ? undefined : { index, kind: kindOf(items[index]) },
  }
}

/** The order of the fields of an item means nothing. */
function sortFields(item: unknown): unknown {
  return isJsonObject(item) ? Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)) : item
}

function fieldsOf(items: readonly unknown[]): Map<string, Fingerprint[]> {
  const objects = items.filter(isJsonObject)
  const isScalar = (value: unknown) => typeof value === 'string' || typeof value === 'number'
  const names = Object.keys(objects[0] ?? {})
    .filter((name) => objects.every((object) => Object.hasOwn(object, name) && isScalar(object[name])))
    .sort((a, b) => Number(isIdentifierName(b)) - Number(isIdentifierName(a)))
    .slice(0, MAX_FIELDS)
  return new Map(names.map((name) => [name, objects.map((object) => fingerprintOf(JSON.stringify(object[name])))]))
}

/** Names that promise to identify an item all by themselves. */
export function isIdentifierName(name: string): boolean {
  return /^(_?id|@id|uuid|guid|key)$/i.test(name)
}

/** Two independent multiplicative hashes over the UTF-16 units, mixed at the end. Not for secrets. */
export function fingerprintOf(text: string): Fingerprint {
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    high = Math.imul(high ^ unit, 0x9e3779b1)
    low = Math.imul(low ^ unit, 0x5f356495)
    low = (low << 13) | (low >>> 19)
  }
  return (mix(high ^ (low >>> 16)) & 0x1fffff) * 2 ** 32 + mix(low ^ (high >>> 15))
}

function mix(half: number): number {
  const once = Math.imul(half ^ (half >>> 16), 0x85ebca6b)
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35)
  return (twice ^ (twice >>> 16)) >>> 0
}

/**
 * How two readings of the same page differ; undefined if the items are the same. 'reordered' means that only their order
 * differs, which no write explains; 'edited' that items came, went or were edited.
 */
export function changeBetween(before: ItemFacts, after: ItemFacts): 'reordered' | 'moved' | 'edited' | undefined {
  if (before.contents.join() === after.contents.join()) return undefined
  if (before.contents.toSorted().join() === after.contents.toSorted().join()) return 'reordered'
  if (haveMoved(before.contents, after.contents)) return 'moved'
  // If items were edited, a field that differs in each of them says which is which.
  const telling = [...before.fields].filter(([, values]) => new Set(values).size === before.count)
  const isStill = telling.some(([name, values]) => !haveMoved(values, after.fields.get(name) ?? []))
  return telling.length === 0 || isStill ? 'edited' : 'moved'
}

/** Whether those that are in both stand in another order. */
function haveMoved(before: readonly Fingerprint[], after: readonly Fingerprint[]): boolean {
  const [inBefore, inAfter] = [new Set(before), new Set(after)]
  return before.filter((print) => inAfter.has(print)).join() !== after.filter((print) => inBefore.has(print)).join()
}

export type JsonObject = Readonly<Record<string, unknown>>

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** With its article: "an array", "null", "a string". */
export function kindOf(value: unknown): string {
  if (value === undefined) return 'absent'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** The value itself, cut to a piece that fits into a message. */
export function shown(value: unknown): string {
  return value === undefined ? 'nothing' : shorten(JSON.stringify(value))
}
