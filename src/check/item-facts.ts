/** What the checker keeps of the items on a page: how many, fingerprints of each, and whether all are objects. */

import { UNPAGINATED_LIMIT } from '../contract/page.ts'
import { type Fingerprint, fingerprintOf } from './fingerprint.ts'
import { isJsonObject, kindOf } from './json-kind.ts'

export interface ItemFacts {
  readonly count: number
  /** One for the whole content of each item; none where there are too many. */
  readonly contents: readonly Fingerprint[]
  /** For each field that every item has as a string or a number: one for its value in each item. */
  readonly fields: ReadonlyMap<string, readonly Fingerprint[]>
  /** The first item that is not an object, if there is one. */
  readonly stranger: { readonly index: number; readonly kind: string } | undefined
}

/** Fields looked at for each item: enough to find an identifier, few enough to stay cheap. */
const MAX_FIELDS = 12

export function itemFactsOf(items: readonly unknown[]): ItemFacts {
  // No page and no unpaginated collection has that many: their number is all that matters (C3, D10).
  if (items.length > UNPAGINATED_LIMIT)
    return { count: items.length, contents: [], fields: new Map(), stranger: undefined }
  const stranger = items.findIndex((item) => !isJsonObject(item))
  return {
    count: items.length,
    contents: items.map((item) => fingerprintOf(JSON.stringify(inOrder(item)))),
    fields: stranger === -1 ? fieldsOf(items) : new Map(),
    stranger: stranger === -1 ? undefined : { index: stranger, kind: kindOf(items[stranger]) },
  }
}

/** The order of the fields of an item means nothing. */
function inOrder(item: unknown): unknown {
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
