/** What an operation is about: a path of the service itself, one collection of this instance, or whichever a path names. */

import { ANY } from './envelope-examples.ts'
import type { Described } from './envelope-schema.ts'
import type { Part } from './part.ts'

export interface Place {
  readonly baseUrl: string
  readonly requiresToken: boolean
  /** Whether a browser that navigates gets HTML (D12). */
  readonly hasExplorer: boolean
  /** Undefined where the path has a parameter for it. */
  readonly collection: Described | undefined
}

/** How the collection is called in a text. */
export function nameIn({ collection }: Place): string {
  return collection === undefined ? 'a collection' : `\`${collection.name}\``
}

/** The collection that examples are about. */
export function shownIn({ collection }: Place): Described {
  return collection ?? ANY
}

/**
 * A name for an operation, a schema or a response. Those of one collection have its name before their own, so no two are the
 * same: no other name ends in a dot and this one.
 */
export function nameOf({ collection }: Place, name: string): string {
  return collection === undefined ? name : `${collection.name}.${name}`
}

/** What the caller needs: a scope, or no more than a token where everybody needs one. */
export type Need = 'nothing' | 'read' | 'write' | 'create'

/** A scope is named where it is always needed: not to read what may be public. */
export function securityOf({ requiresToken, collection }: Place, need: Need): readonly Part[] {
  const name = collection?.name ?? '{collection}'
  // Whoever may write to one that is there may also ask for it to be created.
  if (need === 'write' || need === 'create') return [{ token: [`${collection ? 'write' : need}:${name}`] }]
  if (need === 'read' && collection?.isPrivate) return [{ token: [`read:${name}`] }]
  return requiresToken ? [{ token: [] }] : [{}, { token: [] }]
}
