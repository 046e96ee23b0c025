import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, it, type TestContext } from 'node:test'
import { isTokenForm } from '../../src/contract/index.ts'
import type { Store, TokenRecord } from '../../src/store/store.ts'
import { withStore } from './items.ts'
import { type CliResult, MAIN, runInside, workDirectory } from './run-cli.ts'

const DAY_MS = 86_400_000

let directory = ''

const token = (...words: string[]): Promise<CliResult> => runInside(['token', ...words], { in: directory })
const create = (...words: string[]): Promise<CliResult> => token('create', '--name', 'ci', ...words)

const inStore = <T>(use: (store: Store) => Promise<T>): Promise<T> => withStore(directory, true, use)
const storedTokens = (): Promise<TokenRecord[]> => inStore((store) => store.tokens())

async function addTokens(...records: Partial<TokenRecord>[]): Promise<void> {
  const createdAt = Date.UTC(2026, 0, 2, 3, 4, 5)
  const usual = { name: '', scopes: ['admin'], createdAt, expiresAt: null, revokedAt: null }
  await inStore(async (store) => {
    for (const record of records) await store.addToken({ ...usual, hash: hash('sha256', record.name ?? ''), ...record })
  })
}

const refused = (stderr: string, status = 2): CliResult => ({ status, stdout: '', stderr: `reams: ${stderr}\n` })

beforeEach(async (t) => {
  directory = workDirectory(t as TestContext)
  await inStore(async () => {})
})

describe('token create', () => {
  it('prints the token alone on stdout, what it is on stderr, and keeps only its SHA-256', async () => {
    const { status, stdout, stderr } = await create('--scope', 'write:events')
    assert.equal(status, 0, stderr)
    assert.match(stdout, /^reams_[\w-]{43}\n$/)
    const secret = stdout.trimEnd()
    assert.ok(isTokenForm(secret))
    assert.match(
      stderr,
      /^Token "ci" for write:events, until [\d-]{10} \d\d:\d\d UTC\. Keep it safe: it cannot be shown aga/,
    )
    assert.equal((await storedTokens())[0]?.hash, hash('sha256', secret))
    for (const file of readdirSync(directory).filter((name) => name.startsWith('reams.db'))) {
      const bytes = readFileSync(join(directory, file))
      assert.equal(bytes.includes(secret.slice('reams_'.length)), false)
      assert.equal(bytes.includes(Buffer.from(secret.slice('reams_'.length), 'base64url')), false)
    }
    assert.notEqual((await token('create', '--name', 'two', '--scope', 'admin')).stdout, stdout)
  })

  it('takes a time to live, 90 days unless told otherwise', async () => {
    const lifetimes: [words: string[], ms: number | null][] = [
      [[], 90 * DAY_MS],
      [['--expires', '12h'], DAY_MS / 2],
      [['--expires', '30m'], DAY_MS / 48],
      [['--expires', '999999d'], 999_999 * DAY_MS],
      [['--expires', 'never'], null],
    ]
    for (const [index, [words, ms]] of lifetimes.entries()) {
      const before = Date.now()
      const { stderr } = await token('create', '--name', `t${index}`, '--scope', 'admin', ...words)
      assert.match(stderr, ms === null ? /without an expiry date/ : /until \d/)
      const stored = (await storedTokens())[index]
      assert.ok(stored && stored.createdAt >= before && stored.createdAt <= Date.now())
      assert.equal(stored.expiresAt, ms === null ? null : stored.createdAt + ms)
    }
  })

  it('takes scopes one at a time or with commas, each once, also from the environment', async () => {
    const { stderr } = await create('--scope', 'write:events', '--scope', 'read:*,create:new', '--scope', 'read:*')
    assert.match(stderr, /^Token "ci" for write:events, read:\*, create:new, until /)
    const variables = { REAMS_NAME: 'other', REAMS_SCOPE: 'read:events, read:venues' }
    assert.equal((await runInside(['token', 'create'], { in: directory, variables })).status, 0)
    const stored = (await storedTokens()).map(({ scopes }) => scopes.join())
    assert.deepEqual(stored, ['write:events,read:*,create:new', 'read:events,read:venues'])
  })

  it('refuses a name that is taken, also by a revoked token, and changes nothing', async () => {
    await addTokens({ name: 'ci', revokedAt: 1 })
    const before = await storedTokens()
    const taken = refused('There is already a token "ci". Choose another name.', 1)
    assert.deepEqual(await create('--scope', 'read:events'), taken)
    assert.deepEqual(await storedTokens(), before)
  })

  it('says what a name and a scope are', async () => {
    const scope =
      'read:NAME, write:NAME (includes read) or create:NAME (includes write), NAME being a collection or * for all, or admin for everything'
    const name = '1 to 64 of a-z A-Z 0-9 _ - . and the first one a letter or a digit'
    const wrong: [words: string[], message: string][] = [
      [['--scope', 'admin'], `--name is missing: expected ${name}, such as --name ci.`],
      [['--name', 'ci'], `--scope is missing: expected ${scope}, such as --scope write:events.`],
      [['--name', 'my token'], `Invalid --name "my token": expected ${name}.`],
      ...['wirte:x', 'admin,read:A'].map((wrong): [string[], string] => [
        ['--scope', wrong],
        `Invalid --scope "${wrong}": expected ${scope}; or several, separated by commas.`,
      ]),
    ]
    for (const [words, message] of wrong) assert.deepEqual(await token('create', ...words), refused(message))
  })

  it('says what to do when the token cannot be printed, and shows nothing of it', async (t) => {
    if (!existsSync('/dev/full')) return t.skip('there is no /dev/full on this machine')
    const full = openSync('/dev/full', 'w')
    t.after(() => closeSync(full))
    const words = [MAIN, 'token', 'create', '--name', 'ci', '--scope', 'admin']
    const stdio: ['ignore', number, 'pipe'] = ['ignore', full, 'pipe']
    const surroundings = { cwd: directory, env: { REAMS_DEBUG: '1' }, stdio, encoding: 'utf8' } as const
    const { status, stderr } = spawnSync(process.execPath, words, surroundings)
    assert.equal(status, 3)
    assert.match(
      stderr,
      /^reams: The token "ci" was created but could not be printed: ENOSPC.*`reams token revoke ci`, and/m,
    )
    assert.doesNotMatch(stderr, /reams_/)
    assert.equal((await storedTokens()).length, 1)
  })
})

describe('token list', () => {
  it('shows names, states, times and scopes, and nothing of the tokens, also as JSON', async () => {
    await addTokens(
      { name: 'old', scopes: ['read:*'], expiresAt: Date.UTC(2026, 0, 3) },
      { name: 'ci', scopes: ['write:events', 'read:venues'], expiresAt: Date.UTC(2999, 11, 31, 23, 59) },
      { name: 'lost', revokedAt: Date.UTC(2026, 1, 1, 10), expiresAt: Date.UTC(2026, 0, 3) },
      { name: 'Boss' },
    )
    assert.deepEqual((await token('list')).stdout.split('\n'), [
      'NAME  STATE    CREATED (UTC)     EXPIRES (UTC)     SCOPES',
      'Boss  active   2026-01-02 03:04  never             admin',
      'ci    active   2026-01-02 03:04  2999-12-31 23:59  write:events, read:venues',
      'lost  revoked  2026-01-02 03:04  2026-01-03 00:00  admin',
      'old   expired  2026-01-02 03:04  2026-01-03 00:00  read:*',
      '',
    ])
    const [boss, , lost] = JSON.parse((await token('list', '--json')).stdout)
    const created = '2026-01-02T03:04:05.000Z'
    const [expires, revoked] = ['2026-01-03T00:00:00.000Z', '2026-02-01T10:00:00.000Z']
    assert.deepEqual(boss, { name: 'Boss', scopes: ['admin'], state: 'active', created, expires: null, revoked: null })
    assert.deepEqual(lost, { name: 'lost', scopes: ['admin'], state: 'revoked', created, expires, revoked })
  })

  it('says how to create the first, and cannot be made to steer the terminal', async () => {
    const stdout = 'reams.db has no tokens. Create one: reams token create --name NAME --scope SCOPE --store reams.db\n'
    assert.equal((await token('list')).stdout, stdout)
    assert.equal((await token('list', '--json')).stdout, '[]\n')
    await addTokens({ name: 'a\u001b[31m', scopes: ['\u001b[2J'] })
    assert.match((await token('list')).stdout, /^a\\u001b\[31m .* \\u001b\[2J$/m)
  })
})

describe('token revoke', () => {
  it('revokes a token, and again says since when', async () => {
    await addTokens({ name: 'ci' })
    assert.equal((await token('revoke', 'ci')).stdout, 'ci: revoked. Servers refuse it from the next request on.\n')
    const [revoked] = await storedTokens()
    const since = new Date(revoked?.revokedAt ?? 0).toISOString().slice(0, 16).replace('T', ' ')
    assert.equal((await token('revoke', 'ci')).stdout, `ci: already revoked, since ${since} UTC.\n`)
    assert.deepEqual(await storedTokens(), [revoked])
  })

  it('wants the exact name, and does not show a token given in its place', async () => {
    await addTokens({ name: 'ci' })
    for (const name of ['CI', 'c', ''])
      assert.deepEqual(await token('revoke', name), refused(`There is no token "${name}". See \`reams token list\`.`))
    const secret = (await token('create', '--name', 'two', '--scope', 'admin')).stdout.trimEnd()
    const message = 'Expected the name of a token, not the token: see `reams token list`.'
    assert.deepEqual(await token('revoke', secret), refused(message))
    assert.equal((await storedTokens())[0]?.revokedAt, null)
  })
})
