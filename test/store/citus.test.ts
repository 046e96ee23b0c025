/** All that a store has to do, on the Citus that REAMS_TEST_CITUS names. */

import { describe } from 'node:test'
import { citusUrl, NO_CITUS } from './citus-server.ts'
import { describeStore } from './describe-store.ts'
import { openPostgresForTest } from './postgres-engine.ts'

describe('on Citus', { skip: NO_CITUS }, () => {
  describeStore('citus', { open: () => openPostgresForTest({ url: citusUrl, stop: async () => {} }) })
})
