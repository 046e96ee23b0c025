/** Leases of loads, and the removal of what nobody can see: dropped collections, old generations, loads that died. */

import { hostname, uptime } from 'node:os'
import { busyCollection, LEASE_LIFETIME_MS, leftoversInUse, lostLease } from '../../load.ts'
import { MAX_POSITION, REAM_SIZE } from '../../positions.ts'
import { isRunning, thisProcess } from '../../running-process.ts'
import type { Head } from '../../store.ts'
import { StoreError } from '../../store-error.ts'
import { readHead } from '../rows/head.ts'
import { removeChanges, sweepStates } from '../rows/history.ts'
import type { Row, Rows } from '../rows/rows.ts'
import type { RowOwner } from '../rows/stored-ream.ts'
import type { StepSize } from './step-size.ts'

export interface Lease extends RowOwner {
  /** Everything of the load lies at positions from here on. */
  readonly base: number
  readonly holder: string
}

/** A lease as it is stored, with who holds it and when it was renewed. */
interface StoredLease extends Lease {
  readonly host: string
  readonly pid: number
  readonly startedAt: number
  readonly renewedAt: number
  readonly boot: string
  readonly namespace: string
  readonly renewedTick: number
}

const LEASE_FIELDS = 'name id generation base holder host pid startedAt renewedAt boot namespace renewedTick'.split(
  ' ',
) as (keyof StoredLease)[]
const LEASE_COLUMNS =
  'name, collection_id, generation, base, holder, host, pid, started_at, renewed_at, boot, namespace, renewed_tick'
const INSERT_LEASE = `INSERT INTO lease (${LEASE_COLUMNS}) VALUES (${LEASE_FIELDS.map(() => '?')})`
const LEASES = `SELECT ${LEASE_COLUMNS} FROM lease`
const LEASE_BY_NAME = `${LEASES} WHERE name = ?`
const RENEW_LEASE = `
  UPDATE lease SET renewed_at = ?, renewed_tick = ?, steps = steps + ? WHERE name = ? AND holder = ?`
const STEPS = 'SELECT steps FROM lease WHERE name = ? AND holder = ?'
const DELETE_LEASE = 'DELETE FROM lease WHERE name = ? AND holder = ?'

const INSERT_LEFTOVER = `
  INSERT INTO leftover (collection_id, generation, base) VALUES (?, ?, ?)
  ON CONFLICT DO UPDATE SET base = min(base, excluded.base), key_cursor = ''`
const LEFTOVERS = 'SELECT collection_id, generation, base, key_cursor FROM leftover'
const LEFTOVER_IN_THE_WAY = 'SELECT 1 FROM leftover WHERE collection_id = ? AND (generation >= ? OR generation < 0)'
const DELETE_LEFTOVER = 'DELETE FROM leftover WHERE collection_id = ? AND generation = ?'
const MOVE_CURSOR = 'UPDATE leftover SET key_cursor = ? WHERE collection_id = ? AND generation = ?'

const VISIBLE = 'SELECT 1 FROM head WHERE id = ? AND generation = ? AND next > ?'

const CHANGES_OF = 'SELECT changes FROM head WHERE id = ?'

const SWEEP_REAMS = `
  DELETE FROM ream WHERE rowid IN (
    SELECT rowid FROM ream WHERE collection_id = ? AND generation = ? AND number >= ? LIMIT +?)`
const SWEEP_TAIL = `
  DELETE FROM tail WHERE collection_id = ?1 AND generation = ?2 AND position >= ?3 AND position <= (
    SELECT max(position) FROM (
      SELECT position FROM tail WHERE collection_id = ?1 AND generation = ?2 AND position >= ?3
      ORDER BY position LIMIT +?4))`
const SWEEP_HOLES = 'DELETE FROM hole WHERE collection_id = ? AND generation = ? AND ? = 0'
const NEXT_KEYS = `
  SELECT max(key) FROM (
    SELECT key FROM key WHERE collection_id = ? AND generation = ? AND key > ? ORDER BY key LIMIT +?)`
const SWEEP_KEYS = `
  DELETE FROM key WHERE collection_id = ? AND generation = ? AND key > ? AND key <= ? AND position >= ?`

export function takeLease(rows: Rows, lease: Lease): void {
  const now = Date.now()
  const times = { startedAt: now, renewedAt: now, renewedTick: tickMs() }
  const stored: StoredLease = { ...lease, host: hostname(), ...thisProcess(), ...times }
  rows.run(INSERT_LEASE, ...LEASE_FIELDS.map((field) => stored[field]))
}

/** One field a column, in their order. */
function leaseOf(row: Row): StoredLease {
  return Object.fromEntries(LEASE_FIELDS.map((field, index) => [field, row[index]])) as unknown as StoredLease
}

/** Refuses to go on for a load whose lease another writer took over. */
export function renewLease(rows: Rows, { name, holder }: Lease, steps = 0): void {
  if (rows.run(RENEW_LEASE, Date.now(), tickMs(), steps, name, holder) === 0) throw lostLease(name)
}

/** A backup that was made during the load, and put back, has its lease but not all that it wrote. */
export function checkSteps(rows: Rows, { name, holder }: Lease, steps: number): void {
  const row = rows.get(STEPS, name, holder)
  if (row === undefined) throw lostLease(name)
  if (row[0] === steps) return
  throw new StoreError(
    'lease-lost',
    `The store was restored to an older state and lost some of what was loaded into "${name}". Nothing of the load was kept; start it again.`,
  )
}

/** False if the lease is no longer the holder's. */
export function releaseLease(rows: Rows, lease: Lease): boolean {
  return rows.run(DELETE_LEASE, lease.name, lease.holder) === 1
}

/**
 * Marks what a load that ends without a commit leaves behind: its own items, and the reams that it prepared beside them.
 * Only the holder may: after a take-over the items at those positions are somebody else's.
 */
export function abandonLease(rows: Rows, lease: Lease): void {
  if (!releaseLease(rows, lease)) return
  addLeftover(rows, lease, lease.base)
  addLeftover(rows, stagingOwner(lease), 0)
  const head = readHead(rows, lease.name)
  if (head !== undefined) addLeftover(rows, historyOwner(head), head.changes)
}

/** Where a load prepares items that will take the place of others: a generation that no head names. */
export function stagingOwner(owner: RowOwner): RowOwner {
  return { name: owner.name, id: owner.id, generation: owner.generation + 1 }
}

/** No collection has such a generation. */
const HISTORY = -1

/** Stands for the history of a collection among what is left over; the base is the number of a change there. */
export function historyOwner({ name, id }: Pick<RowOwner, 'name' | 'id'>): RowOwner {
  return { name, id, generation: HISTORY }
}

export function addLeftover(rows: Rows, owner: RowOwner, base: number): void {
  rows.run(INSERT_LEFTOVER, owner.id, owner.generation, base)
}

/** Says 'sweep first' to the caller, who then calls `sweepStep` until nothing is left and tries again. */
export class SweepNeeded extends Error {
  override readonly name = 'SweepNeeded'
}

/** Why nothing may be written now: a load is running, or the leftovers of one lie where a write would go. */
export function findObstacle(rows: Rows, name: string, head: Head | undefined): Error | undefined {
  const row = rows.get(LEASE_BY_NAME, name)
  if (row !== undefined) return isDead(leaseOf(row)) ? new SweepNeeded() : busyCollection(leaseOf(row))
  const isLeft = head !== undefined && rows.get(LEFTOVER_IN_THE_WAY, head.id, head.generation) !== undefined
  return isLeft ? new SweepNeeded() : undefined
}

export function isAnythingLeftOver(rows: Rows): boolean {
  return rows.get(LEFTOVERS) !== undefined || rows.all(LEASES).map(leaseOf).some(isDead)
}

/** Removes some of what is left over. True while there is more to do. */
export function sweepStep(rows: Rows, size: StepSize): boolean {
  for (const lease of rows.all(LEASES).map(leaseOf).filter(isDead)) abandonLease(rows, lease)
  const row = rows.get(LEFTOVERS)
  if (row === undefined) return false
  const [id, generation, base, cursor] = row as [number, number, number, string]
  if (generation === HISTORY) return sweepHistory(rows, id, base, size)
  if (rows.get(VISIBLE, id, generation, base) !== undefined) throw leftoversInUse()
  if (rows.run(SWEEP_REAMS, id, generation, Math.ceil(base / REAM_SIZE), size.reams) > 0) return true
  if (rows.run(SWEEP_TAIL, id, generation, base, size.rows) > 0) return true
  rows.run(SWEEP_HOLES, id, generation, base)
  const lastKey = rows.get(NEXT_KEYS, id, generation, cursor, size.rows)?.[0] as string | null
  if (lastKey === null) {
    rows.run(DELETE_LEFTOVER, id, generation)
  } else {
    rows.run(SWEEP_KEYS, id, generation, cursor, lastKey, base)
    rows.run(MOVE_CURSOR, lastKey, id, generation)
  }
  return true
}

/** Of a collection that is gone, or what a load wrote that did not end. */
function sweepHistory(rows: Rows, id: number, base: number, size: StepSize): boolean {
  const seen = rows.get(CHANGES_OF, id)?.[0]
  if (Number(seen ?? 0) > base) throw leftoversInUse()
  // A collection that is there may have no changes yet, and its states are no leftovers.
  const isGone = seen === undefined
  const isMore =
    removeChanges(rows, { id, name: '' }, base, MAX_POSITION, size.changes) ||
    (isGone && sweepStates(rows, id, size.changes))
  if (!isMore) rows.run(DELETE_LEFTOVER, id, HISTORY)
  return true
}

/**
 * A holder that can be seen from here is looked for. Else, and for one that is stopped or hangs, time tells: by a clock
 * that nobody can set, where both have the same one. By the other clock a time in the future is as old as one in the
 * past. Should a living holder be taken for dead, its next step finds that the lease is gone and it stops, without harm.
 */
function isDead(lease: StoredLease): boolean {
  if (isRunning(lease) === false) return true
  const { boot, renewedAt, renewedTick } = lease
  const ageMs = boot === thisProcess().boot ? tickMs() - renewedTick : Date.now() - renewedAt
  return Math.abs(ageMs) > LEASE_LIFETIME_MS
}

/**
 * Time since the start of the machine, the same for all its processes. It stands still while the machine sleeps, but not on Bun,
 * where every thread counts `hrtime` from its own start.
 */
function tickMs(): number {
  if (process.versions['bun']) return Math.floor(uptime() * 1_000)
  return Number(process.hrtime.bigint() / 1_000_000n)
}
