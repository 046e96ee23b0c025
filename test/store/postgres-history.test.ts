import { describeHistory } from './describe-history.ts'
import { openPostgresForTest } from './postgres-engine.ts'
import { describePostgres } from './postgres-server.ts'

describePostgres('a store in PostgreSQL', (startPostgres) =>
  describeHistory('postgres', { open: async () => openPostgresForTest(await startPostgres()) }),
)
