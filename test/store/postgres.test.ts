import { describeStore } from './describe-store.ts'
import { openPostgresForTest } from './postgres-engine.ts'
import { describePostgres } from './postgres-server.ts'

describePostgres('all that a store has to do', (startPostgres) =>
  describeStore('postgres', { open: async () => openPostgresForTest(await startPostgres()) }),
)
