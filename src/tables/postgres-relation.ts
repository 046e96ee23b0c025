/** Finds a table, or whatever else rows can be read from, by the name that somebody gave. */

import type { PostgresSession } from './postgres-session.ts'
import { quoted } from './quoted.ts'
import { TableError, thereAre } from './table.ts'

export interface Relation {
  readonly oid: number
  /** Quoted as SQL wants it, with its schema. */
  readonly name: string
  /** One letter, as the catalogue has it. */
  readonly kind: string
  readonly primaryKey: readonly string[]
}

/**
 * The search path is the user's, because the name is looked up in it. Others may be able to create objects in one of its schemas,
 * so every function and operator whose arguments are not exactly those of the one in pg_catalog is named with its schema.
 */
export async function findRelation(session: PostgresSession, table: string): Promise<Relation> {
  const { rows } = await session.ask(FIND_RELATION, SQL_NAME.test(table) ? table : null, asWritten(table))
  const [oid, name, kind, primaryKey] = rows[0] ?? []
  if (name === undefined) throw await noSuchTable(session, table)
  if (!'rpvmf'.includes(kind)) throw new TableError('usage', `${table} in ${session.label} is not a table or a view.`)
  return { oid, name, kind, primaryKey }
}

async function noSuchTable(session: PostgresSession, table: string): Promise<TableError> {
  const others = thereAre(await readableTables(session), 'There is none that this role may read.')
  return new TableError('usage', `There is no table ${table} in ${session.label}. ${others}`)
}

/** As SQL names them, with a schema where the search path needs one. */
export async function readableTables(session: PostgresSession): Promise<readonly string[]> {
  const { rows } = await session.ask(READABLE_TABLES)
  return rows.map(([name]) => String(name))
}

/** A name as SQL reads it, with or without a schema. */
const SQL_NAME = /^([a-z_][a-z0-9_$]*|"([^"]|"")+")([.]([a-z_][a-z0-9_$]*|"([^"]|"")+"))?$/i

/** As SQL would read the name; else as it stands, upper case included. */
const FIND_RELATION = `
  SELECT c.oid, pg_catalog.format('%I.%I', n.nspname, c.relname), c.relkind, ARRAY(
    SELECT a.attname::text FROM pg_index i, pg_catalog.unnest(i.indkey) WITH ORDINALITY k(attnum, place), pg_attribute a
    WHERE i.indrelid = c.oid AND i.indisprimary AND a.attrelid = c.oid AND a.attnum = k.attnum ORDER BY k.place)
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.oid = coalesce(pg_catalog.to_regclass($1), pg_catalog.to_regclass($2))::oid`

const READABLE_TABLES = `
  SELECT c.oid::regclass::text FROM pg_class c, pg_namespace n
  WHERE n.oid = c.relnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
    AND n.nspname <> 'information_schema' AND n.nspname OPERATOR(pg_catalog.!~) '^pg_'
    AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
  ORDER BY 1`

/** A schema, where there is one, and a name, quoted as they stand. */
function asWritten(table: string): string {
  const dot = table.indexOf('.')
  return dot === -1 ? quoted(table) : `${quoted(table.slice(0, dot))}.${quoted(table.slice(dot + 1))}`
}
