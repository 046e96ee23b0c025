/** Removes what is not kept any more of the history of collections, in small steps. */

import type { StoreActivity } from '../../activity.ts'
import {
  type Cutoff,
  type Forgotten,
  findExpired,
  forgetAllOf,
  forgottenForSize,
  STATES_A_STEP,
  type State,
} from '../../history.ts'
import { type HistoryEnds, limitHistory } from '../../history-limit.ts'
import { StoreError } from '../../store-error.ts'
import { readAllHeads, readHead, type StoredHead } from '../rows/head.ts'
import { removeChanges, stateFrom } from '../rows/history.ts'
import type { Reading } from '../rows/rows.ts'
import type { Connections } from '../server/connection.ts'
import type { Transaction } from '../server/transaction.ts'
import { inTransaction, sweepName } from './lease.ts'
import { leaveReplaced } from './write-draft.ts'

/** Of all collections. One that is damaged keeps nobody from removing the rest. */
export async function forgetAll(connections: Connections, activity: StoreActivity, limitBytes: number): Promise<void> {
  const ends: HistoryEnds<StoredHead>[] = []
  for (const head of await connections.lend((rows) => readAllHeads(rows)))
    try {
      if (await connections.lend((rows) => isHistoryOld(rows, head))) await forgetName(connections, head.name, activity)
      ends.push(...(await connections.lend((rows) => readHistoryEnds(rows, head))))
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== 'corrupt') throw error
    }
  await limitHistory(ends, {
    limitBytes,
    readStates: (head, from, most) => connections.lend((rows) => readStates(rows, head, from, most)),
    forget: ({ name }, cutoff) => forgetName(connections, name, activity, cutoff),
    onNotice: activity.onNotice,
  })
}

export async function forgetName(
  connections: Connections,
  name: string,
  activity: StoreActivity,
  cutoff?: Cutoff,
): Promise<void> {
  const step = () => inTransaction(connections, (transaction) => forgetStep(transaction, name, cutoff))
  await forgetAllOf(step, activity)
  await sweepName(connections, name)
}

async function readHistoryEnds(rows: Reading, head: StoredHead): Promise<HistoryEnds<StoredHead>[]> {
  const [oldest] = await readStates(rows, head, { changes: 0, version: 0 }, 1)
  const last = await rows.first('readLastState', head.shardKey, head.id)
  return oldest === undefined || last === undefined ? [] : [{ head, oldest, last: stateFrom(last) }]
}

/** Up to `most` states, oldest first, from one of them on. */
async function readStates(
  rows: Reading,
  { shardKey, id }: StoredHead,
  { changes, version }: Pick<State, 'changes' | 'version'>,
  most: number,
): Promise<State[]> {
  return (await rows.all('readStates', shardKey, id, changes, version, most)).map(stateFrom)
}

/** Whether something is not kept any more, by what is oldest. */
async function isHistoryOld(rows: Reading, head: StoredHead): Promise<boolean> {
  const { states, kept } = await readExpired(rows, head, 2)
  if (states.length > 0) return true
  const { shardKey, id } = head
  const [first] = await rows.all('readStretches', shardKey, id, 0, kept?.changes ?? head.changes, 1)
  if (first !== undefined) return true
  return (await rows.first('hasReplaced', shardKey, id, kept?.generation ?? head.generation)) !== undefined
}

async function readExpired(rows: Reading, head: StoredHead, most: number, cutoff?: Cutoff) {
  const oldest = await readStates(rows, head, { changes: 0, version: 0 }, most)
  const last = await rows.first('readLastState', head.shardKey, head.id)
  return findExpired(head, { oldest, last: last && stateFrom(last) }, Date.now(), cutoff)
}

/** States go first, so that nobody finds one without all of its changes. No writer waits for it. */
async function forgetStep(transaction: Transaction, name: string, cutoff?: Cutoff): Promise<Forgotten> {
  const head = await readHead(transaction, name)
  if (head === undefined) return { isMore: false }
  const { shardKey, id } = head
  const { states, isForSize, kept } = await readExpired(transaction, head, STATES_A_STEP, cutoff)
  const newest = states.at(-1)
  if (newest !== undefined) void transaction.write('removeStates', shardKey, id, newest.changes, newest.version)
  let isMore = kept === undefined && states.length > 0
  if (!isMore) isMore = await removeChanges(transaction, head, 0, kept?.changes ?? head.changes)
  if (!isMore) await leaveReplaced(transaction, head, kept?.generation ?? head.generation)
  await transaction.commit()
  return { isMore, ...(isForSize && { notice: forgottenForSize(head) }) }
}
