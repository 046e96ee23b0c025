import assert from 'node:assert/strict'
import { it } from 'node:test'
import { changeOf } from '../../src/store/changes.ts'
import { DeflatePool } from '../../src/store/deflate-pool.ts'
import { Connections } from '../../src/store/postgres/server/connection.ts'
import { readStoreUrl } from '../../src/store/postgres/server/store-url.ts'
import { commitTogether } from '../../src/store/postgres/write/commit-together.ts'
import { item, keyed } from './items.ts'
import { openPostgresForTest } from './postgres-engine.ts'
import { describePostgres } from './postgres-server.ts'
import { KEYED } from './subject.ts'

describePostgres('changes to a collection in PostgreSQL', (startPostgres) => {
  it('a change that is sent again gets its first answer, even if it changed nothing', async (t) => {
    const { store, url, remove } = await openPostgresForTest(await startPostgres())
    t.after(remove)
    const connections = new Connections(readStoreUrl(url), {
      mostConnections: 1,
      isPipelined: true,
      statementMs: 10_000,
    })
    t.after(() => connections.close())
    const pool = new DeflatePool()
    t.after(() => pool.close())
    const head = await store.create('events', KEYED)
    const ensure = { change: changeOf(['ensure', KEYED]), once: { key: 'ensure', digest: 'a' } }
    const send = () => connections.lend((rows) => commitTogether(rows, 'events', [ensure], pool))
    const first = [{ value: { head, isNew: false } }]
    assert.deepEqual(await send(), first)
    await store.append('events', keyed([item(1)]))
    assert.deepEqual(await send(), first)
  })
})
