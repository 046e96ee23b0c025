/** Reads, under the lock on the head, whatever some changes have to know. */

import { REAM_SIZE } from '../rank.ts'
import type { SealedReam } from '../ream.ts'
import type { Change } from './change.ts'
import type { Findings } from './draft.ts'
import { type StoredHead, sealedReams } from './head.ts'
import { keyBytes } from './key.ts'
import { ReamDraft } from './ream-draft.ts'
import { reamOf } from './stored-ream.ts'
import type { Transaction } from './transaction.ts'

export async function findForChanges(
  transaction: Transaction,
  head: StoredHead,
  changes: readonly Change<unknown>[],
): Promise<Findings> {
  const keys = new Set(changes.flatMap((change) => change.keys ?? []))
  const positions = await findPositions(transaction, head, [...keys])
  const touched = touchedPositions(changes, positions)
  const tailStart = sealedReams(head) * REAM_SIZE
  const appends = changes.reduce((sum, change) => sum + (change.appends ?? 0), 0)
  const isSealing = head.next > tailStart && head.next + appends >= tailStart + REAM_SIZE
  const isTailTouched = [...touched].some((position) => position >= tailStart)
  const [reams, tail] = await Promise.all([
    findReams(transaction, head, touched),
    isSealing || isTailTouched ? findTail(transaction, head, tailStart) : new Map<number, string>(),
  ])
  return { head, positions, tail, reams: reams.map((ream) => new ReamDraft(ream.number, ream)) }
}

async function findPositions(
  transaction: Transaction,
  { keyField, place, shelf, next }: StoredHead,
  keys: readonly string[],
): Promise<Map<string, number>> {
  if (keyField === null || keys.length === 0) return new Map()
  const bytes = keys.map(keyBytes)
  const found = await transaction.all('readPositions', place, shelf, bytes)
  const positions = found.map(([number, position]) => [keys[Number(number) - 1] ?? '', Number(position)] as const)
  return new Map(positions.filter(([, position]) => position < next))
}

function touchedPositions(changes: readonly Change<unknown>[], positions: ReadonlyMap<string, number>): Set<number> {
  const touched = new Set<number>()
  for (const change of changes)
    for (const key of (change.touchesItems && change.keys) || []) {
      const position = positions.get(key)
      if (position !== undefined) touched.add(position)
    }
  return touched
}

async function findReams(
  transaction: Transaction,
  head: StoredHead,
  positions: ReadonlySet<number>,
): Promise<SealedReam[]> {
  const numbers = new Set([...positions].map((position) => Math.floor(position / REAM_SIZE)))
  const sealed = [...numbers].filter((number) => number < sealedReams(head))
  if (sealed.length === 0) return []
  const found = await transaction.all('readReamsByNumber', head.place, head.shelf, sealed)
  return found.map((row) => reamOf(row))
}

async function findTail(transaction: Transaction, head: StoredHead, from: number): Promise<Map<number, string>> {
  const found = await transaction.all('readTail', head.place, head.shelf, from, head.next, REAM_SIZE)
  return new Map(found.map(([position, item]) => [Number(position), String(item)]))
}
