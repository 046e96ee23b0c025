/** Which tables can be followed, and by which key. */

import { keyFieldNames } from '../contract/key.ts'
import { findRelation, type Relation } from '../tables/postgres-relation.ts'
import type { PostgresSession } from '../tables/postgres-session.ts'
import { quoted } from '../tables/quoted.ts'
import { TableError, thereAre } from '../tables/table.ts'
import { Names } from './installation.ts'
import { type Column, readShape, type Shape } from './shape.ts'

const FIRST_VERSION = 15

interface Wanted {
  readonly table: string
  /** As `--key` has it; undefined for the primary key. */
  readonly keyField: string | undefined
}

/** The table, and the columns of its key. */
export async function findFollowable(
  session: PostgresSession,
  wanted: Wanted,
): Promise<{ readonly relation: Relation; readonly keyColumns: readonly Column[] }> {
  const relation = await findRelation(session, wanted.table)
  // From here on all names are qualified. Functions and operators that others put into a schema of the search path never run.
  await session.run('SET search_path = pg_catalog')
  const shape = await readShape(session, relation.oid, new Names('', ''))
  const why = (shape && refusal(shape)) ?? (await refusalOfServer(session, relation))
  if (why !== undefined)
    throw new TableError(
      'usage',
      `${wanted.table} in ${session.label} is ${why}, and cannot be followed. reams import --from … --table ${wanted.table} --replace reads all of it, as often as you run it.`,
    )
  return { relation, keyColumns: await findKey(session, relation, shape?.columns ?? [], wanted) }
}

const VIEWS: Readonly<Record<string, string>> = { v: 'a view', m: 'a materialized view', f: 'a foreign table' }
const LOGGED = 'p'
const FOREIGN = 'f'

/** Why a table of this shape cannot be followed, behind "it is"; undefined where it can be. */
export function refusal({ members: [table, ...parts] }: Shape): string | undefined {
  const view = VIEWS[table?.kind ?? '']
  if (view !== undefined) return `${view}: it has no changes of its own`
  if (table?.persistence !== LOGGED) return 'not logged: PostgreSQL empties it after a crash without a word'
  const unlogged = parts.find(({ kind, persistence }) => kind !== FOREIGN && persistence !== LOGGED)
  if (unlogged !== undefined)
    return `partly not logged: PostgreSQL empties ${unlogged.name} after a crash without a word`
  if (parts.some(({ kind }) => kind === FOREIGN)) return 'partly in another database, whose changes nobody sees here'
  return undefined
}

async function refusalOfServer(session: PostgresSession, { oid }: Relation): Promise<string | undefined> {
  const { rows } = await session.ask(
    `SELECT current_setting('server_version_num')::int / 10000, pg_is_in_recovery(),
      EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')`,
  )
  const [version, isStandby, hasCitus] = rows[0] ?? []
  if (version < FIRST_VERSION)
    throw new TableError(
      'usage',
      `${session.label} is PostgreSQL ${version}. Tables are followed from version ${FIRST_VERSION} on.`,
    )
  if (isStandby) throw new TableError('usage', `${session.label} is a standby. Follow the table on the primary.`)
  if (!hasCitus) return undefined
  const { rows: distributed } = await session.ask('SELECT FROM pg_dist_partition WHERE logicalrelid = $1', oid)
  return distributed.length > 0 ? 'distributed by Citus, which does not run triggers of this kind' : undefined
}

async function findKey(
  session: PostgresSession,
  relation: Relation,
  all: readonly Column[],
  { table, keyField }: Wanted,
): Promise<Column[]> {
  const label = `${table} in ${session.label}`
  const names = keyField === undefined ? relation.primaryKey : keyFieldNames(keyField)
  if (names.length === 0)
    throw new TableError(
      'usage',
      `${label} has no primary key. Name columns that are unique and never NULL with --key.`,
    )
  const { rows: nullable } = await session.ask(NULLABLE_COLUMNS, relation.oid)
  const columns = names.map((name) => {
    const column = all.find((other) => other.name === name)
    if (column === undefined)
      throw new TableError(
        'usage',
        `${label} has no column "${name}" for the key. ${thereAre(all.map((other) => other.name))}`,
      )
    if (nullable.some(([attname]) => attname === name))
      throw new TableError(
        'usage',
        `The column "${name}" of ${label} may be NULL, and a key never is: ALTER TABLE … ALTER COLUMN ${quoted(name)} SET NOT NULL, or name others with --key.`,
      )
    return column
  })
  const numbers = columns.map(({ number }) => number)
  const { rows: unique } = await session.ask(UNIQUE_INDEX, relation.oid, numbers)
  if (unique.length === 0)
    throw new TableError(
      'usage',
      `The key ${names.map((name) => `"${name}"`).join(', ')} of ${label} is not known to be unique: there is no unique index on just that. Create one, or name other columns with --key.`,
    )
  return columns
}

const NULLABLE_COLUMNS = `
  SELECT attname FROM pg_attribute WHERE attrelid = $1 AND attnum > 0 AND NOT attisdropped AND NOT attnotnull`

/** On all of these columns and no others. */
const UNIQUE_INDEX = `
  SELECT FROM pg_index, LATERAL (SELECT (indkey::int2[])[0:indnkeyatts - 1]::int[] AS numbers) key
  WHERE indrelid = $1 AND indisunique AND indisvalid AND indpred IS NULL AND indexprs IS NULL
    AND indnkeyatts = cardinality($2::int[]) AND numbers <@ $2 AND $2 <@ numbers`
