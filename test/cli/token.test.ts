import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { isTokenForm } from '../../src/contract/index.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { TokenRecord } from '../../src/store/store.ts'
import { eventLines, putLines } from './items.ts'
import { type CliResult, MAIN, runCli, workDirectory } from './run-cli.ts'

const DAY_MS = 86_400_000

async function directoryWithStore(t: TestContext): Promise<string> {
  const directory = workDirectory(t)
  await putLines(directory, 'events', eventLines(3), { keyField: 'id' })
  return directory
}

const token = (directory: string, ...words: string[]): Promise<CliResult> =>
  runCli(['token', ...words], { in: directory })

async function storedTokens(directory: string): Promise<TokenRecord[]> {
  const store = await openSqliteStore({ path: join(directory, 'reams.db') })
  try {
    return await store.tokens()
  } finally {
    await store.close()
  }
}

async function addTokens(directory: string, ...records: Partial<TokenRecord>[]): Promise<void> {
  const store = await openSqliteStore({ path: join(directory, 'reams.db') })
  for (const [index, record] of records.entries())
    await store.addToken({
      name: `token-${index}`,
      hash: hash('sha256', String(index)),
      scopes: ['admin'],
      createdAt: Date.UTC(2026, 0, 2, 3, 4, 5),
      expiresAt: null,
      revokedAt: null,
      ...record,
    })
  await store.close()
}

describe('token create', () => {
  it('prints the token alone on stdout, and what it is on stderr', async (t) => {
    const directory = await directoryWithStore(t)
    const result = await token(directory, 'create', '--name', 'ci', '--scope', 'write:events')
    assert.equal(result.status, 0, result.stderr)
    assert.match(result.stdout, /^reams_[\w-]{43}\n$/)
    assert.ok(isTokenForm(result.stdout.trimEnd()))
    assert.match(
      result.stderr,
      /^Token "ci" for write:events, until \d{4}-\d\d-\d\d \d\d:\d\d UTC\. Keep it safe: it is shown only this once\.\n$/,
    )
    assert.doesNotMatch(result.stderr, /reams_/)
  })

  it('keeps only the SHA-256 of it', async (t) => {
    const directory = await directoryWithStore(t)
    const { stdout } = await token(directory, 'create', '--name', 'ci', '--scope', 'write:events')
    const secret = stdout.trimEnd()
    const [stored] = await storedTokens(directory)
    assert.equal(stored?.hash, hash('sha256', secret))
    const files = readdirSync(directory).filter((name) => name.startsWith('reams.db'))
    assert.ok(files.length > 0)
    for (const file of files) {
      const bytes = readFileSync(join(directory, file))
      assert.equal(bytes.includes(secret.slice('reams_'.length)), false)
      assert.equal(bytes.includes(Buffer.from(secret.slice('reams_'.length), 'base64url')), false)
    }
  })

  it('makes another one every time', async (t) => {
    const directory = await directoryWithStore(t)
    const one = await token(directory, 'create', '--name', 'one', '--scope', 'admin')
    const two = await token(directory, 'create', '--name', 'two', '--scope', 'admin')
    assert.notEqual(one.stdout, two.stdout)
  })

  const lifetimes: [words: string[], ms: number | null][] = [
    [[], 90 * DAY_MS],
    [['--expires', '90d'], 90 * DAY_MS],
    [['--expires', '12h'], DAY_MS / 2],
    [['--expires', '30m'], DAY_MS / 48],
    [['--expires', '999999d'], 999_999 * DAY_MS],
    [['--expires', 'never'], null],
  ]
  for (const [words, ms] of lifetimes)
    it(`${words.join(' ') || 'without --expires'}: the token ends ${ms === null ? 'never' : `after ${ms} ms`}`, async (t) => {
      const directory = await directoryWithStore(t)
      const before = Date.now()
      const { status, stderr } = await token(directory, 'create', '--name', 'ci', '--scope', 'admin', ...words)
      assert.equal(status, 0, stderr)
      const [stored] = await storedTokens(directory)
      assert.ok(stored && stored.createdAt >= before && stored.createdAt <= Date.now())
      assert.equal(stored.expiresAt, ms === null ? null : stored.createdAt + ms)
      assert.match(stderr, ms === null ? /without an end/ : /until \d/)
    })

  it('takes scopes one at a time or with commas, each once', async (t) => {
    const directory = await directoryWithStore(t)
    const scopes = ['--scope', 'write:events', '--scope', 'read:*,create:new', '--scope', 'write:events']
    const { status, stderr } = await token(directory, 'create', '--name', 'ci', ...scopes)
    assert.equal(status, 0)
    assert.match(stderr, /^Token "ci" for write:events, read:\*, create:new, until /)
    assert.deepEqual((await storedTokens(directory))[0]?.scopes, ['write:events', 'read:*', 'create:new'])
  })

  it('takes its values from the environment too', async (t) => {
    const directory = await directoryWithStore(t)
    const variables = { REAMS_NAME: 'ci', REAMS_SCOPE: 'read:events, read:venues', REAMS_EXPIRES: 'never' }
    const { status } = await runCli(['token', 'create'], { in: directory, variables })
    assert.equal(status, 0)
    const [{ name, scopes, expiresAt } = {}] = await storedTokens(directory)
    assert.deepEqual([name, scopes, expiresAt], ['ci', ['read:events', 'read:venues'], null])
  })

  it('refuses a name that is taken, also by a revoked one, and changes nothing', async (t) => {
    const directory = await directoryWithStore(t)
    await token(directory, 'create', '--name', 'ci', '--scope', 'admin')
    await token(directory, 'revoke', 'ci')
    const before = await storedTokens(directory)
    const result = await token(directory, 'create', '--name', 'ci', '--scope', 'read:events')
    assert.deepEqual(result, {
      status: 1,
      stdout: '',
      stderr: 'reams: There is a token "ci" already. Choose another name.\n',
    })
    assert.deepEqual(await storedTokens(directory), before)
  })

  const scopeRule =
    'read:NAME, write:NAME (includes read) or create:NAME (includes write), NAME being a collection or * for all, or admin for everything'
  const nameRule = '1 to 64 of a-z A-Z 0-9 _ - . and the first one a letter or a digit'
  const wrong: [words: string[], message: string][] = [
    [['--scope', 'admin'], `A token needs a name, such as --name ci. A name is ${nameRule}.`],
    [['--name', 'ci'], `A token needs a scope, such as --scope write:events. A scope is ${scopeRule}.`],
    [['--name', 'my token', '--scope', 'admin'], `"--name my token" is not possible. Give ${nameRule}.`],
    [['--name', '', '--scope', 'admin'], `"--name " is not possible. Give ${nameRule}.`],
    [['--name', 'ci', '--scope', 'wirte:events'], `--scope: "wirte:events" is not a scope. Give ${scopeRule}.`],
    [['--name', 'ci', '--scope', 'admin,read:A'], `--scope: "read:A" is not a scope. Give ${scopeRule}.`],
    [['--name', 'ci', '--scope', ''], `--scope: "" is not a scope. Give ${scopeRule}.`],
  ]
  for (const expires of ['', '90', 'd', '0d', '-1d', '1.5h', '1w', '90 d', '90D', '1000000d', 'Never', '2030-01-01'])
    wrong.push([
      ['--name', 'ci', '--scope', 'admin', `--expires=${expires}`],
      `"--expires ${expires}" is not possible. Give a number of minutes, hours or days such as 30m, 12h or 90d (up to 999999), or never.`,
    ])
  for (const [words, message] of wrong)
    it(`refuses ${words.join(' ')}, before it looks for the store`, async (t) => {
      const result = await token(workDirectory(t), 'create', ...words)
      assert.deepEqual(result, { status: 2, stdout: '', stderr: `reams: ${message}\n` })
    })

  it('says what to do when the token cannot be printed, and shows nothing of it', async (t) => {
    if (!existsSync('/dev/full')) return t.skip('there is no /dev/full on this machine')
    const directory = await directoryWithStore(t)
    const full = openSync('/dev/full', 'w')
    t.after(() => closeSync(full))
    const result = spawnSync(process.execPath, [MAIN, 'token', 'create', '--name', 'ci', '--scope', 'admin'], {
      cwd: directory,
      env: { REAMS_DEBUG: '1' },
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    })
    assert.equal(result.status, 3)
    assert.match(
      result.stderr,
      /^reams: The token "ci" was made but could not be printed: ENOSPC.*`reams token revoke ci`, and make another one\.$/m,
    )
    assert.doesNotMatch(result.stderr, /reams_/)
    assert.equal((await storedTokens(directory)).length, 1)
  })
})

describe('token list', () => {
  async function directoryWithTokens(t: TestContext): Promise<string> {
    const directory = await directoryWithStore(t)
    await addTokens(
      directory,
      { name: 'old', scopes: ['read:*'], expiresAt: Date.UTC(2026, 0, 3) },
      { name: 'ci', scopes: ['write:events', 'read:venues'], expiresAt: Date.UTC(2999, 11, 31, 23, 59) },
      { name: 'lost', revokedAt: Date.UTC(2026, 1, 1, 10), expiresAt: Date.UTC(2026, 0, 3) },
      { name: 'Boss', scopes: ['admin'] },
    )
    return directory
  }

  it('shows names, states, times and scopes, and nothing of the tokens', async (t) => {
    const result = await token(await directoryWithTokens(t), 'list')
    assert.deepEqual(result, {
      status: 0,
      stdout: [
        'NAME  STATE    CREATED (UTC)     EXPIRES (UTC)     SCOPES',
        'Boss  active   2026-01-02 03:04  never             admin',
        'ci    active   2026-01-02 03:04  2999-12-31 23:59  write:events, read:venues',
        'lost  revoked  2026-01-02 03:04  2026-01-03 00:00  admin',
        'old   expired  2026-01-02 03:04  2026-01-03 00:00  read:*',
        '',
      ].join('\n'),
      stderr: '',
    })
  })

  it('gives the same as JSON', async (t) => {
    const result = await token(await directoryWithTokens(t), 'list', '--json')
    const created = '2026-01-02T03:04:05.000Z'
    const ended = '2026-01-03T00:00:00.000Z'
    assert.deepEqual(JSON.parse(result.stdout), [
      { name: 'Boss', scopes: ['admin'], state: 'active', created, expires: null, revoked: null },
      {
        name: 'ci',
        scopes: ['write:events', 'read:venues'],
        state: 'active',
        created,
        expires: '2999-12-31T23:59:00.000Z',
        revoked: null,
      },
      {
        name: 'lost',
        scopes: ['admin'],
        state: 'revoked',
        created,
        expires: ended,
        revoked: '2026-02-01T10:00:00.000Z',
      },
      { name: 'old', scopes: ['read:*'], state: 'expired', created, expires: ended, revoked: null },
    ])
  })

  it('says how to make the first', async (t) => {
    const directory = await directoryWithStore(t)
    assert.equal(
      (await token(directory, 'list')).stdout,
      'reams.db has no tokens. Make one: reams token create --name NAME --scope SCOPE --store reams.db\n',
    )
    assert.equal((await token(directory, 'list', '--json')).stdout, '[]\n')
  })

  it('cannot be made to steer the terminal', async (t) => {
    const directory = await directoryWithStore(t)
    await addTokens(directory, { name: 'a\u001b[31m', scopes: ['\u001b[2J'] })
    assert.match((await token(directory, 'list')).stdout, /^a\\u001b\[31m .* \\u001b\[2J$/m)
  })
})

describe('token revoke', () => {
  it('revokes a token, and again says since when', async (t) => {
    const directory = await directoryWithStore(t)
    await token(directory, 'create', '--name', 'ci', '--scope', 'admin')
    const first = await token(directory, 'revoke', 'ci')
    assert.deepEqual(first, {
      status: 0,
      stdout: 'ci: revoked. Servers refuse it from the next request on.\n',
      stderr: '',
    })
    const [revoked] = await storedTokens(directory)
    assert.ok(revoked?.revokedAt)
    const second = await token(directory, 'revoke', 'ci')
    const since = new Date(revoked.revokedAt).toISOString().slice(0, 16).replace('T', ' ')
    assert.deepEqual(second, { status: 0, stdout: `ci: is revoked already, since ${since} UTC.\n`, stderr: '' })
    assert.deepEqual(await storedTokens(directory), [revoked])
  })

  it('wants the exact name', async (t) => {
    const directory = await directoryWithStore(t)
    await token(directory, 'create', '--name', 'ci', '--scope', 'admin')
    for (const name of ['CI', 'c', ''])
      assert.deepEqual(await token(directory, 'revoke', name), {
        status: 2,
        stdout: '',
        stderr: `reams: There is no token "${name}". reams token list lists them.\n`,
      })
    assert.equal((await storedTokens(directory))[0]?.revokedAt, null)
  })

  it('given a token in place of its name, does not show it', async (t) => {
    const directory = await directoryWithStore(t)
    const { stdout } = await token(directory, 'create', '--name', 'ci', '--scope', 'admin')
    const result = await token(directory, 'revoke', stdout.trimEnd())
    assert.equal(result.status, 2)
    assert.equal(result.stderr, 'reams: This is a token itself. Give its name: reams token list lists the names.\n')
  })
})

describe('tokens without a store', () => {
  for (const words of [['create', '--name', 'ci', '--scope', 'admin'], ['list'], ['revoke', 'ci']])
    it(`reams token ${words.join(' ')} makes none, and says what to do`, async (t) => {
      const directory = workDirectory(t)
      const result = await token(directory, ...words, '--store', 'nope.db')
      assert.equal(result.status, 2)
      assert.equal(result.stdout, '')
      assert.match(
        result.stderr,
        /^reams: There is no store at nope\.db\. .*reams import NAME FILE --store nope\.db.*\n$/,
      )
      assert.equal(existsSync(join(directory, 'nope.db')), false)
    })
})
