/** One transaction for all changes to one collection that wait. Each succeeds or is refused alone. */

import { randomUUID } from 'node:crypto'
import { isCollectionName } from '../../../contract/name.ts'
import type { DeflatePool } from '../../deflate-pool.ts'
import { findObstacle, Overtaken } from '../../leases.ts'
import { query, queryAhead, runAsync, type Steps } from '../../rows.ts'
import { StoreError } from '../../store-error.ts'
import { applyCall, type Call, type OpenDraft, openDraft, readForCalls, writeDraft } from '../../write-draft.ts'
import { shardKeyOf } from '../rows/head.ts'
import type { Rows } from '../rows/rows.ts'
import { Transaction } from '../server/transaction.ts'

export type Outcome = { readonly value: unknown } | { readonly refusal: StoreError }

export async function commitTogether(
  rows: Rows,
  name: string,
  calls: readonly Call[],
  pool: DeflatePool,
): Promise<Outcome[]> {
  // There is no collection of such a name, and no text that PostgreSQL could look for.
  if (!isCollectionName(name)) {
    const open = openDraft(name, undefined)
    return calls.map((call) => applyAlone(open, call))
  }
  return Transaction.run(rows, async (transaction) => {
    const open = await runAsync(beginDraft(name, calls), transaction.tables)
    const outcomes = calls.map((call) => applyAlone(open, call))
    if (open.draft.isChanged || open.requests.isChanged) {
      await runAsync(writeDraft(open, pool), transaction.tables)
      await transaction.commit()
    }
    return outcomes
  })
}

function* beginDraft(name: string, calls: readonly Call[]): Steps<OpenDraft> {
  const head = yield* query((rows) => rows.lockHead(name))
  const mustLock = head === undefined && calls.some(({ change }) => change.mayCreate)
  const isLocked = mustLock && (yield* lockName(name))
  const obstacle = yield* findObstacle(name, head)
  if (mustLock && !isLocked && obstacle === undefined) throw new Overtaken()
  const open = openDraft(name, head, obstacle)
  yield* readForCalls(open, calls)
  return open
}

/**
 * Without a head there is nothing to lock. A lease, which is gone again before the transaction ends, keeps others from
 * making the collection or from beginning to load it; who finds one looks whose it is.
 */
function* lockName(name: string): Steps<boolean> {
  const place = { shardKey: shardKeyOf(name), generationId: 0, stagingId: 0 }
  const lease = { ...place, name, base: 0, holder: randomUUID() }
  if (!(yield* query((rows) => rows.takeLease(lease)))) return false
  yield* queryAhead((rows) => rows.removeLease(lease))
  if ((yield* query((rows) => rows.lockHead(name))) !== undefined) throw new Overtaken()
  return true
}

function applyAlone(open: OpenDraft, call: Call): Outcome {
  try {
    return { value: applyCall(open, call) }
  } catch (error) {
    // Damage shows in the middle of a change: then nobody in this transaction has succeeded.
    if (!(error instanceof StoreError) || error.code === 'corrupt') throw error
    return { refusal: error }
  }
}
