import { randomBytes } from 'node:crypto'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import { item, keyed } from './items.ts'
import { runSql, withParameter } from './postgres-engine.ts'
import { startOwnPostgres } from './postgres-server.ts'

const LARGE_ITEMS = 500
const TURNS = 100

/** Does not get smaller when it is deflated. */
const largeItem = (id: number): string => item(id, `,"bytes":"${randomBytes(1_500).toString('base64')}"`)

it('removes the rows that replaced items leave behind without waiting for autovacuum', async (t) => {
  const server = await startOwnPostgres(['autovacuum=off'])
  t.after(() => server.stop())
  const store = await openPostgresStore({ url: withParameter(server.url, 'schema', 'reams'), create: true })
  t.after(() => store.close())
  await store.create('events', { keyField: 'id' })
  await store.append('events', keyed(Array.from({ length: LARGE_ITEMS }, (_, id) => largeItem(id))))
  const isVacuumed = async (): Promise<boolean> => {
    const [row] = await runSql(
      server.url,
      '',
      `
      SELECT s.last_vacuum IS NOT NULL AND s.n_dead_tup < 32000 FROM pg_class r
      JOIN pg_stat_all_tables s ON s.relid = r.reltoastrelid WHERE r.oid = 'reams.ream'::regclass`,
    )
    return row?.[0] === true
  }
  for (let turn = 0; turn < TURNS; turn++) await store.replace('events', keyed([largeItem(turn)]))
  while (!(await isVacuumed())) {
    await sleep(200)
    await store.replace('events', keyed([largeItem(1)]))
  }
})
