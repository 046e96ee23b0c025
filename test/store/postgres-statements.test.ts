import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { Client } from 'pg'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import { StatementTexts } from '../../src/store/postgres/rows/rows.ts'
import { STATEMENTS, type StatementName } from '../../src/store/postgres/rows/statements.ts'
import { CITUS, NO_CITUS } from './citus-server.ts'
import { newSchema, withParameter } from './postgres-engine.ts'
import { describePostgres, type PostgresServer } from './postgres-server.ts'

/** A value of each type that a parameter is cast to. */
const EXAMPLES: Readonly<Record<string, string>> = {
  bigint: '7',
  integer: '7',
  boolean: 'true',
  text: "'events'",
  bytea: String.raw`'\x61'`,
  'bigint[]': 'ARRAY[7, 8]',
  'integer[]': 'ARRAY[7, 8]',
  smallint: '1',
  'smallint[]': 'ARRAY[0, 1]::smallint[]',
  'text[]': "ARRAY['a', 'b']",
  'bytea[]': String.raw`ARRAY['\x61', '\x62']::bytea[]`,
}

/** The parameters of a statement, as their casts tell. */
function examplesFor(sql: string): string[] {
  const types = new Map(
    [...sql.matchAll(/\$(\d+)::([a-z]+(?:\[\])?)/g)].map(([, number, type]) => [Number(number), type]),
  )
  const count = Math.max(0, ...[...sql.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)))
  return Array.from({ length: count }, (_, index) => {
    const example = EXAMPLES[types.get(index + 1) ?? '']
    assert.ok(example, `parameter $${index + 1} has no cast, or one without an example: ${sql}`)
    return example
  })
}

const names = Object.keys(STATEMENTS) as StatementName[]
const hotNames = names.filter((name) => STATEMENTS[name].isHot)

/** A scan of a whole table is then chosen only where there is no other way. */
const AVOID_WHOLE_TABLES = 'SET LOCAL enable_seqscan = off'

/** Citus gives the values to a worker, which plans for them. */
const ON_WORKERS = "SET LOCAL citus.propagate_set_commands = 'local'"
const FOR_ANY_VALUES = 'SET LOCAL plan_cache_mode = force_generic_plan'

/** Opens a store, and a connection that prepares statements for its tables and explains them. */
async function openPlanner(server: PostgresServer) {
  const begin = ['BEGIN', server === CITUS ? ON_WORKERS : FOR_ANY_VALUES, AVOID_WHOLE_TABLES].join('; ')
  const schema = newSchema()
  const store = await openPostgresStore({ url: withParameter(server.url, 'schema', schema), create: true })
  const client = new Client(server.url)
  await client.connect()
  const query = async (text: string, values: unknown[] = []): Promise<unknown[][]> =>
    (await client.query({ text, values, rowMode: 'array' })).rows
  return {
    schema,
    query,
    async explain(name: StatementName): Promise<string> {
      const { text } = new StatementTexts(schema, server === CITUS).of(name)
      const examples = examplesFor(text)
      const values = examples.length === 0 ? '' : `(${examples.join(', ')})`
      await client.query(begin)
      try {
        await client.query(`PREPARE explained AS ${text}`)
        const rows = await query(`EXPLAIN (COSTS OFF) EXECUTE explained${values}`)
        return rows.map(([line]) => line).join('\n')
      } finally {
        await client.query('ROLLBACK; DEALLOCATE ALL')
      }
    },
    async close() {
      await store.close()
      await client.query(`DROP SCHEMA ${schema} CASCADE`)
      await client.end()
    },
  }
}

type Planner = Awaited<ReturnType<typeof openPlanner>>

describePostgres('the statements of a store in PostgreSQL', (startPostgres) => {
  let planner: Planner

  before(async () => {
    planner = await openPlanner(await startPostgres())
  })
  after(() => planner?.close())

  it('can all be prepared, and none of the hot ones has to read a whole table', async () => {
    for (const name of names) {
      const plan = await planner.explain(name)
      if (STATEMENTS[name].isHot && name !== 'ping') assert.doesNotMatch(plan, /Seq Scan/, `${name}:\n${plan}`)
    }
  })
})

describe('the statements of a store in PostgreSQL, as they are written', () => {
  it('never count or skip their way to a page', () => {
    for (const name of ['readPart', 'readParts', 'readTailPart', 'readLastParts', 'readHead'] as const)
      assert.doesNotMatch(STATEMENTS[name].sql, /\bOFFSET (?!0\))|\bcount\(\*\)/i)
  })

  it('are all sent by somebody', () => {
    const directory = join(import.meta.dirname, '../../src/store/postgres')
    const files = globSync('**/*.ts', { cwd: directory }).filter((file) => !file.endsWith('statements.ts'))
    const source = files.map((file) => readFileSync(join(directory, file), 'utf8')).join('\n')
    assert.deepEqual(
      names.filter((name) => !source.includes(`'${name}'`)),
      [],
    )
  })
})

describe('the statements of a store in Citus', { skip: NO_CITUS }, () => {
  const ON_EVERY_WORKER = ['reams_format', 'token']
  const tablesOf = (sql: string): string[] =>
    [...sql.matchAll(/@(?!citus\()([a-z_]+)/g)].map(([, table]) => table ?? '')
  const allTables = [...new Set(names.flatMap((name) => tablesOf(STATEMENTS[name].sql)))].sort()
  let planner: Planner

  beforeEach(async () => {
    planner = await openPlanner(CITUS)
  })
  afterEach(() => planner.close())

  /** How each table is kept, and whether together with the heads. */
  const placementOf = async (table: string): Promise<string> => {
    const { schema, query } = planner
    const [row] = await query(
      `SELECT t.partmethod, column_to_column_name(t.logicalrelid, t.partkey), t.colocationid = h.colocationid
      FROM pg_dist_partition t, pg_dist_partition h WHERE t.logicalrelid = $1::regclass AND h.logicalrelid = $2::regclass`,
      [`${schema}.${table}`, `${schema}.head`],
    )
    if (row === undefined) return 'on the coordinator alone'
    const [method, column, isWithHeads] = row
    if (method === 'n') return 'on every worker'
    return `by ${column}, ${isWithHeads === true ? 'with' : 'away from'} the heads`
  }

  /** One task is one statement to one worker. Without any the tables are ordinary ones, on the coordinator. */
  const isOneTask = (plan: string): boolean => {
    const tasks = [...plan.matchAll(/Task Count: (\d+)/g)].map(([, count]) => Number(count))
    return tasks.length === 1 && tasks[0] === 1 && !/coordinator|repartition|Subplan/i.test(plan)
  }
  /** Those that are not one task. Citus refuses some that need an ordinary table beside a distributed one. */
  const findOthers = async (): Promise<StatementName[]> => {
    const found: StatementName[] = []
    for (const name of hotNames) if (!isOneTask(await planner.explain(name).catch(() => 'refused'))) found.push(name)
    return found
  }

  it('go to tables that are distributed by shard key, but for those that every worker has whole', async () => {
    for (const table of allTables) {
      const expected = ON_EVERY_WORKER.includes(table) ? 'on every worker' : 'by shard_key, with the heads'
      assert.equal(await placementOf(table), expected, table)
    }
  })

  it('are one task on one shard each, if they are hot', async () => {
    assert.deepEqual(await findOthers(), [])
  })

  it('are found out where a table is not distributed', async () => {
    await planner.query(`SELECT undistribute_table('${planner.schema}.ream')`)
    assert.equal(await placementOf('ream'), 'on the coordinator alone')
    assert.deepEqual(
      await findOthers(),
      hotNames.filter((name) => tablesOf(STATEMENTS[name].sql).includes('ream')),
    )
    for (const table of allTables.filter((each) => each !== 'ream'))
      await planner.query(`SELECT undistribute_table('${planner.schema}.${table}')`)
    assert.deepEqual(await findOthers(), hotNames)
  })
})
