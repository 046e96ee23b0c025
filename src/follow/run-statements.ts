/** Runs statements that need locks on a table, without ever keeping those who use the table waiting for long. */

import { setTimeout as sleep } from 'node:timers/promises'
import { stateOf } from '../postgres/postgres-error.ts'
import type { PostgresSession } from '../tables/postgres-session.ts'

/** Whoever waits for a lock keeps others waiting behind: so it waits shortly, and tries again later. */
export const LOCK_MS = 200
const PAUSE_MS = 1_000

/** SQLSTATE of a lock that was not there in time, and of a statement that took too long. */
const NOT_IN_TIME: readonly (string | undefined)[] = ['55P03', '57014']

export function isNotInTime(error: unknown): boolean {
  return NOT_IN_TIME.includes(stateOf(error))
}

export interface LockOptions {
  readonly signal: AbortSignal
  /** Called before each further try. */
  readonly onWait: () => void
}

/** All or nothing. `table` is locked against writers first, with all its parts: not one by one, each of which might wait. */
export async function runStatements(
  session: PostgresSession,
  table: string | undefined,
  find: () => Promise<readonly string[]>,
  { signal, onWait }: LockOptions,
): Promise<void> {
  for (;;) {
    try {
      await session.run('BEGIN', `SET LOCAL lock_timeout = ${LOCK_MS}`, `SET LOCAL statement_timeout = ${LOCK_MS}`)
      if (table !== undefined) await session.run(`LOCK TABLE ${table} IN SHARE ROW EXCLUSIVE MODE`)
      return await session.run('SET LOCAL statement_timeout = 0', ...(await find()), 'COMMIT')
    } catch (error) {
      await session.run('ROLLBACK')
      if (!isNotInTime(error)) throw error
      onWait()
      await sleep(PAUSE_MS, undefined, { signal })
    }
  }
}
