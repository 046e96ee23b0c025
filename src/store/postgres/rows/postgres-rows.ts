/** The rows of a store in PostgreSQL, and what is more than rows of a table: heads, leases, leftovers, requests. */

import { hostname } from 'node:os'
import { newId } from '../../collection-rules.ts'
import { NO_ITEMS, type RawItems } from '../../item-text.ts'
import { type HoleCount, tailStart } from '../../positions.ts'
import type { ReamBytes, SealedReam } from '../../ream.ts'
import type {
  BlockRange,
  FoundLease,
  FoundParts,
  Generation,
  History,
  Lease,
  Leftover,
  RememberedRequest,
  RequestPlace,
  Rows,
  Staging,
  WantedParts,
} from '../../rows.ts'
import type { Head } from '../../store.ts'
import { reamFrom } from '../../stored-items.ts'
import { KEY, type Owners, type Place, REAM, type Row, type StoredHead, TAIL } from '../../tables.ts'
import { headOf, shardKeyOf, writeHead } from './head.ts'
import type { Row as SqlRow } from './sender.ts'
import { HEAD_WIDTH } from './statements.ts'
import { bytesOf, inMessages, keyBytes, REAM_BYTES_WIDTH, reamLists, reamOf } from './stored-ream.ts'
import { TableRows } from './table-rows.ts'

export class PostgresRows extends TableRows implements Rows {
  // Heads

  /** The head as it is once nobody else is writing to the collection. */
  async lockHead(name: string): Promise<StoredHead | undefined> {
    const shardKey = shardKeyOf(name)
    const row = await this.transaction.first('lockHead', shardKey, name)
    if (row === undefined) void this.transaction.write('beDurable', shardKey)
    return row && headOf(name, row)
  }

  async readHead(name: string): Promise<StoredHead | undefined> {
    const row = await this.reading.first('readHead', shardKeyOf(name), name)
    return row && headOf(name, row)
  }

  async holdHead(name: string): Promise<Owners['shard'] | undefined> {
    const shardKey = shardKeyOf(name)
    return (await this.transaction.first('holdHead', shardKey, name)) && { shardKey, name }
  }

  storedHead(head: Head, before: StoredHead | undefined): StoredHead {
    const { generationId = newId(), isGuarded = false } = before ?? {}
    return { ...head, shardKey: shardKeyOf(head.name), generationId, isGuarded }
  }

  putHead(head: StoredHead, before: StoredHead | undefined): void {
    writeHead(this.transaction, before, head)
  }

  removeHead({ shardKey, name }: StoredHead): void {
    void this.transaction.write('deleteHead', shardKey, name)
  }

  newPlace(name: string, _id: number, head: StoredHead | undefined, isReplacement: boolean): Place & Staging {
    const generationId = (isReplacement ? undefined : head?.generationId) ?? newId()
    return { shardKey: shardKeyOf(name), generationId, stagingId: newId() }
  }

  // Reads

  /** One statement, whose rows have the head and a part each. */
  async readParts(name: string, { reams, hasTail }: WantedParts): Promise<FoundParts | undefined> {
    const shardKey = shardKeyOf(name)
    const rows = await this.#partRows(shardKey, name, { reams, hasTail })
    const [first] = rows
    if (first === undefined) return undefined
    const found = new Map<number, ReamBytes>()
    let tail: RawItems | undefined
    for (const row of rows) {
      const number = row[HEAD_WIDTH + REAM_BYTES_WIDTH]
      if (typeof number === 'number') found.set(number, bytesOf(row, HEAD_WIDTH))
      else if (hasTail) {
        const isEmpty = row[HEAD_WIDTH] === 0
        tail = isEmpty ? NO_ITEMS : { raw: bytesOf(row, HEAD_WIDTH).data, count: row[HEAD_WIDTH] as number }
      }
    }
    return { head: headOf(name, first), reams: found, tail }
  }

  #partRows(shardKey: number, name: string, { reams, hasTail }: WantedParts): Promise<readonly SqlRow[]> {
    const [number] = reams
    if (number === undefined && hasTail) return this.reading.all('readTailPart', shardKey, name)
    if (number !== undefined && reams.length === 1 && !hasTail)
      return this.reading.all('readPart', shardKey, name, number)
    return this.reading.all(hasTail ? 'readLastParts' : 'readParts', shardKey, name, `{${reams.join(',')}}`)
  }

  async readPartsOf(head: StoredHead, wanted: WantedParts): Promise<FoundParts> {
    return (await this.readParts(head.name, wanted)) ?? { head, reams: new Map(), tail: undefined }
  }

  async readHoleBlocks({ shardKey, name }: StoredHead, { level, from, to }: BlockRange) {
    const rows = await this.reading.all('readHoleBlocks', shardKey, name, level, from, to)
    const [first] = rows
    if (first === undefined) return undefined
    const counts: HoleCount[] = []
    for (const row of rows) {
      const [block, gone] = row.slice(HEAD_WIDTH)
      if (block !== null) counts.push({ level, block: Number(block), gone: Number(gone) })
    }
    return { head: headOf(name, first), counts }
  }

  async findItem(name: string, key: string) {
    const bytes = keyBytes(key)
    // No item has such a key, and Citus looks up no NULL.
    if (bytes === null) {
      const head = await this.readHead(name)
      return head && { head, found: undefined }
    }
    const row = await this.reading.first('readItem', shardKeyOf(name), name, bytes)
    if (row === undefined) return undefined
    const [position, item] = row.slice(HEAD_WIDTH) as [number | null, Buffer | null]
    const ream = row[HEAD_WIDTH + 2] === null ? undefined : reamOf(row, HEAD_WIDTH + 2)
    const found = position === null ? undefined : { position, item: item ?? undefined, ream }
    return { head: headOf(name, row), found }
  }

  // Leases, judged by time alone and by the clock of the database

  async takeLease({ shardKey, name, generationId, stagingId, base, holder }: Lease): Promise<boolean> {
    const values = [shardKey, name, generationId, stagingId, base, holder, hostname(), process.pid]
    return (await this.transaction.write('insertLease', ...values)).count === 1
  }

  async findLease(name: string): Promise<FoundLease | undefined> {
    const row = await this.reading.first('readLease', shardKeyOf(name), name)
    return row && leaseFrom(row)
  }

  async findLeases(): Promise<FoundLease[]> {
    return (await this.reading.all('readLeases')).map(leaseFrom)
  }

  async holdLease({ shardKey, name, holder }: Lease): Promise<number | undefined> {
    const row = await this.transaction.first('holdLease', shardKey, name, holder)
    return row === undefined ? undefined : Number(row[0])
  }

  renewLease({ shardKey, name, holder }: Lease, steps: number): void {
    void this.transaction.write('renewLease', shardKey, name, holder, steps)
  }

  async removeLease(lease: Lease | FoundLease): Promise<boolean> {
    const { shardKey, name, holder } = lease
    // One that seemed dead may have been renewed meanwhile.
    const isFoundDead = 'isDead' in lease && lease.isDead
    const statement = isFoundDead ? 'deleteDeadLease' : 'deleteLease'
    return (await this.transaction.write(statement, shardKey, name, holder)).count === 1
  }

  // Leftovers

  /** A head that is guarded without a lease has something in the way. */
  isBlocked({ isGuarded }: StoredHead): boolean {
    return isGuarded
  }

  addLeftover({ shardKey, generationId }: Generation, base: number): void {
    void this.transaction.write('addLeftover', shardKey, generationId, base)
  }

  addHistoryLeftover({ shardKey, id }: History, base: number): void {
    void this.transaction.write('addHistoryLeftover', shardKey, id, base)
  }

  async findLeftovers(): Promise<Leftover[]> {
    return (await this.reading.all('readLeftovers')).map(leftoverFrom)
  }

  async lockLeftover(shardKey: number): Promise<Leftover | undefined> {
    const row = await this.transaction.first('lockLeftover', shardKey)
    return row && leftoverFrom(row)
  }

  moveCursor({ owner: { shardKey, generationId } }: Leftover, keyCursor: string): void {
    void this.transaction.write('moveCursor', shardKey, generationId, keyBytes(keyCursor))
  }

  removeLeftover({ owner: { shardKey, generationId }, isHistory }: Leftover): void {
    void this.transaction.write('deleteLeftover', shardKey, generationId)
    if (!isHistory) void this.transaction.write('unguard', shardKey, generationId)
  }

  async isVisible({ shardKey, generationId }: Generation, base: number): Promise<boolean> {
    return (await this.reading.first('isVisible', shardKey, generationId, base)) !== undefined
  }

  async findChanges({ shardKey, id }: History): Promise<number | undefined> {
    const row = await this.reading.first('readChangesOf', shardKey, id)
    return row === undefined ? undefined : Number(row[0])
  }

  async findLastKey({ shardKey, generationId }: Generation, after: string, limit: number): Promise<string | undefined> {
    const row = await this.reading.first('findLastKey', shardKey, generationId, keyBytes(after), limit)
    return row === undefined ? undefined : String(row[0])
  }

  sweepKeys({ shardKey, generationId }: Generation, after: string, last: string, base: number): void {
    void this.transaction.write('sweepKeys', shardKey, generationId, keyBytes(after), keyBytes(last), base)
  }

  // Requests

  async findRequests(name: string, places: readonly RequestPlace[]): Promise<RememberedRequest[]> {
    const keys = places.map(({ key }) => key)
    const found = await this.reading.all('findRequests', shardKeyOf(name), keys)
    return found.map(([key, id, digest, outcome]) => ({
      key: String(key),
      collectionId: Number(id),
      digest: String(digest),
      outcome: JSON.parse(String(outcome)),
    }))
  }

  putRequests(name: string, requests: readonly RememberedRequest[]): void {
    const shardKey = shardKeyOf(name)
    const keys = requests.map(({ key }) => key)
    // Two for each that is added: so what no longer counts grows less, and no write pays for many others.
    void this.transaction.write('forgetRequests', shardKey, keys, 2 * keys.length)
    for (const { key, collectionId, digest, outcome } of requests)
      void this.transaction.write('rememberRequest', shardKey, key, collectionId, digest, JSON.stringify(outcome))
  }

  // Writes

  async reamsToChange(place: Generation, numbers: readonly number[]): Promise<(readonly [number, SealedReam])[]> {
    const keys = numbers.map((number) => [number])
    const found = await this.find(REAM, place, keys)
    return found.flatMap((row) => {
      const ream = row && reamFrom(row)
      return ream === undefined ? [] : [[ream.number, ream] as const]
    })
  }

  wholeTail(head: StoredHead): Promise<readonly Row[]> {
    return this.scan(TAIL, head, { from: [tailStart(head)], to: [head.next] })
  }

  addKeys(place: Generation, keys: ReadonlyMap<string, number>) {
    return this.put(KEY, place, [...keys])
  }

  /** Without looking for others: that takes half of the time. */
  insertKeys({ shardKey, name, holder }: Lease, keys: readonly string[], first: number): void {
    void this.transaction.write('loadKeys', shardKey, name, holder, first, keys.map(keyBytes))
  }

  /** The bytes of all reams come as one value: as elements of an array they would travel in hexadecimal. */
  loadReams(lease: Lease, reams: readonly SealedReam[]) {
    const { shardKey, name, holder, generationId } = lease
    const send = (part: readonly SealedReam[]) =>
      this.transaction.write('loadReams', shardKey, name, holder, generationId, ...reamLists(part))
    return this.inTurn(
      inMessages(reams, ({ data }) => data.byteLength),
      send,
    )
  }

  moveStagedReams({ shardKey, generationId, stagingId }: Lease): void {
    void this.transaction.write('moveStagedReams', shardKey, generationId, stagingId)
  }

  async reamBytes({ shardKey, generationId }: Generation): Promise<number> {
    const [bytes] = (await this.reading.first('readReamBytes', shardKey, generationId)) ?? []
    return Number(bytes ?? 0)
  }
}

function leaseFrom(row: SqlRow): FoundLease {
  const [name, generationId, stagingId, base, holder, host, pid, startedAt, isDead] = row as [
    ...[string, number, number, number, string, string, number, number],
    boolean,
  ]
  return { name, shardKey: shardKeyOf(name), generationId, stagingId, base, holder, host, pid, startedAt, isDead }
}

function leftoverFrom(row: SqlRow): Leftover {
  const [shardKey, id, base, cursor, isHistory] = row as [number, number, number, Buffer, boolean]
  return { owner: { name: undefined, shardKey, generationId: id, id }, isHistory, base, keyCursor: cursor.toString() }
}
