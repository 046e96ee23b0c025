import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { storedLines } from '../cli/items.ts'
import { type CliResult, RunningCli, runInside, workDirectory } from '../cli/run-cli.ts'
import { newSchema, runSql, withParameter } from '../store/postgres-engine.ts'
import { describePostgres, type PostgresServer } from '../store/postgres-server.ts'
import { waitUntil } from '../wait-until.ts'

describePostgres('a table of PostgreSQL that is followed', (startPostgres, isCitus) => {
  let server: PostgresServer
  const schema = newSchema()
  const sql = (...texts: string[]) => runSql(server.url, `SET search_path = ${schema}`, texts.join(';'))

  before(async () => {
    server = await startPostgres()
    await runSql(server.url, '', `CREATE SCHEMA ${schema}`)
  })
  after(async () => {
    await runSql(server.url, '', `DROP SCHEMA ${schema} CASCADE; DROP SCHEMA IF EXISTS reams_follow CASCADE`)
    await server.stop()
  })

  const variables = (url = server.url) => ({ HOME: '/nowhere', REAMS_TABLE_FROM: url })
  const words = (table: string, more: readonly string[]) => [
    ...['follow', '--table', `${schema}.${table}`, '--every', '50ms'],
    ...more,
  ]
  /** Follows with these options until the test ends. */
  const followBy = (t: TestContext, directory: string, table: string, more: string[], url = server.url): RunningCli => {
    const cli = new RunningCli(words(table, more), { in: directory, variables: variables(url) })
    t.after(() => cli.child.kill('SIGKILL'))
    return cli
  }
  const follow = (t: TestContext, directory: string, table: string, ...more: string[]): RunningCli =>
    followBy(t, directory, table, ['--install', ...more])
  /** Resolves when the follower has said so. */
  const says = (follower: RunningCli, what: RegExp) => waitUntil(() => what.test(follower.stderr))
  const refused = async (directory: string, table: string, more: string[], url = server.url): Promise<CliResult> => {
    const result = await runInside(words(table, more), { in: directory, variables: variables(url) })
    assert.notEqual(result.status, 0)
    return result
  }
  const unfollow = (table: string) =>
    runInside(['unfollow', '--table', `${schema}.${table}`], { in: '/tmp', variables: variables() })
  const makeRole = async (t: TestContext, ...rights: string[]) => {
    const role = newSchema()
    await sql(
      `CREATE ROLE ${role} LOGIN PASSWORD 'secret-of-${role}'`,
      ...[`USAGE ON SCHEMA ${schema}`, ...rights].map((right) => `GRANT ${right} TO ${role}`),
    )
    t.after(() => sql(`DROP OWNED BY ${role}; DROP ROLE ${role}`))
    return { role, url: Object.assign(new URL(server.url), { username: role, password: `secret-of-${role}` }).href }
  }

  const items = async (directory: string, name: string): Promise<string[]> => {
    if (!existsSync(join(directory, 'reams.db'))) return []
    const lines = await storedLines(directory, name).catch(() => '')
    return lines.split('\n').slice(0, -1).sort()
  }
  const rows = async (table: string): Promise<string[]> => {
    const said = await runSql(
      server.url,
      `SET search_path = ${schema}; SET TimeZone = UTC`,
      `SELECT row_to_json(t)::text FROM ${table} t`,
    )
    return said.map(([text]) => String(text)).sort()
  }
  /** Waits until the collection has these items. */
  const has = async (directory: string, name: string, wanted: () => Promise<string[]>): Promise<void> => {
    let [seen, expected]: string[][] = [[], []]
    await waitUntil(async () => {
      ;[seen, expected] = [await items(directory, name), await wanted()]
      return existsSync(join(directory, 'reams.db')) && JSON.stringify(seen) === JSON.stringify(expected)
    }).catch((error: unknown) => {
      assert.deepEqual(seen, expected)
      throw error
    })
  }
  /** Waits until the collection is as the table. */
  const same = (directory: string, table: string, name = table) => has(directory, name, () => rows(table))
  const makeEvents = async (table: string, count = 20): Promise<void> =>
    void (await sql(
      `CREATE TABLE ${table} (id bigint PRIMARY KEY, title text, seats int)`,
      `INSERT INTO ${table} SELECT n, 'Event ' || n, n % 7 FROM generate_series(1, ${count}) n`,
    ))

  if (isCitus) {
    it('is not one that Citus distributes', async (t) => {
      await makeEvents('spread')
      await sql("SELECT create_distributed_table('spread', 'id')")
      const { stderr } = await refused(workDirectory(t), 'spread', ['--install'])
      assert.match(stderr, /distributed by Citus.*reams import --from/)
    })
    return
  }

  it('has its inserts appended, its updates in place, its deletes removed', async (t) => {
    await makeEvents('events', 700)
    const directory = workDirectory(t)
    follow(t, directory, 'events')
    await same(directory, 'events')
    await sql(
      'UPDATE events SET seats = 99 WHERE id IN (3, 700)',
      'DELETE FROM events WHERE id = 7',
      "INSERT INTO events VALUES (-1, 'first', 0)",
      'UPDATE events SET id = 5000 WHERE id = 8',
      'BEGIN; UPDATE events SET id = 0 WHERE id = 1; UPDATE events SET id = 1 WHERE id = 2; UPDATE events SET id = 2 WHERE id = 0; COMMIT',
    )
    await same(directory, 'events')
    const { stdout } = await runInside(['export', 'events'], { in: directory })
    const lines = stdout.split('\n')
    assert.equal(lines[2], '{"id":3,"title":"Event 3","seats":99}')
    assert.deepEqual(
      new Set(lines.slice(-3)),
      new Set(['{"id":-1,"title":"first","seats":0}', '{"id":5000,"title":"Event 8","seats":1}', '']),
    )
    assert.match(
      (await runInside(['collections'], { in: directory })).stdout,
      /FOLLOWS\nevents .*events in .* 0 rows waiting/,
    )
    await sql('TRUNCATE events')
    await same(directory, 'events')
    await sql("INSERT INTO events VALUES (1, 'again', 1)")
    await same(directory, 'events')
  })

  it('goes on after kill -9 without reading all rows again, and one who came later waits', async (t) => {
    await makeEvents('killed')
    const directory = workDirectory(t)
    const first = follow(t, directory, 'killed')
    await same(directory, 'killed')
    const second = follow(t, directory, 'killed')
    await says(second, /another process follows/)
    await sql('UPDATE killed SET seats = 1 WHERE id = 1')
    await same(directory, 'killed')
    first.child.kill('SIGKILL')
    await sql('UPDATE killed SET seats = 2 WHERE id = 1')
    await same(directory, 'killed')
    await second.stop('SIGINT')
    await sql('DELETE FROM killed WHERE id < 10')
    const third = follow(t, directory, 'killed')
    await same(directory, 'killed')
    assert.doesNotMatch(`${second.stderr}${third.stderr}`, /loaded/)
    const { status } = await third.stop('SIGTERM')
    assert.equal(status, 0)
  })

  it('has money as plain decimals, also in its key', async (t) => {
    await sql(
      'CREATE TABLE prices (price money PRIMARY KEY, others money[])',
      "INSERT INTO prices VALUES ('-1234.5', '{1}'), ('1', NULL)",
    )
    const directory = workDirectory(t)
    follow(t, directory, 'prices')
    const copied = (...lines: string[]) => has(directory, 'prices', async () => lines)
    await copied('{"price":"-1234.50","others":["1.00"]}', '{"price":"1.00","others":null}')
    await sql(
      "UPDATE prices SET others = '{2.5}'",
      "DELETE FROM prices WHERE price = '1'",
      "INSERT INTO prices VALUES ('7')",
    )
    await copied('{"price":"-1234.50","others":["2.50"]}', '{"price":"7.00","others":null}')
  })

  it('can have keys of any type and of several columns, and a name of its own', async (t) => {
    const [table, column] = ['"Odd ""Table"""', '"B,\\ é"']
    await sql(
      `CREATE TABLE ${table} (a timestamptz, ${column} text, v json, PRIMARY KEY (a, ${column}))`,
      `INSERT INTO ${table} VALUES ('2030-01-01', 'x', NULL), ('2030-01-02', 'y,/\\', '{}')`,
    )
    const directory = workDirectory(t)
    follow(t, directory, table, '--name', 'odd')
    await same(directory, table, 'odd')
    await sql(
      "SET TimeZone = 'Asia/Tokyo'",
      `UPDATE ${table} SET v = '[1]' WHERE a > '2030-01-01T12:00Z'`,
      `DELETE FROM ${table} WHERE a < '2030-01-01T12:00Z'`,
      `INSERT INTO ${table} VALUES ('2031-01-01', ',,', '"new"')`,
    )
    await same(directory, table, 'odd')
  })

  it('has a queue for each store, and costs nothing after unfollow, which ends its followers', async (t) => {
    await makeEvents('twice')
    const directories = [workDirectory(t), workDirectory(t)]
    const followers = directories.map((directory) => follow(t, directory, 'twice'))
    for (const directory of directories) await same(directory, 'twice')
    await sql('DELETE FROM twice WHERE id > 5')
    for (const directory of directories) await same(directory, 'twice')
    assert.match((await unfollow('twice')).stdout, /2 followers removed/)
    for (const follower of followers) {
      const { status, stderr } = await follower.ends()
      assert.equal(status, 2)
      assert.match(stderr, /is not followed any more: somebody ran reams unfollow\. The collection stays as it is\.\n$/)
    }
    const triggers = await sql("SELECT tgname FROM pg_trigger WHERE tgrelid = 'twice'::regclass")
    assert.deepEqual(triggers, [])
    assert.equal((await items(directories[0] ?? '', 'twice')).length, 5)
    assert.doesNotMatch((await runInside(['collections'], { in: directories[0] ?? '' })).stdout, /FOLLOWS/)
    assert.match((await unfollow('twice')).stdout, /nobody follows it/)
  })

  it('is compared where somebody meddled with its triggers or the collection', async (t) => {
    await makeEvents('parts', 3)
    const directory = workDirectory(t)
    const follower = follow(t, directory, 'parts')
    await same(directory, 'parts')
    await sql("SET session_replication_role = replica; INSERT INTO parts VALUES (1501, 'by a replica')")
    await same(directory, 'parts')
    await sql(
      'ALTER TABLE parts DISABLE TRIGGER ALL',
      'DELETE FROM parts WHERE id = 1',
      'UPDATE parts SET seats = 9 WHERE id = 2',
    )
    await sql("INSERT INTO parts VALUES (1500, 'unseen')", 'ALTER TABLE parts ENABLE TRIGGER ALL')
    await says(follower, /compared.*1 missing, 1 different and 1 too many; mended/)
    await same(directory, 'parts')
    const input = '{"id":7,"v":"not in the table"}\n'
    await runInside(['import', 'parts', '-', '--key', 'id'], { in: directory, input })
    await says(follower, /0 missing, 0 different and 1 too many; mended/)
    await same(directory, 'parts')
    await follower.stop()
    const again = follow(t, directory, 'parts', '--compare')
    await says(again, /4 rows of .* compared .* as asked for: all are the same/)
  })

  it('is read again if there are more changes than one commit takes', async (t) => {
    await makeEvents('rewritten', 50_001)
    const directory = workDirectory(t)
    const follower = follow(t, directory, 'rewritten')
    await says(follower, /loaded/)
    await sql('UPDATE rewritten SET seats = seats + 1')
    await says(follower, /more changes than one commit takes/)
    await same(directory, 'rewritten')
  })

  it('is read again if the queue was full', async (t) => {
    await makeEvents('crowded', 1200)
    const directory = workDirectory(t)
    const follower = follow(t, directory, 'crowded', '--queue-rows', '1000')
    await same(directory, 'crowded')
    await follower.stop()
    await sql('UPDATE crowded SET seats = -1')
    const [[waiting] = []] = await sql(`SELECT count(*) FROM ${await queueOf('crowded')}`)
    assert.equal(Number(waiting), 1000)
    const again = follow(t, directory, 'crowded', '--queue-rows', '1000')
    await same(directory, 'crowded')
    await says(again, /loaded/)
  })
  const queueOf = async (table: string): Promise<string> => {
    const [[id] = []] = await sql(`SELECT id FROM reams_follow.follower WHERE relation = '${table}'::regclass`)
    return `reams_follow.queue_${id}`
  }

  it('can be renamed or dropped: the follower says so and ends, the application goes on', async (t) => {
    await makeEvents('old_name')
    const directory = workDirectory(t)
    const follower = follow(t, directory, 'old_name', '--name', 'events')
    await same(directory, 'old_name', 'events')
    await sql("ALTER TABLE old_name ADD COLUMN note text DEFAULT 'none'")
    await says(follower, /its columns have changed/)
    await same(directory, 'old_name', 'events')
    await sql('ALTER TABLE old_name RENAME TO new_name', "INSERT INTO new_name VALUES (-1, 'after', 1)")
    const { status, stderr } = await follower.ends()
    assert.equal(status, 2)
    assert.match(
      stderr,
      /is named .*new_name by now\. The collection stays as it is\. Start again with --table .*new_name/,
    )
    const again = follow(t, directory, 'new_name', '--name', 'events')
    await same(directory, 'new_name', 'events')
    await sql('DROP TABLE new_name')
    assert.match((await again.ends()).stderr, /was dropped\. The collection stays as it is\./)
    assert.equal((await items(directory, 'events')).length, 21)
    assert.match((await unfollow('new_name')).stdout, /1 follower removed/)
  })

  it('is not held up by the installation, nor by a follower that stands still', async (t) => {
    await makeEvents('busy')
    const directory = workDirectory(t)
    const holder = new Client({ connectionString: server.url })
    await holder.connect()
    t.after(() => holder.end())
    await holder.query(`BEGIN; UPDATE ${schema}.busy SET seats = 0 WHERE id = 1`)
    const follower = follow(t, directory, 'busy')
    await says(follower, /has locked/)
    // They wait for the lock no longer than it waits itself.
    for (let n = 0; n < 20; n++) {
      await sql(`SET lock_timeout = '2s'`, `UPDATE busy SET seats = ${n} WHERE id = 2`)
      await sleep(20)
    }
    await holder.query('COMMIT')
    await same(directory, 'busy')
    // Stop it between two rounds: within one it holds ACCESS SHARE, which ALTER TABLE waits for.
    const isLocked = `SELECT FROM pg_locks WHERE relation = '${schema}.busy'::regclass`
    await waitUntil(async () => {
      follower.child.kill('SIGSTOP')
      if ((await runSql(server.url, '', isLocked)).length === 0) return true
      follower.child.kill('SIGCONT')
      return false
    })
    await sql(`SET lock_timeout = '2s'`, 'UPDATE busy SET seats = 5', 'ALTER TABLE busy ADD COLUMN more int')
    follower.child.kill('SIGCONT')
    await same(directory, 'busy')
  })

  describe('is refused with a hint', () => {
    before(async () => {
      await makeEvents('base', 3)
      await sql(
        'CREATE VIEW seen AS SELECT * FROM base',
        'CREATE MATERIALIZED VIEW stored AS SELECT * FROM base',
        'CREATE TABLE keyless (a int)',
        'CREATE TABLE nullable (a int UNIQUE, b int NOT NULL)',
        'CREATE UNLOGGED TABLE unlogged (id int PRIMARY KEY)',
        'CREATE TABLE parted (id int PRIMARY KEY) PARTITION BY RANGE (id)',
        'CREATE UNLOGGED TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (9)',
        `CREATE FOREIGN DATA WRAPPER ${schema}_nothing`,
        `CREATE SERVER ${schema}_elsewhere FOREIGN DATA WRAPPER ${schema}_nothing`,
        `CREATE FOREIGN TABLE remote (id int NOT NULL) SERVER ${schema}_elsewhere`,
        'CREATE TABLE mixed (id int NOT NULL) PARTITION BY RANGE (id)',
        `CREATE FOREIGN TABLE mixed_1 PARTITION OF mixed FOR VALUES FROM (0) TO (9) SERVER ${schema}_elsewhere`,
      )
    })
    const cases: [what: string, table: string, more: string[], message: RegExp][] = [
      ['a view', 'seen', [], /is a view.*reams import --from/],
      ['a materialized view', 'stored', [], /is a materialized view.*reams import --from/],
      ['an unlogged table', 'unlogged', [], /is not logged/],
      ['a table with a partition that is unlogged', 'parted', [], /is partly not logged: .*parted_1/],
      ['a foreign table', 'remote', [], /is a foreign table.*reams import --from/],
      ['a table with a foreign partition', 'mixed', [], /partly in another database.*reams import --from/],
      ['a table without a key', 'keyless', [], /has no primary key.*--key/],
      ['a key that may be NULL', 'nullable', ['--key', 'a'], /may be NULL/],
      ['a key that is not unique', 'nullable', ['--key', 'b'], /not known to be unique/],
      ['a key that is no column', 'base', ['--key', 'x'], /no column "x".*id, title, seats/],
      ['a table that does not exist', 'nowhere', [], /There is no table/],
      ['a directory that is missing', 'base', ['--store', 'missing/reams.db'], /no directory/],
    ]
    for (const [what, table, more, message] of cases)
      it(what, async (t) => {
        const directory = workDirectory(t)
        const { stderr, stdout } = await refused(directory, table, ['--install', ...more])
        assert.match(stderr, message)
        assert.equal(stdout, '')
        assert.ok(!existsSync(join(directory, 'reams.db')))
      })

    it('without a yes, and with nothing installed', async (t) => {
      const directory = workDirectory(t)
      const { stderr, stdout: nothing } = await refused(directory, 'base', [])
      assert.match(stderr, /--dry-run shows them; --install installs them/)
      assert.equal(nothing, '')
      const { stdout } = await runInside(words('base', ['--dry-run']), { in: directory, variables: variables() })
      assert.match(stdout, /CREATE TRIGGER .* ON \S+base FOR EACH ROW/)
      assert.deepEqual(await sql("SELECT FROM pg_trigger WHERE tgrelid = 'base'::regclass"), [])
      assert.ok(!existsSync(join(directory, 'reams.db')))
    })

    it('without rights, with what the owner can run; a password is not shown', async (t) => {
      const { role, url } = await makeRole(t, 'SELECT ON base')
      const directory = workDirectory(t)
      const result = await refused(directory, 'base', ['--install'], url)
      assert.equal(result.status, 2)
      assert.match(result.stderr, /The owner of the table, .* can run the statements on stdout/)
      assert.doesNotMatch(result.stderr + result.stdout, new RegExp(`secret-of-${role}`))
      await sql(result.stdout)
      const follower = followBy(t, directory, 'base', [], url)
      await same(directory, 'base')
      await sql('UPDATE base SET seats = 77 WHERE id = 2')
      await same(directory, 'base')
      await follower.stop()
      await unfollow('base')
    })

    it('a collection that does not follow it, unless it may be replaced', async (t) => {
      const directory = workDirectory(t)
      await runInside(['import', 'base', '-', '--key', 'id'], { in: directory, input: '{"id":1}\n' })
      assert.match((await refused(directory, 'base', ['--install'])).stderr, /exists and does not follow .*--replace/)
      const follower = follow(t, directory, 'base', '--replace')
      await same(directory, 'base')
      await makeEvents('other', 5)
      const second = await refused(directory, 'other', ['--install', '--replace', '--name', 'base'])
      assert.match(second.stderr, /The collection "base" follows .*base in .* at the moment/)
      await follower.stop()
      await unfollow('base')
    })
  })

  it('can be one of several, with nothing installed before them, which are followed on when it is missing or dropped', async (t) => {
    const names = ['one', 'two', 'three', 'four']
    for (const name of names) await makeEvents(name, 5)
    const directory = workDirectory(t)
    const others = [...names.slice(1), 'nowhere'].flatMap((name) => ['--table', `${schema}.${name}`])
    const place = `${schema}_new`
    const follower = follow(t, directory, 'one', ...others, '--schema', place)
    t.after(() => sql(`DROP SCHEMA ${place} CASCADE`))
    await says(follower, /nowhere: There is no table/)
    for (const name of names) await same(directory, name)
    await sql('DELETE FROM one WHERE id = 1', 'DELETE FROM two WHERE id = 1')
    await same(directory, 'one')
    await same(directory, 'two')
    await sql('DROP TABLE one')
    await says(follower, /one: .* was dropped/)
    await sql('DELETE FROM two WHERE id = 2')
    await same(directory, 'two')
    await follower.stop()
  })

  it('is found again when the database was away', async (t) => {
    await makeEvents('away')
    const directory = workDirectory(t)
    // A name of its own: other tests use the same server at the same time.
    const url = withParameter(server.url, 'application_name', schema)
    const follower = followBy(t, directory, 'away', ['--install'], url)
    await same(directory, 'away')
    const cut = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '${schema}'`
    assert.equal((await runSql(server.url, '', cut)).length, 1)
    await sql('UPDATE away SET seats = 12345 WHERE id = 5')
    await same(directory, 'away')
    await says(follower, /tried again every second/)
    assert.doesNotMatch(follower.stderr, /loaded.*loaded/s)
  })
})
