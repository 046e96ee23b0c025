/** The recorder of a table's changes: a queue, two sequences, a trigger function and their schema, as the catalogue has them. */

import type { PostgresSession } from '../tables/postgres-session.ts'
import {
  functionStatements,
  type Installation,
  literal,
  type Names,
  noteFunction,
  QUEUE_COLUMNS,
  queueStatements,
  revocationsQuery,
  schemaStatements,
} from './installation.ts'
import { type Stranger, strangerQuery } from './strangers.ts'

export interface Recorder {
  /**
   * Object ids and the transactions that last changed each catalogue row, and the memberships of the function's owner, which give
   * rights too. It differs after any change, also one that was undone: a dropped queue, a revoked right.
   */
  readonly version: string
  readonly hasSchema: boolean
  readonly hasFollowers: boolean
  readonly hasSequences: boolean
  readonly hasQueue: boolean
  /** The queue is a plain table as we create it. A trigger or a rule on it would run with the rights of the function's owner. */
  readonly isQueuePlain: boolean
  readonly trigger: { readonly body: string; readonly settings: readonly string[]; readonly isDefiner: boolean } | null
  /** The owner of the function, quoted; null if there is none. */
  readonly owner: string | null
  /** Whether the current role may act as that owner, and so repair what is wrong. */
  readonly isOwn: boolean | null
  readonly stranger: Stranger | null
  /** Whether the owner of the function has the rights that it needs; null if something is missing. */
  readonly canRecord: boolean | null
  /** REVOKE statements for rights that others must not have. */
  readonly revocations: readonly string[]
}

export async function readRecorder(session: PostgresSession, tableOid: number, names: Names): Promise<Recorder> {
  const { rows } = await session.ask(recorderQuery(names), tableOid)
  return JSON.parse(rows[0]?.[0])
}

/** The statements that put the recorder right; none if it is sound. */
export function recorderStatements(recorder: Recorder, installation: Installation): string[] {
  const { names } = installation
  const { hasSchema, hasFollowers, hasSequences, hasQueue, isQueuePlain, trigger, owner, canRecord } = recorder
  const [schema = '', followers = ''] = schemaStatements(names)
  const isQueueReplaced = hasQueue && !isQueuePlain
  const wanted = noteFunction(installation)
  const isCurrent =
    trigger?.isDefiner === true &&
    trigger.body === wanted.body &&
    [...trigger.settings].sort().join() === [...wanted.settings].sort().join()
  const statements = [
    ...(hasSchema ? [] : [schema]),
    ...(hasFollowers ? [] : [followers]),
    ...(isQueueReplaced ? [`DROP TABLE ${names.queue} CASCADE`] : []),
    ...(hasSequences && hasQueue && isQueuePlain ? [] : queueStatements(installation)),
  ]
  if (owner !== null) {
    // The function's owner must own the queue: nobody else may decide what an INSERT into it runs.
    if (!hasQueue || isQueueReplaced) statements.push(`ALTER TABLE ${names.queue} OWNER TO ${owner}`)
    if (!canRecord || statements.length > 0) statements.push(...rightsOf(owner, names))
  }
  if (!isCurrent) statements.push(...functionStatements(installation))
  else statements.push(...recorder.revocations)
  return statements
}

/** Also what a follower needs, which often is the owner. */
function rightsOf(owner: string, { schema, queue, waiting, lost }: Names): string[] {
  return [
    `GRANT USAGE ON SCHEMA ${schema} TO ${owner}`,
    `GRANT SELECT, INSERT, DELETE ON ${queue} TO ${owner}`,
    `GRANT SELECT, USAGE, UPDATE ON SEQUENCE ${waiting}, ${lost} TO ${owner}`,
  ]
}

/**
 * By names alone: a role may have no right on the schema. Flags such as `relhastriggers` can stay set after the last trigger is
 * gone; the queue is then replaced once more than needed.
 */
function recorderQuery(names: Names): string {
  const relations = ['queue', 'waiting', 'lost'].map((what) => literal(`${what}_${names.id}`))
  return `
  WITH RECURSIVE
    namespace AS (SELECT oid, xmin AS changed_by FROM pg_namespace WHERE nspname = ${literal(names.plainSchema)}),
    relation AS (
      SELECT c.*, c.xmin AS changed_by FROM pg_class c JOIN namespace ON namespace.oid = relnamespace
      WHERE relname IN ('follower', ${relations.join(', ')})),
    queue AS (SELECT * FROM relation WHERE relname = ${relations[0]}),
    attribute AS (
      SELECT a.*, a.xmin AS changed_by FROM pg_attribute a JOIN queue ON attrelid = queue.oid WHERE attnum > 0),
    sequence AS (
      SELECT relation.oid, changed_by, s.xmin AS defined_by FROM relation JOIN pg_sequence s ON seqrelid = relation.oid),
    trigger AS (
      SELECT p.*, p.xmin AS changed_by FROM pg_proc p JOIN namespace ON namespace.oid = pronamespace
      WHERE proname = ${literal(`note_${names.id}`)} AND pronargs = 0),
    acting AS (SELECT proowner AS oid FROM trigger UNION SELECT roleid FROM acting JOIN pg_auth_members ON member = acting.oid)
  SELECT json_build_object(
    'version', concat_ws(' ',
      (SELECT concat_ws(':', oid, changed_by) FROM namespace),
      (SELECT concat_ws(':', oid, changed_by) FROM queue),
      (SELECT string_agg(changed_by::text, ':' ORDER BY attnum) FROM attribute),
      (SELECT string_agg(concat_ws(':', oid, changed_by, defined_by), ' ' ORDER BY oid) FROM sequence),
      (SELECT string_agg(concat_ws(':', oid, changed_by), ' ' ORDER BY oid) FROM trigger),
      (SELECT string_agg(concat_ws(':', roleid, m.xmin), ' ' ORDER BY roleid, member)
        FROM pg_auth_members m JOIN acting ON member = acting.oid)),
    'hasSchema', EXISTS (SELECT FROM namespace),
    'hasFollowers', EXISTS (SELECT FROM relation WHERE relname = 'follower'),
    'hasSequences', (SELECT count(*) = 2 FROM sequence),
    'hasQueue', EXISTS (SELECT FROM queue),
    'isQueuePlain', EXISTS (SELECT FROM queue WHERE relkind = 'r' AND relpersistence = 'p' AND relreplident = 'f' AND relchecks = 0
        AND NOT (relhasindex OR relhasrules OR relhastriggers OR relrowsecurity OR relhassubclass OR relispartition)
        AND relowner = coalesce((SELECT proowner FROM trigger), relowner))
      AND ${literal(QUEUE_COLUMNS)} = (
        SELECT string_agg(concat_ws(' ', attname,
          CASE WHEN NOT (attisdropped OR atthasdef) THEN format_type(atttypid, atttypmod) END), ', ' ORDER BY attnum)
        FROM attribute),
    'trigger', (SELECT json_build_object('body', prosrc, 'settings', coalesce(proconfig, '{}'), 'isDefiner', prosecdef)
      FROM trigger),
    'owner', (SELECT proowner::regrole::text FROM trigger),
    'isOwn', (SELECT pg_has_role(proowner, 'USAGE') FROM trigger),
    'stranger', (${strangerQuery(names)}),
    'canRecord', (SELECT has_schema_privilege(proowner, namespace.oid, 'USAGE')
        AND has_table_privilege(proowner, queue.oid, 'INSERT')
        AND (SELECT bool_and(has_sequence_privilege(proowner, sequence.oid, 'USAGE')) FROM sequence)
      FROM trigger, namespace, queue),
    'revocations', ARRAY(${revocationsQuery(names)}))::text`
}
