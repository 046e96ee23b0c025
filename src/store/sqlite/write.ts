/** Changes to items. Each function runs inside a transaction, on a head that may be moved, and leaves every invariant true. */

import type { ItemRun } from '../../items/item-run.ts'
import { checkRoom, missingItem, requireKeyed, requireKeys } from '../collection-rules.ts'
import { checkConditions, itemTag } from '../item-tag.ts'
import { itemInSlot } from '../open-ream.ts'
import { blocksOf, REAM_SIZE } from '../rank.ts'
import { byReam, encodeReam, ReamBuilder, splitItems } from '../ream.ts'
import type { Head, ItemConditions, Put } from '../store.ts'
import { ItemConflict } from '../store-error.ts'
import { updateHead } from './collection.ts'
import { putHole, readHole } from './hole.ts'
import { claimKey, deleteKey } from './key.ts'
import type { OpenReams } from './open-reams.ts'
import { deleteFromTail, insertReam, insertTail, putTailItem, sealTail } from './put-items.ts'
import { readPosition, sealedReams } from './read.ts'
import type { Rows } from './rows.ts'
import { readTailItem } from './stored-ream.ts'

export function appendItems(rows: Rows, head: Head, run: ItemRun): Head {
  if (run.count === 0) return head
  checkRoom(head, run.count)
  for (const [index, key] of requireKeys(head, run).entries())
    if (claimKey(rows, head, key, head.next + index) !== head.next + index) throw new ItemConflict(index, key)
  placeItems(rows, head, run)
  return updateHead(rows, head, { next: head.next + run.count, live: head.live + run.count }, true)
}

/** Puts items at the positions from `next` on: into the tail, sealing every ream that becomes full. */
function placeItems(rows: Rows, head: Head, run: ItemRun): void {
  const slot = head.next % REAM_SIZE
  const builder = new ReamBuilder(REAM_SIZE - slot)
  let number = sealedReams(head)
  for (const full of builder.add(run.text, run.count)) {
    if (number === sealedReams(head)) sealTail(rows, head, number, full.raw)
    else insertReam(rows, head, number, encodeReam(full.raw, full.count), null)
    number++
  }
  const rest = builder.rest()
  if (rest.count > 0) insertTail(rows, head, head.next + run.count - rest.count, rest.raw)
}

/** Replaces the one item of the run in its place, or appends it. */
export function putItem(rows: Rows, reams: OpenReams, head: Head, run: ItemRun, conditions: ItemConditions): Put {
  const [key = ''] = requireKeyed(head, requireKeys(head, run))
  const isNew = !isThere(rows, reams, head, key, conditions)
  const after = isNew ? appendItems(rows, head, run) : replaceItems(rows, reams, head, run)
  return { head: after, isNew, tag: itemTag(run.text) }
}

export function removeItem(rows: Rows, reams: OpenReams, head: Head, key: string, conditions: ItemConditions): Head {
  isThere(rows, reams, head, key, conditions)
  return deleteItems(rows, reams, head, [key])
}

/** Whether there is an item with that key. Refuses where a condition does not hold. */
function isThere(rows: Rows, reams: OpenReams, head: Head, key: string, conditions: ItemConditions): boolean {
  requireKeyed(head, [key])
  const position = readPosition(rows, head, key)
  checkConditions(conditions, position === undefined ? undefined : () => itemTag(textAt(rows, reams, head, position)))
  return position !== undefined
}

function textAt(rows: Rows, reams: OpenReams, head: Head, position: number): Uint8Array {
  const number = Math.floor(position / REAM_SIZE)
  if (number < sealedReams(head)) return itemInSlot(reams.open(head, number), position % REAM_SIZE)
  return Buffer.from(readTailItem(rows, head, position))
}

export function replaceItems(rows: Rows, reams: OpenReams, head: Head, run: ItemRun): Head {
  const texts = splitItems(run.text)
  const changes = new Map<number, string>()
  for (const [index, key] of requireKeyed(head, requireKeys(head, run)).entries())
    changes.set(requirePosition(rows, head, key), texts[index] ?? '')
  for (const [number, slots] of byReam(changes)) {
    if (number === sealedReams(head))
      for (const [slot, item] of slots) putTailItem(rows, head, number * REAM_SIZE + slot, item)
    else reams.change(head, number, slots)
  }
  return updateHead(rows, head, {}, false)
}

export function deleteItems(rows: Rows, reams: OpenReams, head: Head, keys: readonly string[]): Head {
  const changes = new Map<number, null>()
  for (const key of requireKeyed(head, keys)) {
    changes.set(requirePosition(rows, head, key), null)
    deleteKey(rows, head, key)
  }
  for (const [number, slots] of byReam(changes)) {
    if (number === sealedReams(head))
      for (const slot of slots.keys()) deleteFromTail(rows, head, number * REAM_SIZE + slot)
    else reams.change(head, number, slots)
    for (const { level, block } of blocksOf(number))
      putHole(rows, head, { level, block, gone: readHole(rows, head, level, block) + slots.size })
  }
  return updateHead(rows, head, { live: head.live - changes.size }, false)
}

function requirePosition(rows: Rows, head: Head, key: string): number {
  const position = readPosition(rows, head, key)
  if (position === undefined) throw missingItem(head, key)
  return position
}
