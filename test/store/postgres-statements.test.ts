import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Client } from 'pg'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import { statementsIn } from '../../src/store/postgres/rows.ts'
import { STATEMENTS, type StatementName } from '../../src/store/postgres/statements.ts'
import { newSchema, withParameter } from './postgres-engine.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'

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

/** Opens a store, and a connection that prepares statements for its tables and explains them. */
async function openPlanner(server: string) {
  const schema = newSchema()
  const store = await openPostgresStore({ url: withParameter(server, 'schema', schema), create: true })
  const client = new Client(server)
  await client.connect()
  return {
    async explain(name: StatementName): Promise<string> {
      const text = statementsIn(schema)[name]
      const examples = examplesFor(text)
      await client.query(`PREPARE explained AS ${text}`)
      const values = examples.length === 0 ? '' : `(${examples.join(', ')})`
      const { rows } = await client.query({ text: `EXPLAIN (COSTS OFF) EXECUTE explained${values}`, rowMode: 'array' })
      await client.query('DEALLOCATE explained')
      return rows.map(([line]) => line).join('\n')
    },
    query: (text: string) => client.query(text),
    async close() {
      await store.close()
      await client.query(`DROP SCHEMA ${schema} CASCADE`)
      await client.end()
    },
  }
}

describe('the statements of a store in PostgreSQL', () => {
  let server: PostgresServer | undefined
  let planner: Awaited<ReturnType<typeof openPlanner>>

  before(async () => {
    server = await startPostgres()
    planner = await openPlanner(server.url)
    // A scan of a whole table is then chosen only where there is no other way.
    await planner.query('SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan')
  })
  after(async () => {
    await planner?.close()
    await server?.stop()
  })

  it('can all be prepared, and none of the hot ones has to read a whole table', async () => {
    for (const name of names) {
      const plan = await planner.explain(name)
      if (STATEMENTS[name].isHot && name !== 'ping') assert.doesNotMatch(plan, /Seq Scan/, `${name}:\n${plan}`)
    }
  })

  it('never count or skip their way to a page', () => {
    for (const name of ['readParts', 'readTailPart', 'readLastParts', 'readWhole', 'readHead'] as const)
      assert.doesNotMatch(STATEMENTS[name].sql, /\bOFFSET\b|\bcount\(\*\)/i)
  })

  it('are all sent by somebody', () => {
    const directory = join(import.meta.dirname, '../../src/store/postgres')
    const files = globSync('*.ts', { cwd: directory }).filter((file) => file !== 'statements.ts')
    const source = files.map((file) => readFileSync(join(directory, file), 'utf8')).join('\n')
    assert.deepEqual(
      names.filter((name) => !source.includes(`'${name}'`)),
      [],
    )
  })
})

describe('the statements of a store in Citus', () => {
  it('are one task on one shard each, if they are hot', async (context) => {
    const url = process.env['REAMS_TEST_CITUS']
    if (url === undefined || url === '') return context.skip('REAMS_TEST_CITUS names no Citus')
    const planner = await openPlanner(url)
    try {
      for (const name of names.filter((each) => STATEMENTS[each].isHot)) {
        const plan = await planner.explain(name)
        const tasks = [...plan.matchAll(/Task Count: (\d+)/g)].map(([, count]) => Number(count))
        assert.ok(
          tasks.every((count) => count === 1),
          `${name}:\n${plan}`,
        )
        assert.doesNotMatch(plan, /coordinator|repartition/, `${name}:\n${plan}`)
      }
    } finally {
      await planner.close()
    }
  })
})
