import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmodSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { before, describe, it, type TestContext } from 'node:test'
import { freePort } from '../store/free-port.ts'
import { withParameter } from '../store/postgres-engine.ts'
import { describePostgres } from '../store/postgres-server.ts'
import { storesInPostgres } from './directory.ts'
import { eventLines } from './items.ts'
import { type CliResult, runCli, runInside, startServer, suiteScope, workDirectory } from './run-cli.ts'

const WARNING =
  /^reams: Other users can see the password in --store .*Use REAMS_STORE, PGPASSWORD or ~\/\.pgpass instead\.\n/

describePostgres('the command line on a store in PostgreSQL', (startPostgres, isCitus) => {
  const ofConnections = { skip: isCitus && 'It is about connections, which Citus takes as PostgreSQL does' }
  const { newUrl, password, sql } = storesInPostgres(startPostgres)
  const at = (host: string) => `postgres://me:wrong-and-secret@${host}/db`
  const scope = suiteScope()
  /** The error of a command whose server never responds. It takes ten seconds; the other tests run meanwhile. */
  let fromHanging: Promise<CliResult>

  before(async () => {
    const hanging = createServer(() => {}).listen(0, '127.0.0.1')
    scope.after(() => hanging.close())
    await once(hanging, 'listening')
    const variables = { REAMS_STORE: at(`127.0.0.1:${(hanging.address() as AddressInfo).port}`) }
    fromHanging = runCli(['collections'], { in: workDirectory(scope), variables })
  })

  const withoutPassword = (url: string): string => Object.assign(new URL(url), { password: '' }).href
  /** Runs the program, which must never show a password. */
  const run = async (t: TestContext, words: string[], variables: Record<string, string>): Promise<CliResult> => {
    const options = { in: workDirectory(t), variables: { HOME: '/nowhere', ...variables }, input: eventLines(1234) }
    const result = await runInside(words, options)
    for (const secret of [password(), encodeURIComponent(password()), 'wrong-and-secret'].filter((each) => each !== ''))
      assert.ok(!`${result.stdout}${result.stderr}`.includes(secret), secret)
    return result
  }
  /** The store is named by the variable. */
  const runOn = (t: TestContext, url: string, words: string): Promise<CliResult> =>
    run(t, words.split(' '), { REAMS_STORE: url })

  it('has every command, and none says anything about passwords', async (t) => {
    const url = newUrl()
    const name = withoutPassword(url)
    const succeed = async (words: string): Promise<string> => {
      const { status, stdout, stderr } = await runOn(t, url, words)
      assert.equal(status, 0, stderr)
      assert.doesNotMatch(stderr, /password/)
      return stdout
    }
    assert.match(await succeed('import events - --key id'), /1,234 items imported/)
    assert.match(await succeed('collections'), /^events +1,234 +3 +id/m)
    const rows = eventLines(1234).replaceAll(/\{"id":(\d+),"title":"(.*)"\}/g, '$1,$2')
    assert.equal(await succeed('export events --format csv'), `id,title\n${rows}`)
    assert.match(await succeed('set events --private'), /now private/)
    const first = `${name} has no tokens. Create one: reams token create --name NAME --scope SCOPE --store '${name}'\n`
    assert.equal(await succeed('token list'), first)
    assert.match(await succeed('token create --name ci --scope admin'), /^reams_/)
    assert.match(await succeed('token revoke ci'), /revoked/)
    assert.match(await succeed('token list'), /^ci +revoked/m)
    // A server that was there before the tests may run without checksums.
    const verified = (await succeed('verify')).replace(/^Note: The database runs without data checksums.*\n/, '')
    assert.equal(verified, `${name}: 1 collection with 1,234 items checked, no problems found.\n`)
    assert.match(await succeed('drop events --yes'), /dropped, with 1,234 items/)
    const empty = `${name} has no collections. Create one: reams import NAME FILE --store '${name}'\n`
    assert.equal(await succeed('collections'), empty)
  })

  it('takes a password from --store, with a warning, from PGPASSWORD and from ~/.pgpass', ofConnections, async (t) => {
    const url = newUrl()
    const home = workDirectory(t)
    const { hostname, port, username } = new URL(url)
    writeFileSync(join(home, '.pgpass'), `${hostname}:${port || 5432}:*:${username}:${password()}\n`)
    chmodSync(join(home, '.pgpass'), 0o600)
    const bare = withoutPassword(url)
    const ways: [store: string, variables: Record<string, string>, stderr: RegExp][] = [
      [url, {}, WARNING],
      [withParameter(bare, 'password', encodeURIComponent(password())), {}, WARNING],
      [bare, { PGPASSWORD: password() }, /^$/],
      [bare, { HOME: home }, /^$/],
    ]
    for (const [store, variables, expected] of ways) {
      const { status, stderr } = await run(t, ['import', 'events', '-', '--store', store], variables)
      assert.equal(status, 0, stderr)
      assert.match(stderr, expected)
      assert.ok((stderr.match(/password/g) ?? []).length <= 1)
    }
  })

  it('logs the warning and every error in lines of JSON, without the password', ofConnections, async (t) => {
    const url = newUrl()
    const words = ['--store', url, '--create', '--workers', '2', '--log-level', 'trace']
    const { cli, get } = await startServer(t, words, { in: workDirectory(t) })
    await sql(`DROP SCHEMA ${new URL(url).searchParams.get('schema')} CASCADE`)
    assert.equal((await get(`/${encodeURIComponent(password())}`)).status, 404)
    assert.equal((await get('/events')).status, 503)
    const { stderr } = await cli.stop()
    for (const secret of [password(), encodeURIComponent(password())].filter((each) => each !== ''))
      assert.ok(!stderr.includes(secret), stderr)
    const lines = stderr
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    const warnings = lines.filter(({ level }) => level === 'warn').map(({ msg }) => `reams: ${msg}\n`)
    assert.equal(warnings.length, 1)
    assert.match(warnings.join(''), WARNING)
    assert.deepEqual(
      lines.filter(({ level }) => level === 'error').map(({ error, status }) => error ?? status),
      ['StoreError', 503],
    )
  })

  describe('says in one line what to do', () => {
    const refused = async (t: TestContext, url: string, words: string, status: number, message: RegExp) =>
      assertRefused(await runOn(t, url, words), status, message)
    const assertRefused = (result: CliResult, status: number, message: RegExp) => {
      assert.deepEqual([result.status, result.stdout], [status, ''], result.stderr)
      assert.match(result.stderr, message)
      assert.match(result.stderr, /^reams: [^\n]*\n$/)
    }

    it('about a server or a URL that is wrong, also to serve', ofConnections, async (t) => {
      const down = at(`127.0.0.1:${await freePort()}`)
      await refused(t, at('nowhere.invalid'), 'collections', 3, /nowhere\.invalid.*check the host in the URL/)
      await refused(t, down, 'import events -', 3, /ECONNREFUSED.*the server is running/)
      await refused(t, down, 'serve --port 0 --create', 3, /ECONNREFUSED.*the server is running/)
      await refused(t, 'postgres://me:wrong-and-secret/x@host/db', 'collections', 2, /%2F for/)
      const late = await fromHanging
      assertRefused(late, 3, /did not answer in time: check that/)
      assert.doesNotMatch(late.stderr, /wrong-and-secret/)
    })

    it('about a password that is wrong, or missing', ofConnections, async (t) => {
      await sql('DROP ROLE IF EXISTS reams_cli_role')
      await sql(`CREATE ROLE reams_cli_role LOGIN PASSWORD 'right'`)
      t.after(() => sql('DROP ROLE reams_cli_role'))
      const as = (secret: string) =>
        Object.assign(new URL(newUrl()), { username: 'reams_cli_role', password: secret }).href
      const wrong = /authentication failed.*REAMS_STORE, PGPASSWORD or ~\/\.pgpass/
      await refused(t, as('wrong-and-secret'), 'collections', 3, wrong)
      const none = /requires a password, and none was given.*PGPASSWORD, ~\/\.pgpass or REAMS_STORE/
      await refused(t, as(''), 'collections', 3, none)
    })

    it('about a store that is not there', async (t) => {
      const url = newUrl()
      const name = withoutPassword(url).replace(/[.?]/g, '\\$&')
      for (const words of ['collections', 'serve --port 0', 'verify', 'token list'])
        await refused(t, url, words, 2, new RegExp(`There is no store at ${name}\\. Make one with \`reams import`))
    })
  })
})
