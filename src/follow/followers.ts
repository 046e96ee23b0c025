/** Who follows a table: the rows of its followers, and the lock that each one holds while it runs. */

import { setTimeout as sleep } from 'node:timers/promises'
import { stateOf } from '../postgres/postgres-error.ts'
import type { PostgresSession } from '../tables/postgres-session.ts'
import { Names, OF_TABLE } from './installation.ts'

/** How often it is looked whether another follower of the same queue has ended. */
const CLAIM_MS = 250

/** Tells these locks from those of other applications. */
export const LOCK_CLASS = 0x7265616d

/** SQLSTATE */
export const NO_TABLE: readonly (string | undefined)[] = ['42P01', '3F000']

const ID = /^[0-9a-f]{8}$/

interface FollowersOptions {
  readonly schema: string
  readonly collection: string
  readonly signal: AbortSignal
}

export class Followers {
  readonly #session: PostgresSession
  readonly #tableOid: number
  readonly #options: FollowersOptions
  /** Of all of them. */
  readonly #table: string

  constructor(session: PostgresSession, tableOid: number, options: FollowersOptions) {
    this.#session = session
    this.#tableOid = tableOid
    this.#options = options
    this.#table = new Names(options.schema, '').followers
  }

  /** The one that keeps the collection with this id. */
  async find(collectionId: number): Promise<string | undefined> {
    const rows = await this.#ask(
      `SELECT id FROM ${this.#table} f WHERE ${OF_TABLE} AND state LIKE $2`,
      this.#tableOid,
      `${collectionId}.%`,
    )
    return rows[0]?.[0]
  }

  /** Rejects if this role may not look. */
  async has(id: string): Promise<boolean> {
    try {
      const { rows } = await this.#session.ask(`SELECT FROM ${this.#table} WHERE id = $1`, id)
      return rows.length > 0
    } catch (error) {
      if (NO_TABLE.includes(stateOf(error))) return false
      throw error
    }
  }

  /** Whether `reams unfollow` has removed it. Not where this role may not look. */
  async isRemoved(id: string): Promise<boolean> {
    const { rows } = await this.#session.ask(
      `SELECT has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
      FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = $1 AND relname = 'follower'`,
      this.#options.schema,
    )
    return rows.length === 0 || (rows[0]?.[0] === true && !(await this.has(id)))
  }

  /** One that never came to an end with its first load, and has ended: its lock is taken. Else whether one is at it. */
  async adopt(): Promise<{ readonly id?: string; readonly isBusy: boolean }> {
    const rows = await this.#ask(
      `SELECT id FROM ${this.#table} f WHERE ${OF_TABLE} AND collection = $2 AND state IS NULL`,
      this.#tableOid,
      this.#options.collection,
    )
    for (const [id] of rows) if (await this.#tryClaim(id)) return { id, isBusy: false }
    return { isBusy: rows.length > 0 }
  }

  /** Waits until no other process has the queue. The lock is gone with the connection. */
  async claim(id: string, onWait: () => void): Promise<void> {
    for (let isFirst = true; !(await this.#tryClaim(id)); isFirst = false) {
      if (isFirst) onWait()
      await sleep(CLAIM_MS, undefined, { signal: this.#options.signal })
    }
  }

  async #tryClaim(id: string): Promise<boolean> {
    const { rows } = await this.#session.ask(
      'SELECT pg_try_advisory_lock($1, $2)',
      LOCK_CLASS,
      Number.parseInt(id, 16) | 0,
    )
    return rows[0]?.[0] === true
  }

  /** How many others follow the table by name, and do not run. */
  async countIdle(id: string): Promise<number> {
    const rows = await this.#ask(
      `SELECT id FROM ${this.#table} f WHERE ${OF_TABLE} AND id <> $2 AND NOT EXISTS (
        SELECT FROM pg_locks WHERE locktype = 'advisory' AND classid = $3 AND objid::bigint = CASE WHEN id ~ '^[0-9a-f]{8}$' THEN ('x' || id)::bit(32)::bigint END
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`,
      this.#tableOid,
      id,
      LOCK_CLASS,
    )
    return rows.length
  }

  /**
   * None where this role may not look who follows, as it has not followed anything then, or where nobody does any more. Ids become
   * parts of names in SQL, and other roles may have been granted UPDATE on them: what is not an id of ours is left out.
   */
  async #ask(question: string, ...values: readonly unknown[]): Promise<readonly [string][]> {
    const { rows } = await this.#session.ask(
      `SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = $1 AND relname = 'follower'
        AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')`,
      this.#options.schema,
    )
    if (rows.length === 0) return []
    try {
      const { rows: found } = await this.#session.ask(question, ...values)
      return (found as [string][]).filter(([id]) => id === undefined || ID.test(id))
    } catch (error) {
      // Somebody ran reams unfollow between the two questions.
      if (NO_TABLE.includes(stateOf(error))) return []
      throw error
    }
  }
}
