/**
 * All statements that the store sends, by name. `@head` stands for the table in the store's schema, and the text in `@citus(…)` is
 * sent to Citus only. There each of the hot ones is one task on one shard, because it names the shard key; and each is small,
 * because a worker plans it every time. Rows are inserted in bulk by VALUES that unnest, which need no table to come from.
 */

import { QUIRE_SIZE, REAM_SIZE } from '../../positions.ts'
import { HEAD_COLUMNS } from '../../stored-rows.ts'
import { deleteFound, lookUp, NOW_MS } from './table-statements.ts'

export interface Statement {
  readonly sql: string
  /** Stands in the path of a request. */
  readonly isHot: boolean
}

const hot = (sql: string): Statement => ({ sql, isHot: true })
const rare = (sql: string): Statement => ({ sql, isHot: false })

const STORED_HEAD = [...HEAD_COLUMNS, 'generation_id', 'guarded']

/** See `headOf`. */
export const HEAD = STORED_HEAD.map((column) => `h.${column}`).join(', ')

/** How many columns HEAD has: what a statement selects after them begins here. */
export const HEAD_WIDTH = STORED_HEAD.length

/** See `bytesOf`. Base64 is read in half the time of the usual hexadecimal. */
const BYTES = "r.count, r.raw_length, r.crc, r.quires, encode(r.data, 'base64')"

const REAM = `${BYTES}, r.number, r.gone`

/** A ream of the generation of `h` at number `u.number`. */
const PART = 'r.shard_key = $1::bigint AND r.generation_id = h.generation_id AND r.number = u.number'

/** Instead of BYTES: the tail's items as one text, not deflated, with a comma and a line feed between them. */
const TAIL_BYTES = `count(t.item)::integer, NULL::bigint, NULL::bigint, NULL::bytea,
  encode(string_agg(t.item, decode('2c0a', 'hex') ORDER BY t.position), 'base64')`

/** See `tailStart`. */
const TAIL_START = `h.next / ${QUIRE_SIZE} * ${QUIRE_SIZE}`

/** Which items of the tail a head shows. */
const IN_TAIL = `t.shard_key = $1::bigint AND t.generation_id = h.generation_id AND t.position < h.next
        AND t.position >= ${TAIL_START}`

/** After the clock was set back, a time in the future says nothing. */
const LEASE_IS_DEAD = "renewed_at NOT BETWEEN now() - interval '10 seconds' AND now() + interval '1 minute'"

/** See `leaseFrom`. */
const LEASE = `name, generation_id, staging, base, holder, host, pid, (extract(epoch FROM started_at) * 1000)::bigint, ${LEASE_IS_DEAD}`

/** See `leftoverFrom`. */
const LEFTOVER = 'shard_key, generation_id, base, key_cursor, history'

/** Requests are remembered for a day. */
const LOG_LIFETIME = "interval '24 hours'"

/** The index by age is for statements that say this, and for no other: of a key it would read all requests of a collection. */
const IN_ORDER_OF_AGE = "at > '-infinity'"

/**
 * A write is durable when it is answered, should the database be set to less. It is asked for where the rows are: on Citus
 * the setting of the worker counts, and no SET gets there.
 */
const BE_DURABLE = `CASE WHEN current_setting('synchronous_commit') = 'off'
  THEN set_config('synchronous_commit', 'on', true) END`

/** The rows of a name, of a generation, and of a load as long as it holds its lease. */
const OF_NAME = 'shard_key = $1::bigint AND name = $2::text'
const NAMED = 'h.shard_key = $1::bigint AND h.name = $2::text'
const OWNED = 'shard_key = $1::bigint AND generation_id = $2::bigint'
const OF_HOLDER = `${OF_NAME} AND holder = $3::text`
const HELD = 'l.shard_key = $1::bigint AND l.name = $2::text AND l.holder = $3::text'

const REPLACE_REAM = `ON CONFLICT (shard_key, generation_id, number) DO UPDATE SET
      count = excluded.count, raw_length = excluded.raw_length, crc = excluded.crc, gone = excluded.gone,
      quires = excluded.quires, data = excluded.data`

/** See `changeFrom`. */
const CHANGE = 'number, version, generation, kind, position, count, before'

/** Requests with the key `u.key`, of whatever age. */
const REQUESTS = 'r.shard_key = $1::bigint AND r.key = u.key'

/** The history of a collection, and what is past of a generation of it. */
const RECORDED = 'shard_key = $1::bigint AND collection_id = $2::bigint'
const OF_PAST = 'p.shard_key = $1::bigint AND p.collection_id = $2::bigint AND p.generation = $3::bigint'

/**
 * The first change, from number $5 on and before $6, of the item at the position of `u`. The LIMIT keeps it from becoming a join,
 * as OFFSET 0 does in `lookUp`.
 */
const FIRST_CHANGE = `
    CROSS JOIN LATERAL (
      SELECT p.number FROM @past p WHERE ${OF_PAST} AND p.position = u.position AND p.number >= $5::bigint AND p.number < $6::bigint
      ORDER BY p.number LIMIT 1
    ) n
    CROSS JOIN LATERAL (
      SELECT c.before FROM @change c WHERE c.shard_key = $1::bigint AND c.collection_id = $2::bigint AND c.number = n.number LIMIT 1
    ) c`

/** The last one. */
const LAST_CHANGE = `
      SELECT p.number FROM @past p WHERE ${OF_PAST} AND p.position = u.position AND p.number >= $5::bigint AND p.number < $6::bigint
      ORDER BY p.number DESC LIMIT 1`

/** The positions from $4 on and before $7 at which something was ever changed, one after another; then NULL. */
const CHANGED_POSITIONS = `
      (SELECT p.position FROM @past p WHERE ${OF_PAST} AND p.position >= $4::bigint AND p.position < $7::bigint
        ORDER BY p.position LIMIT 1)
      UNION ALL
      SELECT (SELECT p.position FROM @past p WHERE ${OF_PAST} AND p.position > u.position AND p.position < $7::bigint
        ORDER BY p.position LIMIT 1) FROM u WHERE u.position IS NOT NULL`

export const STATEMENTS = {
  /** Something that only a store has. */
  ping: hot('SELECT version FROM @reams_format LIMIT 1'),

  // Heads

  readHead: hot(`SELECT ${HEAD} FROM @head h WHERE ${NAMED}`),
  /** See `Store.textBytes`. */
  readTextBytes: rare(`
    SELECT (SELECT coalesce(sum(r.raw_length), 0) FROM @ream r WHERE r.shard_key = $1::bigint AND r.generation_id = h.generation_id)::bigint
      + (SELECT coalesce(sum(octet_length(t.item)), 0) FROM @tail t WHERE t.shard_key = $1::bigint AND t.generation_id = h.generation_id)::bigint
    FROM @head h WHERE ${NAMED}`),
  readHeads: rare(`SELECT ${HEAD}, h.name, h.changed_at, h.shard_key FROM @head h ORDER BY h.name`),
  lockHead: hot(`SELECT ${HEAD}, ${BE_DURABLE} FROM @head h WHERE ${NAMED} FOR NO KEY UPDATE`),
  /** Until the transaction ends nobody can drop the collection; writing to it goes on. */
  holdHead: rare(`SELECT h.id, ${BE_DURABLE} FROM @head h WHERE ${NAMED} FOR KEY SHARE`),
  /** For a name without a head. */
  beDurable: rare(`SELECT ${BE_DURABLE} FROM (SELECT count(*) FROM @head h WHERE h.shard_key = $1::bigint) h`),
  insertHead: rare(`
    INSERT INTO @head
      (shard_key, name, ${STORED_HEAD}, changed_at)
    VALUES ($1::bigint, $2::text, $3::bigint, $4::bytea, $5::boolean, $6::boolean, $7::bigint, $8::bigint, $9::text,
      $10::text, $11::bigint, $12::bigint, $13::bigint, $14::bigint, $15::bigint, $16::bigint, $17::text, $18::bigint,
      $19::boolean, ${NOW_MS})`),
  updateHead: hot(`
    UPDATE @head SET private = $3::boolean, generation = $4::bigint, version = $5::bigint, commit_id = $6::text,
      full_pages_id = $7::text, next = $8::bigint, live = $9::bigint, changes = $10::bigint, history_from = $11::bigint,
      retention_ms = $12::bigint, retention_bytes = $13::bigint, origin = $14::text, generation_id = $15::bigint,
      guarded = $16::boolean, changed_at = ${NOW_MS} WHERE ${OF_NAME}`),
  /** A load begins or ends, and nobody sees a difference. */
  guardHead: rare(`UPDATE @head SET guarded = $3::boolean WHERE ${OF_NAME}`),
  deleteHead: rare(`DELETE FROM @head WHERE ${OF_NAME}`),

  // Pages

  /** Head and what is gone in some blocks of a level. */
  readHoleBlocks: hot(`
    SELECT ${HEAD}, o.block, o.gone FROM @head h
    LEFT JOIN ${lookUp(
      'o.block, o.gone',
      'hole o',
      `o.shard_key = $1::bigint AND o.generation_id = h.generation_id AND o.level = $3::smallint
      AND o.block BETWEEN $4::bigint AND $5::bigint`,
    )} o ON true WHERE ${NAMED} ORDER BY o.block`),
  /** Head and one ream: the common page. */
  readPart: hot(`
    SELECT ${HEAD}, r.* FROM @head h
    LEFT JOIN ${lookUp(
      `${BYTES}, r.number`,
      'ream r',
      'r.shard_key = $1::bigint AND r.generation_id = h.generation_id AND r.number = $3::bigint',
    )} r ON true
    WHERE ${NAMED}`),
  /** Head and reams by number. */
  readParts: hot(`
    SELECT ${HEAD}, r.* FROM @head h
    LEFT JOIN unnest($3::bigint[]) u (number) ON true
    LEFT JOIN ${lookUp(`${BYTES}, r.number`, 'ream r', PART)} r ON true
    WHERE ${NAMED}`),
  /** Head and tail. */
  readTailPart: hot(`
    SELECT ${HEAD}, t.*, NULL::bigint FROM @head h
    LEFT JOIN LATERAL (SELECT ${TAIL_BYTES} FROM @tail t WHERE ${IN_TAIL}) t ON true
    WHERE ${NAMED}`),
  /** Head, reams by number, and tail. */
  readLastParts: hot(`
    SELECT ${HEAD}, p.* FROM @head h
    LEFT JOIN LATERAL (
      SELECT r.* FROM unnest($3::bigint[]) u (number) CROSS JOIN ${lookUp(`${BYTES}, r.number`, 'ream r', PART)} r
      UNION ALL
      SELECT ${TAIL_BYTES}, NULL::bigint FROM @tail t WHERE ${IN_TAIL}
    ) p ON true
    WHERE ${NAMED}`),
  /** Head, position of the key, and the tail's item or the ream that is there. */
  readItem: hot(`
    SELECT ${HEAD}, k.position, t.item, r.* FROM @head h
    LEFT JOIN ${lookUp(
      'k.position',
      'key k',
      'k.shard_key = $1::bigint AND k.generation_id = h.generation_id AND k.key = $3::bytea AND k.position < h.next',
    )} k ON true
    LEFT JOIN ${lookUp(
      't.item',
      'tail t',
      't.shard_key = $1::bigint AND t.generation_id = h.generation_id AND t.position = k.position',
    )} t ON true
    LEFT JOIN ${lookUp(
      REAM,
      'ream r',
      `r.shard_key = $1::bigint AND r.generation_id = h.generation_id AND r.number = k.position / ${REAM_SIZE}`,
    )} r ON true
    WHERE ${NAMED}`),

  // Keys and holes

  addHoles: hot(`
    INSERT INTO @hole (shard_key, generation_id, level, block, gone)
    VALUES ($1::bigint, $2::bigint, unnest($3::smallint[]), unnest($4::bigint[]), unnest($5::integer[]))
    ON CONFLICT (shard_key, generation_id, level, block) DO UPDATE SET gone = hole.gone + excluded.gone`),

  // History

  /** The stretch that has change $3, and those behind it before $4. */
  readChanges: hot(`
    SELECT ${CHANGE} FROM @change WHERE ${RECORDED} AND number < $4::bigint AND number >= coalesce((
      SELECT number FROM @change WHERE ${RECORDED} AND number <= $3::bigint ORDER BY number DESC LIMIT 1), $3::bigint)
    ORDER BY number LIMIT $5::integer`),
  readChangeSizes: rare(`
    SELECT number, generation, kind, position, octet_length(before) FROM @change
    WHERE ${RECORDED} AND number >= $3::bigint AND number < $4::bigint ORDER BY number LIMIT $5::integer`),
  /** Of each item at these positions what it was before the first change from number $5 on and before $6. */
  readPastAt: hot(`
    SELECT u.position, c.before FROM unnest($4::bigint[]) u (position) ${FIRST_CHANGE}`),
  /** The same of all items at positions from $4 on and before $7: it goes from one that was ever changed to the next. */
  readPastIn: hot(`
    WITH RECURSIVE u (position) AS (${CHANGED_POSITIONS})
    SELECT u.position, c.before, l.number FROM u ${FIRST_CHANGE} CROSS JOIN LATERAL (${LAST_CHANGE}) l`),
  /** The last change from number $5 on and before $6 at a position from $4 on and before $7. Walks as `readPastIn` does. */
  readLastChangeIn: hot(`
    WITH RECURSIVE u (position) AS (${CHANGED_POSITIONS})
    SELECT max(n.number) FROM u CROSS JOIN LATERAL (${LAST_CHANGE}) n`),
  readPastHoles: hot(`
    SELECT u.block, n.gone FROM unnest($5::bigint[]) u (block)
    CROSS JOIN LATERAL (
      SELECT p.gone FROM @past_hole p
      WHERE ${OF_PAST} AND p.level = $4::smallint AND p.block = u.block AND p.number >= $6::bigint ORDER BY p.number LIMIT 1
    ) n`),
  readReamBytes: rare(`
    SELECT coalesce(avg(length(r.data)), 0)::bigint FROM (SELECT data FROM @ream WHERE ${OWNED} LIMIT 100) r`),

  // Requests

  findRequests: hot(`
    SELECT r.key, r.collection_id, r.digest, r.outcome FROM unnest($2::text[]) u (key)
    CROSS JOIN ${lookUp('r.*', 'request_log r', REQUESTS)} r WHERE r.at > now() - ${LOG_LIFETIME}`),
  /** One that is remembered already is refused by the primary key, and the transaction with it. */
  rememberRequest: hot(`
    INSERT INTO @request_log (shard_key, key, collection_id, digest, outcome)
    VALUES ($1::bigint, $2::text, $3::bigint, $4::text, $5::text)`),
  /** Those keys, and some others, if they no longer count. */
  forgetRequests: hot(
    deleteFound(
      'request_log',
      `SELECT r.place FROM unnest($2::text[]) u (key)
      CROSS JOIN ${lookUp('r.ctid AS place, r.at', 'request_log r', REQUESTS)} r WHERE r.at <= now() - ${LOG_LIFETIME}
      UNION ALL (SELECT ctid FROM @request_log WHERE shard_key = $1::bigint AND at <= now() - ${LOG_LIFETIME} AND ${IN_ORDER_OF_AGE}
        ORDER BY at LIMIT $3::integer)`,
    ),
  ),

  // Leases

  insertLease: rare(`
    INSERT INTO @lease (shard_key, name, generation_id, staging, base, holder, host, pid)
    VALUES ($1::bigint, $2::text, $3::bigint, $4::bigint, $5::bigint, $6::text, $7::text, $8::integer)
    ON CONFLICT (shard_key, name) DO NOTHING`),
  readLease: hot(`SELECT ${LEASE} FROM @lease WHERE ${OF_NAME}`),
  readLeases: rare(`SELECT ${LEASE} FROM @lease`),
  /** Until the transaction ends nobody can take the lease over; renewing it goes on. */
  holdLease: rare(`SELECT steps FROM @lease WHERE ${OF_HOLDER} FOR KEY SHARE`),
  renewLease: rare(`UPDATE @lease SET renewed_at = now(), steps = steps + $4::bigint WHERE ${OF_HOLDER}`),
  deleteLease: rare(`DELETE FROM @lease WHERE ${OF_HOLDER}`),
  deleteDeadLease: rare(`DELETE FROM @lease WHERE ${OF_HOLDER} AND ${LEASE_IS_DEAD}`),

  // Loads

  /** In the order of the index, and without ON CONFLICT: that takes half of the time. */
  loadKeys: rare(`
    INSERT INTO @key (shard_key, generation_id, key, position)
    SELECT l.shard_key, l.generation_id, u.key, $4::bigint + u.number - 1
    FROM @lease l, unnest($5::bytea[]) WITH ORDINALITY u (key, number) WHERE ${HELD} ORDER BY u.key`),
  loadReams: rare(`
    INSERT INTO @ream (shard_key, generation_id, number, count, raw_length, crc, gone, quires, data)
    SELECT l.shard_key, $4::bigint, u.number, u.count, u.raw_length, u.crc, u.gone, u.quires,
      substring($13::bytea FROM u.start FOR u.length)
    FROM @lease l, unnest($5::bigint[], $6::integer[], $7::bigint[], $8::bigint[], $9::bytea[], $10::bytea[], $11::integer[],
      $12::integer[]) u (number, count, raw_length, crc, gone, quires, start, length) WHERE ${HELD} ${REPLACE_REAM}`),
  moveStagedReams: rare(`
    INSERT INTO @ream (shard_key, generation_id, number, count, raw_length, crc, gone, quires, data)
    SELECT r.shard_key, $2::bigint, r.number, r.count, r.raw_length, r.crc, r.gone, r.quires, r.data FROM @ream r
    WHERE r.shard_key = $1::bigint AND r.generation_id = $3::bigint ${REPLACE_REAM}`),

  // Leftovers

  addLeftover: rare(`
    INSERT INTO @leftover (shard_key, generation_id, base) VALUES ($1::bigint, $2::bigint, $3::bigint)
    ON CONFLICT (shard_key, generation_id) DO UPDATE SET base = least(leftover.base, excluded.base), key_cursor = ''`),
  readLeftovers: rare(`SELECT ${LEFTOVER} FROM @leftover`),
  addHistoryLeftover: rare(`
    INSERT INTO @leftover (shard_key, generation_id, base, history) VALUES ($1::bigint, $2::bigint, $3::bigint, true)
    ON CONFLICT (shard_key, generation_id) DO UPDATE SET base = least(leftover.base, excluded.base)`),
  /** History comes first: while there is some, writes to its collection wait. */
  lockLeftover: rare(`
    SELECT ${LEFTOVER} FROM @leftover WHERE shard_key = $1::bigint
    ORDER BY history DESC, generation_id LIMIT 1 FOR UPDATE`),
  readChangesOf: rare('SELECT changes FROM @head WHERE shard_key = $1::bigint AND id = $2::bigint'),
  deleteLeftover: rare(`DELETE FROM @leftover WHERE ${OWNED}`),
  moveCursor: rare(`UPDATE @leftover SET key_cursor = $3::bytea WHERE ${OWNED}`),
  /** Whether readers see something of a generation from a position on. */
  isVisible: rare(`SELECT 1 FROM @head WHERE ${OWNED} AND next > $3::bigint`),
  unguard: rare(`UPDATE @head SET guarded = false WHERE ${OWNED}`),
  findLastKey: rare(`
    SELECT k.key FROM (
      SELECT key FROM @key WHERE ${OWNED} AND key > $3::bytea ORDER BY key LIMIT $4::integer
    ) k ORDER BY k.key DESC LIMIT 1`),
  sweepKeys: rare(`
    DELETE FROM @key WHERE ${OWNED} AND key > $3::bytea AND key <= $4::bytea AND position >= $5::bigint`),

  // The check of all invariants
  countKeys: rare(`
    SELECT count(*) FILTER (WHERE position < $3::bigint), count(*) FILTER (WHERE position >= $3::bigint)
    FROM @key WHERE ${OWNED}`),
  readDataChecksums: rare("SELECT current_setting('data_checksums')"),
} as const

export type StatementName = keyof typeof STATEMENTS
