import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { FollowOptions } from '../../src/follow/follower.ts'
import { unfollow } from '../../src/follow/unfollow.ts'
import { newSchema, runSql, withParameter } from '../store/postgres-engine.ts'
import { waitUntil } from '../wait-until.ts'
import { CONNECTIONS, FollowedTwins, ITEMS, sharedSource } from './followed-twins.ts'

describe('a followed table that is altered', () => {
  const source = sharedSource()
  const open = (t: TestContext, definition = ITEMS) => FollowedTwins.open(t, source(), definition)
  const follow = (t: TestContext, definition = ITEMS, options: Partial<FollowOptions> = {}) =>
    FollowedTwins.follow(t, source(), definition, options)
  const CHANGE = "UPDATE t SET v = 'changed'"

  for (const [from, to] of [
    ['int', 'bigint'],
    ['int', 'text'],
    ['varchar(10)', 'varchar(20)'],
  ])
    it(`goes on when its key of type ${from} becomes ${to}, for sessions that wrote before too`, async (t) => {
      const twins = await follow(t, [
        `CREATE TABLE t (id ${from} PRIMARY KEY, v text)`,
        "INSERT INTO t VALUES ('1', 'one')",
      ])
      await twins.send(0, CHANGE)
      await twins.send(0, `ALTER TABLE t ALTER COLUMN id TYPE ${to}`)
      await twins.run("INSERT INTO t VALUES ('2', 'two')")
      await twins.run(
        "INSERT INTO t VALUES ('31234567890', 'long')",
        "UPDATE t SET id = '41234567890', v = 'moved' WHERE id = '2'",
      )
      await twins.run("DELETE FROM t WHERE id = '41234567890'")
    })

  it('is noticed when a column was dropped and added again with another default', async (t) => {
    const twins = await follow(t, ['CREATE TABLE t (id int PRIMARY KEY, x int)', 'INSERT INTO t VALUES (1, 1), (2, 2)'])
    await twins.run('BEGIN', 'ALTER TABLE t DROP COLUMN x', 'ALTER TABLE t ADD COLUMN x int DEFAULT 5', 'COMMIT')
  })

  for (const [what, statements, message] of [
    [
      'a column of the key is renamed',
      ['ALTER TABLE t RENAME COLUMN id TO number', "INSERT INTO t VALUES (3, 'three')"],
      /The column "id" of .*, which is the key, was dropped or renamed\. The collection stays as it is\./,
    ],
    ['it is not logged any more', ['ALTER TABLE t SET UNLOGGED'], /is not logged: .* by now\. The collection stays/],
    [
      'a child of it is not logged',
      ['CREATE UNLOGGED TABLE child () INHERITS (t)'],
      /is partly not logged: .*child.* by now/,
    ],
  ] as const)
    it(`says so, and leaves the collection, if ${what}`, async (t) => {
      const twins = await follow(t)
      await assert.rejects(twins.run(...statements), message)
    })

  it('says so if a child has a key that the table has itself', async (t) => {
    const twins = await follow(t, [...ITEMS, 'CREATE TABLE child (PRIMARY KEY (id)) INHERITS (t)'])
    const double = twins.run('INSERT INTO child SELECT * FROM t LIMIT 1')
    await assert.rejects(double, /several rows with the same key.*The collection stays as it is/)
  })

  it('says so if a child comes with a key that the table has itself', async (t) => {
    const twins = await follow(t)
    await twins.send(0, 'CREATE TABLE child (LIKE t INCLUDING ALL)')
    await twins.send(0, "INSERT INTO child VALUES (1, 'another')")
    const double = twins.run('ALTER TABLE child INHERIT t')
    await assert.rejects(double, /several rows have the key "1", .* delete all but one\. The collection stays as it is/)
  })

  it('is not followed by another key than the one that its queue has', async (t) => {
    const twins = await follow(t, [
      'CREATE TABLE t (id int PRIMARY KEY, code int NOT NULL UNIQUE, v text)',
      'INSERT INTO t VALUES (1, 2), (2, 3), (3, 1)',
    ])
    await twins.leave()
    await assert.rejects(twins.follow({ keyField: 'code' }), /by the key id, not code\. Go on with --key id/)
    twins.forgive()
    await twins.send(0, 'ALTER TABLE t DROP CONSTRAINT t_pkey, ADD PRIMARY KEY (code), ADD UNIQUE (id)')
    await assert.rejects(twins.follow({}), /by the key id, not code/)
    twins.forgive()
    await twins.send(0, `${CHANGE} WHERE id = 1`)
    await twins.follow({ keyField: 'id' })
    await twins.check()
  })

  for (const [type, value] of [
    ['interval', '-1 day -02:03:04'],
    ['tsrange', '[2030-02-03, 2030-03-04)'],
  ])
    it(`can have a key of type ${type}, which sessions write in their own ways`, async (t) => {
      const twins = await follow(t, [
        `CREATE TABLE t (id ${type} PRIMARY KEY, v text)`,
        `INSERT INTO t VALUES ('${value}')`,
      ])
      for (let connection = 0; connection < CONNECTIONS; connection++) {
        await twins.send(connection, `UPDATE t SET v = 'by ${connection}'`)
        await twins.check()
      }
    })

  it('is followed if there is a publication for all tables', async (t) => {
    const { url: server, store } = source()
    const database = newSchema()
    await runSql(server, '', `CREATE DATABASE ${database}`)
    const url = Object.assign(new URL(server), { pathname: `/${database}` }).href
    await runSql(url, '', 'CREATE PUBLICATION everything FOR ALL TABLES')
    const twins = await FollowedTwins.follow(t, { url, store })
    t.after(() => runSql(server, '', `DROP DATABASE ${database} WITH (FORCE)`))
    await twins.run(CHANGE)
    // Nothing could be deleted from the queue any more.
    const { queue } = await twins.names()
    await runSql(url, '', `ALTER TABLE ${queue} REPLICA IDENTITY DEFAULT`)
    await twins.run("UPDATE t SET v = 'changed again'")
  })

  it('gets another queue if somebody dropped it', async (t) => {
    const twins = await follow(t)
    const { queue, lost } = await twins.names()
    await runSql(source().url, '', `DROP TABLE ${queue}`)
    await twins.check()
    await twins.run(CHANGE)
    await runSql(source().url, '', `DROP SEQUENCE ${lost}`)
    await twins.check()
    await twins.run("UPDATE t SET v = 'changed again'")
  })

  it('never deadlocks with a session that locks a partition before the table', async (t) => {
    const twins = await follow(t, [
      'CREATE TABLE t (id int PRIMARY KEY, v text) PARTITION BY RANGE (id)',
      'CREATE TABLE p1 PARTITION OF t FOR VALUES FROM (0) TO (100)',
      'CREATE TABLE p2 PARTITION OF t FOR VALUES FROM (100) TO (200)',
      "INSERT INTO t VALUES (1, 'one'), (101, 'two')",
    ])
    for (let time = 0; time < 3; time++) {
      await twins.send(0, 'BEGIN')
      await twins.send(0, 'TRUNCATE p2')
      // Long enough for the follower to come.
      await twins.send(0, 'DO $$ BEGIN PERFORM pg_sleep(0.05); END $$')
      const { state } = await twins.send(0, "ALTER TABLE t ALTER COLUMN v SET DEFAULT 'none'")
      assert.equal(state, undefined)
      await twins.send(0, 'COMMIT')
    }
    await twins.check()
  })

  it('may have a temporary child, whose rows nobody else can see', async (t) => {
    const twins = await follow(t)
    await twins.run('CREATE TEMPORARY TABLE mine () INHERITS (t)', "INSERT INTO mine VALUES (3, 'three')")
    await twins.run(CHANGE)
    await twins.run('DROP TABLE mine')
  })

  it('may have had a temporary child before it was followed', async (t) => {
    const twins = await follow(t, [...ITEMS, 'CREATE TEMPORARY TABLE mine () INHERITS (t)'])
    await twins.run(CHANGE)
  })

  it('is followed if the database quotes all names', async (t) => {
    const url = withParameter(source().url, 'options', encodeURIComponent('-c quote_all_identifiers=on'))
    const twins = await follow(t, ITEMS, { url })
    await twins.run(CHANGE)
  })

  it('says that it was dropped, also before there is a collection', async (t) => {
    const twins = await open(t)
    const approve = async () => void (await twins.send(0, 'DROP TABLE t'))
    await assert.rejects(
      twins.follow({ approve }),
      /The follower failed: .* was dropped\. The collection stays as it is\./,
    )
  })

  it('leaves no connection open if nobody followed it and it is unfollowed', async () => {
    const { url: server } = source()
    const schema = newSchema()
    const url = withParameter(server, 'application_name', schema)
    await runSql(server, '', `CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.t ()`)
    const { signal } = new AbortController()
    assert.equal(await unfollow({ url, table: `${schema}.t`, schema: `${schema}_follow`, signal, onWait: () => {} }), 0)
    // The server notices the end a little later.
    const connections = 'SELECT FROM pg_stat_activity WHERE application_name = $1'
    await waitUntil(async () => (await runSql(server, '', connections, [schema])).length === 0)
    await runSql(server, '', `DROP SCHEMA ${schema} CASCADE`)
  })
})
