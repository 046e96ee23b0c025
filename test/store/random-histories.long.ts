/**
 * What takes long of the store's specification: many more random histories than `npm test` tries, on every engine, and all
 * damages of a store in PostgreSQL.
 */

import { after, before, describe } from 'node:test'
import { describeModel } from './describe-model.ts'
import { describeVerify } from './describe-verify.ts'
import { MEMORY_ENGINE } from './memory-engine.ts'
import { openPostgresForTest } from './postgres-engine.ts'
import { startPostgres } from './postgres-server.ts'
import { openSqliteForTest } from './sqlite-engine.ts'
import { newSubject } from './subject.ts'
import type { Engine, StoreUnderTest } from './test-store.ts'

const RUNS = 20

const server = await startPostgres()
after(() => server.stop())

const ENGINES: Readonly<Record<string, Engine>> = {
  memory: MEMORY_ENGINE,
  SQLite: { open: openSqliteForTest },
  PostgreSQL: { open: () => openPostgresForTest(server) },
}

for (const [name, engine] of Object.entries(ENGINES))
  describe(`a store in ${name}`, () => {
    let opened: StoreUnderTest
    const subject = newSubject(() => opened)

    before(async () => {
      opened = await engine.open()
    })
    after(() => opened?.remove())

    describeModel(subject, { runs: RUNS })
    if (name === 'PostgreSQL') describeVerify(engine)
  })
