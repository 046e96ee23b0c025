import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, it, type TestContext } from 'node:test'
import { Client } from 'pg'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { RunningCli, runInside, workDirectory } from '../cli/run-cli.ts'
import { newSchema, runSql, withParameter } from '../store/postgres-engine.ts'
import { describePostgres, type PostgresServer } from '../store/postgres-server.ts'
import { waitUntil } from '../wait-until.ts'

/** Of the lock that a follower holds, beside its id. */
const LOCK_CLASS = 0x7265616d

describePostgres('a follower that was interrupted', (startPostgres, isCitus) => {
  if (isCitus) return
  let server: PostgresServer
  const schema = newSchema()
  const sql = (text: string) => runSql(server.url, `SET search_path = ${schema}`, text)

  before(async () => {
    server = await startPostgres()
    await runSql(server.url, '', `CREATE SCHEMA ${schema}`)
  })
  after(async () => {
    const made = await sql(`SELECT nspname FROM pg_namespace WHERE starts_with(nspname, '${schema}')`)
    await sql(`DROP SCHEMA ${made.join(', ')} CASCADE`)
    await server.stop()
  })

  const placeOf = (table: string) => ['--table', `${schema}.${table}`, '--schema', `${schema}_${table}`]
  const follow = (t: TestContext, directory: string, table: string, ...more: string[]): RunningCli => {
    const cli = new RunningCli(['follow', ...placeOf(table), '--every', '50ms', '--install', ...more], {
      in: directory,
      variables: { REAMS_TABLE_FROM: withParameter(server.url, 'application_name', schema) },
      input: '',
    })
    t.after(() => cli.child.kill('SIGKILL'))
    return cli
  }
  const unfollow = (directory: string, table: string) =>
    runInside(['unfollow', ...placeOf(table)], { in: directory, variables: { REAMS_TABLE_FROM: server.url } })
  const told = (cli: RunningCli, text: string) =>
    waitUntil(() => (cli.stdout + cli.stderr).includes(text)).catch((error) => {
      throw new Error(cli.stdout + cli.stderr, { cause: error })
    })
  const isSame = async (directory: string, table: string) => {
    const { stdout } = await runInside(['export', table], { in: directory })
    const rows = await sql(`SELECT row_to_json(t)::text FROM ${table} t`)
    return JSON.stringify(stdout.trim().split('\n').sort()) === JSON.stringify(rows.flat().sort())
  }
  /** Loaded, and then ended. Answers the id of its follower. */
  const loaded = async (t: TestContext, directory: string, table: string, ...more: string[]): Promise<string> => {
    await sql(`CREATE TABLE ${table} AS SELECT n AS id, 'one' AS text FROM generate_series(1, 3000) n`)
    await sql(`ALTER TABLE ${table} ADD PRIMARY KEY (id)`)
    const first = follow(t, directory, table, ...more)
    await told(first, 'for the first time')
    await first.stop()
    const [row] = await sql(`SELECT id FROM ${schema}_${table}.follower`)
    return String(row?.[0])
  }
  /** A connection that holds the lock of the follower with this id; `unlock` gives it up. */
  const holdLock = async (t: TestContext, id: string) => {
    const client = await connect(t)
    const lock = [LOCK_CLASS, Number.parseInt(id, 16) | 0]
    await client.query('SELECT pg_advisory_lock($1, $2)', lock)
    return () => client.query('SELECT pg_advisory_unlock($1, $2)', lock)
  }
  const isSomebodyWaiting = async () => {
    const waiting = await sql(`SELECT FROM pg_locks WHERE NOT granted AND locktype IN ('transactionid', 'tuple')`)
    return waiting.length > 0
  }
  const connect = async (t: TestContext): Promise<Client> => {
    const client = new Client(server.url)
    await client.connect()
    t.after(() => client.end())
    return client
  }

  it('is waited for by a second one while it has loaded all rows, and not yet said so', async (t) => {
    const directory = workDirectory(t)
    const id = await loaded(t, directory, 'halfway')
    await sql(`UPDATE ${schema}_halfway.follower SET state = NULL WHERE id = '${id}'`)
    const unlock = await holdLock(t, id)
    await sql(`UPDATE halfway SET text = 'two'`)
    const second = follow(t, directory, 'halfway')
    await told(second, 'Another process')
    await unlock()
    await waitUntil(() => isSame(directory, 'halfway'))
    assert.deepEqual(await sql(`SELECT id FROM ${schema}_halfway.follower`), [[id]])
  })

  it('is no obstacle to a second one when it has said so in the meantime', async (t) => {
    const directory = workDirectory(t)
    await loaded(t, directory, 'meanwhile')
    const follower = `${schema}_meanwhile.follower`
    const [[state] = []] = await sql(`SELECT state FROM ${follower}`)
    await sql(`UPDATE ${follower} SET state = NULL`)
    using database = new DatabaseSync(join(directory, 'reams.db'))
    database.exec('BEGIN IMMEDIATE')
    const second = follow(t, directory, 'meanwhile')
    await waitUntil(async () => {
      const asked = await sql(`SELECT FROM pg_stat_activity WHERE application_name = '${schema}' AND state = 'idle'
        AND query LIKE '%state LIKE%'`)
      return asked.length > 0
    })
    await sql(`UPDATE ${follower} SET state = '${state}'; UPDATE meanwhile SET text = 'two'`)
    database.exec('COMMIT')
    await waitUntil(() => isSame(directory, 'meanwhile'))
    assert.doesNotMatch(second.stderr, /for the first time/)
  })

  it('goes on waiting for another one when its connection is cut', async (t) => {
    const directory = workDirectory(t)
    const unlock = await holdLock(t, await loaded(t, directory, 'waiting'))
    const second = follow(t, directory, 'waiting')
    await told(second, 'another process follows')
    await sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '${schema}'`)
    await told(second, 'tried again every second')
    await sql(`UPDATE waiting SET text = 'two'`)
    await unlock()
    await waitUntil(() => isSame(directory, 'waiting'))
  })

  it('goes on at once with other parameters in the URL, when it was killed within its first load', async (t) => {
    const directory = workDirectory(t)
    await loaded(t, directory, 'killed')
    await sql(`UPDATE ${schema}_killed.follower SET state = NULL; UPDATE killed SET text = 'two'`)
    const cli = new RunningCli(['follow', ...placeOf('killed'), '--install'], {
      in: directory,
      variables: { REAMS_TABLE_FROM: server.url },
      input: '',
    })
    t.after(() => cli.child.kill('SIGKILL'))
    await told(cli, 'for the first time')
    assert.ok(await isSame(directory, 'killed'))
  })

  it('says what became of the table when reams unfollow was run while it waited for another one', async (t) => {
    const directory = workDirectory(t)
    const unlock = await holdLock(t, await loaded(t, directory, 'abandoned'))
    const second = follow(t, directory, 'abandoned')
    await told(second, 'another process follows')
    await unfollow(directory, 'abandoned')
    await unlock()
    assert.match((await second.ends()).stderr, /abandoned in .* is not followed any more: somebody ran reams unfollow/)
  })

  it('does not follow again when reams unfollow was run while it had no connection', async (t) => {
    const directory = workDirectory(t)
    await loaded(t, directory, 'deserted')
    const cli = follow(t, directory, 'deserted', '--replace')
    await sql(`UPDATE deserted SET text = 'two'`)
    await waitUntil(() => isSame(directory, 'deserted'))
    cli.child.kill('SIGSTOP')
    await sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '${schema}'`)
    await unfollow(directory, 'deserted')
    cli.child.kill('SIGCONT')
    assert.match((await cli.ends()).stderr, /deserted in .* is not followed any more: somebody ran reams unfollow/)
    assert.deepEqual(
      await sql(`SELECT FROM pg_namespace WHERE nspname = '${schema}_deserted' AND EXISTS (
      SELECT FROM pg_class WHERE relnamespace = pg_namespace.oid)`),
      [],
    )
  })

  it('goes on in a database that was restored, where the table has another number, and is removed there', async (t) => {
    const directory = workDirectory(t)
    const id = await loaded(t, directory, 'restored')
    await sql(`UPDATE ${schema}_restored.follower SET relation = 1; UPDATE restored SET text = 'two'`)
    const again = follow(t, directory, 'restored')
    await waitUntil(() => isSame(directory, 'restored'))
    assert.doesNotMatch(again.stderr, /for the first time/)
    assert.deepEqual(await sql(`SELECT id, relation = 'restored'::regclass FROM ${schema}_restored.follower`), [
      [id, true],
    ])
    await again.stop()
    await sql(`UPDATE ${schema}_restored.follower SET relation = 1`)
    const removed = await unfollow(directory, 'restored')
    assert.match(removed.stdout, /1 follower removed/)
    assert.deepEqual(await sql("SELECT FROM pg_trigger WHERE tgrelid = 'restored'::regclass"), [])
  })

  it('ends when somebody else keeps the collection true to another table', async (t) => {
    const directory = workDirectory(t)
    await loaded(t, directory, 'rival')
    const cli = follow(t, directory, 'rival')
    const store = await openSqliteStore({ path: join(directory, 'reams.db') })
    t.after(() => store.close())
    const noted = async () => (await store.followings())[0]
    const first = await noted()
    await waitUntil(async () => (await noted())?.seenAt !== first?.seenAt)
    const rival = { source: 'rival in postgres://elsewhere/copy', waiting: 0, asOf: 0, seenAt: Date.now() + 1000 }
    await store.noteFollowing('rival', rival)
    const { status, stderr } = await cli.ends()
    assert.equal(status, 2)
    assert.match(stderr, /"rival" follows rival in postgres:\/\/elsewhere\/copy as well.*Stop one of the two/)
  })

  it('still knows that changes were lost, if it was killed while it began anew', async (t) => {
    const directory = workDirectory(t)
    const id = await loaded(t, directory, 'crowded', '--queue-rows', '1000')
    await sql(`UPDATE crowded SET text = 'two'`)
    const other = await connect(t)
    await other.query(`BEGIN; SELECT FROM ${schema}_crowded.follower WHERE id = '${id}' FOR UPDATE`)
    const killed = follow(t, directory, 'crowded', '--queue-rows', '1000')
    await waitUntil(isSomebodyWaiting)
    killed.child.kill('SIGKILL')
    await waitUntil(async () => !(await isSomebodyWaiting()))
    await other.query('ROLLBACK')
    follow(t, directory, 'crowded', '--queue-rows', '1000')
    await waitUntil(() => isSame(directory, 'crowded'))
  })
})
