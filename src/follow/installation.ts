/** What a follower needs in the database of its table, as SQL: a queue, a function that fills it, and triggers that call it. Pure. */

import { quoted } from '../tables/quoted.ts'

export const DEFAULT_SCHEMA = 'reams_follow'

/** A table, a partition or a child of one. */
export interface Member {
  readonly oid: number
  /** Quoted, with its schema. */
  readonly name: string
  /** Whether its row trigger comes from the table that it is a partition of. */
  readonly isPartition: boolean
}

/** The names of everything that belongs to one follower. */
export class Names {
  readonly schema: string
  readonly followers: string
  readonly queue: string
  readonly waiting: string
  readonly lost: string
  readonly note: string
  readonly rowTrigger: string
  readonly truncateTrigger: string

  constructor(schema: string, id: string) {
    const inSchema = (name: string) => `${quoted(schema)}.${quoted(name)}`
    this.schema = quoted(schema)
    this.followers = inSchema('follower')
    this.queue = inSchema(`queue_${id}`)
    this.waiting = inSchema(`waiting_${id}`)
    this.lost = inSchema(`lost_${id}`)
    this.note = inSchema(`note_${id}`)
    this.rowTrigger = `reams_follow_${id}`
    this.truncateTrigger = `reams_follow_${id}_truncate`
  }
}

export interface Installation {
  readonly id: string
  readonly names: Names
  readonly table: Member
  readonly keyColumns: readonly { readonly name: string; readonly type: string }[]
  /** What the collection is called, for people who look at the table of followers. */
  readonly collection: string
  /** Rows that the queue takes at most. */
  readonly queueRows: number
}

/** Whether a follower `f` is one of the table $1: also where the table has another number, as in a database that was restored. */
export const OF_TABLE =
  "(f.relation = $1 OR EXISTS (SELECT FROM pg_trigger WHERE tgrelid = $1 AND tgname = 'reams_follow_' || f.id))"

/** All followers of a database, and what each knows of its table and its collection. */
export function schemaStatements({ schema, followers }: Names): string[] {
  return [
    `CREATE SCHEMA IF NOT EXISTS ${schema}`,
    `CREATE TABLE IF NOT EXISTS ${followers} (
  id         text PRIMARY KEY,
  relation   oid  NOT NULL,
  table_name text NOT NULL,
  collection text NOT NULL,
  -- The state that the collection was in when the queue was last emptied, and what the table looked like.
  state      text,
  shape      text,
  -- When all rows were last loaded or compared.
  compared_at timestamptz NOT NULL DEFAULT now()
)`,
  ]
}

/** Everything but the function and its triggers. */
export function queueStatements(installation: Installation): string[] {
  const { id, names, table, collection } = installation
  return [
    `CREATE SEQUENCE IF NOT EXISTS ${names.waiting}`,
    `CREATE SEQUENCE IF NOT EXISTS ${names.lost}`,
    // The keys that a row had before and after; NULL stands for TRUNCATE. Vacuumed often: what is read is deleted at once.
    `CREATE TABLE IF NOT EXISTS ${names.queue} (number bigint NOT NULL, keys jsonb)
  WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000)`,
    // Where a publication is for all tables, nothing could be deleted from one without a key.
    `ALTER TABLE ${names.queue} REPLICA IDENTITY FULL`,
    `INSERT INTO ${names.followers} (id, relation, table_name, collection)
  VALUES (${literal(id)}, ${table.oid}, ${literal(table.name)}, ${literal(collection)})
  ON CONFLICT DO NOTHING`,
  ]
}

/** Types whose values are the same JSON whatever a session has set; a time with a zone has its offset with it. */
const SETTLED = /^(smallint|integer|bigint|numeric|uuid|text|character|bytea|boolean|date|timestamp)\b(?!.*\[)/
/** The others are written as the follower reads them: an interval, a range of times. Each setting is paid by every write. */
const SETTINGS = " SET DateStyle = 'ISO' SET IntervalStyle = 'postgres' SET extra_float_digits = 1"

/**
 * A write to the table must never fail because of this: where it cannot take note of a change, because a key column has another
 * name or type by now, or the queue is full, it takes note of that. Nothing is written where errors are caught: so that costs
 * little. Each step that it takes is paid by every write to the table.
 */
export function noteFunction({ names, keyColumns, queueRows }: Installation): string {
  const key = (row: 'OLD' | 'NEW') =>
    `jsonb_build_array(${keyColumns.map(({ name }) => `${row}.${quoted(name)}`).join(', ')})`
  const settings = keyColumns.every(({ type }) => SETTLED.test(type)) ? '' : SETTINGS
  return `CREATE OR REPLACE FUNCTION ${names.note}() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp${settings} AS $reams$
DECLARE
  number bigint := nextval(${literal(names.waiting)});
  keys jsonb;
BEGIN
  BEGIN
    IF TG_OP = 'UPDATE' THEN
      keys := jsonb_build_array(${key('OLD')}, ${key('NEW')});
    ELSIF TG_OP = 'INSERT' THEN
      keys := jsonb_build_array(${key('NEW')});
    ELSIF TG_OP = 'DELETE' THEN
      keys := jsonb_build_array(${key('OLD')});
    END IF;
  EXCEPTION WHEN OTHERS THEN
    number := NULL;
  END;
  IF number <= ${queueRows} THEN
    INSERT INTO ${names.queue} VALUES (number, keys);
  ELSE
    PERFORM nextval(${literal(names.lost)});
  END IF;
  RETURN NULL;
END
$reams$`
}

/** A trigger fires for everybody, also for what replication writes. */
export function triggerStatements(names: Names, member: Member, missing: Missing): string[] {
  const always = (trigger: string) => `ALTER TABLE ${member.name} ENABLE ALWAYS TRIGGER ${quoted(trigger)}`
  const create = (trigger: string, events: string, each: string) =>
    `CREATE TRIGGER ${quoted(trigger)} AFTER ${events} ON ${member.name} FOR EACH ${each} EXECUTE FUNCTION ${names.note}()`
  const statements: string[] = []
  if (missing.rowTrigger && !member.isPartition)
    statements.push(create(names.rowTrigger, 'INSERT OR UPDATE OR DELETE', 'ROW'))
  if (missing.rowTrigger || missing.isRowOff) statements.push(always(names.rowTrigger))
  if (missing.truncateTrigger) statements.push(create(names.truncateTrigger, 'TRUNCATE', 'STATEMENT'))
  if (missing.truncateTrigger || missing.isTruncateOff) statements.push(always(names.truncateTrigger))
  return statements
}

/** What a table or a part of it lacks. */
export interface Missing {
  readonly rowTrigger: boolean
  readonly isRowOff: boolean
  readonly truncateTrigger: boolean
  readonly isTruncateOff: boolean
}

/** What a role needs to follow, where somebody else has installed all of it. */
export function grants(names: Names, table: string, role: string): string[] {
  return [
    `GRANT SELECT ON ${table} TO ${role}`,
    `GRANT USAGE ON SCHEMA ${names.schema} TO ${role}`,
    `GRANT SELECT, UPDATE ON ${names.followers} TO ${role}`,
    `GRANT SELECT, DELETE ON ${names.queue} TO ${role}`,
    `GRANT SELECT, UPDATE ON SEQUENCE ${names.waiting}, ${names.lost} TO ${role}`,
  ]
}

/**
 * The queue begins anew: for what was lost, all rows are read again. The function too: sessions keep plans of it for the types
 * that the key had when they first called it.
 */
export function resetStatements(installation: Installation): string[] {
  const { queue, waiting, lost } = installation.names
  return [
    `TRUNCATE ${queue}`,
    `SELECT setval(${literal(waiting)}, 1, false), setval(${literal(lost)}, 1, false)`,
    noteFunction(installation),
  ]
}

/** Removes a follower; its triggers go with the function. */
export function removalStatements(id: string, names: Names): string[] {
  return [
    `DROP FUNCTION IF EXISTS ${names.note}() CASCADE`,
    `DROP TABLE IF EXISTS ${names.queue}`,
    `DROP SEQUENCE IF EXISTS ${names.waiting}, ${names.lost}`,
    `DELETE FROM ${names.followers} WHERE id = ${literal(id)}`,
  ]
}

/** A text as a value in SQL. */
export function literal(text: string): string {
  const quotes = `'${text.replaceAll("'", "''")}'`
  return text.includes('\\') ? ` E${quotes.replaceAll('\\', '\\\\')}` : quotes
}
