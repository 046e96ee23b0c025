/** The head of a collection as PostgreSQL's rows hold it. */

import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { ListedHead } from '../../store.ts'
import { HEAD_COLUMNS, headFrom, originText } from '../../stored-rows.ts'
import { publicHead, type StoredHead } from '../../tables.ts'
import type { Reading, Row, Writing } from './sender.ts'
import { HEAD_WIDTH } from './statements.ts'

/** Bytes of a shard key: an integer that JavaScript keeps exactly. */
const SHARD_KEY_BYTES = 6

/** Every statement needs one, and a hash takes longer than the rest of it. */
const shardKeys = new LRUCache<string, number>({ max: 10_000 })

/** The shard key of a name: on Citus it picks the shard. Names that share one do no harm. */
export function shardKeyOf(name: string): number {
  const known = shardKeys.get(name)
  if (known !== undefined) return known
  const shardKey = hash('sha256', name, 'buffer').readUIntBE(0, SHARD_KEY_BYTES)
  shardKeys.set(name, shardKey)
  return shardKey
}

/** All heads, each with the time of its last change. */
export async function readAllHeads(rows: Reading): Promise<(StoredHead & ListedHead)[]> {
  return (await rows.all('readHeads')).map(listedHead)
}

export function listedHead(row: Row): StoredHead & ListedHead {
  const [name, changedAt, shardKey] = row.slice(HEAD_WIDTH) as [string, number | null, number]
  return { ...headOf(name, row), changedAt, shardKey }
}

/** Reads the head from the first columns of a row. The columns are NOT NULL, so the types hold. */
export function headOf(name: string, row: Row): StoredHead {
  const generationId = row[HEAD_COLUMNS.length] as number
  const isGuarded = row[HEAD_COLUMNS.length + 1] as boolean
  return { ...headFrom(name, row), shardKey: shardKeyOf(name), generationId, isGuarded }
}

export function shownListedHead(head: StoredHead & ListedHead): ListedHead {
  return { ...publicHead(head), changedAt: head.changedAt }
}

/** Writes a head; `before` is what is stored of it, if anything. */
export function writeHead(transaction: Writing, before: StoredHead | undefined, head: StoredHead): void {
  const { shardKey, name, id, isPaginated, isPrivate, generation, version, commitId, fullPagesId } = head
  const history = [head.changes, head.historyFrom, head.retentionMs, head.retentionBytes, originText(head)]
  const place = [head.generationId, head.isGuarded]
  const state = [generation, version, commitId, fullPagesId, head.next, head.live, ...history, ...place]
  if (before?.commitId === commitId) void transaction.write('guardHead', shardKey, name, head.isGuarded)
  else if (before !== undefined) void transaction.write('updateHead', shardKey, name, isPrivate, ...state)
  else {
    const keyField = head.keyField === null ? null : Buffer.from(head.keyField)
    void transaction.write('insertHead', shardKey, name, id, keyField, isPaginated, isPrivate, ...state)
  }
}
