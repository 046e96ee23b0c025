/** What a followed table looks like at one moment: its columns, its partitions or children, and the triggers on them. */

import { type JsonColumn, MONEY_TYPES } from '../tables/postgres-json.ts'
import type { PostgresSession } from '../tables/postgres-session.ts'
import type { Member, Missing, Names } from './installation.ts'

export interface Column extends JsonColumn {
  /** As SQL writes it, in the session that asked. */
  readonly type: string
  /** Another one where a column was dropped and added again. */
  readonly number: number
  /** The operator of the index on a key of this type, with its schema. */
  readonly equals: string
}

interface Trigger {
  readonly relation: number
  readonly name: string
  readonly isAlways: boolean
  /** Another one after every change to it. */
  readonly version: string
}

export interface Shape {
  /** Quoted, with its schema. */
  readonly name: string
  readonly columns: readonly Column[]
  /** The table itself first. */
  readonly members: readonly (Member & { readonly kind: string; readonly persistence: string; readonly file: number })[]
  readonly triggers: readonly Trigger[]
}

/**
 * Undefined where there is no such table any more. Without temporary children, which only their own sessions see. By the
 * catalogue as the snapshot of the transaction has it.
 */
export async function readShape(session: PostgresSession, oid: number, names: Names): Promise<Shape | undefined> {
  const { rows } = await session.ask(READ_SHAPE, oid, names.rowTrigger, names.truncateTrigger)
  const [text] = rows[0] ?? []
  const shape: Shape | undefined = typeof text === 'string' ? JSON.parse(text) : undefined
  return shape?.members.length ? shape : undefined
}

const MONEY_CASES = Object.entries(MONEY_TYPES)
  .map(([oid, type]) => `WHEN ${oid} THEN '${type}'`)
  .join(' ')

const READ_SHAPE = `
  WITH RECURSIVE tree (oid, depth) AS (
    SELECT $1::oid, 0 UNION SELECT i.inhrelid, depth + 1 FROM tree JOIN pg_inherits i ON i.inhparent = tree.oid),
  member AS (
    SELECT c.oid, min(depth) AS depth, format('%I.%I', n.nspname, c.relname) AS name, c.relkind, c.relpersistence,
      c.relispartition, c.relfilenode
    FROM tree JOIN pg_class c USING (oid) JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relpersistence <> 't' OR depth = 0
    GROUP BY c.oid, n.nspname)
  SELECT json_build_object(
    'name', (SELECT name FROM member WHERE depth = 0),
    'columns', (SELECT coalesce(json_agg(json_strip_nulls(json_build_object(
        'name', attname, 'type', format_type(atttypid, atttypmod), 'number', attnum,
        'money', CASE coalesce(nullif(typbasetype, 0), atttypid) ${MONEY_CASES} END, 'equals', coalesce((
          SELECT format('OPERATOR(%I.%s)', n.nspname, oprname)
          FROM pg_opclass JOIN pg_amop ON amopfamily = opcfamily AND amoplefttype = opcintype AND amoprighttype = opcintype
            JOIN pg_operator o ON o.oid = amopopr JOIN pg_namespace n ON n.oid = oprnamespace
          WHERE opcmethod = (SELECT oid FROM pg_am WHERE amname = 'btree') AND opcdefault AND amopstrategy = 3
            AND opcintype = coalesce(nullif(typbasetype, 0), atttypid)), 'OPERATOR(pg_catalog.=)'))) ORDER BY attnum), '[]')
      FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid WHERE attrelid = $1 AND attnum > 0 AND NOT attisdropped),
    'members', (SELECT coalesce(json_agg(json_build_object('oid', oid::bigint, 'name', name, 'isPartition', relispartition AND depth > 0,
        'kind', relkind, 'persistence', relpersistence, 'file', relfilenode::bigint) ORDER BY depth, oid), '[]') FROM member),
    'triggers', (SELECT coalesce(json_agg(json_build_object('relation', tgrelid::bigint, 'name', tgname,
        'isAlways', tgenabled = 'A', 'version', t.xmin::text) ORDER BY tgrelid, tgname), '[]')
      FROM pg_trigger t JOIN member ON member.oid = tgrelid WHERE tgname IN ($2, $3)))::text`

/** The triggers that are missing or off, by member. Partitions have the triggers of their parent. */
export function missingTriggers({ members, triggers }: Shape, names: Names): Map<Member, Missing> {
  const partitions = new Set(members.filter(({ isPartition }) => isPartition).map(({ oid }) => oid))
  const isPartitionOff = triggers.some(
    ({ relation, name, isAlways }) => partitions.has(relation) && name === names.rowTrigger && !isAlways,
  )
  const missing = new Map<Member, Missing>()
  for (const member of members) {
    if (member.isPartition) continue
    const own = triggers.filter(({ relation }) => relation === member.oid)
    const row = own.find(({ name }) => name === names.rowTrigger)
    const truncate = own.find(({ name }) => name === names.truncateTrigger)
    const lacks = {
      rowTrigger: row === undefined,
      isRowOff: row?.isAlways === false || isPartitionOff,
      truncateTrigger: truncate === undefined,
      isTruncateOff: truncate?.isAlways === false,
    }
    if (Object.values(lacks).includes(true)) missing.set(member, lacks)
  }
  return missing
}
