import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { DatabaseError } from 'pg'
import { TemporaryDirectory } from '../../src/cli/temporary-directory.ts'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import { isRecoveryConflict } from '../../src/store/postgres/server/explain-error.ts'
import type { Store } from '../../src/store/store.ts'
import { changed, isError, itemsFrom, keyed } from './items.ts'
import { PostgresCluster } from './postgres-cluster.ts'

const ITEMS = 3_000

/** No read may be in the way of what comes from the primary. */
const AT_ONCE = ['max_standby_streaming_delay = 0', 'hot_standby = on']

it('a deadlock of several workers of Citus is no conflict with a primary', () => {
  const reported = (error: Partial<DatabaseError>) =>
    Object.assign(new DatabaseError('it was cancelled', 0, 'error'), error)
  const deadlock = { severity: 'ERROR', code: '40P01', routine: 'ProcessInterrupts' }
  assert.equal(isRecoveryConflict(reported(deadlock)), false)
  assert.equal(isRecoveryConflict(reported({ ...deadlock, detail: 'User transaction caused buffer deadlock.' })), true)
})

describe('a store on a standby', () => {
  const directory = new TemporaryDirectory()
  let primary: PostgresCluster
  let standby: PostgresCluster
  let onPrimary: Store
  let onStandby: Store

  before(async () => {
    primary = await PostgresCluster.create(directory.path, ['autovacuum = off'])
    onPrimary = await openPostgresStore({ url: primary.storeIn('store_1'), create: true })
    await onPrimary.create('events', { keyField: 'id' })
    await onPrimary.append('events', keyed(itemsFrom(0, ITEMS)))
    await onPrimary.close()
    standby = await primary.standby(directory.path, AT_ONCE)
    onPrimary = await openPostgresStore({ url: primary.storeIn('store_1') })
    onStandby = await openPostgresStore({ url: standby.storeIn('store_1') })
  })
  after(async () => {
    await onPrimary?.close()
    await onStandby?.close()
    await standby?.[Symbol.asyncDispose]()
    await primary?.[Symbol.asyncDispose]()
    directory[Symbol.dispose]()
  })

  const execute = async (cluster: PostgresCluster, sql: string): Promise<Record<string, unknown>[]> => {
    await using client = await cluster.connect()
    return (await client.query(sql)).rows
  }

  /** Rewrites items, and takes away what only old snapshots can see. */
  const churn = async (round: number): Promise<void> => {
    const places = Array.from({ length: 20 }, (_, index) => (round * 131 + index * 149) % ITEMS)
    await Promise.all(places.map((place) => onPrimary.put('events', keyed([changed(place, round)]))))
    await execute(primary, 'VACUUM store_1.ream, store_1.head, store_1.state')
  }

  /** Until the standby has cancelled something. */
  const churnUntilCancelled = async (): Promise<void> => {
    const count = async (): Promise<number> => {
      const counts = 'sum(confl_snapshot + confl_bufferpin + confl_lock)::integer'
      const [{ sum } = {}] = await execute(standby, `SELECT ${counts} AS sum FROM pg_stat_database_conflicts`)
      return Number(sum)
    }
    const before = await count()
    for (let round = 0; (await count()) === before; round++) {
      assert.ok(round < 2_000, 'The standby cancelled nothing.')
      await churn(round)
    }
  }

  it('sends reads again that the standby cancels', async () => {
    let isOver = false
    const read = async (): Promise<number> => {
      let pages = 0
      for (; !isOver; pages++) assert.equal((await onStandby.page('events', 1 + (pages % 6)))?.head.live, ITEMS)
      return pages
    }
    const readers = Promise.all(Array.from({ length: 8 }, read))
    try {
      await churnUntilCancelled()
    } finally {
      isOver = true
    }
    assert.ok((await readers).every((pages) => pages > 0))
  })

  it('says why when it cancels a long read', async () => {
    const items = onStandby.items('events')[Symbol.asyncIterator]()
    assert.ok(!(await items.next()).done)
    await churnUntilCancelled()
    await assert.rejects(
      async () => {
        while (!(await items.next()).done);
      },
      isError(
        'unavailable',
        /The standby applied a change of its primary that this read was in the way of.*hot_standby_feedback/,
      ),
    )
  })

  it('refuses writes', async () => {
    await assert.rejects(onStandby.append('events', keyed(itemsFrom(ITEMS, 1))), isError('read-only', /standby/))
  })
})
