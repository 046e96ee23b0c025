import assert from 'node:assert/strict'
import { it } from 'node:test'
import { inMessages } from '../../src/store/postgres/rows/stored-ream.ts'
import { describeHistory } from './describe-history.ts'
import { openPostgresForTest } from './postgres-engine.ts'
import { describePostgres } from './postgres-server.ts'

describePostgres('a store in PostgreSQL', (startPostgres) =>
  describeHistory('postgres', { open: async () => openPostgresForTest(await startPostgres()) }),
)

it('rows go in messages of about a megabyte, and a larger one goes alone', () => {
  // A commit may have gigabytes of history, and no message as much as half of one.
  const sizes = [600_000, 300_000, 200_000, 5_000_000, 1]
  assert.deepEqual([...inMessages(sizes, (size) => size)], [[600_000, 300_000], [200_000], [5_000_000], [1]])
  assert.deepEqual([...inMessages([], () => 1)], [])
})
