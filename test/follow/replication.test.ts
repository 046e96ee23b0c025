/** Prepared transactions, logical replication and followers that are away, at the source of a follower. */

import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { FollowOptions } from '../../src/follow/follower.ts'
import { linesIn } from '../cli/items.ts'
import { newSchema, runSql } from '../store/postgres-engine.ts'
import { startOwnPostgres } from '../store/postgres-server.ts'
import { openSqliteForTest } from '../store/sqlite-engine.ts'
import { waitUntil } from '../wait-until.ts'
import { FollowedTwins, ITEMS, sharedSource } from './followed-twins.ts'

describe('a followed table', () => {
  const source = sharedSource(() => startOwnPostgres(['wal_level=logical', 'max_prepared_transactions=10']))
  const sql = (...statements: string[]) => runSql(source().url, '', statements.join(';'))
  const follow = (t: TestContext, options: Partial<FollowOptions> = {}) =>
    FollowedTwins.follow(t, source(), ITEMS, options)
  const restart = async () => {
    const { server } = source()
    await server.halt()
    await server.start()
  }

  /** The collection is the table. Only the followed table is written to here, not its twin. */
  async function isSame({ schema }: FollowedTwins): Promise<boolean> {
    const rows = await sql(`SELECT row_to_json(t.*)::text FROM ${schema}.t`)
    const lines = (await linesIn(source().store, schema)).split('\n').filter((line) => line !== '')
    return rows.flat().sort().join() === lines.sort().join()
  }

  describe('with prepared transactions', () => {
    /** Writes to the table in a transaction that is prepared, and not ended. */
    async function prepare({ schema }: FollowedTwins, statement: string): Promise<void> {
      await sql('BEGIN', statement.replace(' t ', ` ${schema}.t `), `PREPARE TRANSACTION '${schema}'`)
    }

    for (const end of ['COMMIT', 'ROLLBACK'])
      it(`has what they wrote after ${end} PREPARED, also if PostgreSQL was restarted in between`, async (t) => {
        const twins = await follow(t)
        await prepare(twins, "UPDATE t SET v = 'prepared' WHERE id = 1")
        await sql(`UPDATE ${twins.schema}.t SET v = 'other' WHERE id = 2`)
        await twins.quiet()
        assert.ok(await isSame(twins))
        await restart()
        await sql(`${end} PREPARED '${twins.schema}'`)
        twins.forgive()
        await waitUntil(() => isSame(twins))
        const [[v] = []] = await sql(`SELECT v FROM ${twins.schema}.t WHERE id = 1`)
        assert.equal(v, end === 'COMMIT' ? 'prepared' : 'one')
      })

    it('goes on beside one that lost changes because the queue was full, and compares when it ends', async (t) => {
      const twins = await follow(t, { queueRows: 3 })
      await prepare(twins, "INSERT INTO t SELECT n, 'many' FROM generate_series(10, 20) n")
      await waitUntil(() => twins.hasReported('could not take all changes'))
      await sql(`UPDATE ${twins.schema}.t SET v = 'other' WHERE id = 2`)
      await waitUntil(() => isSame(twins))
      await sql(`COMMIT PREPARED '${twins.schema}'`)
      await waitUntil(() => twins.hasReported('transactions have ended'))
      assert.ok(await isSame(twins))
    })

    it('compares again when one ends that wrote while nothing was recorded', async (t) => {
      const twins = await follow(t)
      const { note } = await twins.names()
      await twins.leave()
      await sql(`CREATE OR REPLACE FUNCTION ${note}() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`)
      await prepare(twins, "UPDATE t SET v = 'prepared' WHERE id = 1")
      await twins.follow()
      await restart()
      await sql(`COMMIT PREPARED '${twins.schema}'`)
      twins.forgive()
      await waitUntil(() => twins.hasReported('transactions have ended'))
      assert.ok(await isSame(twins))
    })
  })

  it('can be the target of a subscription: its first copy, changes and TRUNCATE', async (t) => {
    const twins = await follow(t)
    const { schema } = twins
    const publisher = newSchema()
    await sql(`CREATE DATABASE ${publisher}`)
    t.after(async () => {
      await sql(`DROP SUBSCRIPTION IF EXISTS ${publisher}`)
      await sql(`DROP DATABASE ${publisher} WITH (FORCE)`)
    })
    const url = Object.assign(new URL(source().url), { pathname: `/${publisher}` }).href
    const publish = (...statements: string[]) => runSql(url, '', statements.join(';'))
    await publish(
      `CREATE SCHEMA ${schema}`,
      `CREATE TABLE ${schema}.t (id int PRIMARY KEY, v text)`,
      `INSERT INTO ${schema}.t SELECT n, 'published' FROM generate_series(100, 1000) n`,
      `CREATE PUBLICATION p FOR TABLE ${schema}.t`,
    )
    await publish(`SELECT pg_create_logical_replication_slot('${publisher}', 'pgoutput')`)
    await sql(
      `CREATE SUBSCRIPTION ${publisher} CONNECTION '${url}' PUBLICATION p WITH (create_slot = false, slot_name = ${publisher})`,
    )
    const has = (count: number) => async () =>
      (await source().store.head(schema))?.live === count && (await isSame(twins))
    await waitUntil(has(903))
    await publish(`UPDATE ${schema}.t SET id = id + 5000 WHERE id < 200; DELETE FROM ${schema}.t WHERE id < 300`)
    await waitUntil(has(803))
    await publish(`TRUNCATE ${schema}.t`)
    await waitUntil(has(0))
    assert.doesNotMatch(twins.log.join('\n'), /"compared"/)
  })

  it('has a bounded queue for a follower that is away, which compares when it is back, while another one follows', async (t) => {
    const twins = await follow(t, { queueRows: 100 })
    const { queue, lost } = await twins.names()
    await twins.leave()
    const other = await openSqliteForTest()
    t.after(() => other.remove())
    const living = await FollowedTwins.open(t, { ...source(), store: other.store })
    await living.follow({ table: `${twins.schema}.t`, schema: `${twins.schema}_follow` })
    assert.match(living.log.join('\n'), /"others-idle","count":1/)
    for (let i = 0; i < 3; i++)
      await sql(
        `INSERT INTO ${twins.schema}.t SELECT n, 'many' FROM generate_series(${i}000, ${i}000 + 500) n ON CONFLICT (id) DO UPDATE SET v = 'x'`,
      )
    assert.deepEqual(await sql(`SELECT count(*)::int, (SELECT is_called FROM ${lost}) FROM ${queue}`), [[100, true]])
    await living.quiet()
    const [[count] = []] = await sql(`SELECT count(*)::int FROM ${twins.schema}.t`)
    assert.equal((await other.store.head(living.schema))?.live, count)
    await twins.follow()
    await waitUntil(() => isSame(twins))
    assert.match(twins.log.join('\n'), /could not take all changes/)
    assert.deepEqual(await sql(`SELECT count(*)::int, (SELECT is_called FROM ${lost}) FROM ${queue}`), [[0, false]])
  })
})
