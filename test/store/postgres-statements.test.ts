import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { Client } from 'pg'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import { statementsIn } from '../../src/store/postgres/rows/rows.ts'
import { STATEMENTS, type StatementName } from '../../src/store/postgres/rows/statements.ts'
import { CITUS, NO_CITUS } from './citus-server.ts'
import { newSchema, withParameter } from './postgres-engine.ts'
import { describePostgres, type PostgresServer, startPostgres } from './postgres-server.ts'

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
      const text = statementsIn(schema)[name]
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

/** A node of a plan, as EXPLAIN with FORMAT JSON has it. */
interface PlanNode {
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Join Filter'?: number
  readonly Plans?: readonly PlanNode[]
}

/** How many rows were read from tables, and compared in vain. */
function rowsTouched(node: PlanNode): number {
  const read = node['Relation Name'] === undefined ? 0 : node['Actual Rows']
  const inVain = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Join Filter'] ?? 0)
  const below = (node.Plans ?? []).map(rowsTouched)
  return below.reduce((sum, rows) => sum + rows, (read + inVain) * node['Actual Loops'])
}

describe('the statements about the history of a collection that PostgreSQL has no statistics of', () => {
  const ITEMS = 3_000
  let server: PostgresServer
  let planner: Planner

  before(async () => {
    server = await startPostgres()
    planner = await openPlanner(server)
    const { query, schema } = planner
    await query(`SET search_path = ${schema}`)
    for (const table of ['state', 'change', 'past', 'past_hole', 'hole'])
      await query(`ALTER TABLE ${table} SET (autovacuum_enabled = false)`)
    await fill(1)
    await query('ANALYZE state, change, past, past_hole, hole')
    await fill(2)
  })
  after(async () => {
    await planner?.close()
    await server?.stop()
  })

  /** Each item was replaced, in an order that is not that of the items, in a commit of its own. */
  const fill = async (id: number): Promise<void> => {
    const { query } = planner
    const numbers = `generate_series(0, ${ITEMS - 1}) n`
    await query(`INSERT INTO state SELECT ${id}, ${id}, n, n + 1, '', 1, ${ITEMS}, ${ITEMS}, 0, 0 FROM ${numbers}`)
    await query(`INSERT INTO change SELECT ${id}, ${id}, n, n + 1, 1, 1, n * 7 % ${ITEMS}, 1, 'a' FROM ${numbers}`)
    await query(`INSERT INTO past SELECT ${id}, ${id}, 1, n * 7 % ${ITEMS}, n FROM ${numbers}`)
    await query(`INSERT INTO past_hole SELECT ${id}, ${id}, 1, 0, n, n, 0 FROM ${numbers}`)
    await query(`INSERT INTO hole SELECT ${id}, ${id}, 0, n, 1 FROM ${numbers}`)
  }

  const list = (from: number, valueAt = (index: number) => index): string =>
    `'{${Array.from({ length: 500 }, (_, index) => valueAt(from + index))}}'`
  /** What follows shard key and id, and how many rows each needs. */
  const needs: readonly (readonly [StatementName, readonly (string | number)[], number])[] = [
    ['readStates', [1_500, 0, 2], 2],
    ['readLastState', [], 1],
    ['removeStates', [499, 500], 500],
    ['sweepStates', [500], 1_000],
    ['readStretches', [2_000, 2_500, 501], 501],
    ['readOldChanges', [0, 2_000, 500], 500],
    ['deleteChanges', [0, 499], 500],
    ['readPastAt', [1, list(500), 0, ITEMS], 1_000],
    ['readPastIn', [1, 500, 0, ITEMS, 1_000], 1_500],
    ['deletePast', [1, list(0, (number) => (number * 7) % ITEMS), 0, 499], 500],
    ['readPastHoles', [1, 0, list(500), 0], 500],
    ['deletePastHoles', [1, 0, list(0), 0, 499], 500],
    ['readHolesOf', [0, 500, 755], 256],
    ['readHolesAt', [list(0, () => 0), list(500)], 500],
    ['readLostPast', [], 4 * ITEMS],
  ]

  for (const mode of ['force_custom_plan', 'force_generic_plan'])
    it(`touch no more rows than they need: ${mode}`, async () => {
      const { query, schema } = planner
      for (const [name, values, rows] of needs) {
        await query(`BEGIN`)
        try {
          await query(`SET LOCAL plan_cache_mode = ${mode}`)
          await query(AVOID_WHOLE_TABLES)
          await query(`PREPARE explained AS ${statementsIn(schema)[name]}`)
          const [row] = await query(
            `EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, FORMAT JSON) EXECUTE explained(${[2, 2, ...values].join(', ')})`,
          )
          const [{ Plan: plan }] = (row ?? assert.fail())[0] as [{ readonly Plan: PlanNode }]
          // The rows of a loop are rounded.
          const isNear = Math.abs(rowsTouched(plan) - rows) <= rows / 100
          assert.ok(isNear, `${name}: ${rowsTouched(plan)} instead of ${rows}: ${JSON.stringify(plan)}`)
        } finally {
          await query('ROLLBACK')
          await query('DEALLOCATE ALL')
        }
      }
    })
})

describe('the statements of a store in PostgreSQL, as they are written', () => {
  it('never count or skip their way to a page', () => {
    for (const name of ['readParts', 'readTailPart', 'readLastParts', 'readWhole', 'readHead'] as const)
      assert.doesNotMatch(STATEMENTS[name].sql, /\bOFFSET\b|\bcount\(\*\)/i)
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
  const tablesOf = (sql: string): string[] => [...sql.matchAll(/@([a-z_]+)/g)].map(([, table]) => table ?? '')
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
