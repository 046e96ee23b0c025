/** What PostgreSQL, its driver and the network report, as errors that say what to do. Never with a password. */

import { DatabaseError } from 'pg'
import { isConnectionLost, isConnectTimeout, messageOf, stateOf } from '../../../postgres/postgres-error.ts'
import { Overtaken, SweepNeeded } from '../../leases.ts'
import { KeysTaken } from '../../load.ts'
import { StoreError, type StoreErrorCode } from '../../store-error.ts'
import type { StoreUrl } from './store-url.ts'

type Explanation = readonly [StoreErrorCode, string]

export const MISSING_GRANT = '42501'

/** A statement that the server gave up on. */
export const TOOK_TOO_LONG = '57014'

/** Codes of the standard (SQLSTATE), or the first two letters of a class of them. */
const EXPLANATIONS: Readonly<Record<string, Explanation>> = {
  '0A000': [
    'unsupported',
    'This is SQLSTATE 0A000, so trying again is no use. With a pooler in front of Citus, both the role and the database need plan_cache_mode = auto.',
  ],
  '08': ['unavailable', 'The connection was lost, or a server behind it cannot be reached. Try again in a moment.'],
  '25': ['unavailable', 'The session ended in the middle of a transaction. Try again in a moment.'],
  '25006': ['read-only', 'The database is read-only now: it is a standby, or was set to read-only.'],
  '28': ['no-permission', 'Check the user and the password, which is read from REAMS_STORE, PGPASSWORD or ~/.pgpass.'],
  '3D000': ['missing-store', 'Create the database first, with `createdb` or CREATE DATABASE.'],
  '3F000': ['missing-store', 'Its tables are gone. Restart Reams, or restore the store from a backup.'],
  '42P01': ['missing-store', 'Its tables are gone. Restart Reams, or restore the store from a backup.'],
  '40': ['unavailable', 'It conflicted with another writer. Nothing of this write was kept; try again.'],
  '53100': ['full', 'The disk of the server is full. Nothing of this write was kept; free some space and try again.'],
  '53300': [
    'unavailable',
    'All connections of the server are taken. Raise max_connections, or put a pooler in between.',
  ],
  '53': ['unavailable', 'The server is out of resources. Try again in a moment.'],
  '55': ['unavailable', 'The server says that an object is in use. Try again in a moment.'],
  '55P03': ['unavailable', 'Another writer has held a lock for too long. Nothing of this write was kept; try again.'],
  [TOOK_TOO_LONG]: ['unavailable', 'It took too long, and nothing was changed; try again.'],
  '57P': ['unavailable', 'The server is stopping or starting. Try again in a moment.'],
  '58': ['unavailable', "The server's disk failed. Check its log."],
  XX000: ['unavailable', 'Check the log of the server, then try again.'],
  XX001: ['corrupt', 'Restore it from a backup; `reams verify` has details.'],
  XX002: ['corrupt', 'Restore it from a backup; `reams verify` has details.'],
}

/** A standby ends reads that are in the way of a change from its primary for too long. */
const RECOVERY_CONFLICT: Explanation = [
  'unavailable',
  'The standby applied a change of its primary that this read was in the way of. Try again. To make that rare, set hot_standby_feedback = on, or a longer max_standby_streaming_delay, on the standby.',
]

/** Turns whatever came from PostgreSQL into a StoreError; errors of our own pass as they are. */
export function explainError(error: unknown, url: StoreUrl): unknown {
  if (!(error instanceof Error) || error instanceof StoreError || isOurs(error)) return error
  const options = { cause: error }
  if (error instanceof OutcomeUnknown) return new StoreError('outcome-unknown', unknownOutcome(url), options)
  const state = stateOf(error)
  if (state === MISSING_GRANT) return new StoreError('no-permission', missingGrants(error, url), options)
  const [code, advice] = explanationOf(error)
  const reason = messageOf(error).replace(/\.$/, '')
  return new StoreError(code, `The store ${url.label}: ${reason}. ${advice}`, options)
}

export async function explained<T>(work: Promise<T>, url: StoreUrl): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw explainError(error, url)
  }
}

/** A mistake in this program, not an answer of the database. */
function isOurs(error: Error): boolean {
  return [TypeError, RangeError, KeysTaken].some((type) => error instanceof type) || isRetry(error)
}

function explanationOf(error: Error): Explanation {
  if (isRecoveryConflict(error)) return RECOVERY_CONFLICT
  const state = stateOf(error)
  return state === undefined ? explainDriver(error) : explainState(state)
}

function explainState(state: string): Explanation {
  const known = EXPLANATIONS[state] ?? EXPLANATIONS[state.slice(0, 3)] ?? EXPLANATIONS[state.slice(0, 2)]
  return known ?? ['unsupported', `This is SQLSTATE ${state}, so trying again is no use.`]
}

/** Errors that do not come from the server. */
function explainDriver(error: Error): Explanation {
  const message = messageOf(error)
  if (/ENOTFOUND|EAI_AGAIN/.test(message))
    return ['unavailable', 'There is no host of this name: check the host in the URL of the store.']
  if (/ECONNREFUSED/.test(message))
    return ['unavailable', 'Nothing listens there: check that the server is running, and the host and port in the URL.']
  if (isConnectTimeout(error))
    return ['unavailable', 'It did not answer in time: check that the server is healthy and can be reached from here.']
  if (/password/i.test(message)) return ['no-permission', 'Set it with PGPASSWORD, ~/.pgpass or REAMS_STORE.']
  if (/SSL|certificate/i.test(message)) return ['unavailable', 'Check sslmode and sslrootcert in the URL of the store.']
  return ['unavailable', 'Check that the server is running and can be reached, then try again.']
}

function unknownOutcome({ label }: StoreUrl): string {
  return `The store ${label} gave no definite answer while a write was committed: it may or may not have been done. Check before you send it again, or send it with an idempotency key.`
}

function missingGrants(error: Error, { label, schema, connection }: StoreUrl): string {
  const role = `"${connection.user}"`
  const grants = [
    `GRANT USAGE ON SCHEMA ${schema} TO ${role}`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${role}`,
  ]
  return `The store ${label}: ${error.message}. Its owner can allow it: ${grants.join('; ')};`
}

/**
 * Whether the server refused this one statement: then the transaction is certainly undone, and a COMMIT behind it did
 * nothing. Decided by the state alone: severity and message are in the language of the server.
 */
export function isRefused(error: unknown): boolean {
  const state = stateOf(error)
  return state !== undefined && !SESSION_ENDED.test(state)
}

/**
 * Whether a COMMIT that failed is certainly undone: a constraint, or what the standard calls a rollback. Anything else
 * may come after the commit: from a server that is told to stop, or from one that commits on others, such as Citus.
 */
export function isCommitUndone(error: unknown): boolean {
  return /^(23|40(?!003))/.test(stateOf(error) ?? '')
}

/** Whether a server behind this one is away: Citus says so of a worker. The connection itself is as it was. */
export function isNodeAway(error: unknown): boolean {
  return /^08(?!P01)/.test(stateOf(error) ?? '')
}

/**
 * Whether a standby cancelled a read. It reports a serialization failure or a deadlock, as for two writers who wait for each other, but
 * from the function that handles signals. Citus reports a deadlock of several workers from there too, without a detail.
 */
export function isRecoveryConflict(error: unknown): boolean {
  const state = stateOf(error)
  return (
    (state === '40001' || state === '40P01') &&
    error instanceof DatabaseError &&
    /^Process/.test(error.routine ?? '') &&
    error.detail !== undefined
  )
}

/** Whether a transaction that failed so is certainly undone, and may well succeed the next time. */
export function canTryAgain(error: unknown): boolean {
  if (error instanceof OutcomeUnknown) return false
  return isConnectionLost(error) || CROSSED.includes(stateOf(error) ?? '')
}

/** Whether the transaction did nothing, and is to be tried again. */
export function isRetry(error: unknown): error is Overtaken | SweepNeeded {
  return error instanceof Overtaken || error instanceof SweepNeeded
}

/** Whether one of several calls in a transaction is to blame, and the others may succeed without it. */
export function isOfOneCall(error: unknown): boolean {
  if (error instanceof StoreError) return error.code === 'corrupt'
  return /^(22|23|54)/.test(stateOf(error) ?? '')
}

/** A session ended, or never began. A pooler says so too, and does not know how far the server came. */
const SESSION_ENDED = /^(08|28|3D|53300|57P)/

/** Two of the same key at once, a serialization failure, a deadlock. */
const CROSSED: readonly string[] = ['23505', '40001', '40P01']

export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown'
}
