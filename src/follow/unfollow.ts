/** Removes from a database what the followers of a table have installed there. */

import { setTimeout as sleep } from 'node:timers/promises'
import { stateOf } from '../store/postgres/server/explain-error.ts'
import { explainPostgresError } from '../tables/postgres-errors.ts'
import { findRelation } from '../tables/postgres-relation.ts'
import { PostgresSession } from '../tables/postgres-session.ts'
import { Names, removalStatements } from './installation.ts'

const LOCK_MS = 200
const PAUSE_MS = 1_000
const NO_LOCK = '55P03'

interface UnfollowOptions {
  readonly url: string
  readonly table: string
  readonly schema: string
  readonly signal: AbortSignal
}

/** Answers how many there were. */
export async function unfollow(options: UnfollowOptions, onWait: () => void): Promise<number> {
  const session = new PostgresSession(options.url, options.signal)
  try {
    await session.connect()
    const { oid } = await findRelation(session, options.table)
    const { schema, followers } = new Names(options.schema, '')
    const { rows: found } = await session.ask('SELECT to_regclass($1) IS NOT NULL', followers)
    if (found[0]?.[0] !== true) return 0
    const { rows } = await session.ask(`SELECT id FROM ${followers} WHERE relation = $1`, oid)
    for (const [id] of rows)
      await remove(session, removalStatements(id, new Names(options.schema, id)), options, onWait)
    const { rows: others } = await session.ask(`SELECT FROM ${followers} LIMIT 1`)
    if (others.length === 0) await session.run(`DROP TABLE ${followers}`)
    const { rows: objects } = await session.ask(
      'SELECT FROM pg_class WHERE relnamespace = to_regnamespace($1) LIMIT 1',
      schema,
    )
    if (objects.length === 0 && options.schema === 'reams_follow') await session.run(`DROP SCHEMA ${schema}`)
    await session.end()
    return rows.length
  } catch (error) {
    session.hangUp()
    options.signal.throwIfAborted()
    throw explainPostgresError(error, options, session.label)
  }
}

/** Never waits long for a lock, lest others wait behind it. */
async function remove(
  session: PostgresSession,
  statements: readonly string[],
  { signal }: UnfollowOptions,
  onWait: () => void,
): Promise<void> {
  for (;;) {
    try {
      return await session.run('BEGIN', `SET LOCAL lock_timeout = ${LOCK_MS}`, ...statements, 'COMMIT')
    } catch (error) {
      await session.run('ROLLBACK')
      if (stateOf(error) !== NO_LOCK) throw error
      onWait()
      await sleep(PAUSE_MS, undefined, { signal })
    }
  }
}
