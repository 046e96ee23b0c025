import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { describeStore } from './describe-store.ts'
import { openPostgresForTest } from './postgres-engine.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'

let server: PostgresServer | undefined

before(async () => {
  server = await startPostgres()
})
after(() => server?.stop())

describeStore('postgres', {
  async open() {
    assert.ok(server)
    return openPostgresForTest(server)
  },
})
