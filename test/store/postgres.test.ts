import { after, before } from 'node:test'
import { describeStore } from './describe-store.ts'
import { openPostgresForTest } from './postgres-engine.ts'
import { describePostgres, type PostgresServer } from './postgres-server.ts'

describePostgres('all that a store has to do', (startPostgres) => {
  let server: PostgresServer

  before(async () => {
    server = await startPostgres()
  })
  after(() => server?.stop())

  describeStore('postgres', { open: () => openPostgresForTest(server) })
})
