import { after, before, describe } from 'node:test'
import { TemporaryDirectory } from '../../src/cli/temporary-directory.ts'
import { NO_CITUS } from '../store/citus-server.ts'
import { PostgresCluster } from '../store/postgres-cluster.ts'
import { describeFaults } from './fault.ts'
import { FAULTS } from './faults/index.ts'
import { CITUS, lackOf, POSTGRES } from './needs.ts'

describe('a store in PostgreSQL keeps every acknowledged write, and each request whole or not at all', () => {
  const resources = new AsyncDisposableStack()
  /** One for all of them: making it takes longer than a round. */
  let postgres: PostgresCluster | undefined

  before(async () => {
    if ((await lackOf([POSTGRES])) !== undefined) return
    const directory = resources.use(new TemporaryDirectory())
    postgres = resources.use(await PostgresCluster.create(directory.path))
  })
  after(() => resources.disposeAsync())

  const faults = FAULTS.filter(({ needs }) => needs.includes(POSTGRES))
  describeFaults(faults, () => (postgres === undefined ? {} : { postgres }))
})

describe('a store in Citus keeps every acknowledged write, and each request whole or not at all', {
  skip: NO_CITUS,
}, () => {
  describeFaults(FAULTS.filter(({ needs }) => needs.includes(CITUS)))
})
