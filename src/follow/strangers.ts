/**
 * Finds what a follower uses but a stranger owns. Reading the table of followers runs the code of its owner if it is a view,
 * writing to it runs triggers, and the owner of a schema can replace what is in it.
 */

import type { PostgresSession } from '../tables/postgres-session.ts'
import { TableError } from '../tables/table.ts'
import { literal, type Names } from './installation.ts'

/** The role and what it owns, both quoted. */
export interface Stranger {
  readonly role: string
  readonly object: string
}

/**
 * Selects one `Stranger` as JSON. Trusted are superusers, the owner of the database, the current role, and roles with the rights
 * of the owner of the table $1. Membership of the current role in another one proves nothing: before PostgreSQL 16 anybody can
 * grant membership in his own role.
 */
export function strangerQuery({ schema, plainSchema, followers, note, id }: Names): string {
  const inSchema = `n.nspname = ${literal(plainSchema)}`
  return `
    SELECT json_build_object('role', role.oid::regrole::text, 'object', object)
    FROM (
      SELECT ${literal(`the schema ${schema}`)} AS object, nspowner AS owner FROM pg_namespace n WHERE ${inSchema}
      UNION ALL
      SELECT ${literal(followers)}, relowner FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
      WHERE ${inSchema} AND relname = 'follower'
      UNION ALL
      SELECT ${literal(`the function ${note}`)}, proowner FROM pg_proc JOIN pg_namespace n ON n.oid = pronamespace
      WHERE ${inSchema} AND proname = ${literal(`note_${id}`)} AND pronargs = 0
    ) used JOIN pg_roles role ON role.oid = owner
    WHERE NOT (rolsuper OR rolname IN (current_user, 'pg_database_owner')
      OR owner = (SELECT datdba FROM pg_database WHERE datname = current_database())
      OR EXISTS (SELECT FROM pg_class WHERE oid = $1::oid AND pg_has_role(owner, relowner, 'USAGE')))
    LIMIT 1`
}

/** `tableOid` is null if there is no such table any more. */
export async function refuseStrangers(session: PostgresSession, names: Names, tableOid: number | null): Promise<void> {
  const { rows } = await session.ask(strangerQuery(names), tableOid)
  refuseStranger(rows[0]?.[0] ?? null, session.label)
}

export function refuseStranger(stranger: Stranger | null, label: string): void {
  if (stranger === null) return
  const { role, object } = stranger
  throw new TableError(
    'usage',
    `In ${label}, ${object} belongs to the role ${role}, which could run SQL with the rights of this one. Choose another schema with --schema, make the owner of the table its owner, or connect as ${role}.`,
  )
}
