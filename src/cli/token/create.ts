/** `reams token create`: makes a token and prints it, once. */

import { hash, randomBytes } from 'node:crypto'
import { SCOPE_RULE } from '../../contract/scope.ts'
import { TOKEN_NAME_RULE, TOKEN_PREFIX } from '../../contract/token.ts'
import type { TokenRecord } from '../../store/store.ts'
import type { CliCommand } from '../command.ts'
import { Failure } from '../failure.ts'
import { withStore } from '../open-store.ts'
import { print, printError } from '../output.ts'
import type { SettingValues } from '../setting-values.ts'
import { scopesText, TOKEN_FAMILY, timeText } from './family.ts'
import { endOfLifetime } from './lifetime.ts'

export const TOKEN_CREATE: CliCommand = {
  name: 'token create',
  family: TOKEN_FAMILY,
  group: 'Commands',
  usage: '--name NAME --scope SCOPE [options]',
  summary: 'make a token and print it, once',
  description: `Makes a token and prints it on stdout: this once, because only its SHA-256 is
kept. Running servers know it at once. What it may do is said by scopes:
read:NAME, write:NAME (includes read), create:NAME (includes write), with a
collection or * for all, and admin for everything.`,
  operands: [],
  examples: [
    { line: 'reams token create --name ci --scope write:events', purpose: 'valid for 90 days' },
    { line: "reams token create --name app --scope 'read:*' > key", purpose: 'into a file' },
    { line: 'reams token create --name me --scope admin --expires 12h', purpose: 'for a while' },
  ],
  run: runTokenCreate,
}

const SECRET_BYTES = 32

async function runTokenCreate(_operands: readonly string[], settings: SettingValues): Promise<number> {
  const secret = TOKEN_PREFIX + randomBytes(SECRET_BYTES).toString('base64url')
  const token = recordOf(secret, settings)
  await withStore(settings.get('store'), { create: settings.get('create') }, (store) => store.addToken(token))
  printError(`${noteOn(token)} Keep it safe: it is shown only this once.`)
  await printSecret(secret, token.name)
  return 0
}

function recordOf(secret: string, settings: SettingValues): TokenRecord {
  const name = settings.get('name')
  if (name === undefined) throw new Failure(2, `A token needs a name, such as --name ci. A name is ${TOKEN_NAME_RULE}.`)
  const scopes = settings.get('scope')
  if (scopes === undefined)
    throw new Failure(2, `A token needs a scope, such as --scope write:events. A scope is ${SCOPE_RULE}.`)
  const createdAt = Date.now()
  const expiresAt = endOfLifetime(settings.get('expires'), createdAt)
  return { name, hash: hash('sha256', secret), scopes, createdAt, expiresAt, revokedAt: null }
}

function noteOn({ name, scopes, expiresAt }: TokenRecord): string {
  const end = expiresAt === null ? 'without an end' : `until ${timeText(expiresAt)} UTC`
  return `Token "${name}" for ${scopesText(scopes)}, ${end}.`
}

/** A token that nobody has seen is of no use, and its name is taken: whoever asked for it must know. */
async function printSecret(secret: string, name: string): Promise<void> {
  try {
    await print(secret)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Failure(
      3,
      `The token "${name}" was made but could not be printed: ${reason}. Revoke it with \`reams token revoke ${name}\`, and make another one.`,
      { cause: error },
    )
  }
}
