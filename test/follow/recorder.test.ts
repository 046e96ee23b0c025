import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { Client } from 'pg'
import { OwnerNeeded } from '../../src/follow/followed-table.ts'
import type { FollowOptions } from '../../src/follow/follower.ts'
import type { Names } from '../../src/follow/installation.ts'
import { unfollow } from '../../src/follow/unfollow.ts'
import { newSchema, runSql, withParameter } from '../store/postgres-engine.ts'
import { waitUntil } from '../wait-until.ts'
import { FollowedTwins, ITEMS, sharedSource } from './followed-twins.ts'

const NOT_ALLOWED = '42501'

describe('what records the changes of a followed table', () => {
  const source = sharedSource()
  const sql = (...statements: string[]) => runSql(source().url, '', statements.join(';'))
  const open = (t: TestContext, definition = ITEMS) => FollowedTwins.open(t, source(), definition)
  const follow = (t: TestContext, options: Partial<FollowOptions> = {}, definition = ITEMS) =>
    FollowedTwins.follow(t, source(), definition, options)

  /** Runs statements one by one as another role. Returns the SQLSTATE of the first that fails. */
  async function sqlAs(role: string, ...statements: string[]): Promise<string | undefined> {
    const client = new Client(urlOf(role))
    await client.connect()
    try {
      for (const statement of statements) await client.query(statement)
      return undefined
    } catch (error) {
      return (error as { code?: string }).code
    } finally {
      await client.end()
    }
  }

  function urlOf(role: string): string {
    return Object.assign(new URL(source().url), { username: role, password: role }).href
  }

  async function makeRole(t: TestContext): Promise<string> {
    const role = newSchema()
    await sql(`CREATE ROLE ${role} LOGIN PASSWORD '${role}'`)
    t.after(() => sql(`DROP OWNED BY ${role} CASCADE`, `DROP ROLE ${role}`))
    return role
  }

  /** A role that owns the table and may install what follows it. */
  async function makeOwner(t: TestContext, { schema }: FollowedTwins): Promise<string> {
    const owner = await makeRole(t)
    await sql(
      `ALTER TABLE ${schema}.t OWNER TO ${owner}`,
      `GRANT USAGE, CREATE ON SCHEMA ${schema} TO ${owner}`,
      `CREATE SCHEMA ${schema}_follow AUTHORIZATION ${owner}`,
    )
    return owner
  }

  const ownerOf = async ({ note }: Names) => {
    const [[owner] = []] = await sql(
      `SELECT proowner::regrole::text FROM pg_proc WHERE oid = '${note}()'::regprocedure`,
    )
    return String(owner)
  }

  /** What the follower did until it came to rest, but for looks. */
  async function eventsOf(twins: FollowedTwins, change: () => Promise<unknown>): Promise<string> {
    const from = twins.log.length
    await change()
    await twins.check()
    return twins.log.slice(from).join('\n')
  }

  /** A role with the rights that the script for the owner grants to a follower. */
  async function makeFollower(t: TestContext, twins: FollowedTwins): Promise<string> {
    const role = await makeRole(t)
    const { schema, followers, queue, waiting, lost } = await twins.names()
    await sql(
      `GRANT USAGE ON SCHEMA ${schema} TO ${role}`,
      `GRANT SELECT, UPDATE ON ${followers} TO ${role}`,
      `GRANT SELECT, DELETE ON ${queue} TO ${role}`,
      `GRANT SELECT, UPDATE ON SEQUENCE ${waiting}, ${lost} TO ${role}`,
      `GRANT USAGE ON SCHEMA ${twins.schema} TO ${role}`,
      `GRANT SELECT ON ${twins.schema}.t TO ${role}`,
    )
    return role
  }

  it('can have been full: a role that owns nothing goes on too', async (t) => {
    const twins = await follow(t, { queueRows: 3 })
    const role = await makeFollower(t, twins)
    await twins.leave()
    await twins.send(0, "INSERT INTO t SELECT n, 'many' FROM generate_series(10, 20) n")
    await twins.follow({ queueRows: 3, url: urlOf(role) })
    await twins.check()
    await twins.run("UPDATE t SET v = 'followed on' WHERE id = 10")
    assert.ok(twins.hasReported('could not take all changes'))
  })

  it('can lose a partition while a role follows it that owns nothing', async (t) => {
    const partition = (id: number) => `CREATE TABLE p${id} PARTITION OF t FOR VALUES IN (${id})`
    const whole = 'CREATE TABLE t (id int PRIMARY KEY) PARTITION BY LIST (id)'
    const twins = await follow(t, {}, [whole, partition(1), partition(2), 'INSERT INTO t VALUES (1), (2)'])
    const role = await makeFollower(t, twins)
    await twins.leave()
    await twins.follow({ url: urlOf(role) })
    await twins.run('ALTER TABLE t DETACH PARTITION p2')
    await twins.run('DELETE FROM t')
  })

  describe('is safe from other roles', () => {
    /** A table of the role whose key has a cast to json that reports who runs it, with our function as its trigger. */
    const trap = (names: Names): string[] => [
      "CREATE TYPE pg_temp.bait AS ENUM ('a')",
      "CREATE FUNCTION pg_temp.spring(pg_temp.bait) RETURNS json LANGUAGE plpgsql AS $$ BEGIN RAISE 'sprung by %', current_user; END $$",
      'CREATE CAST (pg_temp.bait AS json) WITH FUNCTION pg_temp.spring(pg_temp.bait)',
      'CREATE TEMPORARY TABLE mine (id pg_temp.bait)',
      `CREATE TRIGGER go AFTER INSERT ON mine FOR EACH ROW EXECUTE FUNCTION ${names.note}()`,
    ]

    it('default privileges for functions and tables grant nothing on it', async (t) => {
      const twins = await open(t)
      const owner = await makeOwner(t, twins)
      const role = await makeRole(t)
      await sql(
        `ALTER DEFAULT PRIVILEGES FOR ROLE ${owner} GRANT EXECUTE ON FUNCTIONS TO ${role} WITH GRANT OPTION`,
        `ALTER DEFAULT PRIVILEGES FOR ROLE ${owner} GRANT ALL ON TABLES TO ${role}`,
      )
      await twins.follow({ url: urlOf(owner) })
      const { note, queue, schema } = await twins.names()
      await sql(`GRANT USAGE ON SCHEMA ${schema} TO ${role}`)
      const rights = ['INSERT', 'UPDATE', 'TRUNCATE', 'REFERENCES', 'TRIGGER', 'SELECT'].map(
        (right) => `has_table_privilege('${role}', '${queue}', '${right}')`,
      )
      assert.deepEqual(
        await sql(`SELECT has_function_privilege('${role}', '${note}()', 'EXECUTE'), ${rights.join(', ')}`),
        [[false, false, false, false, false, false, true]],
      )
    })

    it('no other role can attach the function to a table, a follower neither, also after a repair of what was installed before', async (t) => {
      const twins = await follow(t)
      const names = await twins.names()
      const role = await makeFollower(t, twins)
      assert.equal(await sqlAs(role, ...trap(names)), NOT_ALLOWED)
      await twins.leave()
      await installOld(names)
      assert.equal(await sqlAs(role, ...trap(names)), undefined)
      await twins.follow()
      await twins.check()
      assert.equal(await sqlAs(role, ...trap(names)), NOT_ALLOWED)
      await twins.leave()
      await installOld(names)
      // A follower that is not the owner stops, with the statements for the owner.
      const statements = await ownerStatements(twins.follow({ url: urlOf(role) }))
      assert.match(statements.join(';'), /REVOKE/)
      twins.forgive()
      await sql(...statements)
      await twins.follow({ url: urlOf(role) })
      assert.equal(await sqlAs(role, ...trap(names)), NOT_ALLOWED)
      await twins.run("UPDATE t SET v = 'followed on'")
    })

    /** The function as versions before this check made it. */
    async function installOld({ note, queue, waiting }: Names): Promise<void> {
      await sql(
        `CREATE OR REPLACE FUNCTION ${note}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $old$
        BEGIN
          INSERT INTO ${queue} VALUES (nextval('${waiting}'), jsonb_build_array(jsonb_build_array(NEW."id")));
          RETURN NULL;
        END $old$`,
        `GRANT EXECUTE ON FUNCTION ${note}() TO PUBLIC`,
      )
    }

    it('a row of another table is never looked at, and counts as a lost change', async (t) => {
      const twins = await follow(t)
      const names = await twins.names()
      await sql(...trap(names), "INSERT INTO mine VALUES ('a')")
      const events = await eventsOf(twins, async () => {})
      assert.match(twins.log.join('\n') + events, /could not take all changes/)
    })

    it('a cast of the owner of a type does not run with the rights of the function', async (t) => {
      const twins = await follow(t, {}, [
        "CREATE TYPE mood AS ENUM ('happy', 'sad')",
        'CREATE TABLE t (id mood PRIMARY KEY, v text)',
        "INSERT INTO t VALUES ('happy', 'one')",
      ])
      const mallory = await makeRole(t)
      const { schema } = twins
      await twins.leave()
      // In the followed schema alone: the rest of the test goes around the twin.
      await sql(
        `ALTER TYPE ${schema}.mood OWNER TO ${mallory}`,
        `GRANT USAGE, CREATE ON SCHEMA ${schema} TO ${mallory}`,
        `CREATE TABLE ${schema}.loot (who text)`,
        `GRANT INSERT ON ${schema}.loot TO PUBLIC`,
      )
      for (const target of ['json', 'text'])
        assert.equal(
          await sqlAs(
            mallory,
            `CREATE FUNCTION ${schema}.to_${target}(${schema}.mood) RETURNS ${target} LANGUAGE sql AS
              $$ INSERT INTO ${schema}.loot VALUES (current_user) RETURNING '"happy"'::${target} $$`,
            `CREATE CAST (${schema}.mood AS ${target}) WITH FUNCTION ${schema}.to_${target}(${schema}.mood) AS IMPLICIT`,
          ),
          undefined,
        )
      const app = await makeRole(t)
      await sql(`GRANT USAGE ON SCHEMA ${schema} TO ${app}`, `GRANT ALL ON ${schema}.t TO ${app}`)
      for (const write of [`INSERT INTO ${schema}.t VALUES ('sad', 'two')`, `UPDATE ${schema}.t SET v = 'new'`])
        assert.equal(await sqlAs(app, write), undefined)
      const { queue } = await twins.names()
      const keys = (await sql(`SELECT keys FROM ${queue}`)) as string[][][][]
      assert.deepEqual(new Set(keys.flat(3)), new Set(['happy', 'sad']))
      assert.deepEqual(await sql(`SELECT * FROM ${schema}.loot`), [])
      assert.equal(await sqlAs(app, `DELETE FROM ${schema}.t; TRUNCATE ${schema}.t`), undefined)
      await sql(`DROP CAST (${schema}.mood AS json)`, `DROP CAST (${schema}.mood AS text)`)
    })

    it('a name in the table does not end the text of the function', async (t) => {
      const definition = ['CREATE TABLE t ("$reams$; ROLLBACK; --" int PRIMARY KEY)', 'INSERT INTO t VALUES (1)']
      const twins = await follow(t, {}, definition)
      await twins.run('INSERT INTO t VALUES (2)')
    })

    it('a trigger that somebody put on the queue is removed with it', async (t) => {
      const twins = await follow(t)
      const { queue } = await twins.names()
      const { schema } = twins
      await twins.leave()
      await sql(
        `CREATE FUNCTION ${schema}.spring() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'sprung'; END $$`,
        `CREATE TRIGGER go BEFORE INSERT ON ${queue} FOR EACH ROW EXECUTE FUNCTION ${schema}.spring()`,
      )
      await twins.follow()
      await twins.run("UPDATE t SET v = 'changed'")
      assert.deepEqual(await sql(`SELECT tgname FROM pg_trigger WHERE tgrelid = '${queue}'::regclass`), [])
    })

    it('a table of followers that belongs to a stranger is not written to', async (t) => {
      const stranger = await makeRole(t)
      const twins = await open(t)
      await sql(`CREATE SCHEMA ${twins.schema}_follow AUTHORIZATION ${stranger}`)
      assert.equal(
        await sqlAs(
          stranger,
          `CREATE TABLE ${twins.schema}_follow.follower (id text PRIMARY KEY, relation oid, table_name text, collection text, state text, shape text, compared_at timestamptz)`,
        ),
        undefined,
      )
      await assert.rejects(
        twins.follow(),
        new RegExp(`belongs to the role ${stranger}.*Choose another schema with --schema`),
      )
      twins.forgive()
    })

    it('a function of a stranger is never attached to the table, nor one in the schema of a stranger', async (t) => {
      const stranger = await makeRole(t)
      const twins = await open(t)
      await sql(`CREATE SCHEMA ${twins.schema}_follow AUTHORIZATION ${stranger}`)
      await assert.rejects(twins.follow(), new RegExp(`belongs to the role ${stranger}`))
      twins.forgive()
      await sql(`ALTER SCHEMA ${twins.schema}_follow OWNER TO CURRENT_USER`)
      await twins.follow()
      const { note, schema } = await twins.names()
      await twins.leave()
      await sql(`DROP FUNCTION ${note}() CASCADE`, `GRANT USAGE, CREATE ON SCHEMA ${schema} TO ${stranger}`)
      const mine = `CREATE FUNCTION ${note}() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`
      assert.equal(await sqlAs(stranger, mine), undefined)
      await assert.rejects(twins.follow(), new RegExp(`belongs to the role ${stranger}`))
      twins.forgive()
      assert.deepEqual(await sql(`SELECT FROM pg_trigger WHERE tgfoid = '${note}()'::regprocedure`), [])
    })

    it('a view of a stranger in the place of the table of followers is never read', async (t) => {
      const stranger = await makeRole(t)
      const twins = await open(t)
      const schema = `${twins.schema}_follow`
      await sql(`CREATE SCHEMA ${schema}`, `GRANT USAGE, CREATE ON SCHEMA ${schema} TO ${stranger}`)
      const trapped = [
        `CREATE FUNCTION ${schema}.spring() RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE 'sprung by %', current_user; END $$`,
        `CREATE VIEW ${schema}.follower AS SELECT ${schema}.spring() AS id, 0::oid AS relation, '' AS table_name, '' AS collection, NULL AS state`,
        `GRANT ALL ON ${schema}.follower TO PUBLIC`,
      ]
      assert.equal(await sqlAs(stranger, ...trapped), undefined)
      await assert.rejects(twins.follow(), new RegExp(`belongs to the role ${stranger}`))
      twins.forgive()
      const { signal } = new AbortController()
      const options = { url: source().url, table: `${twins.schema}.t`, schema, signal, onWait: () => {} }
      await assert.rejects(unfollow(options), new RegExp(`belongs to the role ${stranger}`))
    })

    it('functions and operators in a schema of the search path never run', async (t) => {
      const twins = await open(t, ['CREATE TABLE t (id varchar(9) PRIMARY KEY)', "INSERT INTO t VALUES ('one')"])
      const { schema } = twins
      const signatures = {
        'format(text, name, name)': 'text',
        'concat_ws(text, text, text)': 'text',
        'unnest(int2vector)': 'int2',
        'to_json(varchar)': 'json',
        [`row_to_json(${schema}.t)`]: 'json',
        'same(varchar, varchar)': 'boolean',
      }
      await sql(
        `CREATE SCHEMA ${schema}_evil`,
        ...Object.entries(signatures).map(
          ([signature, type]) =>
            `CREATE FUNCTION ${schema}_evil.${signature} RETURNS ${type} LANGUAGE plpgsql AS $$ BEGIN RAISE 'sprung'; END $$`,
        ),
        `CREATE OPERATOR ${schema}_evil.= (FUNCTION = ${schema}_evil.same, LEFTARG = varchar, RIGHTARG = varchar)`,
      )
      t.after(() => sql(`DROP SCHEMA ${schema}_evil CASCADE`))
      await twins.follow({ url: withParameter(source().url, 'options', `-csearch_path%3D${schema}_evil`) })
      await twins.run("UPDATE t SET id = 'two'")
    })

    it('ids and shapes that another role wrote to the table of followers are never run', async (t) => {
      const twins = await follow(t)
      const { followers } = await twins.names()
      await twins.leave()
      await sql(`UPDATE ${followers} SET shape = '{"members":[],"columns":[],"unsettledBefore":"x"}'`)
      await twins.follow()
      await twins.check()
      await sql(`UPDATE ${followers} SET shape = 'no JSON'`)
      await twins.check()
      await twins.leave()
      const evil = `x''; CREATE TABLE ${twins.schema}.evil (); --`
      await sql(
        `INSERT INTO ${followers} SELECT '${evil}', relation, table_name, collection, state, shape FROM ${followers}`,
      )
      await twins.follow()
      await twins.check()
      assert.deepEqual(await sql(`SELECT FROM pg_class WHERE relname = 'evil'`), [])
    })
  })

  /** The first entry of the last table is reported by PostgreSQL in another way. */
  for (const [type, value, entries] of [
    ['int', '1', ['[["abc"]]', '[["99999999999999999999"]]', '"text"', '{"a":1}', '[[]]', '[[null]]', '[{"id":1}]']],
    ['regclass', 'pg_class', ['[["no_such_table"]]']],
  ] as const)
    it(`compares all rows after an entry of the queue that is no key of type ${type}, and reports it`, async (t) => {
      const definition = [`CREATE TABLE t (id ${type} PRIMARY KEY, v text)`, `INSERT INTO t VALUES ('${value}', 'one')`]
      const twins = await follow(t, {}, definition)
      const { queue } = await twins.names()
      for (const keys of entries) {
        const events = await eventsOf(twins, () =>
          sql(`INSERT INTO ${queue} VALUES (1, '${keys}')`, `UPDATE ${twins.schema}.t SET v = v`),
        )
        assert.match(events, /"kind":"compared","reason":"its queue had an entry that is not a key/, keys)
        assert.deepEqual(await sql(`SELECT FROM ${queue}`), [])
      }
    })

  describe('does not make a write fail, and what it missed is found', () => {
    const BREAKS: Readonly<Record<string, (names: Names, owner: string) => [harm: string, undo?: string]>> = {
      'the queue is dropped': ({ queue }) => [`DROP TABLE ${queue}`],
      'the queue is renamed and back': ({ queue }) => [
        `ALTER TABLE ${queue} RENAME TO aside`,
        `ALTER TABLE ${queue.replace(/[^.]+$/, 'aside')} RENAME TO ${queue.replace(/^.*\./, '')}`,
      ],
      'a sequence is dropped': ({ waiting }) => [`DROP SEQUENCE ${waiting}`],
      'both sequences are dropped': ({ waiting, lost }) => [`DROP SEQUENCE ${waiting}, ${lost}`],
      'the owner loses the right to insert': ({ queue, lost }, owner) => [
        `REVOKE ALL ON ${queue} FROM ${owner}; REVOKE ALL ON SEQUENCE ${lost} FROM ${owner}`,
        `GRANT ALL ON ${queue} TO ${owner}; GRANT ALL ON SEQUENCE ${lost} TO ${owner}`,
      ],
      'the owner loses all rights, and nobody grants them again': ({ queue, waiting, lost }, owner) => [
        `REVOKE ALL ON ${queue} FROM ${owner}; REVOKE ALL ON SEQUENCE ${waiting}, ${lost} FROM ${owner}`,
      ],
      'the owner loses the right on the schema': ({ schema }, owner) => [
        `REVOKE ALL ON SCHEMA ${schema} FROM ${owner}`,
        `GRANT ALL ON SCHEMA ${schema} TO ${owner}`,
      ],
      'the function is gone': ({ note }) => [`DROP FUNCTION ${note}() CASCADE`],
      'the function does nothing for a while': ({ note }) => [
        `CREATE OR REPLACE FUNCTION ${note}() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`,
      ],
    }

    /** Nothing can be revoked from a superuser. */
    async function ownTable(t: TestContext): Promise<FollowedTwins> {
      const twins = await open(t)
      await twins.follow({ url: urlOf(await makeOwner(t, twins)) })
      return twins
    }

    for (const isAway of [true, false])
      it(isAway ? 'with nobody following' : 'beside a follower', async (t) => {
        const twins = await ownTable(t)
        if (!isAway) twins.allowRetries()
        for (const [name, breakIt] of Object.entries(BREAKS))
          await t.test(`while ${name}`, async () => {
            const names = await twins.names()
            if (isAway) await twins.leave()
            const [harm, undo] = breakIt(names, await ownerOf(names))
            await sql(harm)
            for (const unseen of ["UPDATE t SET v = 'unseen' WHERE id = 1", 'INSERT INTO t SELECT max(id) + 1 FROM t'])
              assert.equal((await twins.send(0, unseen)).state, undefined)
            // The follower may have undone it already.
            if (undo !== undefined) await sql(undo).catch((error) => assert.ok(!isAway, error))
            if (isAway) await twins.follow()
            await twins.check()
            await twins.run("UPDATE t SET v = 'seen' WHERE id = 1")
          })
      })

    it('while the owner has no right on the schema, for longer than until the follower tries again', async (t) => {
      const twins = await ownTable(t)
      const names = await twins.names()
      const owner = await ownerOf(names)
      twins.allowRetries()
      await sql(`REVOKE ALL ON SCHEMA ${names.schema} FROM ${owner}`)
      await waitUntil(() => (twins.counts.get('retry') ?? 0) >= 2)
      await twins.send(0, "UPDATE t SET v = 'unseen' WHERE id = 1")
      await sql(`GRANT ALL ON SCHEMA ${names.schema} TO ${owner}`)
      await twins.check()
    })

    it('while the owner is not a member of the role that owns the schema', async (t) => {
      const twins = await open(t)
      const [owner, member] = [await makeOwner(t, twins), await makeRole(t)]
      await sql(`GRANT ${owner} TO ${member}`)
      await twins.follow({ url: urlOf(member) })
      await twins.leave()
      await sql(`REVOKE ${owner} FROM ${member}`)
      assert.equal((await twins.send(0, "UPDATE t SET v = 'unseen' WHERE id = 1")).state, undefined)
      await sql(`GRANT ${owner} TO ${member}`)
      await twins.follow()
      await twins.check()
    })

    it('while the queue is being dropped', async (t) => {
      const twins = await ownTable(t)
      const { queue } = await twins.names()
      await twins.leave()
      const admin = new Client(source().url)
      await admin.connect()
      t.after(() => admin.end())
      await admin.query(`BEGIN; DROP TABLE ${queue}`)
      const answer = twins.send(0, "UPDATE t SET v = 'unseen' WHERE id = 1")
      const isWaiting = `SELECT FROM pg_locks WHERE NOT granted AND relation = '${queue}'::regclass`
      await waitUntil(async () => (await sql(isWaiting)).length > 0)
      await admin.query('COMMIT')
      assert.equal((await answer).state, undefined)
      await twins.follow()
      await twins.check()
    })

    it('also what a transaction wrote that ends only after the repair', async (t) => {
      const twins = await ownTable(t)
      const names = await twins.names()
      const owner = await ownerOf(names)
      await twins.leave()
      const revoke = [names.queue, `SEQUENCE ${names.waiting}`, `SEQUENCE ${names.lost}`]
      await sql(...revoke.map((what) => `REVOKE ALL ON ${what} FROM ${owner}`))
      await twins.send(0, 'BEGIN')
      await twins.send(0, "UPDATE t SET v = 'unseen' WHERE id = 1")
      await sql(...revoke.map((what) => `GRANT ALL ON ${what} TO ${owner}`))
      await twins.follow()
      await twins.send(0, 'COMMIT')
      // Transactions of other tests on this server are waited for too.
      await waitUntil(() => twins.hasReported('transactions have ended'))
      await twins.check()
    })
  })

  describe('by clocks that were set back', () => {
    it('compares all rows if they were last compared in the future', async (t) => {
      const twins = await follow(t)
      const { followers } = await twins.names()
      await twins.leave()
      await sql(`UPDATE ${followers} SET compared_at = now() + interval '3 days'`)
      await twins.follow()
      assert.ok(twins.hasReported('as it is time'))
    })

    it('takes over a collection that followed another table in the future', async (t) => {
      const twins = await open(t)
      await source().store.create(twins.schema, { keyField: 'id' })
      const seenAt = Date.now() + 3 * 24 * 3_600_000
      await source().store.noteFollowing(twins.schema, { source: 'elsewhere', waiting: 0, asOf: seenAt, seenAt })
      await twins.follow()
      await twins.check()
    })
  })

  it('names the GRANT that is missing where another role owns a partition', async (t) => {
    const twins = await open(t, [
      'CREATE TABLE t (id int PRIMARY KEY, v text) PARTITION BY RANGE (id)',
      'CREATE TABLE part PARTITION OF t FOR VALUES FROM (0) TO (100)',
      "INSERT INTO t VALUES (1, 'one')",
    ])
    const [owner, other] = [await makeOwner(t, twins), await makeRole(t)]
    const { schema } = twins
    await sql(`GRANT USAGE, CREATE ON SCHEMA ${schema} TO ${other}`, `ALTER TABLE ${schema}.part OWNER TO ${other}`)
    const statements = await ownerStatements(twins.follow({ url: urlOf(owner) }))
    assert.deepEqual(statements, [`GRANT TRIGGER ON ${schema}.part TO ${owner}`])
    twins.forgive()
    assert.equal(await sqlAs(other, ...statements), undefined)
    await twins.follow({ url: urlOf(owner) })
    await twins.run("INSERT INTO t VALUES (2, 'two')")
    await twins.run('TRUNCATE part')
  })

  /** What the owner is to run, of a follower that stopped for it. */
  async function ownerStatements(following: Promise<void>): Promise<readonly string[]> {
    try {
      await following
    } catch (error) {
      const cause = error instanceof Error ? error.cause : undefined
      if (cause instanceof OwnerNeeded) return cause.statements
      throw error
    }
    return assert.fail('it follows')
  }
})
