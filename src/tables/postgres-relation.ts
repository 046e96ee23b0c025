/** Finds a table, or whatever else rows can be read from, by the name that somebody gave. */

import type { PostgresSession } from './postgres-session.ts'
import { TableError, thereAre } from './table.ts'

export interface Relation {
  readonly oid: number
  /** Quoted as SQL wants it, with its schema. */
  readonly name: string
  /** One letter, as the catalogue has it. */
  readonly kind: string
  readonly primaryKey: readonly string[]
}

export async function findRelation(session: PostgresSession, table: string): Promise<Relation> {
  const { rows } = await session.ask(FIND_RELATION, table, ...partsOf(table))
  const [oid, name, kind, primaryKey] = rows[0] ?? []
  if (name === undefined) throw await noSuchTable(session, table)
  if (!'rpvmf'.includes(kind)) throw new TableError('usage', `${table} in ${session.label} is not a table or a view.`)
  return { oid, name, kind, primaryKey }
}

async function noSuchTable(session: PostgresSession, table: string): Promise<TableError> {
  const { rows } = await session.ask(READABLE_TABLES)
  const names = rows.map(([name]) => String(name))
  const others = thereAre(names, 'There is none that this role may read.')
  return new TableError('usage', `There is no table ${table} in ${session.label}. ${others}`)
}

/** As SQL would read the name; else as it stands, upper case included. */
const FIND_RELATION = `
  SELECT c.oid, format('%I.%I', n.nspname, c.relname), c.relkind, ARRAY(
    SELECT a.attname::text FROM pg_index i, unnest(i.indkey) WITH ORDINALITY k(attnum, place), pg_attribute a
    WHERE i.indrelid = c.oid AND i.indisprimary AND a.attrelid = c.oid AND a.attnum = k.attnum ORDER BY k.place)
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.oid = coalesce(
    (SELECT to_regclass($1) WHERE $1 ~ '^([a-zA-Z_][a-zA-Z0-9_$]*|"([^"]|"")+")([.]([a-zA-Z_][a-zA-Z0-9_$]*|"([^"]|"")+"))?$'),
    to_regclass(concat_ws('.', quote_ident($2), quote_ident($3))))`

const READABLE_TABLES = `
  SELECT c.oid::regclass::text FROM pg_class c, pg_namespace n
  WHERE n.oid = c.relnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
    AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
    AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
  ORDER BY 1 LIMIT 100`

/** A schema, where there is one, and a name, as they stand. */
function partsOf(table: string): [string | null, string] {
  const dot = table.indexOf('.')
  return dot === -1 ? [null, table] : [table.slice(0, dot), table.slice(dot + 1)]
}
