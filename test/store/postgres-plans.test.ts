import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { Client } from 'pg'
import { stateOf } from '../../src/contract/state-tag.ts'
import { QUIRE_SIZE } from '../../src/store/positions.ts'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import { type Rows, StatementTexts } from '../../src/store/postgres/rows/rows.ts'
import type { Statement } from '../../src/store/postgres/rows/sender.ts'
import { STATEMENTS, type StatementName } from '../../src/store/postgres/rows/statements.ts'
import { TableStatements } from '../../src/store/postgres/rows/table-statements.ts'
import { Connections } from '../../src/store/postgres/server/connection.ts'
import { readStoreUrl } from '../../src/store/postgres/server/store-url.ts'
import { PLANNER_SETTINGS, Transaction } from '../../src/store/postgres/server/transaction.ts'
import { CHANGE, HOLE, KEY, PAST, PAST_HOLE, REAM, STATE, TAIL, TOKEN } from '../../src/store/tables.ts'
import { changed, itemsFrom, keyed } from './items.ts'
import { newSchema, openPostgresForTest, withParameter } from './postgres-engine.ts'
import { describePostgres, type OwnPostgresServer, startOwnPostgres } from './postgres-server.ts'

/** The large collection has rows of this many positions, and each of the others of a few. */
const LARGE = 20_000
const SMALL = 10
const OTHERS = 49

/** Pages of the database that one row takes at most: down the index, the row itself, and what it becomes. */
const BUFFERS_A_ROW = 10

/** For each statement, however many rows it finds. */
const BUFFERS = 40

const TABLES =
  'head, ream, tail, key, hole, state, change, past, past_hole, request_log, lease, leftover, replaced'.split(', ')

/** Rows of a collection in each table. Each item was replaced, in an order that is not that of the items. */
const fill = (id: number, size: number): string => `
  INSERT INTO head (shard_key, name, id, paginated, private, generation, version, commit_id, full_pages_id, next, live, changes,
    history_from, retention_ms, retention_bytes, generation_id)
  VALUES (${id}, 'c${id}', ${id}, true, false, 1, ${size}, '', '', ${size}, ${size}, ${size}, 0, 0, 0, ${id});
  INSERT INTO ream SELECT ${id}, ${id}, n, 1, 1, 1, NULL, '', 'a' FROM generate_series(0, ${size - 1}) n;
  INSERT INTO tail SELECT ${id}, ${id}, n, 'a' FROM generate_series(0, ${size - 1}) n;
  INSERT INTO key SELECT ${id}, ${id}, convert_to(md5(n::text), 'UTF8'), n FROM generate_series(0, ${size - 1}) n;
  INSERT INTO hole SELECT ${id}, ${id}, 0, n, 1 FROM generate_series(0, ${size - 1}) n;
  INSERT INTO state SELECT ${id}, ${id}, n, n + 1, '', 1, ${size}, ${size}, 0, 0 FROM generate_series(0, ${size - 1}) n;
  INSERT INTO change SELECT ${id}, ${id}, n, n + 1, 1, 1, n * 7 % ${size}, 1, 'a' FROM generate_series(0, ${size - 1}) n;
  INSERT INTO past SELECT ${id}, ${id}, 1, n * 7 % ${size}, n FROM generate_series(0, ${size - 1}) n;
  INSERT INTO past_hole SELECT ${id}, ${id}, 1, 0, n, n, 0 FROM generate_series(0, ${size - 1}) n;
  INSERT INTO request_log SELECT ${id}, 'request ' || n, ${id}, '', 'null', now() - n * interval '10 seconds'
    FROM generate_series(0, ${size - 1}) n;`

const fillOthers = (size: number, from = 100): string =>
  Array.from({ length: OTHERS }, (_, index) => fill(from + index, size)).join('\n')

/** The statistics that the planner has when statements ask for the large collection 1. */
const KNOWN: Readonly<Record<string, readonly string[]>> = {
  nothing: [fill(1, LARGE), fillOthers(SMALL)],
  'the small collections alone': [fillOthers(SMALL), 'ANALYZE', fill(1, LARGE)],
  'another large collection alone': [fill(2, LARGE), 'ANALYZE', fill(1, LARGE), fillOthers(SMALL)],
  'very small collections alone': [fillOthers(1), 'ANALYZE', fill(1, LARGE)],
  everything: [fill(1, LARGE), fillOthers(SMALL), 'ANALYZE'],
}

const list = (values: readonly (string | number)[]): string => `'{${values.join(',')}}'`
const keyAt = (position: number): string =>
  `convert_to('${createHash('md5').update(`${position}`).digest('hex')}', 'UTF8')`

/** Positions in the middle of the large collection. */
const TEN = Array.from({ length: 10 }, (_, index) => 7_000 + index * 100)
const KEYS = `ARRAY[${TEN.map(keyAt)}]`
const REQUESTS = list(TEN.map((position) => `"request ${position}"`))
const [NAME, ID] = ["1, 'c1'", '1, 1']

const { of } = TableStatements
const bytes = (text: string): string => `ARRAY[${TEN.map(() => `'${text}'::bytea`)}]`

/** Values of each statement, and how many rows it needs. */
const NEEDS: readonly (readonly [Statement, values: string, rows: number])[] = [
  ['readHead', NAME, 1],
  ['lockHead', NAME, 1],
  ['readPart', `${NAME}, 7000`, 2],
  ['readParts', `${NAME}, ${list(TEN)}`, 11],
  ['readTailPart', NAME, QUIRE_SIZE],
  ['readLastParts', `${NAME}, ${list(TEN)}`, QUIRE_SIZE + 11],
  ['readItem', `${NAME}, ${keyAt(7_000)}`, 4],
  ['readHoleBlocks', `${NAME}, 0, 7000, 7010`, 12],
  [of(REAM).scan({ from: [0], to: [0], limit: 16 }), `${ID}, 7000, 20000`, 16],
  [of(REAM).find, `${ID}, ${list(TEN)}`, 10],
  [of(REAM).get, `${ID}, 7000`, 1],
  [of(REAM).putOne, `${ID}, 7000, 1, 1, 1, NULL, '', 'b'`, 1],
  [of(REAM).removeRange({ from: [0], limit: 10 }), `${ID}, 7000`, 20],
  [of(TAIL).scan({ from: [0], to: [0], limit: 10 }), `${ID}, 7000, 20000`, 10],
  [of(TAIL).scan({ from: [0], to: [0] }), `${ID}, 7000, 7010`, 10],
  [of(TAIL).find, `${ID}, ${list(TEN)}`, 10],
  [of(TAIL).putOne, `${ID}, 7000, 'b'`, 1],
  [of(TAIL).put, `${ID}, ${list(TEN)}, ${list(TEN.map(() => 'b'))}`, 10],
  [of(TAIL).removeRange({ from: [0], to: [0] }), `${ID}, 7000, 7010`, 10],
  [of(TAIL).removeRange({ from: [0], limit: 10 }), `${ID}, 7000`, 20],
  [of(TAIL).remove, `${ID}, ${list(TEN)}`, 10],
  [of(KEY).find, `${ID}, ${KEYS}`, 10],
  [of(KEY).putOne, `${ID}, ${keyAt(7_000)}, 7000`, 1],
  [of(KEY).put, `${ID}, ${KEYS}, ${list(TEN)}`, 10],
  [of(KEY).remove, `${ID}, ${KEYS}`, 10],
  ['addHoles', `${ID}, ${list(TEN.map(() => 0))}, ${list(TEN)}, ${list(TEN)}`, 10],
  [of(HOLE).scan({ at: [0], from: [0], to: [0] }), `${ID}, 0, 7000, 7010`, 10],
  [of(HOLE).find, `${ID}, ${list(TEN.map(() => 0))}, ${list(TEN)}`, 10],
  [of(STATE).scan({ from: [0, 0], limit: 2 }), `${ID}, 7000, 0`, 2],
  [of(STATE).scan({ isReverse: true, limit: 1 }), ID, 1],
  [of(STATE).putOne, `${ID}, 7000, 7001, '', 1, 1, 1, 1`, 1],
  [of(STATE).remove, `${ID}, ${list(TEN)}, ${list(TEN.map((number) => number + 1))}`, 10],
  [of(STATE).removeRange({ limit: 10 }), ID, 20],
  ['readChanges', `${ID}, 7000, 7010, 11`, 11],
  ['readChangeSizes', `${ID}, 0, 20000, 10`, 10],
  [of(CHANGE).putOne, `${ID}, 7000, 1, 1, 1, 1, 1, 'a'`, 1],
  [of(CHANGE).put, `${ID}, ${Array.from({ length: 6 }, () => list(TEN))}, ${bytes('a')}`, 10],
  [of(CHANGE).remove, `${ID}, ${list(TEN)}`, 10],
  ['readPastAt', `${ID}, 1, ${list(TEN)}, 0, ${LARGE}`, 20],
  ['readPastIn', `${ID}, 1, 7000, 0, ${LARGE}, 7010`, 30],
  ['readLastChangeIn', `${ID}, 1, 7000, 0, ${LARGE}, 7010`, 30],
  [of(PAST).putOne, `${ID}, 1, 7000, ${LARGE}`, 1],
  [of(PAST).put, `${ID}, ${list(TEN.map(() => 1))}, ${list(TEN)}, ${list(TEN.map(() => LARGE))}`, 10],
  [of(PAST).remove, `${ID}, ${list(TEN.map(() => 1))}, ${list(TEN.map((at) => (at * 7) % LARGE))}, ${list(TEN)}`, 10],
  ['readPastHoles', `${ID}, 1, 0, ${list(TEN)}, 0`, 10],
  [
    of(PAST_HOLE).put,
    `${ID}, ${list(TEN.map(() => 1))}, ${list(TEN.map(() => 0))}, ${list(TEN)}, ${list(TEN.map(() => LARGE))}, ${list(TEN)}`,
    10,
  ],
  [of(PAST_HOLE).remove, `${ID}, ${list(TEN.map(() => 1))}, ${list(TEN.map(() => 0))}, ${list(TEN)}, ${list(TEN)}`, 10],
  ['findRequests', `1, ${REQUESTS}`, 10],
  ['forgetRequests', `1, ${REQUESTS}, 10`, 20],
  ['findLastKey', `${ID}, '', 10`, 10],
  ['sweepKeys', `${ID}, '', convert_to('0001', 'UTF8'), 0`, 10],
]

/** Those that leave the planner no choice: rows by their whole primary key, new rows, or all rows of a collection. */
const SAFE: readonly StatementName[] = ['ping', 'readLease', 'updateHead', 'rememberRequest']

/** All rows of a collection that is gone. */
const SAFE_SHAPES = [of(HOLE).removeRange({}), of(TOKEN).get]

/** Without its limit. */
const nameOf = (statement: Statement): string =>
  typeof statement === 'string' ? statement : statement.name.replace(/ LIMIT \d+$/, '')

/** As EXPLAIN with FORMAT JSON has it. */
interface Plan {
  readonly 'Shared Hit Blocks': number
  readonly 'Shared Read Blocks': number
}

const COUNTED = new Set([...SAFE, ...NEEDS.map(([statement]) => nameOf(statement))])

it('the statements of every request are among those whose pages are counted', () => {
  const names = (Object.keys(STATEMENTS) as StatementName[]).filter((name) => STATEMENTS[name].isHot)
  assert.deepEqual(
    names.filter((name) => !COUNTED.has(name)),
    [],
  )
})

describePostgres('the statements that are made for tables', (start) =>
  it('are counted too', async (t) => {
    const { store, remove } = await openPostgresForTest(await start())
    t.after(remove)
    await store.create('events', { keyField: 'id' })
    const before = stateOf(await store.append('events', keyed(itemsFrom(0, 1_200))))
    await store.put('events', keyed([changed(3, 1)]))
    await store.replace('events', keyed([changed(4, 1), changed(1_100, 1), changed(1_199, 1)]))
    await store.delete('events', ['5', '600', '1198'])
    await store.patch('events', {
      puts: keyed([changed(7, 1), ...itemsFrom(2_000, 300)]),
      steps: Array(301).fill(null),
    })
    await store.pageAt('events', before, 2)
    await store.changesSince('events', before, 1)
    await store.stateAt('events', before, { page: 1 })
    const load = await store.load('events', { onConflict: 'replace' })
    await load.append(keyed([changed(8, 2), changed(2_299, 2), ...itemsFrom(3_000, 2_000)]))
    await load.commit()
    await store.setRetention('events', { retentionMs: 1 })
    await store.forget('events')
    await store.drop('events')
    // A collection has few generations.
    const made = [REAM, TAIL, KEY, HOLE, STATE, CHANGE, PAST, PAST_HOLE].flatMap((table) => of(table).made)
    const safe = new Set(SAFE_SHAPES.map(nameOf))
    assert.deepEqual(
      made.map(nameOf).filter((name) => !COUNTED.has(name) && !safe.has(name)),
      [],
    )
  }),
)

for (const version of [15, 18] as const)
  describe(`the statements of a store in PostgreSQL ${version} with many collections`, () => {
    let server: OwnPostgresServer
    let client: Client

    before(async () => {
      server = await startOwnPostgres(['autovacuum=off'], version)
      client = new Client(server.url)
      await client.connect()
    })
    after(async () => {
      await client?.end()
      await server?.stop()
    })

    const buffersOf = async (sql: string, values: string): Promise<{ buffers: number; plan: string }> => {
      await client.query('BEGIN')
      try {
        await client.query(`PREPARE explained AS ${sql}`)
        const { rows } = await client.query({
          text: `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) EXECUTE explained(${values})`,
          rowMode: 'array',
        })
        const [[{ Plan: plan }]] = rows[0] as [[{ Plan: Plan }]]
        return { buffers: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'], plan: JSON.stringify(plan) }
      } finally {
        await client.query('ROLLBACK')
        await client.query('DEALLOCATE ALL')
      }
    }

    it('are planned with our settings, on a connection of our own and in a transaction behind a pooler', async () => {
      await client.query(
        "ALTER ROLE postgres SET jit = on; ALTER ROLE postgres SET plan_cache_mode = 'force_generic_plan'",
      )
      const names = Object.keys(PLANNER_SETTINGS)
      const shown = `SELECT ${names.map((name) => `current_setting('${name}')`)}`
      const settings = async (preparing: string, isInTransaction: boolean) => {
        const url = readStoreUrl(withParameter(server.url, 'prepare', preparing))
        const connections = new Connections(url, { mostConnections: 1, statementMs: 10_000 })
        const show = (rows: Rows) => rows.query(shown)
        const [row] = await connections.lend((rows) =>
          isInTransaction ? Transaction.run(rows, () => show(rows)) : show(rows),
        )
        await connections.close()
        return row
      }
      const expected = Object.values(PLANNER_SETTINGS)
      try {
        assert.deepEqual(await settings('auto', false), expected)
        assert.deepEqual(await settings('never', true), expected)
        assert.notDeepEqual(await settings('never', false), expected)
      } finally {
        await client.query('ALTER ROLE postgres RESET ALL')
      }
    })

    for (const [known, steps] of Object.entries(KNOWN))
      it(`take no more pages than their rows need, with statistics of ${known}`, async () => {
        const schema = newSchema()
        const store = await openPostgresStore({ url: withParameter(server.url, 'schema', schema), create: true })
        await store.close()
        await client.query(`SET search_path = ${schema}`)
        for (const step of steps) await client.query(step === 'ANALYZE' ? `ANALYZE ${TABLES.join(', ')}` : step)
        for (const [name, value] of Object.entries(PLANNER_SETTINGS)) await client.query(`SET ${name} = ${value}`)
        const texts = new StatementTexts(schema, false)
        for (const mode of ['force_generic_plan', 'force_custom_plan']) {
          await client.query(`SET plan_cache_mode = ${mode}`)
          for (const [statement, values, rows] of NEEDS) {
            const { name, text } = texts.of(statement)
            const { buffers, plan } = await buffersOf(text, values)
            const most = BUFFERS + BUFFERS_A_ROW * rows
            assert.ok(buffers <= most, `${name}, ${mode}: ${buffers} pages instead of ${most} at most: ${plan}`)
          }
        }
        await client.query(`DROP SCHEMA ${schema} CASCADE`)
      })
  })
