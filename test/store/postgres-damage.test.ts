import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { shardKeyOf } from '../../src/store/postgres/rows/head.ts'
import { isError, itemsFrom, keyed } from './items.ts'
import { openPostgresForTest, type PostgresUnderTest, rowsOf } from './postgres-engine.ts'
import { describePostgres } from './postgres-server.ts'
import { readAllPages, readPageTexts } from './store-reading.ts'

/** What only PostgreSQL has, by collection, with what `verify` must say. Each statement must change something. */
const DAMAGES: Readonly<Record<string, { sql: readonly string[]; expected: RegExp }>> = {
  'items of readers that are marked as left over': {
    sql: ['INSERT INTO leftover (shard_key, generation_id, base) SELECT shard_key, generation_id, 0 FROM head'],
    expected: /that readers see are marked/,
  },
  'leftovers that the head does not tell of': {
    sql: ['INSERT INTO leftover (shard_key, generation_id, base) SELECT shard_key, generation_id, next FROM head'],
    expected: /does not say that a load is running/,
  },
  'a head that is not where its name belongs': {
    // Citus takes no UPDATE of a shard key.
    sql: [
      `INSERT INTO head (shard_key, name, id, key_field, paginated, private, generation, version, next, live, generation_id, guarded,
        changed_at, commit_id, full_pages_id, changes, history_from, retention_ms, retention_bytes)
      SELECT shard_key + 1, name, id, key_field, paginated, private, generation, version, next, live, generation_id, guarded,
        changed_at, commit_id, full_pages_id, changes, history_from, retention_ms, retention_bytes FROM head`,
      'DELETE FROM head',
    ],
    expected: /3 rows of "ream" belong to no collection/,
  },
}

describePostgres('damage, on PostgreSQL alone', (startPostgres, isCitus) => {
  let opened: PostgresUnderTest

  before(async () => {
    opened = await openPostgresForTest(await startPostgres())
  })
  after(() => opened?.remove())

  it('is not to be feared where the database has checksums: verify notes nothing', async (t) => {
    if (isCitus) return t.skip('each of its nodes may have them or not')
    const [[setting] = []] = await opened.execute('SHOW data_checksums')
    const { findings, notes } = await opened.store.verify()
    assert.deepEqual([findings, notes.length], [[], setting === 'on' ? 0 : 1])
  })

  for (const [what, { sql, expected }] of Object.entries(DAMAGES))
    it(`is found by verify: ${what}`, async () => {
      const name = what.replaceAll(' ', '-')
      await opened.store.create(name, { keyField: 'id' })
      await opened.store.append(name, keyed(itemsFrom(0, 1510)))
      for (const statement of sql) {
        const rows = await opened.execute(`${statement} WHERE shard_key = ${shardKeyOf(name)} RETURNING 1`)
        assert.notDeepEqual(rows, [])
      }
      const { findings } = await opened.store.verify()
      const own = findings.filter(({ collection }) => collection === '' || collection === name)
      assert.match(own.map(({ message }) => message).join('\n'), expected)
    })

  it('is noticed by who reads a page, where a hole count or the count of a ream is wrong', async () => {
    await opened.store.create('damaged', { keyField: 'id' })
    await opened.store.append('damaged', keyed(itemsFrom(1, 2_000)))
    await opened.store.delete('damaged', ['1'])
    await readAllPages(opened.store, 'damaged')
    const own = rowsOf('damaged')
    await opened.execute(`UPDATE ream SET count = 498 WHERE ${own} AND number = 1`)
    await assert.rejects(opened.store.page('damaged', 2), isError('corrupt'))
    await opened.execute(`UPDATE ream SET count = 500 WHERE ${own} AND number = 1`)
    assert.deepEqual(await readPageTexts(opened.store, 'damaged', 2), itemsFrom(502, 500))
    await opened.execute(`UPDATE hole SET gone = 2 WHERE ${own} AND level = 0`)
    const fresh = await opened.openAgain()
    await assert.rejects(fresh.page('damaged', 2), isError('corrupt')).finally(() => fresh.close())
  })
})
