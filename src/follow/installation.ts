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
  /** As the catalogue has it; all others are quoted. */
  readonly plainSchema: string
  readonly id: string
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
    this.plainSchema = schema
    this.id = id
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

export const QUEUE_COLUMNS = 'number bigint, keys jsonb'

/** Everything but the function and its triggers. */
export function queueStatements(installation: Installation): string[] {
  const { id, names, table, collection } = installation
  return [
    `CREATE SEQUENCE IF NOT EXISTS ${names.waiting}`,
    `CREATE SEQUENCE IF NOT EXISTS ${names.lost}`,
    // The keys that a row had before and after; NULL stands for TRUNCATE. Vacuumed often: what is read is deleted at once.
    `CREATE TABLE IF NOT EXISTS ${names.queue} (${QUEUE_COLUMNS})
  WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000)`,
    // Where a publication is for all tables, nothing could be deleted from one without a key.
    `ALTER TABLE ${names.queue} REPLICA IDENTITY FULL`,
    `INSERT INTO ${names.followers} (id, relation, table_name, collection)
  VALUES (${literal(id)}, ${table.oid}, ${literal(table.name)}, ${literal(collection)})
  ON CONFLICT DO NOTHING`,
  ]
}

/** Types whose text is the same whatever a session has set, or is read back to the same value. */
const SETTLED = /^(smallint|integer|bigint|numeric|uuid|text|character|bytea|boolean)\b(?!.*\[)/
/** Other values are written as the follower reads them. Every write pays for each setting, so only these types have them. */
const SETTINGS: readonly (readonly [name: string, value: string])[] = [
  ['DateStyle', 'ISO'],
  ['IntervalStyle', 'postgres'],
  ['extra_float_digits', '1'],
  ['lc_monetary', 'C'],
]
const SEARCH_PATH = ['search_path', 'pg_catalog, pg_temp'] as const

/** The trigger function as the catalogue stores it. */
export interface NoteFunction {
  readonly body: string
  /** `name=value`, in order. */
  readonly settings: readonly string[]
}

/**
 * Writes the keys of a changed row to the queue, with the rights of the function's owner. Two rules:
 *
 * No code of others runs with these rights. So the function looks at a row only if it belongs to the followed table, its
 * partitions or its children, and `format` calls nothing but output functions, which only superusers can define; a conversion
 * to json or text would call casts that the owner of a type can define.
 *
 * A write to the table never fails because of this function. What can fail is tried first, in a block that writes nothing and
 * so needs no transaction id; then the INSERT follows outside of it, where it costs no subtransaction. A change that cannot
 * be recorded is counted as lost, and the follower compares all rows.
 */
export function noteFunction({ names, table, keyColumns, queueRows }: Installation): NoteFunction {
  const key = (row: 'OLD' | 'NEW') =>
    `jsonb_build_array(${keyColumns.map(({ name }) => `format('%s', ${row}.${quoted(name)})`).join(', ')})`
  // The second part waits for a transaction that is about to drop the queue: the INSERT would wait for it too, and fail.
  // The first part takes a name, not an oid, because it then checks the rights on the schema at every call.
  const queue = literal(names.queue)
  const isWritable = `has_table_privilege(${queue}, 'INSERT') AND pg_relation_is_updatable(${queue}, false) <> 0`
  const isSettled = keyColumns.every(({ type }) => SETTLED.test(type))
  return {
    settings: [SEARCH_PATH, ...(isSettled ? [] : SETTINGS)].map(([name, value]) => `${name}=${value}`),
    body: `
DECLARE
  number bigint;
  keys jsonb;
BEGIN
  BEGIN
    -- Each expression costs every transaction some microseconds, and one with a subquery more: so there are few here.
    number := CASE WHEN (TG_RELID = ${table.oid} OR pg_partition_root(TG_RELID) = ${table.oid})
      AND ${isWritable} THEN nextval(${literal(names.waiting)}) END;
    IF number IS NULL THEN
      number := (
        WITH RECURSIVE parent (oid) AS (
          SELECT TG_RELID UNION SELECT inhparent FROM parent JOIN pg_inherits ON inhrelid = parent.oid)
        SELECT nextval(${literal(names.waiting)}) FROM parent WHERE oid = ${table.oid} AND ${isWritable});
    END IF;
    IF number IS NOT NULL AND TG_OP = 'UPDATE' THEN
      keys := jsonb_build_array(${key('OLD')}, ${key('NEW')});
    ELSIF number IS NOT NULL AND TG_OP = 'INSERT' THEN
      keys := jsonb_build_array(${key('NEW')});
    ELSIF number IS NOT NULL AND TG_OP = 'DELETE' THEN
      keys := jsonb_build_array(${key('OLD')});
    END IF;
  EXCEPTION WHEN OTHERS THEN
    number := NULL;
  END;
  IF number <= ${queueRows} THEN
    INSERT INTO ${names.queue} VALUES (number, keys);
  ELSE
    BEGIN
      PERFORM nextval(${literal(names.lost)});
    EXCEPTION WHEN OTHERS THEN
      -- The follower sees in the catalogue that something happened to the sequence.
    END;
  END IF;
  RETURN NULL;
END
`,
  }
}

/** Creates or replaces the function, and lets nobody but its owner attach it to a table. Firing a trigger needs no right. */
export function functionStatements(installation: Installation): string[] {
  const { names } = installation
  const { body, settings } = noteFunction(installation)
  const clauses = settings.map((setting) => {
    const [name = '', value = ''] = setting.split('=')
    return ` SET ${name} = ${value.split(', ').map(literal).join(', ')}`
  })
  return [
    `CREATE OR REPLACE FUNCTION ${names.note}() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER${clauses.join('')} AS ${inDollars(body)}`,
    `DO ${inDollars(`
DECLARE
  revocation text;
BEGIN
  FOR revocation IN ${revocationsQuery(names)}
  LOOP
    EXECUTE revocation;
  END LOOP;
END
`)}`,
  ]
}

/**
 * Selects a REVOKE statement for each right that others must not have: EXECUTE on the function, with which they could attach
 * it to a table of theirs, and rights on the queue beyond what a follower needs, such as TRIGGER. PUBLIC has the first by
 * default, and default privileges can grant both to anybody.
 */
export function revocationsQuery({ note, queue, plainSchema, id }: Names): string {
  return `
    SELECT format('REVOKE %s ON %s FROM %s CASCADE', privilege_type, object,
      CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END)
    FROM (
      SELECT ${literal(`FUNCTION ${note}()`)} AS object, proowner AS owner, coalesce(proacl, acldefault('f', proowner)) AS acl,
        ARRAY[]::text[] AS allowed
      FROM pg_proc JOIN pg_namespace n ON n.oid = pronamespace
      WHERE nspname = ${literal(plainSchema)} AND proname = ${literal(`note_${id}`)} AND pronargs = 0
      UNION ALL
      SELECT ${literal(`TABLE ${queue}`)}, relowner, relacl, ARRAY['SELECT', 'DELETE']
      FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
      WHERE nspname = ${literal(plainSchema)} AND relname = ${literal(`queue_${id}`)}
    ) granted, aclexplode(acl)
    WHERE grantee <> owner AND privilege_type <> ALL (allowed)`
}

/**
 * A trigger fires for everybody, also for what replication writes. Partitions get row triggers from their parent, and switching
 * a trigger on there reaches them too, no matter who owns them. They need no trigger for TRUNCATE, because it shows in the catalogue.
 */
export function triggerStatements(names: Names, member: Member, missing: Missing): string[] {
  const always = (trigger: string) => `ALTER TABLE ${member.name} ENABLE ALWAYS TRIGGER ${quoted(trigger)}`
  const create = (trigger: string, events: string, each: string) =>
    `CREATE TRIGGER ${quoted(trigger)} AFTER ${events} ON ${member.name} FOR EACH ${each} EXECUTE FUNCTION ${names.note}()`
  const statements: string[] = []
  if (missing.rowTrigger) statements.push(create(names.rowTrigger, 'INSERT OR UPDATE OR DELETE', 'ROW'))
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
 * Empties the queue. An owner also replaces the function, because sessions keep plans of it for the types that the key had when
 * they first called it.
 */
export function resetStatements(installation: Installation, isOwner: boolean): string[] {
  const { queue, waiting, lost } = installation.names
  return [
    `DELETE FROM ${queue}`,
    `SELECT setval(${literal(waiting)}, 1, false), setval(${literal(lost)}, 1, false)`,
    ...(isOwner ? functionStatements(installation) : []),
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

/** A text in quotes that do not occur in it: the owner of a table chooses the names of its columns. */
function inDollars(text: string): string {
  let quote = '$reams$'
  for (let number = 1; text.includes(quote); number++) quote = `$reams${number}$`
  return `${quote}${text}${quote}`
}
