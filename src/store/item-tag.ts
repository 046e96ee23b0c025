/** The tag of an item, made from its text, and conditions on it. */

import { hash } from 'node:crypto'
import type { ItemConditions } from './store.ts'
import { StoreError } from './store-error.ts'

/** A strong entity tag. */
export function itemTag(text: Uint8Array): string {
  return `"${hash('sha256', text, 'base64url')}"`
}

/** `readTag` is undefined where there is no item, and called only where a condition names tags: it may cost something. */
export function checkConditions({ ifMatch, ifNoneMatch }: ItemConditions, readTag: (() => string) | undefined): void {
  if (ifMatch !== undefined && !names(ifMatch, readTag))
    throw new StoreError('precondition-failed', 'The item is not, or no longer, the one that the condition names.')
  if (ifNoneMatch !== undefined && names(ifNoneMatch, readTag))
    throw new StoreError('precondition-failed', 'The item is there, and the condition excludes it.')
}

function names(tags: readonly string[] | '*', readTag: (() => string) | undefined): boolean {
  return readTag !== undefined && (tags === '*' || tags.includes(readTag()))
}
