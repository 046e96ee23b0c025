/** The HTTP suite once more, with the checker and the client on top of it, over stores in PostgreSQL. */

import { after, describe } from 'node:test'
import { openPostgresTestStore } from '../store/postgres-engine.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { onEngine } from '../store/test-store.ts'

const SUITES = [
  './access-matrix.test.ts',
  './base-url.test.ts',
  './broken-bodies.test.ts',
  './caching.test.ts',
  './collection.test.ts',
  './item.test.ts',
  './large-bodies.test.ts',
  './page-cache.test.ts',
  './paths.test.ts',
  './repeated-writes.test.ts',
  './representation.test.ts',
  './writes.test.ts',
  './wrong-targets.test.ts',
  './wrong-writes.test.ts',
  '../check/own-service.test.ts',
  '../client/collection.test.ts',
]

const server = await startPostgres()
after(() => server.stop())

onEngine(() => openPostgresTestStore(server))

describe('on PostgreSQL', async () => {
  for (const suite of SUITES) await import(suite)
})
