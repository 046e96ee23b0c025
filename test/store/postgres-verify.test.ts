import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { deflateRawSync } from 'node:zlib'
import { itemRun } from '../../src/items/item-run.ts'
import { shardKeyOf } from '../../src/store/postgres/head.ts'
import { itemsFrom } from './describe-store.ts'
import { openPostgresForTest, type PostgresUnderTest } from './postgres-engine.ts'
import { describePostgres, type PostgresServer, startOwnPostgres } from './postgres-server.ts'

const SHARD_KEY = shardKeyOf('events')

interface Damage {
  readonly what: string
  /** Each statement must change something. */
  readonly sql: string | readonly string[]
  /** What `verify` must say. */
  readonly expected: RegExp
}

/** Each breaks one invariant behind the store's back. */
const DAMAGES: readonly Damage[] = [
  { what: 'a head that counts one too many', sql: 'UPDATE head SET live = live + 1', expected: /head says 1597 items/ },
  { what: 'a ream that is missing', sql: 'DELETE FROM ream WHERE number = 1', expected: /Ream 1 is missing/ },
  {
    what: 'a ream beyond the head',
    sql: 'UPDATE ream SET number = 7 WHERE number = 2',
    expected: /Ream 7 is beyond/,
  },
  {
    what: 'a wrong checksum',
    sql: 'UPDATE ream SET crc = crc + 1 WHERE number = 0',
    expected: /Ream 0 does not inflate/,
  },
  { what: 'a wrong length', sql: 'UPDATE ream SET raw_length = raw_length - 1', expected: /Ream 0 does not inflate/ },
  {
    what: 'damaged bytes',
    sql: "UPDATE ream SET data = '\\xffff' WHERE number = 2",
    expected: /Ream 2 does not inflate/,
  },
  {
    what: 'a wrong count in a ream',
    sql: 'UPDATE ream SET count = 400 WHERE number = 1',
    expected: /Ream 1 has a count of 400/,
  },
  {
    what: 'a map of what is gone that lies',
    sql: 'UPDATE ream SET gone = NULL WHERE number = 0',
    expected: /Ream 0 has a count of 498, but its bitmap has 0/,
  },
  {
    what: 'an item that is no object',
    sql: "UPDATE tail SET item = '[1]' WHERE position = 1500",
    expected: /position 1500 is not a JSON object: \[1\]/,
  },
  {
    what: 'an item that is no JSON',
    sql: "UPDATE tail SET item = '{' WHERE position = 1500",
    expected: /position 1500 is not JSON/,
  },
  {
    what: 'a line break in an item',
    sql: "UPDATE tail SET item = '\\x7b0a7d' WHERE position = 1500",
    expected: /holds a line break/,
  },
  {
    what: 'a tail item that is missing',
    sql: 'DELETE FROM tail WHERE position = 1550',
    expected: /hole count|head says/,
  },
  {
    what: 'a tail item beyond the head',
    sql: 'INSERT INTO tail SELECT shard_key, generation_id, 1700, item FROM tail WHERE position = 1500',
    expected: /Position 1700 in the tail is beyond/,
  },
  {
    what: 'a tail item in a sealed ream',
    sql: 'INSERT INTO tail SELECT shard_key, generation_id, 3, item FROM tail WHERE position = 1500',
    expected: /Position 3 is in the tail, though its ream is sealed/,
  },
  {
    what: 'a key that points elsewhere',
    sql: "UPDATE key SET position = 7 WHERE key = '5'",
    expected: /key "5" of the item at position 5 points to position 7/,
  },
  {
    what: 'a key that is missing',
    sql: "DELETE FROM key WHERE key = '1599'",
    expected: /key "1599" of the item at position 1599 is missing/,
  },
  {
    what: 'a key too many',
    sql: "INSERT INTO key SELECT shard_key, generation_id, 'x', 3 FROM key WHERE key = '3'",
    expected: /1597 keys for 1596 items with a key/,
  },
  {
    what: 'a hole count that is wrong',
    sql: 'UPDATE hole SET gone = 9 WHERE level = 1',
    expected: /hole count of level 1, block 0 is 9; 4 are gone/,
  },
  {
    what: 'a hole count that is missing',
    sql: 'DELETE FROM hole WHERE level = 2',
    expected: /hole count of level 2, block 0 is missing/,
  },
  {
    what: 'a hole count too many',
    sql: 'INSERT INTO hole SELECT shard_key, generation_id, 0, 2, 1 FROM hole WHERE level = 2',
    expected: /level 0, block 2 is 1; 0 are gone/,
  },
  {
    what: 'reams of no collection',
    sql: 'UPDATE head SET generation_id = 9',
    expected: /3 rows of "ream" belong to no collection/,
  },
  {
    what: 'items of readers that are marked as left over',
    sql: 'INSERT INTO leftover (shard_key, generation_id, base) SELECT shard_key, generation_id, 0 FROM head',
    expected: /"events" that readers see are marked/,
  },
  {
    what: 'leftovers that the head does not tell of',
    sql: 'INSERT INTO leftover (shard_key, generation_id, base) SELECT shard_key, generation_id, next FROM head',
    expected: /"events" does not say that a load is running/,
  },
  {
    what: 'a head that is not where its name belongs',
    // Citus takes no UPDATE of a shard key.
    sql: [
      `INSERT INTO head (shard_key, name, id, key_field, paginated, private, generation, version, next, live, generation_id, guarded,
        changed_at, commit_id, full_pages_id)
      SELECT shard_key + 1, name, id, key_field, paginated, private, generation, version, next, live, generation_id, guarded,
        changed_at, commit_id, full_pages_id FROM head`,
      `DELETE FROM head WHERE shard_key = ${SHARD_KEY}`,
    ],
    expected: /3 rows of "ream" belong to no collection/,
  },
]

describePostgres('verify, on PostgreSQL', (startPostgres) => {
  let server: PostgresServer | undefined
  const open = async (): Promise<PostgresUnderTest> => {
    assert.ok(server)
    return openPostgresForTest(server)
  }

  before(async () => {
    server = await startPostgres()
  })
  after(() => server?.stop())

  for (const { what, sql, expected } of DAMAGES)
    it(`finds ${what}`, async () => {
      const opened = await open()
      await opened.store.create('events', { keyField: 'id' })
      await opened.store.append('events', itemRun(itemsFrom(0, 1600), { keyField: 'id' }))
      await opened.store.delete('events', ['1', '2', '600', '1502'])
      assert.deepEqual((await opened.store.verify()).findings, [])
      for (const statement of [sql].flat()) assert.ok((await opened.execute(`${statement} RETURNING 1`)).length > 0)
      const { findings } = await opened.store.verify()
      assert.match(findings.map(({ message }) => message).join('\n'), expected)
      await opened.remove()
    })

  it('finds a ream whose bytes end the stream, which no gzip answer could be made of', async () => {
    const opened = await open()
    await opened.store.create('events')
    await opened.store.append('events', itemRun(itemsFrom(0, 500)))
    const raw = (await opened.store.page('events', 1))?.segments[0]?.raw() ?? new Uint8Array(0)
    await opened.execute('UPDATE ream SET data = $1', [deflateRawSync(raw)])
    const { findings } = await opened.store.verify()
    assert.match(findings.map(({ message }) => message).join(), /Ream 0 does not end with a sync flush/)
    await opened.remove()
  })

  it('is not troubled by a load that is running', async () => {
    const opened = await open()
    const { store } = opened
    await store.create('events', { keyField: 'id' })
    await store.append('events', itemRun(itemsFrom(0, 700), { keyField: 'id' }))
    const load = await store.load('events', { onConflict: 'replace' })
    await load.append(itemRun(itemsFrom(600, 1500), { keyField: 'id' }))
    const other = await store.load('venues', { isReplacement: true })
    await other.append(itemRun(itemsFrom(0, 700)))
    assert.deepEqual((await store.verify()).findings, [])
    await load.commit()
    await other.abort()
    assert.deepEqual((await store.verify()).findings, [])
    await opened.remove()
  })

  it('tells how far it is', async () => {
    const opened = await open()
    await opened.store.create('events')
    await opened.store.append('events', itemRun(itemsFrom(0, 1600)))
    const seen: number[] = []
    const result = await opened.store.verify((items, total) => {
      assert.equal(total, 1600)
      seen.push(items)
    })
    assert.deepEqual([result.items, seen.at(-1)], [1600, 1600])
    await opened.remove()
  })
})

it('verify says when the database runs without checksums, which is no damage', async () => {
  for (const [word, notes] of [
    ['--data-checksums', []],
    ['--no-data-checksums', [/^The database runs without data checksums/]],
  ] as const) {
    const own = await startOwnPostgres([], { initdb: [word] })
    const opened = await openPostgresForTest(own)
    const result = await opened.store.verify()
    assert.deepEqual([result.findings, result.notes.length], [[], notes.length])
    for (const [index, note] of notes.entries()) assert.match(result.notes[index] ?? '', note)
    await opened.remove()
    await own.stop()
  }
})
