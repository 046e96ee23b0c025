/** The random histories of `tag-bytes.test.ts`, many more of them, on both engines. */

import { after, describe } from 'node:test'
import { openPostgresForTest } from '../store/postgres-engine.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { openSqliteForTest } from '../store/sqlite-engine.ts'
import { describeRestoredTags, describeTagBytes } from './describe-tag-bytes.ts'

const RUNS = 20

describe('a service on SQLite', () => {
  describeTagBytes(openSqliteForTest, RUNS)
  describeRestoredTags(RUNS)
})

describe('a service on PostgreSQL', async () => {
  const server = await startPostgres()
  after(() => server.stop())
  describeTagBytes(() => openPostgresForTest(server), RUNS)
})
