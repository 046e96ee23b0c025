import assert from 'node:assert/strict'
import { chmodSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { newSchema, runSql, withParameter } from '../store/postgres-engine.ts'
import { describePostgres, type PostgresServer } from '../store/postgres-server.ts'
import { eventLines } from './items.ts'
import { type CliOptions, type CliResult, runCli, startServer, workDirectory } from './run-cli.ts'

const WARNING = /^reams: Others can read the password in --store.*REAMS_STORE, PGPASSWORD or ~\/\.pgpass instead\.\n/

describePostgres('the command line on a store in PostgreSQL', (startPostgres, isCitus) => {
  const ofConnections = { skip: isCitus && 'It is about connections, which Citus takes as PostgreSQL does' }
  let server: PostgresServer
  const schemas: string[] = []

  before(async () => {
    server = await startPostgres()
  })
  after(async () => {
    for (const schema of schemas) await sql(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    await server?.stop()
  })

  const sql = (text: string) => runSql(server.url, '', text)
  const password = () => decodeURIComponent(new URL(server.url).password)
  /** The URL of a store that is not there yet. */
  const newUrl = (): string => {
    schemas.push(newSchema())
    return withParameter(server.url, 'schema', schemas.at(-1) ?? '')
  }
  const changed = (url: string, change: (url: URL) => void): string => {
    const parts = new URL(url)
    change(parts)
    return parts.href
  }
  const withoutPassword = (url: string): string =>
    changed(url, (parts) => {
      parts.password = ''
    })
  /** Runs the program, which must never show a password. */
  const run = async (t: TestContext, words: string[], options: Partial<CliOptions> = {}): Promise<CliResult> => {
    const result = await runCli(words, { in: workDirectory(t), ...options })
    for (const secret of [password(), encodeURIComponent(password()), 'wrong-and-secret'].filter((each) => each !== ''))
      for (const output of [result.stdout, result.stderr]) assert.ok(!output.includes(secret), output)
    return result
  }
  /** The store is named by the variable. */
  const runOn = (t: TestContext, url: string, ...words: string[]): Promise<CliResult> =>
    run(t, words, { variables: { REAMS_STORE: url, HOME: '/nowhere' }, input: eventLines(1234) })

  it('has every command, and none says anything about passwords', async (t) => {
    const url = newUrl()
    const name = withoutPassword(url)
    const succeed = async (...words: string[]): Promise<string> => {
      const { status, stdout, stderr } = await runOn(t, url, ...words)
      assert.equal(status, 0, stderr)
      assert.doesNotMatch(stderr, /password/)
      return stdout
    }
    assert.match(await succeed('import', 'events', '-', '--key', 'id'), /1,234 items imported/)
    assert.match(await succeed('collections'), /^events +1,234 +3 +id/m)
    assert.equal(await succeed('export', 'events'), eventLines(1234))
    assert.match(await succeed('set', 'events', '--private'), /private now/)
    assert.equal(
      await succeed('token', 'list'),
      `${name} has no tokens. Make one: reams token create --name NAME --scope SCOPE --store '${name}'\n`,
    )
    assert.match(await succeed('token', 'create', '--name', 'ci', '--scope', 'admin'), /^reams_/)
    assert.match(await succeed('token', 'revoke', 'ci'), /revoked/)
    assert.match(await succeed('token', 'list'), /^ci +revoked/m)
    // A server that was there before the tests may run without checksums.
    const verified = (await succeed('verify')).replace(/^Note: The database runs without data checksums.*\n/, '')
    assert.equal(verified, `${name}: 1 collection with 1,234 items checked, all sound.\n`)
    assert.match(await succeed('drop', 'events'), /dropped, with 1,234 items/)
    assert.equal(
      await succeed('collections'),
      `${name} has no collections. Make one: reams import NAME FILE --store '${name}'\n`,
    )
  })

  it('is served, also by several processes at once, and a token that one revokes no other takes', async (t) => {
    const url = newUrl()
    const options = { in: workDirectory(t), variables: { REAMS_STORE: url } }
    const servers = [await startServer(t, ['--create'], options), await startServer(t, [], options)]
    for (const { cli } of servers) assert.ok(cli.stdout.startsWith(`Reams serves ${withoutPassword(url)} at http`))
    const { stdout } = await runOn(t, url, 'token', 'create', '--name', 'ci', '--scope', 'create:*')
    const headers = { Authorization: `Bearer ${stdout.trim()}`, 'Content-Type': 'application/json' }
    const post = (at: number) =>
      fetch(`${servers[at % 2]?.url}/events`, { method: 'POST', headers, body: `[{"n":${at}}]` })
    assert.equal((await post(0)).status, 201)
    const statuses = await Promise.all(Array.from({ length: 20 }, async (_, at) => (await post(at)).status))
    assert.deepEqual(new Set(statuses), new Set([201]))
    for (const { get } of servers) assert.match(await (await get('/events')).text(), /"item_count":21[,}]/)
    await runOn(t, url, 'token', 'revoke', 'ci')
    assert.deepEqual([(await post(0)).status, (await post(1)).status], [401, 401])
    for (const { cli } of servers)
      assert.deepEqual({ ...(await cli.stop()), stdout: '' }, { status: 0, stdout: '', stderr: '' })
  })

  describe('takes a password', ofConnections, () => {
    it('from --store, with a warning, once', async (t) => {
      for (const url of [
        newUrl(),
        withParameter(withoutPassword(newUrl()), 'password', encodeURIComponent(password())),
      ]) {
        const made = await run(t, ['import', 'events', '-', '--store', url], { input: eventLines(1) })
        assert.equal(made.status, 0, made.stderr)
        assert.match(made.stderr, WARNING)
        assert.equal(made.stderr.match(/password/g)?.length, 1)
      }
    })

    it('from PGPASSWORD', async (t) => {
      const variables = { PGPASSWORD: password() }
      const words = ['import', 'events', '-', '--store', withoutPassword(newUrl())]
      const { status, stderr } = await run(t, words, { variables, input: eventLines(1) })
      assert.deepEqual([status, stderr], [0, ''])
    })

    it('from ~/.pgpass', async (t) => {
      const url = newUrl()
      const home = workDirectory(t)
      const { hostname, port, username } = new URL(url)
      writeFileSync(join(home, '.pgpass'), `${hostname}:${port || 5432}:*:${username}:${password()}\n`)
      chmodSync(join(home, '.pgpass'), 0o600)
      const words = ['import', 'events', '-', '--store', withoutPassword(url)]
      const { status, stderr } = await run(t, words, { variables: { HOME: home }, input: eventLines(1) })
      assert.deepEqual([status, stderr], [0, ''])
    })
  })

  describe('says what to do', () => {
    const refused = async (t: TestContext, url: string, status: number, message: RegExp): Promise<string> => {
      let refusal = ''
      for (const words of [['collections'], ['serve', '--port', '0', '--create'], ['import', 'events', '-']]) {
        const result = await runOn(t, url, ...words)
        assert.deepEqual([result.status, result.stdout], [status, ''], `${words[0]}: ${result.stderr}`)
        assert.match(result.stderr, message)
        assert.match(result.stderr, /^reams: [^\n]*\n$/)
        refusal = result.stderr
      }
      return refusal
    }

    it('about a host that does not exist', ofConnections, async (t) => {
      await refused(
        t,
        'postgres://me:wrong-and-secret@nowhere.invalid/db',
        3,
        /nowhere\.invalid.*look at the host in the URL/,
      )
    })

    it(
      'about a server that is down, also to serve: who starts it decides when to try again',
      ofConnections,
      async (t) => {
        const listener = createServer()
        const port = await listening(listener)
        await new Promise((resolve) => listener.close(resolve))
        await refused(
          t,
          `postgres://me:wrong-and-secret@127.0.0.1:${port}/db`,
          3,
          /ECONNREFUSED.*whether the server runs/,
        )
      },
    )

    it('about a server that does not answer', ofConnections, async (t) => {
      const listener = createServer(() => {})
      t.after(() => listener.close())
      const port = await listening(listener)
      const url = `postgres://me:wrong-and-secret@127.0.0.1:${port}/db`
      const { status, stderr } = await runOn(t, url, 'collections')
      assert.equal(status, 3)
      assert.match(stderr, /did not answer in time: look whether/)
    })

    it('about a password that is wrong, or missing', ofConnections, async (t) => {
      await sql(`DROP ROLE IF EXISTS reams_cli_locked`)
      await sql(`CREATE ROLE reams_cli_locked LOGIN PASSWORD 'right'`)
      t.after(() => sql('DROP ROLE reams_cli_locked'))
      const as = (secret: string): string =>
        changed(newUrl(), (parts) => {
          parts.username = 'reams_cli_locked'
          parts.password = secret
        })
      await refused(t, as('wrong-and-secret'), 3, /authentication failed.*REAMS_STORE, PGPASSWORD or ~\/\.pgpass/)
      await refused(t, as(''), 3, /wants a password, and none was given.*PGPASSWORD, ~\/\.pgpass or REAMS_STORE/)
    })

    it('about a database that does not exist', ofConnections, async (t) => {
      await refused(
        t,
        changed(newUrl(), (parts) => {
          parts.pathname = '/reams_nowhere'
        }),
        2,
        /"reams_nowhere" does not exist.*createdb/,
      )
    })

    it('about a URL that is wrong', ofConnections, async (t) => {
      const wrong = { 'postgres://me:wrong-and-secret/x@host/db': /%2F for/, 'postgres://me@host/db?schema=A': /"A"/ }
      for (const [url, message] of Object.entries(wrong)) await refused(t, url, 2, message)
    })

    it('about a store that is not there', async (t) => {
      const url = newUrl()
      for (const words of [['collections'], ['serve', '--port', '0'], ['verify'], ['token', 'list']]) {
        const { status, stderr } = await runOn(t, url, ...words)
        assert.equal(status, 2)
        assert.ok(
          stderr.startsWith(`reams: There is no store at ${withoutPassword(url)}. Make one with \`reams import`),
        )
      }
    })

    it('about a store that a newer version wrote', async (t) => {
      const url = newUrl()
      assert.equal((await runOn(t, url, 'import', 'events', '-')).status, 0)
      await sql(`INSERT INTO ${schemas.at(-1)}.reams_format VALUES (99)`)
      await refused(t, url, 3, /was written by a newer Reams .*99.*Update Reams/)
    })

    it('to a role that may not create: with the GRANT that helps', async (t) => {
      await sql(`DROP ROLE IF EXISTS reams_cli_role`)
      await sql(`CREATE ROLE reams_cli_role LOGIN PASSWORD 'right'`)
      t.after(async () => {
        await sql('DROP OWNED BY reams_cli_role CASCADE')
        await sql('DROP ROLE reams_cli_role')
      })
      const url = changed(newUrl(), (parts) => {
        parts.username = 'reams_cli_role'
        parts.password = 'right'
      })
      const { status, stderr } = await runOn(t, url, 'import', 'events', '-')
      assert.equal(status, 3)
      await sql(/GRANT CREATE ON DATABASE [^;]*;/.exec(stderr)?.[0] ?? `SELECT 'no grant in ${stderr}'`)
      assert.equal((await runOn(t, url, 'import', 'events', '-')).status, 0)
    })

    it('about a database that is read-only: it is read, and not written to', async (t) => {
      const url = newUrl()
      assert.equal((await runOn(t, url, 'import', 'events', '-')).status, 0)
      const readOnly = withParameter(url, 'options', encodeURIComponent('-c default_transaction_read_only=on'))
      assert.match((await runOn(t, readOnly, 'collections')).stdout, /^events +1,234/m)
      const { status, stderr } = await runOn(t, readOnly, 'import', 'events', '-')
      assert.equal(status, 3)
      assert.match(stderr, /takes no writes now/)
    })
  })
})

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return typeof address === 'object' ? (address?.port ?? 0) : 0
}
