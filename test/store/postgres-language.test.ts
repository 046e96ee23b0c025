import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import { itemRun } from '../../src/items/item-run.ts'
import { startGermanPostgres } from './german-postgres.ts'
import { isError, item, itemsFrom, keyed } from './items.ts'
import { openPostgresForTest, type PostgresUnderTest, runSql } from './postgres-engine.ts'
import type { PostgresServer } from './postgres-server.ts'
import { pagesOf, readItems, readPageTexts } from './store-reading.ts'
import { newSubject } from './subject.ts'

describe('a PostgreSQL whose messages are German', () => {
  let server: PostgresServer
  let engine: PostgresUnderTest
  const { filled } = newSubject(() => engine)

  before(async () => {
    server = await startGermanPostgres()
    engine = await openPostgresForTest(server)
  })
  after(async () => {
    await engine?.remove()
    await server?.stop()
  })

  it('calls an error FEHLER', async () => {
    await assert.rejects(runSql(server.url, '', 'SELECT 1 / 0'), { severity: 'FEHLER', code: '22012' })
  })

  it('spoils no read but the one that it refuses', async () => {
    const texts = itemsFrom(0, 2_600)
    await engine.store.create('read')
    await engine.store.append('read', itemRun(texts))
    await engine.withReamView('count', 'count + 0 / (number - 2)::integer', async () => {
      const store = await engine.openAgain()
      const pages = pagesOf(texts)
      const reads = await Promise.allSettled(pages.map((_, index) => readPageTexts(store, 'read', index + 1)))
      await store.close()
      for (const [index, read] of reads.entries())
        if (index === 2) assert.equal(read.status, 'rejected')
        else assert.deepEqual(read, { status: 'fulfilled', value: pages[index] })
    })
  })

  /** What happens when a transaction that changed a head is committed. */
  const atCommit = async (t: TestContext, action: string): Promise<void> => {
    const signature = 'ON head DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION at_commit()'
    await engine.execute(
      `CREATE FUNCTION at_commit() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN ${action}; RETURN NULL; END'`,
    )
    await engine.execute(`CREATE CONSTRAINT TRIGGER at_commit AFTER UPDATE ${signature}`)
    t.after(() => engine.execute('DROP FUNCTION at_commit CASCADE'))
  }

  it('has undone a write whose commit breaks a constraint', async (t) => {
    const name = await filled(3)
    await atCommit(t, `RAISE check_violation`)
    await assert.rejects(engine.store.append(name, keyed([item(10)])), isError('unsupported'))
    assert.deepEqual(await readItems(engine.store, name), itemsFrom(0, 3))
  })

  for (const [happening, action] of [
    ['that it lost a connection to another server', `RAISE connection_failure`],
    ['an error that says nothing', `RAISE internal_error`],
    ['that its session ends', 'PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(60)'],
  ] as const)
    it(`leaves the outcome of a write unknown when it answers to the commit ${happening}`, async (t) => {
      const name = await filled(3)
      await atCommit(t, action)
      await assert.rejects(engine.store.append(name, keyed([item(10)])), isError('outcome-unknown'))
    })
})
