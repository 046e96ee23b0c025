import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { Client } from 'pg'
import { itemRun } from '../../src/items/item-run.ts'
import { readDatabaseLabel } from '../../src/postgres/database-label.ts'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import { isError } from './items.ts'
import { newSchema, runSql, withParameter } from './postgres-engine.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'
import { readItems } from './store-reading.ts'

const CHILD = fileURLToPath(new URL('./child-writer.ts', import.meta.url))

/** What is there of a store when whoever made it died after the first statement. */
const firstStatement = (schema: string): string => `
  CREATE SCHEMA ${schema};
  CREATE TABLE ${schema}.reams_format (version integer PRIMARY KEY)`

describe('a store in a PostgreSQL database', () => {
  let server: PostgresServer | undefined
  const schemas: string[] = []
  const serverUrl = (): string => server?.url ?? ''
  const sql = (text: string) => runSql(serverUrl(), '', text)
  /** A schema that is dropped at the end. */
  const someSchema = (): string => {
    schemas.push(newSchema())
    return schemas.at(-1) ?? ''
  }
  const urlOf = (schema: string): string => withParameter(serverUrl(), 'schema', schema)
  /** The server's URL for another user, password, database or port. */
  const otherUrl = (change: Partial<URL>, schema = 'reams'): string =>
    withParameter(Object.assign(new URL(serverUrl()), change).href, 'schema', schema)
  const open = (schema: string, create = false) => openPostgresStore({ url: urlOf(schema), create })
  const refuses = async (url: string, code: string, words: RegExp): Promise<void> => {
    for (const create of [false, true])
      await assert.rejects(openPostgresStore({ url, create }), isError(code, words), `${url} ${words}`)
  }

  before(async () => {
    server = await startPostgres()
  })
  after(async () => {
    for (const schema of schemas) await sql(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    await server?.stop()
  })

  it('that was begun is made by whoever of many comes first', async () => {
    const schema = someSchema()
    await sql(firstStatement(schema))
    const opened = await Promise.all(Array.from({ length: 8 }, () => open(schema)))
    const [store = assert.fail(), ...others] = opened
    for (const other of others) await other.close()
    await store.append('events', itemRun(['{"n":1}']), { create: true })
    assert.deepEqual(await readItems(store, 'events'), ['{"n":1}'])
    assert.deepEqual((await store.verify()).findings, [])
    await store.close()
  })

  it('is made once when many processes start at once, and one opens it many times, and takes the writes of all', async () => {
    const schema = someSchema()
    const children = Array.from({ length: 4 }, () =>
      spawn(process.execPath, [CHILD, urlOf(schema), 'append', '40'], { stdio: 'inherit' }),
    )
    const stores = Promise.all(Array.from({ length: 8 }, () => open(schema, true)))
    const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0]))
    assert.deepEqual(codes, [0, 0, 0, 0])
    const [store = assert.fail(), ...others] = await stores
    await Promise.all(others.map((each) => each.close()))
    assert.deepEqual(await sql(`SELECT count(*)::integer FROM ${schema}.reams_format`), [[1]])
    assert.equal((await store.head('events'))?.live, 160)
    assert.deepEqual((await store.verify()).findings, [])
    await store.close()
  })

  describe('is refused, and left as it was,', () => {
    it('when there is none and none may be made', async () => {
      const schema = someSchema()
      await assert.rejects(open(schema), isError('missing-store', /reams import/))
      assert.deepEqual(await sql(`SELECT to_regnamespace('${schema}')`), [[null]])
    })

    it('when the schema is that of another application, also one with a table of the same name', async () => {
      for (const table of ['theirs', 'reams_format']) {
        const schema = someSchema()
        await sql(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.${table} (paper text)`)
        await refuses(urlOf(schema), 'not-a-store', /another/)
      }
    })

    it('when a newer or an earlier version wrote it', async () => {
      const schema = someSchema()
      await (await open(schema, true)).close()
      await sql(`UPDATE ${schema}.reams_format SET version = 99`)
      await refuses(urlOf(schema), 'other-format', /99.*Update Reams/)
      await sql(`UPDATE ${schema}.reams_format SET version = 1`)
      await refuses(urlOf(schema), 'other-format', /reams export .* with this one/)
    })

    it('when the database is not encoded in UTF-8, or is not there', async () => {
      await sql(`CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`)
      await refuses(otherUrl({ pathname: '/latin' }), 'unsupported', /LATIN1.*UTF8/)
      await sql('DROP DATABASE latin')
      await refuses(otherUrl({ pathname: '/nowhere' }), 'missing-store', /createdb/)
    })

    it('when the URL or a part of it is wrong', async () => {
      for (const url of ['reams.db', 'postgres:/x', 'http://x/y', 'postgres://user:secret@[broken/db'])
        await refuses(url, 'not-a-store', /postgres:\/\//)
      for (const schema of ['', 'Upper', 'a"b', 'pg_catalog', '1a', 'x'.repeat(64)])
        await refuses(urlOf(schema), 'not-a-store', /schema/)
      await refuses(withParameter(serverUrl(), 'prepare', 'perhaps'), 'not-a-store', /auto, always or never/)
      for (const mode of ['verify_full', 'no-verify', '']) {
        const words = /sslmode=.*: expected one of disable, .*verify-full/
        await refuses(withParameter(serverUrl(), 'sslmode', mode), 'not-a-store', words)
      }
      await refuses(withParameter(serverUrl(), 'sslmode', 'verify-ca'), 'not-a-store', /sslrootcert/)
      await refuses(withParameter(serverUrl(), 'shema', 'x'), 'not-a-store', /"shema".* correct it to one of schema,/)
      await refuses(withParameter(serverUrl(), 'connect_timeout', '5s'), 'not-a-store', /number of seconds/)
      const secret = await openPostgresStore({ url: 'postgres://h/db?password:secret' }).catch((error) => error)
      assert.match(String(secret), /Unknown parameter in the URL/)
      const session = withParameter(serverUrl(), 'target_session_attrs', 'read-write')
      await refuses(session, 'not-a-store', /one that follows the primary/)
    })
  })

  it('never shows the password', async () => {
    const url = otherUrl({ password: 'wrong-and-secret' })
    for (const each of [
      url,
      url.replace(/@[^/]*/, '@127.0.0.1:1'),
      url.replace(/@[^/]*/, '@nowhere.invalid'),
      url.replace('schema=reams', 'schema=A'),
      url.replace(/@[^/]*/, '@[x'),
      `${url}&sslmode=verify-full&sslrootcert=/nowhere`,
    ]) {
      // A server that trusts everybody opens the first.
      const error = await openPostgresStore({ url: each }).catch((reason: unknown) => reason)
      if (error instanceof Error) assert.doesNotMatch(inspect(error, { depth: 9 }), /wrong-and-secret/)
    }
  })

  describe('for a role that may not do everything', () => {
    const role = `reams_role_${process.pid}`
    const openAsRole = (schema: string, create = false) =>
      openPostgresStore({ url: otherUrl({ username: role, password: 'other' }, schema), create })

    before(() => sql(`CREATE ROLE ${role} LOGIN PASSWORD 'other'`))
    after(() => sql(`DROP OWNED BY ${role} CASCADE; DROP ROLE ${role}`))

    /** Runs the statements that a refusal gives, as somebody would copy them. */
    const follow = async (opening: Promise<unknown>, words: RegExp, forms: readonly RegExp[]): Promise<void> => {
      const refusal = await opening.catch((error: unknown) => error)
      assert.ok(isError('no-permission', words)(refusal), String(refusal))
      for (const form of forms) await sql(form.exec(String(refusal))?.[0] ?? 'SELECT no grant')
    }

    it('tells what allows it to make the store, also in a schema that is there', async () => {
      const [schema, other] = [someSchema(), someSchema()]
      await follow(openAsRole(schema, true), /GRANT CREATE ON DATABASE/, [/CREATE SCHEMA [^;]*;/])
      await sql(`CREATE SCHEMA ${other}`)
      await follow(openAsRole(other, true), /GRANT USAGE, CREATE/, [/GRANT [^;]*;/])
      for (const each of [schema, other]) await (await openAsRole(each, true)).close()
    })

    it('leaves the settings of a table as they are, which its owner adds where there are none', async () => {
      const schema = someSchema()
      const options = () =>
        sql(`
        SELECT t.reloptions FROM pg_class c JOIN pg_class t ON t.oid = c.reltoastrelid WHERE c.oid = '${schema}.ream'::regclass`)
      const parameters = ['vacuum_threshold', 'vacuum_scale_factor', 'vacuum_cost_delay'].map(
        (name) => `toast.autovacuum_${name}`,
      )
      await (await open(schema, true)).close()
      const made = await options()
      assert.match(String(made), /autovacuum_vacuum_threshold=1000/)
      await sql(`
        ALTER TABLE ${schema}.ream RESET (${parameters}); GRANT USAGE ON SCHEMA ${schema} TO ${role};
        GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${role}`)
      await (await openAsRole(schema)).close()
      assert.deepEqual(await options(), [[null]])
      await (await open(schema)).close()
      assert.deepEqual(await options(), made)
      await sql(`ALTER TABLE ${schema}.ream SET (toast.autovacuum_vacuum_threshold = 7)`)
      await (await open(schema)).close()
      assert.match(String(await options()), /threshold=7\b/)
    })

    it('is opened although somebody holds the lock that its settings need', async () => {
      const schema = someSchema()
      await (await open(schema, true)).close()
      await sql(`ALTER TABLE ${schema}.ream RESET (toast.autovacuum_vacuum_threshold, toast.autovacuum_vacuum_scale_factor,
        toast.autovacuum_vacuum_cost_delay)`)
      const other = new Client(serverUrl())
      await other.connect()
      await other.query(`BEGIN; LOCK TABLE ${schema}.ream IN SHARE UPDATE EXCLUSIVE MODE`)
      await (await open(schema)).close()
      await other.end()
    })

    it('tells what allows it to use one that another role made', async () => {
      const schema = someSchema()
      const owner = await open(schema, true)
      await owner.append('events', itemRun(['{"n":1}']), { create: true })
      await follow(openAsRole(schema), /GRANT USAGE ON SCHEMA/, [/GRANT USAGE[^;]*;/, /GRANT SELECT[^;]*;/])
      const store = await openAsRole(schema)
      const append = () => store.append('events', itemRun(['{"n":2}']))
      assert.equal((await append()).live, 2)
      await sql(`REVOKE INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} FROM ${role}`)
      assert.ok(isError('writes-denied', /GRANT SELECT, INSERT/)(await append().catch((error) => error)))
      await sql(
        `GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${role}; REVOKE INSERT ON ${schema}.tail FROM ${role}`,
      )
      await follow(append(), /GRANT SELECT, INSERT/, [])
      assert.equal((await store.head('events'))?.live, 2)
      await Promise.all([owner.close(), store.close()])
    })
  })
})

describe('how a store in PostgreSQL is called', () => {
  it('is its URL, without the password wherever it stands', () => {
    for (const [url, label, hasPassword] of [
      ['postgres://me@host/db', 'postgres://me@host/db', false],
      ['postgresql://me:secret@host:5432/db?schema=x', 'postgresql://me@host:5432/db?schema=x', true],
      ['postgres://me:se:cr:et@[::1]:5432/db', 'postgres://me@[::1]:5432/db', true],
      ['postgres://:secret@host/db', 'postgres://@host/db', true],
      ['postgres://me@host/db?password=secret&sslmode=require', 'postgres://me@host/db?sslmode=require', true],
      ['postgres:///db?host=/var/run/postgresql', 'postgres:///db?host=/var/run/postgresql', false],
      ['POSTGRES://me:secret@host', 'POSTGRES://me@host', true],
    ] as const)
      assert.deepEqual(readDatabaseLabel(url), { label, hasPassword })
  })

  it('tells nothing about a URL in which the password cannot be told from the rest', () => {
    for (const url of [
      'postgres://me:1/secret@host/db',
      'postgres://me:1?secret@host/db',
      'postgres://me:1#secret@h/db',
      'postgres://me:secret/db',
    ])
      assert.equal(readDatabaseLabel(url).label, 'postgres://…')
  })

  it('never holds the password, whatever that is', () => {
    const secret = fc.string({ minLength: 3 }).map((text) => `#1/${text}!`)
    fc.assert(
      fc.property(secret, fc.boolean(), (text, isEncoded) => {
        const { label } = readDatabaseLabel(`postgres://me:${isEncoded ? encodeURIComponent(text) : text}@host/db`)
        assert.ok(!label.includes(text) && !label.includes(encodeURIComponent(text)))
      }),
    )
  })
})
