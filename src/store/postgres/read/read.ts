/** Reading pages, items and whole collections. Everything that one call answers comes from one snapshot. */

import { damagedCollection, missingCollection } from '../../collection-rules.ts'
import { joinItems } from '../../item-text.ts'
import { isGone, REAM_SIZE, reamsIn, tailStart } from '../../positions.ts'
import { itemAt } from '../../ream.ts'
import { deflatedSegment, rawSegment } from '../../segment.ts'
import type { Head, PageRead, Segment } from '../../store.ts'
import type { StoreError } from '../../store-error.ts'
import { headOf, readHead, type StoredHead, shardKeyOf, shownHead } from '../rows/head.ts'
import type { Reading, Row, Rows } from '../rows/rows.ts'
import { HEAD_WIDTH } from '../rows/statements.ts'
import { keyBytes, readReams, readTail, reamOf } from '../rows/stored-ream.ts'
import type { Connections } from '../server/connection.ts'
import type { HoleCounts } from './page-parts.ts'
import { askFor, pageOf, readParts, segmentOf } from './page-parts.ts'

/** It lasts as long as its reader takes, whatever the database allows others. */
const SNAPSHOT = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL idle_in_transaction_session_timeout = 0'

/** Runs `read` in one snapshot, for what takes several statements. */
export async function inSnapshot<T>(rows: Rows, read: () => Promise<T>): Promise<T> {
  await rows.execute(SNAPSHOT)
  try {
    return await read()
  } finally {
    await rows.execute('ROLLBACK').catch(() => {})
  }
}

/** All items of an unpaginated collection, in one statement. */
export async function readWhole(rows: Rows, name: string): Promise<PageRead | undefined> {
  const found = await rows.all('readWhole', shardKeyOf(name), name)
  if (found[0] === undefined) return undefined
  const head = headOf(name, found[0])
  const parts = found.filter((row) => row[HEAD_WIDTH] !== null)
  const segments = parts.map(segmentOf)
  const count = segments.reduce((sum, segment) => sum + segment.count, 0)
  if (count !== head.live) throw damagedCollection(head.name, `It has ${count} items instead of ${head.live}.`)
  return { head: shownHead(head), page: 0, segments }
}

/** Any page of a paginated collection. To be called in the snapshot of its head. */
export async function readPage(
  rows: Reading,
  head: StoredHead,
  requested: number,
  holes: HoleCounts,
): Promise<PageRead> {
  let parts = holes.findParts(head, requested)
  while (parts === undefined && holes.missing !== undefined) {
    await holes.fill(rows, head)
    parts = holes.findParts(head, requested)
  }
  if (parts === undefined) throw damagedCollection(head.name, 'Its hole counts do not add up.')
  const read = pageOf(await readParts(rows, head, askFor(parts, head)), head, parts)
  if (read === undefined)
    throw damagedCollection(head.name, `Page ${parts.page} lacks a ream, or one does not agree with its count.`)
  return read
}

/** All items in order: every ream that is not empty, then the tail. To be called in a snapshot. */
export async function* readSegments(rows: Rows, head: StoredHead): AsyncGenerator<Segment> {
  const reams = reamsIn(head)
  let expected = 0
  for await (const ream of readReams(rows, head, 0, reams)) {
    if (ream.number !== expected++) throw missingReam(head, expected - 1)
    if (ream.count > 0) yield deflatedSegment(ream)
  }
  if (expected !== reams) throw missingReam(head, expected)
  const texts: string[] = []
  for await (const { item } of readTail(rows, head, tailStart(head), head.next)) texts.push(item)
  if (texts.length > 0) yield rawSegment(joinItems(texts), texts.length)
}

/** The head, and the text of the item with that key, in one statement. */
export async function readItem(
  rows: Reading,
  name: string,
  key: string,
): Promise<{ head: Head; text: Uint8Array | undefined } | undefined> {
  const bytes = keyBytes(key)
  // No item has such a key, and Citus looks up no NULL.
  if (bytes === null) {
    const head = await readHead(rows, name)
    return head && { head: shownHead(head), text: undefined }
  }
  const row = await rows.first('readItem', shardKeyOf(name), name, bytes)
  if (row === undefined) return undefined
  const head = headOf(name, row)
  const position = row[HEAD_WIDTH] as number | null
  return { head: shownHead(head), text: position === null ? undefined : itemOf(row, head, position) }
}

function itemOf(row: Row, head: StoredHead, position: number): Uint8Array {
  const number = Math.floor(position / REAM_SIZE)
  const inTail = row[HEAD_WIDTH + 1] as Buffer | null
  if (position >= tailStart(head) && inTail !== null) return inTail
  if (row[HEAD_WIDTH + 2] === null) throw missingReam(head, number)
  const ream = reamOf(row, HEAD_WIDTH + 2)
  const slot = position % REAM_SIZE
  if (isGone(ream.gone, slot)) throw missingReam(head, number)
  return itemAt(ream, slot)
}

function missingReam(head: Head, number: number): StoreError {
  return damagedCollection(head.name, `Ream ${number} is missing, or does not agree with its counts.`)
}

export async function* readAll(
  connections: Connections,
  name: string,
  onHead: (head: Head) => void = () => {},
): AsyncGenerator<Segment> {
  const { rows, reasonOf, giveBack } = await connections.borrow()
  try {
    await rows.execute(SNAPSHOT)
    const head = await readHead(rows, name)
    if (head === undefined) throw missingCollection(name)
    onHead(shownHead(head))
    yield* readSegments(rows, head)
  } catch (error) {
    throw reasonOf(error)
  } finally {
    // Here too when the caller has had enough.
    const isUsable = await rows.execute('ROLLBACK').then(
      () => true,
      () => false,
    )
    giveBack(isUsable)
  }
}
