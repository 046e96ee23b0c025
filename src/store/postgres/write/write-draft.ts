/** Writes what differs between a draft and what is stored. Nothing is waited for: the commit tells what failed. */

import { newId } from '../../collection-rules.ts'
import type { PooledReam } from '../../deflate-pool.ts'
import type { Draft } from '../../draft.ts'
import { holeCounts, REAM_SIZE } from '../../positions.ts'
import type { SealedReam } from '../../ream.ts'
import type { ReamDraft } from '../../ream-draft.ts'
import { type RowOwner, type StoredHead, shardKeyOf, writeHead } from '../rows/head.ts'
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
  if (draft.head === undefined) {
    if (before !== undefined) writeDrop(transaction, before)
    return
  }
  const { generationId = newId(), isGuarded = false } = before ?? {}
  const head: StoredHead = { ...draft.head, shardKey: shardKeyOf(draft.name), generationId, isGuarded }
  if (draft.isChanged) writeHead(transaction, before, head)
  writeTail(transaction, head, draft)
  writeKeys(transaction, head, draft)
  writeHoles(transaction, head, draft.holes)
  const { shardKey } = head
  await encodeDrafts([...draft.changedReams.values()], encode, ({ number, count, rawLength, crc, gone, data }) => {
    void transaction.write('putReam', shardKey, generationId, number, count, rawLength, crc, gone, data)
  })
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

/** The collection is gone with this commit; its rows are left over, to be swept. */
function writeDrop(transaction: Transaction, { shardKey, name, generationId }: StoredHead): void {
  void transaction.write('deleteHead', shardKey, name)
  void transaction.write('addLeftover', shardKey, generationId, 0)
}

function writeTail(transaction: Transaction, { shardKey, generationId }: RowOwner, draft: Draft): void {
  for (const number of draft.sealed)
    void transaction.write('deleteTail', shardKey, generationId, number * REAM_SIZE, (number + 1) * REAM_SIZE)
  const removed = [...draft.changedTail].filter(([, text]) => text === null)
  if (removed.length > 0) void transaction.write('deleteTailItems', shardKey, generationId, removed.map(first))
  const put = [...draft.changedTail].filter(([, text]) => text !== null)
  if (put.length > 0) {
    const items = put.map(([, text]) => Buffer.from(text ?? ''))
    void transaction.write('putTail', shardKey, generationId, put.map(first), items)
  }
}

function writeKeys(
  transaction: Transaction,
  { shardKey, generationId }: RowOwner,
  { removedKeys, addedKeys }: Draft,
): void {
  const bytes = (keys: Iterable<string>) => [...keys].map(keyBytes)
  if (removedKeys.size > 0) void transaction.write('deleteKeys', shardKey, generationId, bytes(removedKeys))
  if (addedKeys.size > 0)
    void transaction.write('putKeys', shardKey, generationId, bytes(addedKeys.keys()), [...addedKeys.values()])
}

function writeHoles(
  transaction: Transaction,
  { shardKey, generationId }: RowOwner,
  holes: ReadonlyMap<number, number>,
): void {
  if (holes.size === 0) return
  const all = holeCounts(holes)
  const columns = [all.map(({ level }) => level), all.map(({ block }) => block), all.map(({ gone }) => gone)]
  void transaction.write('addHoles', shardKey, generationId, ...columns)
}

function first<T>([value]: readonly [T, unknown]): T {
  return value
}
