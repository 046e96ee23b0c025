/** Reads what a change needs into the draft of its collection, and writes what differs in the end. */

import { keepsHistory } from '../../../contract/state-tag.ts'
import { freeMemory } from '../../../items/item-run.ts'
import { damagedCollection } from '../../collection-rules.ts'
import type { DeflatePool } from '../../deflate-pool.ts'
import { type Change, Draft } from '../../draft.ts'
import { bytesOf, numberChanges, OpenChanges, type Stretch, stateRow } from '../../history.ts'
import { holeCounts, QUIRE_SIZE } from '../../positions.ts'
import type { Head } from '../../store.ts'
import { deleteFollowing } from '../following.ts'
import { deleteHead, insertHead, putHead, readHead } from '../rows/head.ts'
import { lastState, putPastHoles, putState, putStretches, takeReplaced } from '../rows/history.ts'
import { claimKey, deleteKey, findKey } from '../rows/keys.ts'
import type { Rows } from '../rows/rows.ts'
import {
  deleteTail,
  insertReam,
  putHole,
  putTailItem,
  readHole,
  readTail,
  readTailItem,
  requireReam,
} from '../rows/stored-ream.ts'
import { addLeftover, findObstacle, historyOwner } from './lease.ts'

export function beginDraft(rows: Rows, name: string): Draft {
  const head = readHead(rows, name)
  return new Draft(name, head, findObstacle(rows, name, head))
}

export function readForChange(rows: Rows, draft: Draft, change: Change<unknown>): void {
  const { stored } = draft
  if (stored === undefined) return
  const keys = draft.missingKeys([change])
  const positions = new Map<string, number>()
  for (const key of keys) {
    // That a key is free is proven when it is claimed: only who looks for an item needs a proof that there is none.
    const position = findKey(rows, stored, key, change.touchesItems === true)
    if (position !== undefined && position < stored.next) positions.set(key, position)
  }
  draft.addPositions(keys, positions)
  const { reams, tail, tailPositions } = draft.missingRows([change])
  for (const number of reams) draft.addReam(number, () => requireReam(rows, stored, number))
  if (tail !== undefined) draft.addTail(readTail(rows, stored, stored), true)
  const items = tailPositions.map((position) => ({ position, item: readTailItem(rows, stored, position) }))
  draft.addTail(items, false)
}

export async function writeDraft(rows: Rows, draft: Draft, pool: DeflatePool): Promise<void> {
  const { head, stored } = draft
  if (!draft.isChanged) return
  if (head === undefined) {
    // The collection is gone with this commit; its reams are left over, to be swept.
    if (stored !== undefined) dropRows(rows, stored)
    return
  }
  if (stored === undefined) insertHead(rows, head)
  else putHead(rows, head)
  if (draft.closedTail !== undefined) deleteTail(rows, head, draft.closedTail, draft.closedTail + QUIRE_SIZE)
  for (const [position, item] of draft.changedTail)
    if (item === null) deleteTail(rows, head, position, position + 1)
    else putTailItem(rows, head, position, item)
  for (const key of draft.removedKeys) deleteKey(rows, head, key)
  for (const [key, position] of draft.addedKeys)
    if (claimKey(rows, head, key, position) !== position)
      throw damagedCollection(head.name, `The key ${JSON.stringify(key)} was not found, and is there.`)
  const firstChange = head.changes - draft.log.reduce((sum, { count }) => sum + count, 0)
  const stretches = keepsHistory(head) ? numberChanges(head, firstChange, draft.log) : []
  const open = new OpenChanges(stretches)
  let bytes = 0
  for await (const ream of pool.seal(draft.changedReams.values())) {
    insertReam(rows, head, ream)
    freeMemory(ream.data)
    const completed = open.complete(ream)
    putStretches(rows, head, completed)
    bytes += bytesOf(completed)
  }
  if (keepsHistory(head)) {
    putPastHoles(rows, head, stretches)
    writeHistory(rows, head, open.rest(), bytes)
  }
  for (const { level, block, gone } of holeCounts(draft.holes))
    putHole(rows, head, { level, block, gone: readHole(rows, head, level, block) + gone })
}

function dropRows(rows: Rows, head: Head): void {
  deleteHead(rows, head)
  deleteFollowing(rows, head.name)
  addLeftover(rows, head, 0)
  addLeftover(rows, historyOwner(head), 0)
  for (const { generation } of takeReplaced(rows, head, head.generation)) addLeftover(rows, { ...head, generation }, 0)
}

/** The state that a commit leads to, and how, beside what is written already and takes so many bytes. */
export function writeHistory(rows: Rows, head: Head, stretches: readonly Stretch[], bytes: number): void {
  putStretches(rows, head, stretches)
  const bytesBefore = lastState(rows, head)?.bytes ?? 0
  putState(rows, head, stateRow(head, bytesBefore, bytes + bytesOf(stretches), Date.now()))
}
