/** The rows of a store in SQLite. Every row has a checksum: SQLite's file has none. */

import type { SQLInputValue } from 'node:sqlite'
import { free, own } from '../../../items/owned-bytes.ts'
import { damagedCollection } from '../../collection-rules.ts'
import { SyncRows, storedHead } from '../../default-operations.ts'
import { countGone, REAM_SIZE, tailStart } from '../../positions.ts'
import { ReadCache } from '../../read-cache.ts'
import type {
  BlockRange,
  FoundItem,
  FoundParts,
  Generation,
  Lease,
  Leftover,
  Range,
  RememberedRequest,
  RequestPlace,
  WantedParts,
} from '../../rows.ts'
import { reamFrom } from '../../stored-items.ts'
import {
  HOLE,
  type LooseTable,
  type Owner,
  type Owners,
  REAM,
  type Row,
  type StoredHead,
  type Table,
  TOKEN,
} from '../../tables.ts'
import { inCollection, isDamage } from './explain-error.ts'
import { deleteHead, HEAD, HEAD_WIDTH, headOf, insertHead, putHead, readHead } from './head.ts'
import { addKey, insertKeys } from './keys.ts'
import { findLease, findLeases, holdLease, removeLease, renewLease, takeLease } from './lease-rows.ts'
import { findExtent, findLastKey, findLeftovers, putLeftover, removeLeftover, sweepKeys } from './leftover-rows.ts'
import { findRequests, putRequests } from './request-rows.ts'
import { changeRowCount, checkAbsence, checkRowCount, checkSum, withSum } from './row-sum.ts'
import type { Row as SqlRow, Statements } from './statements.ts'
import { statementsOf } from './table-statements.ts'

/** How many rows these have is known: nothing else would tell that one is lost. */
const COUNTED: ReadonlySet<Table> = new Set([TOKEN])

const HEAD_AND_REAM = `
  SELECT ${HEAD.select(1, 'h')}, ${statementsOf(REAM).summed.select(2, 'r')} FROM head h
  LEFT JOIN ream r ON r.collection_id = h.id AND r.generation = h.generation AND r.number = ? AND r.number * ${REAM_SIZE} < h.next
  WHERE h.name = ? AND (h.private = 0 OR ?)`

export class SqliteRows extends SyncRows {
  readonly sql: Statements
  readonly cache: ReadCache = new ReadCache()

  constructor(sql: Statements) {
    super()
    this.sql = sql
  }

  override get<O extends Owner>(table: Table<O>, owner: Owners[O], key: Row, isProven = false): Row | undefined {
    const made = statementsOf(table)
    const owned = [...ownerValues(table, owner), ...key] as SQLInputValue[]
    // SQLite would look for U+FFFD instead of half a surrogate pair, and no key holds such a half.
    if (typeof key[0] === 'string' && !key[0].isWellFormed()) return undefined
    const found = this.sql.get(made.get, ...owned)
    if (found !== undefined) {
      checkSum(this.sql, made.summed.start(...owned), owner.name, found)
      return made.rowOf(found, key)
    }
    if (!isProven) return undefined
    // In one snapshot with the proof.
    if (!this.sql.isInTransaction) return this.sql.inSnapshot(() => this.get(table, owner, key, true))
    checkAbsence(this.sql, made.summed, owner.name, owned)
    if (COUNTED.has(table)) checkRowCount(this.sql, made.summed)
    return undefined
  }

  scan<O extends Owner>(table: Table<O>, owner: Owners[O], range: Range): Row[] {
    const made = statementsOf(table)
    const owned = ownerValues(table, owner)
    const values = [...owned, ...valuesOf(range), range.limit ?? NO_LIMIT]
    if (range.limit === 1) {
      const row = this.sql.get(made.scan(range), ...values)
      if (row === undefined) return []
      checkSum(this.sql, made.summed.start(...owned), owner.name, row)
      return [made.rowOf(row, [])]
    }
    const found = this.sql.all(made.scan(range), ...values)
    if (found.length === 0) return []
    const start = made.summed.start(...owned)
    const rows: Row[] = []
    let isInOrder = true
    for (const row of found) {
      checkSum(this.sql, start, owner.name, row)
      const read = made.rowOf(row, [])
      const last = rows.at(-1)
      isInOrder &&= last === undefined || isBefore(made.keyWidth, last, read)
      rows.push(read)
    }
    // SQLite does not sort: it takes the rows as its pages have them, and one page may be where another belongs.
    if (!isInOrder && !range.isReverse)
      this.reportDamage(owner.name, `Rows of the table "${table.name}" are not in order.`)
    return rows
  }

  put<O extends Owner>(table: Table<O>, owner: Owners[O], rows: readonly Row[]): void {
    const made = statementsOf(table)
    const start = made.summed.start(...ownerValues(table, owner))
    for (const row of rows) {
      const isNew = COUNTED.has(table) && this.get(table, owner, row.slice(0, made.keyWidth)) === undefined
      if (isNew) changeRowCount(this.sql, made.summed, 1)
      this.sql.run(made.put, ...withSum(start, ...made.storedRow(row)))
      const bytes = row[made.deflated]
      if (bytes instanceof Uint8Array) free(own(bytes))
    }
  }

  remove<O extends Owner>(table: Table<O>, owner: Owners[O], keys: readonly Row[]): void {
    const owned = ownerValues(table, owner)
    for (const key of keys) this.sql.run(statementsOf(table).remove, ...owned, ...(key as SQLInputValue[]))
  }

  removeRange<O extends Owner>(table: Table<O>, owner: Owners[O], range: Range): number {
    const made = statementsOf(table)
    const owned = ownerValues(table, owner)
    if (range.limit === undefined) return this.sql.run(made.removeRange(range), ...owned, ...valuesOf(range))
    const values = [...owned, ...valuesOf(range)]
    return this.sql.run(made.removeRange(range), ...values, range.limit)
  }

  all(table: LooseTable): Row[] {
    const made = statementsOf(table)
    const found = this.sql.all(made.all)
    for (const row of found) checkSum(this.sql, made.summed.start(), undefined, row)
    if (COUNTED.has(table)) checkRowCount(this.sql, made.summed, found.length)
    return found.map((row) => made.rowOf(row, []))
  }

  override reportDamage(collection: string | undefined, message: string): void {
    this.sql.reportDamage(collection, message)
  }

  readHead(name: string, isPublicOnly = false): StoredHead | undefined {
    const head = readHead(this.sql, name, isPublicOnly)
    return head && storedHead(head)
  }

  /** The common page in one statement, which is one snapshot. */
  override readParts(name: string, wanted: WantedParts, isPublicOnly: boolean): FoundParts | undefined {
    const { reams, hasTail } = wanted
    const [number] = reams
    const isCommon = number !== undefined && reams.length === 1 && !hasTail
    const found = isCommon ? this.#headAndReam(name, number, isPublicOnly) : undefined
    return found ?? this.sql.inSnapshot(() => super.readParts(name, wanted, isPublicOnly))
  }

  #headAndReam(name: string, number: number, isPublicOnly: boolean): FoundParts | undefined {
    const row = this.#tryHeadAndReam(name, number, isPublicOnly)
    if (row === undefined) return undefined
    const head = storedHead(headOf(this.sql, name, row))
    if (row[HEAD_WIDTH] === null) return { head, reams: new Map(), tail: undefined }
    const start = statementsOf(REAM).summed.start(head.shardKey, head.generationId)
    checkSum(this.sql, start, name, row, HEAD_WIDTH)
    // The cast: the checksum is that of a ream.
    const ream = reamFrom(row.slice(HEAD_WIDTH) as unknown as Row)
    return { head, reams: new Map([[number, ream]]), tail: undefined }
  }

  /** Where something is damaged, the long way tells in which collection. */
  #tryHeadAndReam(name: string, number: number, isPublicOnly: boolean): SqlRow | undefined {
    try {
      return this.sql.get(HEAD_AND_REAM, number, name, isPublicOnly ? 0 : 1)
    } catch (error) {
      if (isDamage(error)) return undefined
      throw error
    }
  }

  override readPartsOf(head: StoredHead, wanted: WantedParts): FoundParts {
    return inCollection(head.name, () => super.readPartsOf(head, wanted))
  }

  override readHoleBlocks(head: StoredHead, range: BlockRange) {
    return this.sql.inSnapshot(() => super.readHoleBlocks(head, range))
  }

  override findItem(name: string, key: string, isPublicOnly: boolean) {
    return this.sql.inSnapshot(() => super.findItem(name, key, isPublicOnly))
  }

  protected override findItemOf(head: StoredHead, key: string): FoundItem | undefined {
    return inCollection(head.name, () => super.findItemOf(head, key))
  }

  putHead(head: StoredHead, before: StoredHead | undefined): void {
    if (before === undefined) insertHead(this.sql, head)
    else if (before.commitId !== head.commitId) putHead(this.sql, head)
  }

  removeHead(head: StoredHead): void {
    deleteHead(this.sql, head)
  }

  takeLease = (lease: Lease) => takeLease(this.sql, lease)
  findLease = (name: string) => findLease(this.sql, name)
  findLeases = () => findLeases(this.sql)
  holdLease = (lease: Lease) => holdLease(this.sql, lease)
  renewLease = (lease: Lease, steps: number) => renewLease(this.sql, lease, steps)
  removeLease = (lease: Lease) => removeLease(this.sql, lease)
  findLeftovers = (id?: number) => findLeftovers(this.sql, id)
  putLeftover = (leftover: Leftover) => putLeftover(this.sql, leftover)
  removeLeftover = (leftover: Leftover) => removeLeftover(this.sql, leftover)
  findExtent = (id: number) => findExtent(this.sql, id)
  findRequests = (_name: string, places: readonly RequestPlace[]) => findRequests(this.sql, places)
  putRequests = (_name: string, requests: readonly RememberedRequest[]) => putRequests(this.sql, requests)

  override findLastKey(place: Generation, after: string, limit: number): string | undefined {
    return findLastKey(this.sql, place, after, limit)
  }

  override sweepKeys(place: Generation, after: string, last: string, base: number): void {
    sweepKeys(this.sql, place, after, last, base)
  }

  override addKeys(place: Generation, keys: ReadonlyMap<string, number>): void {
    for (const [key, position] of keys)
      if (!addKey(this.sql, place, key, position))
        throw damagedCollection(place.name, `The key ${JSON.stringify(key)} was not found, and is there.`)
  }

  override insertKeys(lease: Lease, keys: readonly string[], first: number): void {
    insertKeys(this.sql, lease, keys, first)
  }

  /** A lost item would otherwise count as deleted. */
  override wholeTail(head: StoredHead): readonly Row[] {
    const start = tailStart(head)
    const items = super.wholeTail(head)
    const ream = Math.floor(start / REAM_SIZE)
    const hole = this.get(HOLE, head, [0, ream])
    const begun = start % REAM_SIZE === 0 ? undefined : this.get(REAM, head, [ream])
    const deleted = Number(hole?.at(-1) ?? 0) - countGone(begun === undefined ? null : reamFrom(begun).gone)
    const expected = head.next - start - deleted
    if (items.length === expected) return items
    throw damagedCollection(head.name, `Its tail has ${items.length} items instead of ${expected}.`)
  }
}

function ownerValues<O extends Owner>({ owner: kind }: Table<O>, owner: Owners[O]): number[] {
  const { shardKey = 0, id = 0, generationId = 0 } = owner as Partial<Owners['generation'] & Owners['collection']>
  if (kind === 'generation') return [shardKey, generationId]
  return kind === 'collection' ? [id] : []
}

/** SQLite's word for it. */
const NO_LIMIT = -1

function valuesOf({ at = [], from = [], to = [] }: Range): readonly SQLInputValue[] {
  return (at.length + to.length === 0 ? from : [...at, ...from, ...to]) as SQLInputValue[]
}

/** Whether the numbers of a key come before those of another; texts are not compared. */
function isBefore(keyWidth: number, a: Row, b: Row): boolean {
  for (let at = 0; at < keyWidth; at++) {
    const [x, y] = [a[at], b[at]]
    if (typeof x !== 'number' || typeof y !== 'number') return true
    if (x !== y) return x < y
  }
  return false
}
