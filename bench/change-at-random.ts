/** Gives a keyed collection a history: items are replaced and deleted at random, many in a commit, and others are appended. */

import { DataLocation } from '../src/cli/data-location.ts'
import { withStore } from '../src/cli/open-store.ts'
import { type StateTag, stateOf } from '../src/contract/state-tag.ts'
import { itemRun } from '../src/items/item-run.ts'
import type { ItemChanges, Store } from '../src/store/store.ts'
import { eventKey, eventTexts } from './data.ts'
import { randomPages } from './random.ts'

const CHANGES_A_COMMIT = 5_000
/** Texts that new items have, in turn: enough to be as different as any others. */
const TEXTS = 2_000

export interface ChangeOptions {
  /** All items that are there. */
  readonly items: number
  /** So many of them are replaced or deleted, in turn and each once. */
  readonly changes: number
  /** So many items are appended before each of these changes. Default 0. */
  readonly appendsAChange?: number
  readonly signal: AbortSignal
}

/** Answers the state in which the collection was before. The store is a path, or the URL of a database. */
export function changeAtRandom(location: string, collection: string, options: ChangeOptions): Promise<StateTag> {
  return withStore(new DataLocation(location), {}, async (store) => {
    const state = await readState(store, collection)
    for (const changes of commits(options)) {
      options.signal.throwIfAborted()
      await store.patch(collection, changes)
    }
    return state
  })
}

async function readState(store: Store, collection: string): Promise<StateTag> {
  const head = await store.head(collection)
  if (head === undefined) throw new Error(`The store of the bench has no collection "${collection}".`)
  return stateOf(head)
}

/** An item to put, or the key of one to delete. */
type Change = { readonly put: string } | { readonly key: string }

function* commits(options: ChangeOptions): Generator<ItemChanges> {
  let taken: Change[] = []
  for (const change of changesOf(options)) {
    taken.push(change)
    if (taken.length < CHANGES_A_COMMIT) continue
    yield patchOf(taken)
    taken = []
  }
  if (taken.length > 0) yield patchOf(taken)
}

function patchOf(changes: readonly Change[]): ItemChanges {
  const puts = changes.flatMap((change) => ('put' in change ? [change.put] : []))
  return {
    puts: itemRun(puts, { keyField: 'id' }),
    steps: changes.map((change) => ('put' in change ? null : change.key)),
  }
}

function* changesOf({ items, changes, appendsAChange = 0 }: ChangeOptions): Generator<Change> {
  const texts = eventTexts(TEXTS)
  // The text of another item, so that a replace changes something.
  const put = (index: number): Change => {
    const text = texts[(index + 1) % TEXTS] ?? ''
    return { put: text.replace(/"id":\d+/, `"id":${eventKey(index)}`) }
  }
  let next = items
  for (const [count, place] of randomPages(changes, items, 7).entries()) {
    for (let appended = 0; appended < appendsAChange; appended++) yield put(next++)
    yield count % 2 === 0 ? put(place - 1) : { key: eventKey(place - 1) }
  }
}
