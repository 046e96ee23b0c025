/** The rows of a store in memory: a sorted map for each table. */

import { SyncRows } from '../../../src/store/default-operations.ts'
import { KeysTaken, LEASE_LIFETIME_MS } from '../../../src/store/load.ts'
import { REQUEST_LIFETIME_MS } from '../../../src/store/request-log.ts'
import type { FoundLease, Lease, Leftover, Range, RememberedRequest, RequestPlace } from '../../../src/store/rows.ts'
import type { Head, ListedHead } from '../../../src/store/store.ts'
import {
  KEY,
  type LooseTable,
  type Owner,
  type Owners,
  type Place,
  type Row,
  type StoredHead,
  type Table,
} from '../../../src/store/tables.ts'

type StoredLease = Omit<FoundLease, 'isDead'> & { readonly renewedAt: number; readonly steps: number }

export type Tables = ReturnType<typeof emptyTables>

export function emptyTables() {
  return {
    /** By table and owner, the rows in the order of their keys. */
    rows: new Map<string, readonly Row[]>(),
    // What `tables.ts` does not declare are objects: these by name,
    head: new Map<string, StoredHead & ListedHead>(),
    lease: new Map<string, StoredLease>(),
    // and these by generation, and by collection and key.
    leftover: new Map<string, Leftover>(),
    request_log: new Map<string, RememberedRequest & { readonly at: number }>(),
  }
}

/** Only maps are ever changed, and never what is in them: so a copy of them is a snapshot. */
export function copyTables(tables: Tables): Tables {
  const copies = Object.entries(tables).map(([name, rows]) => [name, new Map<string, unknown>(rows)])
  // Maps of the same under the same names.
  return Object.fromEntries(copies) as Tables
}

export class MemoryRows extends SyncRows {
  readonly tables: Tables

  constructor(tables: Tables) {
    super()
    this.tables = tables
  }

  scan<O extends Owner>(table: Table<O>, owner: Owners[O], range: Range): Row[] {
    const rows = this.#rowsOf(table, owner)
    const [start, end] = boundsOf(rows, range)
    return (range.isReverse ? rows.slice(start, end).reverse() : rows.slice(start, end)).map(copyOf)
  }

  put<O extends Owner>(table: Table<O>, owner: Owners[O], rows: readonly Row[]): void {
    const keys = rows.map((row) => row.slice(0, table.key.length))
    this.remove(table, owner, keys)
    const all = [...this.#rowsOf(table, owner), ...rows.map(copyOf)]
    this.tables.rows.set(placeOf(table, owner), all.sort(compare))
  }

  remove<O extends Owner>(table: Table<O>, owner: Owners[O], keys: readonly Row[]): void {
    const rows = this.#rowsOf(table, owner)
    const removed = new Set(keys.flatMap((key) => rows.slice(...boundsOf(rows, { at: key }))))
    const kept = rows.filter((row) => !removed.has(row))
    this.tables.rows.set(placeOf(table, owner), kept)
  }

  removeRange<O extends Owner>(table: Table<O>, owner: Owners[O], range: Range): number {
    const rows = this.#rowsOf(table, owner)
    const [start, end] = boundsOf(rows, range)
    this.tables.rows.set(placeOf(table, owner), rows.toSpliced(start, end - start))
    return end - start
  }

  all(table: LooseTable): readonly Row[] {
    return this.tables.rows.get(table.name) ?? []
  }

  #rowsOf<O extends Owner>(table: Table<O>, owner: Owners[O]): readonly Row[] {
    return this.tables.rows.get(placeOf(table, owner)) ?? []
  }

  readHead(name: string, isPublicOnly = false): StoredHead | undefined {
    const head = this.tables.head.get(name)
    return head?.isPrivate && isPublicOnly ? undefined : head
  }

  putHead(head: StoredHead, before: StoredHead | undefined): void {
    if (before?.commitId === head.commitId) return
    this.tables.head.set(head.name, { ...head, isGuarded: true, changedAt: Date.now() })
  }

  removeHead({ name }: StoredHead): void {
    this.tables.head.delete(name)
  }

  // Leases

  takeLease = (lease: Lease): boolean => {
    if (this.tables.lease.has(lease.name)) return false
    const now = { startedAt: Date.now(), renewedAt: Date.now() }
    this.tables.lease.set(lease.name, { ...lease, ...now, host: 'here', pid: process.pid, steps: 0 })
    return true
  }

  findLeases = (): FoundLease[] =>
    [...this.tables.lease.values()].map((lease) => ({
      ...lease,
      isDead: Date.now() - lease.renewedAt > LEASE_LIFETIME_MS,
    }))

  findLease = (wanted: string) => this.findLeases().find(({ name }) => name === wanted)

  holdLease = (lease: Lease) => this.#leaseOf(lease)?.steps

  renewLease = (lease: Lease, steps: number): void => {
    const stored = this.#leaseOf(lease)
    if (stored !== undefined)
      this.tables.lease.set(lease.name, { ...stored, renewedAt: Date.now(), steps: stored.steps + steps })
  }

  removeLease = (lease: Lease) => this.#leaseOf(lease) !== undefined && this.tables.lease.delete(lease.name)

  #leaseOf({ name, holder }: Lease): StoredLease | undefined {
    const lease = this.tables.lease.get(name)
    return lease?.holder === holder ? lease : undefined
  }

  // Leftovers

  findLeftovers = (id?: number): Leftover[] =>
    [...this.tables.leftover.values()].filter(({ owner }) => id === undefined || owner.id === id)

  putLeftover = (leftover: Leftover) => void this.tables.leftover.set(generationOf(leftover.owner), leftover)

  removeLeftover = ({ owner }: Leftover) => void this.tables.leftover.delete(generationOf(owner))

  findExtent = (wanted: number): Head | undefined => [...this.tables.head.values()].find(({ id }) => id === wanted)

  // Requests

  findRequests = (_name: string, places: readonly RequestPlace[]): RememberedRequest[] => {
    const oldest = Date.now() - REQUEST_LIFETIME_MS
    const found = places.map(({ key, collectionId }) => this.tables.request_log.get(`${collectionId} ${key}`))
    return found.flatMap((request) => (request !== undefined && request.at > oldest ? [request] : []))
  }

  /** Also forgets two of the oldest for each. */
  putRequests = (_name: string, requests: readonly RememberedRequest[]): void => {
    const at = Date.now()
    const log = this.tables.request_log
    const old = [...log].filter(([, request]) => request.at <= at - REQUEST_LIFETIME_MS)
    for (const [place] of old.toSorted(([, a], [, b]) => a.at - b.at).slice(0, 2 * requests.length)) log.delete(place)
    for (const request of requests) log.set(`${request.collectionId} ${request.key}`, { ...request, at })
  }

  override insertKeys(lease: Lease, keys: readonly string[], first: number): void {
    const isTaken = keys.some((key) => this.get(KEY, lease, [key]) !== undefined)
    if (isTaken || new Set(keys).size < keys.length) throw new KeysTaken('A key exists.')
    super.insertKeys(lease, keys, first)
  }
}

/** By owner of a table, how many rows there are. */
export function ownersOf({ rows }: Tables, { name, owner: kind }: Table) {
  return [...rows].flatMap(([place, { length: count }]) => {
    const [table, shardKey, generation] = place.split(' ')
    const id = Number(kind === 'generation' ? generation : shardKey)
    return table === name && count > 0 ? [{ shardKey: Number(shardKey), id, count }] : []
  })
}

function placeOf<O extends Owner>({ name, owner: kind }: Table<O>, owner: Owners[O]): string {
  if (kind === 'shard' || kind === 'store') return name
  if (kind === 'collection') return `${name} ${(owner as Owners['collection']).id}`
  return `${name} ${generationOf(owner as Owners['generation'])}`
}

export function generationOf({ shardKey, generationId }: Place): string {
  return `${shardKey} ${generationId}`
}

/** Where a range begins and ends. */
function boundsOf(rows: readonly Row[], { at = [], from = [], to, limit, isReverse = false }: Range): [number, number] {
  const start = countBefore(rows, [...at, ...from])
  const end = Math.max(start, to === undefined ? countBefore(rows, at, true) : countBefore(rows, [...at, ...to]))
  if (limit === undefined) return [start, end]
  return isReverse ? [Math.max(start, end - limit), end] : [start, Math.min(end, start + limit)]
}

/** How many rows come before a beginning of a key; `isAfter` counts those that have it, too. */
function countBefore(rows: readonly Row[], key: Row, isAfter = false): number {
  let [from, to] = [0, rows.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (compare(rows[middle] ?? [], key) < Number(isAfter)) from = middle + 1
    else to = middle
  }
  return from
}

/** Compares as much of a row as the second one has. No key has bytes or NULL in it. */
function compare(row: Row, beginning: Row): number {
  for (let at = 0; at < beginning.length; at++) {
    const [a = '', b = ''] = [row[at] ?? undefined, beginning[at] ?? undefined]
    if (a !== b) return a < b ? -1 : 1
  }
  return 0
}

/** Whoever takes bytes out may free them, and whoever puts some in may use their memory again. */
function copyOf(row: Row): Row {
  return row.map((value) => (ArrayBuffer.isView(value) ? new Uint8Array(value) : value))
}
