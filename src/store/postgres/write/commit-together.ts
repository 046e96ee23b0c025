/** One transaction for all changes to one collection that wait. Each succeeds or is refused alone. */

import { randomUUID } from 'node:crypto'
import { isCollectionName } from '../../../contract/name.ts'
import { NO_COLLECTION } from '../../collection-rules.ts'
import type { DeflatePool } from '../../deflate-pool.ts'
import { type Change, Draft } from '../../draft.ts'
import { REAM_SIZE } from '../../positions.ts'
import type { Once } from '../../store.ts'
import { StoreError } from '../../store-error.ts'
import { lockHead, type StoredHead, shardKeyOf, shownHead } from '../rows/head.ts'
import { RequestLog } from '../rows/request-log.ts'
import type { Rows } from '../rows/rows.ts'
import { keyBytes, reamOf } from '../rows/stored-ream.ts'
import { TryAgain } from '../server/explain-error.ts'
import { Transaction } from '../server/transaction.ts'
import { findObstacle, takeLease } from './lease.ts'
import { writeDraft } from './write-draft.ts'

export interface Call {
  readonly change: Change<unknown>
  readonly once: Once | undefined
}

export type Outcome = { readonly value: unknown } | { readonly refusal: StoreError }

export async function commitTogether(
  rows: Rows,
  name: string,
  calls: readonly Call[],
  pool: DeflatePool,
): Promise<Outcome[]> {
  const log = new RequestLog(shardKeyOf(name))
  // There is no collection of such a name, and no text that PostgreSQL could look for.
  if (!isCollectionName(name)) return calls.map((call) => applyAlone(new Draft(name, undefined), log, call))
  return Transaction.run(rows, async (transaction) => {
    const before = await lockHead(transaction, name)
    const requests = calls.flatMap(({ once }) => once?.key ?? [])
    const changes = calls.map(({ change }) => change)
    const [draft] = await Promise.all([beginDraft(transaction, name, before, changes), log.find(transaction, requests)])
    const outcomes = calls.map((call) => applyAlone(draft, log, call))
    if (draft.isChanged || log.isChanged) {
      await writeDraft(transaction, before, draft, pool)
      log.write(transaction)
      await transaction.commit()
    }
    return outcomes
  })
}

async function beginDraft(
  transaction: Transaction,
  name: string,
  head: StoredHead | undefined,
  changes: readonly Change<unknown>[],
): Promise<Draft> {
  const mustLock = head === undefined && changes.some(({ mayCreate }) => mayCreate)
  const isLocked = mustLock && (await lockName(transaction, name))
  const obstacle = await findObstacle(transaction, name, head)
  if (mustLock && !isLocked && obstacle === undefined) throw new TryAgain(false)
  const draft = new Draft(name, head && shownHead(head), obstacle)
  if (head !== undefined) await readForChanges(transaction, head, draft, changes)
  return draft
}

/** Reads, under the lock on the head, whatever the changes have to know. */
async function readForChanges(
  transaction: Transaction,
  { shardKey, generationId, next }: StoredHead,
  draft: Draft,
  changes: readonly Change<unknown>[],
): Promise<void> {
  const keys = draft.missingKeys(changes)
  if (keys.length > 0) {
    const found = await transaction.all('readPositions', shardKey, generationId, keys.map(keyBytes))
    const positions = found.map(([number, position]) => [keys[Number(number) - 1] ?? '', Number(position)] as const)
    draft.addPositions(keys, new Map(positions.filter(([, position]) => position < next)))
  }
  const { reams, tail, tailPositions } = draft.missingRows(changes)
  const single = tailPositions.length > 0 && { from: Math.min(...tailPositions), to: Math.max(...tailPositions) + 1 }
  const range = tail ?? single
  const [foundReams, foundTail] = await Promise.all([
    reams.length > 0 && transaction.all('readReamsByNumber', shardKey, generationId, reams),
    range && transaction.all('readTail', shardKey, generationId, range.from, range.to, REAM_SIZE),
  ])
  for (const ream of (foundReams || []).map((row) => reamOf(row))) draft.addReam(ream.number, ream)
  const items = (foundTail || []).map(([position, item]) => ({ position: Number(position), item: String(item) }))
  draft.addTail(items, tail !== undefined)
}

/**
 * Without a head there is nothing to lock. A lease, which is gone again before the transaction ends, keeps others from
 * making the collection or from beginning to load it; who finds one looks whose it is.
 */
async function lockName(transaction: Transaction, name: string): Promise<boolean> {
  const shardKey = shardKeyOf(name)
  const holder = randomUUID()
  if (!(await takeLease(transaction, { name, shardKey, generationId: 0, staging: 0, base: 0, holder }))) return false
  void transaction.write('deleteLease', shardKey, name, holder)
  if ((await lockHead(transaction, name)) !== undefined) throw new TryAgain(false)
  return true
}

function applyAlone(draft: Draft, log: RequestLog, { change, once }: Call): Outcome {
  try {
    const apply = () => draft.apply(change)
    const collectionId = () => (change.isDrop ? NO_COLLECTION : draft.head?.id)
    return { value: once === undefined ? apply() : log.doOnce(once, collectionId, apply) }
  } catch (error) {
    // Damage shows in the middle of a change: then nobody in this transaction has succeeded.
    if (!(error instanceof StoreError) || error.code === 'corrupt') throw error
    return { refusal: error }
  }
}
