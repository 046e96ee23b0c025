/** Writes what differs between a draft and what is stored. Nothing is waited for: the commit tells what failed. */

import { keepsHistory } from '../../../contract/state-tag.ts'
import { newId } from '../../collection-rules.ts'
import type { DeflatePool } from '../../deflate-pool.ts'
import type { Draft } from '../../draft.ts'
import { bytesOf, numberChanges, OpenChanges, type Stretch } from '../../history.ts'
import { holeCounts, MAX_POSITION, QUIRE_SIZE } from '../../positions.ts'
import { type StoredHead, shardKeyOf, writeHead } from '../rows/head.ts'
import { putPastHoles, putStretches, readHistoryBytes, writeHistory } from '../rows/history.ts'
import type { StatementName } from '../rows/statements.ts'
import { keyBytes, reamColumns } from '../rows/stored-ream.ts'
import type { Transaction } from '../server/transaction.ts'

/** Texts of replaced and deleted items that are in memory: a commit may change more than that holds. */
const BYTES_AT_A_TIME = 1024 * 1024

export async function writeDraft(
  transaction: Transaction,
  before: StoredHead | undefined,
  draft: Draft,
  pool: DeflatePool,
): Promise<void> {
  const shardKey = shardKeyOf(draft.name)
  const { generationId = newId(), isGuarded = false } = before ?? {}
  const write = (name: StatementName, ...values: readonly unknown[]): void =>
    void transaction.write(name, shardKey, generationId, ...values)
  if (draft.head === undefined) {
    if (before === undefined) return
    // The collection is gone with this commit; its rows are left over, to be swept.
    void transaction.write('deleteHead', shardKey, draft.name)
    // After the head: nobody can note anything from then on.
    void transaction.write('deleteFollowing', shardKey, draft.name)
    write('addLeftover', 0)
    void transaction.write('addHistoryLeftover', shardKey, before.id, 0)
    await leaveReplaced(transaction, before, MAX_POSITION)
    return
  }
  const head = { ...draft.head, shardKey, generationId, isGuarded }
  const isKept = draft.isChanged && keepsHistory(head)
  const bytesBefore = before !== undefined && isKept ? readHistoryBytes(transaction, before) : Promise.resolve(0)
  // It is asked for now and needed in the end. If something else fails first, that is told, and nobody waits for this.
  bytesBefore.catch(() => {})
  if (draft.isChanged) writeHead(transaction, before, head)
  if (draft.closedTail !== undefined) write('deleteTail', draft.closedTail, draft.closedTail + QUIRE_SIZE)
  const { removedKeys, addedKeys, changedTail } = draft
  const gone = [...changedTail.keys()].filter((position) => changedTail.get(position) === null)
  if (gone.length > 0) write('deleteTailItems', gone)
  const put = [...changedTail].flatMap(([position, text]) => (text === null ? [] : [{ position, text }]))
  const items = put.map(({ text }) => Buffer.from(text))
  if (put.length > 0)
    write(
      'putTail',
      put.map(({ position }) => position),
      items,
    )
  if (removedKeys.size > 0) write('deleteKeys', [...removedKeys].map(keyBytes))
  if (addedKeys.size > 0) write('putKeys', [...addedKeys.keys()].map(keyBytes), [...addedKeys.values()])
  const firstChange = head.changes - draft.log.reduce((sum, { count }) => sum + count, 0)
  const stretches = isKept ? numberChanges(head, firstChange, draft.log) : []
  const open = new OpenChanges(stretches)
  const completed: Stretch[] = []
  let [bytes, waiting] = [0, 0]
  for await (const ream of pool.seal([...draft.changedReams.values()])) {
    write('putReam', ...reamColumns(ream))
    const ofReam = open.complete(ream)
    completed.push(...ofReam)
    waiting += bytesOf(ofReam)
    if (waiting < BYTES_AT_A_TIME) continue
    await putStretches(transaction, head, completed.splice(0))
    bytes += waiting
    waiting = 0
  }
  if (isKept) {
    await putPastHoles(transaction, head, stretches)
    await writeHistory(transaction, head, [...completed, ...open.rest()], bytes, await bytesBefore)
  }
  const holes = holeCounts(draft.holes)
  const columns = [holes.map(({ level }) => level), holes.map(({ block }) => block), holes.map(({ gone }) => gone)]
  if (holes.length > 0) write('addHoles', ...columns)
}

/** Leaves over the generations before that one which were replaced, and are not kept any more. */
export async function leaveReplaced(
  transaction: Transaction,
  { shardKey, id }: StoredHead,
  before: number,
): Promise<void> {
  for (const [generationId] of await transaction.all('takeReplaced', shardKey, id, before))
    void transaction.write('addLeftover', shardKey, generationId, 0)
}
