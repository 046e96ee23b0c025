import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { itemRun } from '../../src/items/item-run.ts'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import type { Store } from '../../src/store/store.ts'
import { newSchema, runSql, withParameter } from './postgres-engine.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'
import { readItems } from './store-reading.ts'

const CHILD = fileURLToPath(new URL('./child-writer.ts', import.meta.url))

const isError =
  (code: string, words = /./) =>
  (error: unknown) => {
    assert.ok(error instanceof Error && 'code' in error)
    assert.equal(error.code, code, error.message)
    assert.match(error.message, words)
    return true
  }

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
    const schema = newSchema()
    schemas.push(schema)
    return schema
  }
  const urlOf = (schema: string): string => withParameter(serverUrl(), 'schema', schema)
  /** The server's URL for another user, database or port. */
  const otherUrl = (change: (url: URL) => void, schema: string): string => {
    const url = new URL(serverUrl())
    change(url)
    url.searchParams.set('schema', schema)
    return url.href
  }

  before(async () => {
    server = await startPostgres()
  })
  after(async () => {
    for (const schema of schemas) await sql(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    await server?.stop()
  })

  it('is made in a schema of its own, and found there again', async () => {
    const schema = someSchema()
    const first = await openPostgresStore({ url: urlOf(schema), create: true })
    await first.append('events', itemRun(['{"n":1}']), { create: true })
    await first.close()
    const again = await openPostgresStore({ url: urlOf(schema) })
    assert.equal((await again.head('events'))?.live, 1)
    await again.close()
    const other = await openPostgresStore({ url: urlOf(someSchema()), create: true })
    assert.deepEqual(await other.collections(), [])
    await other.close()
  })

  it('that was begun is made by whoever of many comes first', async () => {
    const schema = someSchema()
    await sql(firstStatement(schema))
    const opened = await Promise.all(Array.from({ length: 8 }, () => openPostgresStore({ url: urlOf(schema) })))
    const [store = assert.fail(), ...others] = opened
    for (const other of others) await other.close()
    await store.create('events')
    await store.append('events', itemRun(['{"n":1}']))
    assert.deepEqual(await readItems(store, 'events'), ['{"n":1}'])
    assert.deepEqual((await store.verify()).findings, [])
    await store.close()
  })

  it('is made once when many processes start at once, and takes the writes of all', async () => {
    const schema = someSchema()
    const children = Array.from({ length: 5 }, () =>
      spawn(process.execPath, [CHILD, urlOf(schema), 'append', '40'], { stdio: 'inherit' }),
    )
    const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0]))
    assert.deepEqual(codes, [0, 0, 0, 0, 0])
    const store = await openPostgresStore({ url: urlOf(schema) })
    assert.equal((await store.head('events'))?.live, 200)
    assert.deepEqual((await store.verify()).findings, [])
    await store.close()
  })

  it('is made once when one process opens it many times', async () => {
    const url = urlOf(someSchema())
    const stores = await Promise.all(Array.from({ length: 12 }, () => openPostgresStore({ url, create: true })))
    await Promise.all(stores.map((store: Store) => store.close()))
    assert.deepEqual(await sql(`SELECT count(*)::integer FROM ${schemas.at(-1)}.reams_format`), [[1]])
  })

  describe('is refused, and left as it was,', () => {
    it('when there is none and none may be made', async () => {
      const schema = someSchema()
      await assert.rejects(openPostgresStore({ url: urlOf(schema) }), isError('missing-store', /reams import/))
      assert.deepEqual(await sql(`SELECT to_regnamespace('${schema}')`), [[null]])
    })

    it('when the schema is that of another application', async () => {
      const schema = someSchema()
      await sql(`CREATE SCHEMA ${schema}`)
      await sql(`CREATE TABLE ${schema}.theirs (x integer)`)
      for (const create of [false, true])
        await assert.rejects(
          openPostgresStore({ url: urlOf(schema), create }),
          isError('not-a-store', /another application/),
        )
    })

    it('when another application has a table of the same name', async () => {
      const schema = someSchema()
      await sql(`CREATE SCHEMA ${schema}`)
      await sql(`CREATE TABLE ${schema}.reams_format (paper text)`)
      for (const create of [false, true])
        await assert.rejects(openPostgresStore({ url: urlOf(schema), create }), isError('not-a-store', /another/))
    })

    it('when a newer version wrote it', async () => {
      const schema = someSchema()
      await (await openPostgresStore({ url: urlOf(schema), create: true })).close()
      await sql(`INSERT INTO ${schema}.reams_format VALUES (99)`)
      for (const create of [false, true])
        await assert.rejects(openPostgresStore({ url: urlOf(schema), create }), isError('newer-store', /99/))
    })

    it('when the database is not encoded in UTF-8', async () => {
      await sql(`CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`)
      const url = otherUrl((each) => {
        each.pathname = '/latin'
      }, 'reams')
      await assert.rejects(openPostgresStore({ url, create: true }), isError('unsupported', /LATIN1.*UTF8/))
      await sql('DROP DATABASE latin')
    })

    it('when there is no such database', async () => {
      const url = otherUrl((each) => {
        each.pathname = '/nowhere'
      }, 'reams')
      await assert.rejects(openPostgresStore({ url, create: true }), isError('missing-store', /createdb/))
    })

    it('when the URL or a part of it is wrong', async () => {
      for (const url of ['reams.db', 'postgres:/x', 'http://x/y', 'postgres://user:secret@[broken/db'])
        await assert.rejects(openPostgresStore({ url }), isError('not-a-store', /postgres:\/\//))
      for (const schema of ['', 'Upper', 'a"b', 'pg_catalog', '1a', 'x'.repeat(64)])
        await assert.rejects(
          openPostgresStore({ url: withParameter(serverUrl(), 'schema', schema) }),
          isError('not-a-store', /schema/),
        )
      await assert.rejects(
        openPostgresStore({ url: withParameter(serverUrl(), 'prepare', 'perhaps') }),
        isError('not-a-store', /auto, always or never/),
      )
      for (const mode of ['verify_full', 'no-verify', ''])
        await assert.rejects(
          openPostgresStore({ url: withParameter(serverUrl(), 'sslmode', mode) }),
          isError('not-a-store', /sslmode=.*: expected one of disable, .*verify-full/),
        )
      await assert.rejects(
        openPostgresStore({ url: withParameter(serverUrl(), 'sslmode', 'verify-ca') }),
        isError('not-a-store', /sslrootcert/),
      )
    })
  })

  describe('that cannot be reached', () => {
    it('says so at once', async () => {
      const listener = createServer()
      await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
      const address = listener.address()
      await new Promise((resolve) => listener.close(resolve))
      const port = typeof address === 'object' ? String(address?.port) : ''
      const url = otherUrl((each) => {
        each.port = port
      }, 'reams')
      await assert.rejects(
        openPostgresStore({ url, create: true }),
        isError('unavailable', /ECONNREFUSED.*server is running/),
      )
    })

    it('never shows the password', async () => {
      const url = otherUrl((each) => {
        each.password = 'wrong-and-secret'
      }, 'reams')
      const wrong = [
        url,
        url.replace(/@[^/]*/, '@127.0.0.1:1'),
        url.replace(/@[^/]*/, '@nowhere.invalid'),
        url.replace('schema=reams', 'schema=A'),
        url.replace(/@[^/]*/, '@[x'),
        `${url}&sslmode=verify-full&sslrootcert=/nowhere`,
      ]
      for (const each of wrong) {
        const error = await openPostgresStore({ url: each }).then(
          () => undefined,
          (reason: unknown) => reason,
        )
        // A server that trusts everybody opens the first.
        if (error !== undefined) assert.doesNotMatch(inspect(error, { depth: 9 }), /wrong-and-secret/)
      }
    })
  })

  describe('for a role that may not do everything', () => {
    const role = `reams_role_${process.pid}`
    const roleUrl = (schema: string): string =>
      otherUrl((each) => {
        each.username = role
        each.password = 'other'
      }, schema)

    before(async () => {
      await sql(`CREATE ROLE ${role} LOGIN PASSWORD 'other'`)
    })
    after(async () => {
      await sql(`DROP OWNED BY ${role} CASCADE`)
      await sql(`DROP ROLE ${role}`)
    })

    /** The statement that a message gives, as somebody would copy it. */
    const grantsIn = (error: unknown, form: RegExp): string => form.exec(String(error))?.[0] ?? 'SELECT no grant'

    it('tells what allows it to make the store', async () => {
      const schema = someSchema()
      const opening = () => openPostgresStore({ url: roleUrl(schema), create: true })
      const refusal = await opening().catch((error: unknown) => error)
      isError('no-permission', /GRANT CREATE ON DATABASE/)(refusal)
      await sql(grantsIn(refusal, /CREATE SCHEMA [^;]*;/))
      await (await opening()).close()
    })

    it('tells what allows it to make the store in a schema that is there', async () => {
      const schema = someSchema()
      await sql(`CREATE SCHEMA ${schema}`)
      const opening = () => openPostgresStore({ url: roleUrl(schema), create: true })
      const refusal = await opening().catch((error: unknown) => error)
      isError('no-permission', /GRANT USAGE, CREATE/)(refusal)
      await sql(grantsIn(refusal, /GRANT [^;]*;/))
      await (await opening()).close()
    })

    it('tells who can bring a store of another role up to date', async () => {
      const schema = someSchema()
      await sql(firstStatement(schema))
      await sql(`GRANT USAGE ON SCHEMA ${schema} TO ${role}; GRANT ALL ON ALL TABLES IN SCHEMA ${schema} TO ${role}`)
      const opening = () => openPostgresStore({ url: roleUrl(schema) })
      await assert.rejects(opening(), isError('no-permission', /older Reams .* the role that owns its tables/))
      await (await openPostgresStore({ url: urlOf(schema) })).close()
      await (await opening()).close()
    })

    it('tells what allows it to use one that another role made', async () => {
      const schema = someSchema()
      const owner = await openPostgresStore({ url: urlOf(schema), create: true })
      await owner.append('events', itemRun(['{"n":1}']), { create: true })
      const refusal = await openPostgresStore({ url: roleUrl(schema) }).catch((error: unknown) => error)
      isError('no-permission', /GRANT USAGE ON SCHEMA/)(refusal)
      await sql(grantsIn(refusal, /GRANT USAGE[^;]*;/))
      await sql(grantsIn(refusal, /GRANT SELECT[^;]*;/))
      const store = await openPostgresStore({ url: roleUrl(schema) })
      await store.append('events', itemRun(['{"n":2}']))
      assert.equal((await owner.head('events'))?.live, 2)
      await sql(`REVOKE INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} FROM ${role}`)
      await assert.rejects(
        store.append('events', itemRun(['{"n":3}'])),
        isError('no-permission', /GRANT SELECT, INSERT/),
      )
      assert.equal((await store.head('events'))?.live, 2)
      await Promise.all([owner.close(), store.close()])
    })
  })
})
