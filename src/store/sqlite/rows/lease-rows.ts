/** Leases of loads in SQLite. Whether a holder is alive is judged by its process, where it can be seen, and by time. */

import { hostname, uptime } from 'node:os'
import { stagingIdOf } from '../../default-operations.ts'
import { LEASE_LIFETIME_MS } from '../../load.ts'
import type { FoundLease, Lease } from '../../rows.ts'
import { isRunning, thisProcess } from '../../running-process.ts'
import type { Row, Statements } from './statements.ts'

/** A lease as it is stored. */
interface StoredLease {
  readonly name: string
  readonly id: number
  readonly generation: number
  readonly base: number
  readonly holder: string
  readonly host: string
  readonly pid: number
  readonly startedAt: number
  readonly renewedAt: number
  readonly boot: string
  readonly namespace: string
  readonly renewedTick: number
}

const FIELDS = 'name id generation base holder host pid startedAt renewedAt boot namespace renewedTick'.split(
  ' ',
) as (keyof StoredLease)[]
const COLUMNS =
  'name, collection_id, generation, base, holder, host, pid, started_at, renewed_at, boot, namespace, renewed_tick'
const INSERT = `INSERT INTO lease (${COLUMNS}) VALUES (${FIELDS.map(() => '?')}) ON CONFLICT DO NOTHING`
const ALL = `SELECT ${COLUMNS} FROM lease`
const BY_NAME = `${ALL} WHERE name = ?`
const OF_HOLDER = 'WHERE name = ? AND holder = ?'
const RENEW = `UPDATE lease SET renewed_at = ?, renewed_tick = ?, steps = steps + ? ${OF_HOLDER}`
const STEPS = `SELECT steps FROM lease ${OF_HOLDER}`
const DELETE = `DELETE FROM lease ${OF_HOLDER}`

export function takeLease(rows: Statements, { name, shardKey, generationId, base, holder }: Lease): boolean {
  const now = Date.now()
  const times = { startedAt: now, renewedAt: now, renewedTick: tickMs() }
  const place = { id: shardKey, generation: generationId }
  const stored: StoredLease = { name, ...place, base, holder, host: hostname(), ...thisProcess(), ...times }
  return rows.run(INSERT, ...FIELDS.map((field) => stored[field])) === 1
}

export function findLease(rows: Statements, name: string): FoundLease | undefined {
  const row = rows.get(BY_NAME, name)
  return row && foundLease(row)
}

export function findLeases(rows: Statements): FoundLease[] {
  return rows.all(ALL).map(foundLease)
}

function foundLease(row: Row): FoundLease {
  // One field a column, in their order.
  const fields = Object.fromEntries(FIELDS.map((field, index) => [field, row[index]]))
  const lease = fields as unknown as StoredLease
  const { name, id, generation, base, holder, host, pid, startedAt } = lease
  const place = { shardKey: id, generationId: generation, stagingId: stagingIdOf(generation) }
  return { name, ...place, base, holder, host, pid, startedAt, isDead: isDead(lease) }
}

export function renewLease(rows: Statements, { name, holder }: Lease, steps: number): void {
  rows.run(RENEW, Date.now(), tickMs(), steps, name, holder)
}

export function holdLease(rows: Statements, { name, holder }: Lease): number | undefined {
  return rows.get(STEPS, name, holder)?.[0] as number | undefined
}

export function removeLease(rows: Statements, { name, holder }: Lease): boolean {
  return rows.run(DELETE, name, holder) === 1
}

/**
 * A holder that can be seen from here is looked for. Else, and for one that is stopped or hangs, time decides: by a clock
 * that nobody can set, where both have the same one. By the other clock a time in the future is as old as one in the
 * past. If a living holder is taken for dead, its next step finds that the lease is gone and it stops, without harm.
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
