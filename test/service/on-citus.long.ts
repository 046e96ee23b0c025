/** The HTTP suite once more, over stores in the Citus that REAMS_TEST_CITUS names. */

import { describe } from 'node:test'
import { CITUS, NO_CITUS } from '../store/citus-server.ts'
import { openPostgresTestStore } from '../store/postgres-engine.ts'
import { onEngine } from '../store/test-store.ts'
import { importServiceSuites } from './service-suites.ts'

onEngine(() => openPostgresTestStore(CITUS))

describe('on Citus', { skip: NO_CITUS }, importServiceSuites)
