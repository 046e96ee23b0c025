/** Removes from a database what the followers of a table have installed there. */

import { stateOf } from '../postgres/postgres-error.ts'
import { explainPostgresError } from '../tables/postgres-errors.ts'
import { findRelation } from '../tables/postgres-relation.ts'
import { PostgresSession } from '../tables/postgres-session.ts'
import { TableError } from '../tables/table.ts'
import { DEFAULT_SCHEMA, Names, OF_TABLE, removalStatements } from './installation.ts'
import { type LockOptions, runStatements } from './run-statements.ts'
import { refuseStrangers } from './strangers.ts'

interface UnfollowOptions extends LockOptions {
  readonly url: string
  readonly table: string
  readonly schema: string
}

/** Answers how many there were. */
export async function unfollow(options: UnfollowOptions): Promise<number> {
  const session = new PostgresSession(options.url, options.signal)
  try {
    await session.connect()
    const names = new Names(options.schema, '')
    const { rows: found } = await session.ask('SELECT to_regclass($1) IS NOT NULL', names.followers)
    const isThere = found[0]?.[0] === true
    const ids = isThere ? await followersOf(session, options.table, names) : []
    for (const id of ids)
      await runStatements(session, undefined, async () => removalStatements(id, new Names(options.schema, id)), options)
    if (isThere) await removeEmpty(session, options)
    await session.end()
    return ids.length
  } catch (error) {
    session.hangUp()
    options.signal.throwIfAborted()
    throw explainPostgresError(error, options, session.label)
  }
}

/** By the table, or by the name that it had when it was there. */
async function followersOf(session: PostgresSession, table: string, names: Names): Promise<string[]> {
  const relation = await findRelation(session, table).catch((error: unknown) => {
    if (error instanceof TableError) return error
    throw error
  })
  await session.run('SET search_path = pg_catalog')
  await refuseStrangers(session, names, relation instanceof TableError ? null : relation.oid)
  const { followers } = names
  const { rows } =
    relation instanceof TableError
      ? await session.ask(
          `SELECT id FROM ${followers} WHERE (table_name = $1 OR split_part(table_name, '.', 2) = $1)
            AND NOT EXISTS (SELECT FROM pg_class WHERE oid = relation)`,
          table,
        )
      : await session.ask(`SELECT id FROM ${followers} f WHERE ${OF_TABLE}`, relation.oid)
  if (rows.length === 0 && relation instanceof TableError) throw relation
  return rows.map(([id]) => String(id))
}

const STILL_USED = '2BP01'

/** The last one also removes what all of them shared. */
async function removeEmpty(session: PostgresSession, { schema }: UnfollowOptions): Promise<void> {
  const names = new Names(schema, '')
  // Nobody may begin to follow another table meanwhile.
  await session.run('BEGIN', `LOCK TABLE ${names.followers}`)
  const { rows } = await session.ask(`SELECT FROM ${names.followers} LIMIT 1`)
  if (rows.length > 0) return session.run('ROLLBACK')
  await session.run(`DROP TABLE ${names.followers}`, 'COMMIT')
  if (schema !== DEFAULT_SCHEMA) return
  try {
    await session.run(`DROP SCHEMA ${names.schema}`)
  } catch (error) {
    if (stateOf(error) !== STILL_USED) throw error
  }
}
