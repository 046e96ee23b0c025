import { after, before, describe } from 'node:test'
import { type PostgresServer, startPostgres } from '../store/postgres-server.ts'
import { openSqliteForTest } from '../store/sqlite-engine.ts'
import type { StoreUnderTest } from '../store/test-store.ts'
import { describeRandomSql } from './random-sql.ts'

/** Of each kind of table; `random-sql.long.ts` tries many more. */
const RUNS = Number(process.env['REAMS_TEST_RUNS'] ?? 4)

describe('a followed table and random SQL', () => {
  let server: PostgresServer
  let opened: StoreUnderTest

  before(async () => {
    server = await startPostgres()
    opened = await openSqliteForTest()
  })
  after(async () => {
    await opened?.remove()
    await server?.stop()
  })

  describeRandomSql(
    () => opened.store,
    () => server.url,
    RUNS,
  )
})
