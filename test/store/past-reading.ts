/** Reads earlier states of a collection and the changes since, and applies changes to plain arrays of item texts. */

import assert from 'node:assert/strict'
import { lastPage } from '../../src/contract/page.ts'
import type { StateTag } from '../../src/contract/state-tag.ts'
import type { ItemChanges, PastRead, Store } from '../../src/store/store.ts'
import { keyed } from './items.ts'
import { textsOf } from './store-reading.ts'

type ReadPage = (page: number) => Promise<PastRead | undefined>

/** All pages of an earlier state, or of changes. Their counts must be the same on each. */
export async function walk(readPage: ReadPage, textsIn: (read: PastRead) => string[] = textsOf): Promise<string[]> {
  const first = (await readPage(1)) ?? assert.fail('no collection')
  const texts = textsIn(first)
  for (let page = 2; page <= lastPage(first.itemCount); page++) {
    const read = (await readPage(page)) ?? assert.fail('no collection')
    assert.deepEqual([read.page, read.itemCount], [page, first.itemCount])
    texts.push(...textsIn(read))
  }
  assert.equal(texts.length, first.itemCount)
  return texts
}

export const readSnapshot = (store: Store, name: string, tag: StateTag): Promise<string[]> =>
  walk((page) => store.pageAt(name, tag, page))

export const readChanges = (store: Store, name: string, tag: StateTag): Promise<string[]> =>
  walk((page) => store.changesSince(name, tag, page))

export interface ChangeItem {
  readonly op: string
  readonly key?: string
  readonly version: number
}

/** What texts with the key `id` become with the changes applied. */
export function applyChanges(texts: readonly string[], changes: readonly string[]): string[] {
  const items = new Map(texts.map((text) => [keyOf(text), text]))
  let version = 0
  for (const text of changes) {
    const change: ChangeItem = JSON.parse(text)
    assert.ok(change.version >= version, `version ${change.version} after ${version}`)
    version = change.version
    if (change.op === 'reset') items.clear()
    else if (change.op === 'delete') assert.ok(items.delete(change.key ?? ''), `no ${change.key} to delete`)
    else {
      assert.equal(change.op, 'put')
      const own = text.slice(text.indexOf('"item":') + 7, -1)
      items.set(keyOf(own), own)
      assert.equal(change.key, keyOf(own))
    }
  }
  return [...items.values()]
}

export const keyOf = (text: string): string => String(JSON.parse(text).id)

/** Puts, deletes, and all of put, delete and put again, by turns. */
export function patchOf(texts: readonly string[], seed: number): ItemChanges {
  const changes = texts.flatMap((text, index) => {
    const key = keyOf(text)
    return [[text], [{ key }], [text, { key }, text]][(seed + index) % 3] ?? []
  })
  const puts = changes.filter((change) => typeof change === 'string')
  return { puts: keyed(puts), steps: changes.map((change) => (typeof change === 'string' ? null : change.key)) }
}
