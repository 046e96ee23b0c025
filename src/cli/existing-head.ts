/** The collection that a command names, or a message that tells which there are. */

import type { Head, Store } from '../store/store.ts'
import { Failure } from './failure.ts'

/** More names than this would hide the message. */
const NAMES_SHOWN = 10

export async function existingHead(store: Store, name: string): Promise<Head> {
  const head = await store.head(name)
  if (head !== undefined) return head
  const names = (await store.reachable()).heads.map((collection) => collection.name)
  throw new Failure(2, `There is no collection "${name}". ${whatThereIs(names)}`)
}

function whatThereIs(names: readonly string[]): string {
  if (names.length === 0) return 'The store is empty; reams import NAME FILE makes a collection.'
  const shown = names.slice(0, NAMES_SHOWN).join(', ')
  if (names.length > NAMES_SHOWN) return `There are ${shown} and others: reams collections lists them.`
  return `There ${names.length === 1 ? 'is' : 'are'} ${shown}.`
}
