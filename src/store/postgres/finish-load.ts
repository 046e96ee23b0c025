/** The end of a load: the one commit that readers notice. */

import { NO_COLLECTION } from '../collection-rules.ts'
import { headAfterLoad, type LoadCounts } from '../load.ts'
import { REAM_SIZE } from '../rank.ts'
import { ReamDraft, sealItems } from '../ream-draft.ts'
import type { Head } from '../store.ts'
import type { Connections } from './connection.ts'
import { OutcomeUnknown } from './explain-error.ts'
import { lockHead, shownHead, writeHead } from './head.ts'
import { type LeasedPlan, lostLease, lostSteps } from './lease.ts'
import { RequestLog } from './request-log.ts'
import { Transaction } from './transaction.ts'
import { tryTransaction, untilKnown } from './try-transaction.ts'
import { type EncodeReam, encodeDrafts } from './write-draft.ts'

export async function finishLoad(
  connections: Connections,
  plan: LeasedPlan,
  encode: EncodeReam,
  counts: LoadCounts,
): Promise<Head> {
  const finish = () =>
    tryTransaction(connections, plan.name, (rows) =>
      Transaction.run(rows, (transaction) => commitLoad(transaction, plan, encode, counts)),
    )
  try {
    return await finish()
  } catch (error) {
    if (!(error instanceof OutcomeUnknown)) throw error
    return untilKnown(finish)
  }
}

/** Remembered like a request: should the connection die with the commit, it is found out whether it was done. */
async function commitLoad(
  transaction: Transaction,
  plan: LeasedPlan,
  encode: EncodeReam,
  counts: LoadCounts,
): Promise<Head> {
  const { shardKey, name, holder } = plan.lease
  const before = await lockHead(transaction, name)
  const once = { key: `load ${holder}`, digest: '' }
  const log = new RequestLog(shardKey)
  await log.find(transaction, [once.key])
  const isDone = log.has(once, NO_COLLECTION)
  const shown = headAfterLoad(plan, before && shownHead(before), counts)
  const after = { ...shown, shardKey, generationId: plan.lease.generationId, isGuarded: false }
  const head = log.doOnce(
    once,
    () => NO_COLLECTION,
    () => shown,
  ) as Head
  if (isDone) return head
  const held = await transaction.first('holdLease', shardKey, name, holder)
  if (held === undefined) throw lostLease(name)
  if (Number(held[0]) !== counts.steps) throw lostSteps(name)
  if (counts.replaced > 0) await applyReplacements(transaction, plan, after.next)
  await sealBegun(transaction, plan, encode, after.next)
  writeHead(transaction, before, after)
  if (before !== undefined && plan.isReplacement)
    void transaction.write('addLeftover', shardKey, before.generationId, 0)
  void transaction.write('deleteLease', shardKey, name, holder)
  log.write(transaction)
  await transaction.commit()
  return head
}

/** What took the place of others goes there: reams that were prepared, and items of the tail. */
async function applyReplacements(transaction: Transaction, { lease, base }: LeasedPlan, next: number): Promise<void> {
  const { shardKey, name, holder, generationId, staging } = lease
  void transaction.write('moveStagedReams', shardKey, generationId, staging)
  void transaction.write('addLeftover', shardKey, staging, 0)
  // Only the ream that was begun before and the last one lie in the tail now.
  for (const start of new Set([base, next].filter((end) => end % REAM_SIZE !== 0).map(reamStart))) {
    const found = await transaction.all('readTail', shardKey, staging, start, start + REAM_SIZE, REAM_SIZE)
    if (found.length === 0) continue
    const columns = [found.map(([position]) => position), found.map(([, item]) => item)]
    void transaction.write('loadTail', shardKey, name, holder, generationId, ...columns)
  }
}

function reamStart(position: number): number {
  return position - (position % REAM_SIZE)
}

/** The ream that was begun before the load is full now: its items lie in the tail, the new ones beside the old. */
async function sealBegun(transaction: Transaction, plan: LeasedPlan, encode: EncodeReam, next: number): Promise<void> {
  const { shardKey, generationId, base } = plan.lease
  const start = reamStart(base)
  const number = start / REAM_SIZE
  const end = start + REAM_SIZE
  if (base === start || next < end) return
  const found = await transaction.all('readTail', shardKey, generationId, start, end, REAM_SIZE)
  const items = found.map(([position, item]) => ({ position: Number(position), item: String(item) }))
  const ream = new ReamDraft(number, sealItems(start, end, items))
  await encodeDrafts([ream], encode, ({ count, rawLength, crc, gone, data }) => {
    void transaction.write('putReam', shardKey, generationId, number, count, rawLength, crc, gone, data)
  })
  void transaction.write('deleteTail', shardKey, generationId, start, end)
}
