/** `reams token create`, `list` and `revoke`: the tokens with which programs are let in over HTTP. */

import { hash, randomBytes } from 'node:crypto'
import { makeVisible } from '../../contract/message-text.ts'
import { isTokenForm, SCOPE_RULE, TOKEN_NAME_RULE, TOKEN_PREFIX } from '../../contract/scope.ts'
import type { TokenRecord } from '../../store/store.ts'
import { Failure } from '../failure.ts'
import { withStore } from '../open-store.ts'
import { alignTable, printError, report } from '../output.ts'
import type { CliCommand, CommandFamily, SettingValues } from '../setting-values.ts'

const TOKEN: CommandFamily = {
  name: 'token',
  group: 'Tokens',
  summary: 'create, list and revoke tokens for HTTP',
  description: `Tokens let programs write over HTTP, and read private collections. Each has a
name, scopes that say what it may do, and an expiry date. They belong to a
store, which keeps only their SHA-256.`,
  examples: [
    { line: 'reams token create --name ci --scope write:events', purpose: 'create one' },
    { line: 'reams token list', purpose: 'list all' },
    { line: 'reams token revoke ci', purpose: 'revoke it' },
  ],
}

const IN_FAMILY = { family: TOKEN, group: 'Commands' }

const CREATE: CliCommand = {
  ...IN_FAMILY,
  name: 'token create',
  usage: '--name NAME --scope SCOPE [options]',
  summary: 'create a token and print it once',
  description: `Creates a token and prints it to stdout. It cannot be shown again: the store
keeps only its SHA-256. Running servers accept it at once. The scopes are
read:NAME, write:NAME (includes read) and create:NAME (includes write), where
NAME is a collection, or * for all; and admin for everything.`,
  operands: [],
  settings: ['store', 'create', 'name', 'scope', 'expires', 'json'],
  examples: [
    { line: 'reams token create --name ci --scope write:events', purpose: 'valid for 90 days' },
    { line: "reams token create --name app --scope 'read:*' > key", purpose: 'into a file' },
    { line: 'reams token create --name me --scope admin --expires 12h', purpose: 'for a while' },
  ],
  run: runCreate,
}

const LIST: CliCommand = {
  ...IN_FAMILY,
  name: 'token list',
  usage: '[options]',
  summary: 'list the tokens of a store',
  description: `Lists the tokens of a store by name, with their scopes, their times in UTC and
whether each is active, expired or revoked. The tokens themselves are not kept.`,
  operands: [],
  settings: ['store', 'json'],
  examples: [
    { line: 'reams token list --store my.db', purpose: 'as a table' },
    { line: 'reams token list --json', purpose: 'for a program' },
  ],
  run: runList,
}

const REVOKE: CliCommand = {
  ...IN_FAMILY,
  name: 'token revoke',
  usage: 'NAME [options]',
  summary: 'stop accepting a token',
  description: `Revokes a token, for good. Running servers refuse it from the next request on.
It stays in the list, and its name stays taken.`,
  operands: [{ syntax: '<NAME>', description: 'the name of the token' }],
  settings: ['store', 'json'],
  examples: [{ line: 'reams token revoke ci', purpose: 'a token of reams.db' }],
  run: runRevoke,
}

export const TOKEN_COMMANDS = [CREATE, LIST, REVOKE]

const SECRET_BYTES = 32

async function runCreate(_operands: readonly string[], settings: SettingValues): Promise<undefined> {
  const secret = TOKEN_PREFIX + randomBytes(SECRET_BYTES).toString('base64url')
  const token = recordOf(secret, settings)
  const { name, scopes, expiresAt } = token
  await withStore(settings.get('store'), { create: settings.get('create') }, (store) => store.addToken(token))
  const end = expiresAt === null ? 'without an expiry date' : `until ${timeText(expiresAt)} UTC`
  printError(`Token "${name}" for ${scopes.join(', ')}, ${end}. Keep it safe: it cannot be shown again.`)
  await printSecret(secret, token, settings)
}

function recordOf(secret: string, settings: SettingValues): TokenRecord {
  const [name, scopes] = [settings.get('name'), settings.get('scope')]
  if (name === undefined) throw new Failure(2, `--name is missing: expected ${TOKEN_NAME_RULE}, such as --name ci.`)
  if (scopes === undefined)
    throw new Failure(2, `--scope is missing: expected ${SCOPE_RULE}, such as --scope write:events.`)
  const createdAt = Date.now()
  const expiresAt = endOf(settings.get('expires'), createdAt)
  return { name, hash: hash('sha256', secret), scopes, createdAt, expiresAt, revokedAt: null }
}

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** When a lifetime such as `90d` ends; null for `never`. In milliseconds since 1970. */
function endOf(lifetime: string, start: number): number | null {
  const unitMs = UNIT_MS[lifetime.slice(-1)]
  return unitMs === undefined ? null : start + Number(lifetime.slice(0, -1)) * unitMs
}

/** A token that nobody has seen is of no use, and its name is taken: whoever asked for it must know. */
async function printSecret(secret: string, token: TokenRecord, settings: SettingValues): Promise<void> {
  const { name } = token
  try {
    await report(settings, { ...toJson(token), token: secret }, secret)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const message = `The token "${name}" was created but could not be printed: ${reason}. Revoke it with \`reams token revoke ${name}\`, and create another one.`
    throw new Failure(3, message, { cause: error })
  }
}

async function runList(_operands: readonly string[], settings: SettingValues): Promise<undefined> {
  const location = settings.get('store')
  const tokens = await withStore(location, {}, (store) => store.tokens())
  const advice = `${location} has no tokens. Create one: reams token create --name NAME --scope SCOPE --store ${location.word}`
  await report(settings, tokens.map(toJson), tokens.length === 0 ? advice : tableOf(tokens))
}

function toJson(token: TokenRecord) {
  const { name, scopes, createdAt, expiresAt, revokedAt } = token
  const [created, expires, revoked] = [createdAt, expiresAt, revokedAt].map((ms) => ms && new Date(ms).toISOString())
  return { name, scopes, state: stateOf(token), created, expires, revoked }
}

function tableOf(tokens: readonly TokenRecord[]): string {
  const rows = tokens.map((token) => [
    makeVisible(token.name),
    stateOf(token),
    timeText(token.createdAt),
    token.expiresAt === null ? 'never' : timeText(token.expiresAt),
    makeVisible(token.scopes.join(', ')),
  ])
  return alignTable([['NAME', 'STATE', 'CREATED (UTC)', 'EXPIRES (UTC)', 'SCOPES'], ...rows], [])
}

function stateOf({ revokedAt, expiresAt }: TokenRecord): 'active' | 'expired' | 'revoked' {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && expiresAt <= Date.now() ? 'expired' : 'active'
}

/** `2026-03-31 08:15`, in UTC. */
function timeText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 16).replace('T', ' ')
}

async function runRevoke([name = '']: readonly string[], settings: SettingValues): Promise<undefined> {
  // The message below shows what was typed here, and a token must not be shown.
  if (isTokenForm(name)) throw new Failure(2, 'Expected the name of a token, not the token: see `reams token list`.')
  await withStore(settings.get('store'), {}, async (store) => {
    const token = (await store.tokens()).find((each) => each.name === name)
    if (token === undefined) throw new Failure(2, `There is no token "${name}". See \`reams token list\`.`)
    const revokedAt = token.revokedAt ?? Date.now()
    if (token.revokedAt === null) await store.revokeToken(name, revokedAt)
    const sentence =
      token.revokedAt === null
        ? 'revoked. Servers refuse it from the next request on.'
        : `already revoked, since ${timeText(revokedAt)} UTC.`
    await report(settings, toJson({ ...token, revokedAt }), `${name}: ${sentence}`)
  })
}
