import { describe } from 'node:test'
import { NO_CITUS } from '../store/citus-server.ts'
import { describeFaults } from './describe-faults.ts'
import { FAULTS } from './faults/index.ts'
import { CITUS } from './needs.ts'

describe('a store in Citus keeps every acknowledged write, and each request whole or not at all', {
  skip: NO_CITUS,
}, () => {
  describeFaults(FAULTS.filter(({ needs }) => needs.includes(CITUS)))
})
