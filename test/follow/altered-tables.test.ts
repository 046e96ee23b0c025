import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FollowOptions } from '../../src/follow/follower.ts'
import { unfollow } from '../../src/follow/unfollow.ts'
import { newSchema, runSql, withParameter } from '../store/postgres-engine.ts'
import { type PostgresServer, startPostgres } from '../store/postgres-server.ts'
import { openSqliteForTest } from '../store/sqlite-engine.ts'
import type { StoreUnderTest } from '../store/test-store.ts'
import { CONNECTIONS, FollowedTwins } from './followed-twins.ts'

describe('a followed table that is altered', () => {
  let server: PostgresServer
  let opened: StoreUnderTest

  before(async () => {
    server = await startPostgres()
    opened = await openSqliteForTest()
  })
  after(async () => {
    await opened?.remove()
    await server?.stop()
  })

  const ITEMS = [
    'CREATE TABLE t (id int PRIMARY KEY, v text, x int)',
    "INSERT INTO t VALUES (1, 'one', 1), (2, 'two', 2)",
  ]

  /** Follows a table, does something to it, and compares; `use` may compare in between. */
  async function following(
    definition: readonly string[],
    use: (send: (statement: string) => Promise<string | undefined>, twins: FollowedTwins) => Promise<void>,
    options: Partial<FollowOptions> = {},
  ): Promise<void> {
    const twins = await FollowedTwins.open(opened.store, server.url, definition)
    try {
      await twins.follow(options)
      await use(async (statement) => (await twins.send(0, statement)).state, twins)
      await twins.check()
    } finally {
      await twins.close()
    }
  }

  for (const [from, to] of [
    ['int', 'bigint'],
    ['int', 'text'],
    ['varchar(10)', 'varchar(20)'],
  ])
    it(`goes on when its key of type ${from} becomes ${to}, for sessions that wrote before too`, () =>
      following(
        [`CREATE TABLE t (id ${from} PRIMARY KEY, v text)`, "INSERT INTO t VALUES ('1', 'one')"],
        async (send, twins) => {
          await send("UPDATE t SET v = 'changed'")
          await send(`ALTER TABLE t ALTER COLUMN id TYPE ${to}`)
          assert.equal(await send("INSERT INTO t VALUES ('2', 'two')"), undefined)
          await twins.check()
          assert.equal(await send("INSERT INTO t VALUES ('31234567890', 'long')"), undefined)
          await send("UPDATE t SET id = '41234567890', v = 'moved' WHERE id = '2'")
          await twins.check()
          await send("DELETE FROM t WHERE id = '41234567890'")
        },
      ))

  it('is noticed when a column was dropped and added again with another default', () =>
    following(ITEMS, async (send) => {
      await send('BEGIN')
      await send('ALTER TABLE t DROP COLUMN x')
      await send('ALTER TABLE t ADD COLUMN x int DEFAULT 5')
      await send('COMMIT')
    }))

  it('says so, and leaves the collection, where a column of the key is renamed', async () => {
    const rename = following(ITEMS, async (send) => {
      await send('ALTER TABLE t RENAME COLUMN id TO number')
      assert.equal(await send("INSERT INTO t VALUES (3, 'three', 3)"), undefined)
    })
    await assert.rejects(
      rename,
      /The column "id" of .*, which is the key, was dropped or renamed\. The collection stays as it is\./,
    )
  })

  for (const [what, statement, message] of [
    ['it is not logged any more', 'ALTER TABLE t SET UNLOGGED', /is not logged: .* by now\. The collection stays/],
    [
      'a child of it is not logged',
      'CREATE UNLOGGED TABLE child () INHERITS (t)',
      /is partly not logged: .*child.* by now/,
    ],
  ] as const)
    it(`says so, and ends, where ${what}`, async () => {
      const alter = following(ITEMS, async (send) => assert.equal(await send(statement), undefined))
      await assert.rejects(alter, message)
    })

  it('is not followed on by another key, as which the queue would be read', () =>
    following(
      [
        'CREATE TABLE t (id int PRIMARY KEY, code int NOT NULL UNIQUE, v text)',
        'INSERT INTO t VALUES (1, 2), (2, 3), (3, 1)',
      ],
      async (send, twins) => {
        await twins.leave()
        await assert.rejects(twins.follow({ keyField: 'code' }), /by the key id, not code\. Go on with --key id/)
        twins.forgive()
        await send('ALTER TABLE t DROP CONSTRAINT t_pkey, ADD PRIMARY KEY (code), ADD UNIQUE (id)')
        await assert.rejects(twins.follow({}), /by the key id, not code/)
        twins.forgive()
        await send("UPDATE t SET v = 'changed' WHERE id = 1")
        await twins.follow({ keyField: 'id' })
      },
    ))

  for (const [type, value] of [
    ['interval', '-1 day -02:03:04'],
    ['tsrange', '[2030-02-03, 2030-03-04)'],
  ])
    it(`can have a key of type ${type}, which sessions write in their own ways`, () =>
      following(
        [`CREATE TABLE t (id ${type} PRIMARY KEY, v text)`, `INSERT INTO t VALUES ('${value}')`],
        async (_send, twins) => {
          for (let connection = 0; connection < CONNECTIONS; connection++) {
            await twins.send(connection, `UPDATE t SET v = 'by ${connection}'`)
            await twins.check()
          }
        },
      ))

  it('is followed where there is a publication for all tables', async (t) => {
    const database = newSchema()
    await runSql(server.url, '', `CREATE DATABASE ${database}`)
    t.after(() => runSql(server.url, '', `DROP DATABASE ${database} WITH (FORCE)`))
    const url = Object.assign(new URL(server.url), { pathname: `/${database}` }).href
    await runSql(url, '', 'CREATE PUBLICATION everything FOR ALL TABLES')
    const twins = await FollowedTwins.open(opened.store, url, ITEMS)
    try {
      await twins.follow()
      await twins.send(0, "UPDATE t SET v = 'changed' WHERE id = 1")
      await twins.check()
      // Nothing could be deleted from the queue any more.
      const { queue } = await twins.names()
      await runSql(url, '', `ALTER TABLE ${queue} REPLICA IDENTITY DEFAULT`)
      await twins.send(0, "UPDATE t SET v = 'changed again' WHERE id = 1")
      await twins.check()
    } finally {
      await twins.close()
    }
  })

  it('gets another queue where somebody dropped it', () =>
    following(ITEMS, async (send, twins) => {
      const names = await twins.names()
      await runSql(server.url, '', `DROP TABLE ${names.queue}`)
      await twins.check()
      await send("UPDATE t SET v = 'changed'")
      await twins.check()
      await runSql(server.url, '', `DROP SEQUENCE ${names.lost}`)
      await twins.check()
      assert.equal(await send("UPDATE t SET v = 'changed again'"), undefined)
    }))

  it('says so where a child has a key that the table has itself', async () => {
    const double = following([...ITEMS, 'CREATE TABLE child (PRIMARY KEY (id)) INHERITS (t)'], async (send) => {
      assert.equal(await send('INSERT INTO child SELECT * FROM t LIMIT 1'), undefined)
    })
    await assert.rejects(double, /several rows with the same key.*The collection stays as it is/)
  })

  it('never deadlocks with who locks a partition before the table', () =>
    following(
      [
        'CREATE TABLE t (id int PRIMARY KEY, v text) PARTITION BY RANGE (id)',
        'CREATE TABLE p1 PARTITION OF t FOR VALUES FROM (0) TO (100)',
        'CREATE TABLE p2 PARTITION OF t FOR VALUES FROM (100) TO (200)',
        "INSERT INTO t VALUES (1, 'one'), (101, 'two')",
      ],
      async (send) => {
        for (let time = 0; time < 5; time++) {
          await send('BEGIN')
          await send('TRUNCATE p2')
          // Long enough for the follower to come.
          await send('DO $$ BEGIN PERFORM pg_sleep(0.05); END $$')
          assert.equal(await send("ALTER TABLE t ALTER COLUMN v SET DEFAULT 'none'"), undefined)
          await send('COMMIT')
        }
      },
    ))

  it('may have a child that is temporary, whose rows nobody else can see', () =>
    following(ITEMS, async (send, twins) => {
      await send('CREATE TEMPORARY TABLE mine () INHERITS (t)')
      await send("INSERT INTO mine VALUES (3, 'three', 3)")
      await twins.check()
      await send("UPDATE t SET v = 'changed'")
      await twins.check()
      await send('DROP TABLE mine')
    }))

  it('may have a child that was there already when it is followed, and is temporary', () =>
    following([...ITEMS, 'CREATE TEMPORARY TABLE mine () INHERITS (t)'], async (send) => {
      await send("UPDATE t SET v = 'changed'")
    }))

  it('is followed where the database quotes all names', async () => {
    const url = withParameter(server.url, 'options', encodeURIComponent('-c quote_all_identifiers=on'))
    await following(ITEMS, async (send) => void (await send("UPDATE t SET v = 'changed'")), { url })
  })

  it('says that it was dropped, also before there is a collection', async () => {
    const twins = await FollowedTwins.open(opened.store, server.url, ITEMS)
    const approve = async () => void (await twins.send(0, 'DROP TABLE t'))
    await assert.rejects(
      twins.follow({ approve }),
      /The follower failed: .* was dropped\. The collection stays as it is\./,
    )
    await twins.close()
  })

  it('leaves no connection behind where nobody followed it and it is unfollowed', async () => {
    const schema = newSchema()
    const url = withParameter(server.url, 'application_name', schema)
    await runSql(server.url, '', `CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.t ()`)
    const { signal } = new AbortController()
    assert.equal(await unfollow({ url, table: `${schema}.t`, schema: `${schema}_follow`, signal, onWait: () => {} }), 0)
    const connections = 'SELECT count(*)::int FROM pg_stat_activity WHERE application_name = $1'
    // The server notices the end a little later.
    for (let tries = 0; tries < 50 && (await runSql(server.url, '', connections, [schema]))[0]?.[0] !== 0; tries++)
      await sleep(100)
    assert.deepEqual(await runSql(server.url, '', connections, [schema]), [[0]])
    await runSql(server.url, '', `DROP SCHEMA ${schema} CASCADE`)
  })
})
