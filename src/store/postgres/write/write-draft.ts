/** Writes what differs between a draft and what is stored. Nothing is waited for: the commit tells what failed. */

import { newId } from '../../collection-rules.ts'
import type { PooledReam } from '../../deflate-pool.ts'
import type { Draft } from '../../draft.ts'
import { holeCounts, REAM_SIZE } from '../../positions.ts'
import type { SealedReam } from '../../ream.ts'
import type { ReamDraft } from '../../ream-draft.ts'
import { type StoredHead, shardKeyOf, writeHead } from '../rows/head.ts'
import type { StatementName } from '../rows/statements.ts'
import { keyBytes } from '../rows/stored-ream.ts'
import type { Transaction } from '../server/transaction.ts'

/** Makes the bytes of a ream, on another thread. */
export type EncodeReam = (raw: Uint8Array, count: number) => Promise<PooledReam>

/** Reams that are made at the same time. */
const REAMS_AT_A_TIME = 8

export async function writeDraft(
  transaction: Transaction,
  before: StoredHead | undefined,
  draft: Draft,
  encode: EncodeReam,
): Promise<void> {
  const shardKey = shardKeyOf(draft.name)
  const { generationId = newId(), isGuarded = false } = before ?? {}
  const write = (name: StatementName, ...values: readonly unknown[]): void =>
    void transaction.write(name, shardKey, generationId, ...values)
  if (draft.head === undefined) {
    if (before === undefined) return
    // The collection is gone with this commit; its rows are left over, to be swept.
    void transaction.write('deleteHead', shardKey, draft.name)
    write('addLeftover', 0)
    return
  }
  if (draft.isChanged) writeHead(transaction, before, { ...draft.head, shardKey, generationId, isGuarded })
  for (const number of draft.sealed) write('deleteTail', number * REAM_SIZE, (number + 1) * REAM_SIZE)
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
  const holes = holeCounts(draft.holes)
  const columns = [holes.map(({ level }) => level), holes.map(({ block }) => block), holes.map(({ gone }) => gone)]
  if (holes.length > 0) write('addHoles', ...columns)
  await encodeDrafts([...draft.changedReams.values()], encode, ({ number, count, rawLength, crc, gone, data }) =>
    write('putReam', number, count, rawLength, crc, gone, data),
  )
}

/** Makes reams, some at a time, and hands each over. Then its bytes are gone: the driver has copied them by then. */
export async function encodeDrafts(
  drafts: readonly ReamDraft[],
  encode: EncodeReam,
  put: (ream: SealedReam) => void,
): Promise<void> {
  const encodeOne = async (draft: ReamDraft): Promise<void> => {
    const { raw, count, gone } = draft.content()
    const { ream, release } = await encode(raw, count)
    put({ ...ream, number: draft.number, gone })
    release()
  }
  for (let start = 0; start < drafts.length; start += REAMS_AT_A_TIME)
    await Promise.all(drafts.slice(start, start + REAMS_AT_A_TIME).map(encodeOne))
}
