/** The HTTP suite once more, over stores in PostgreSQL. */

import { after, describe } from 'node:test'
import { openPostgresTestStore } from '../store/postgres-engine.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { onEngine } from '../store/test-store.ts'
import { importServiceSuites } from './service-suites.ts'

const server = await startPostgres()
after(() => server.stop())

onEngine(() => openPostgresTestStore(server))

describe('on PostgreSQL', importServiceSuites)
