/** `reams token revoke NAME`: nobody gets in with the token any more. */

import { isTokenForm } from '../../contract/token.ts'
import type { CliCommand } from '../command.ts'
import { Failure } from '../failure.ts'
import { withStore } from '../open-store.ts'
import { print } from '../output.ts'
import type { SettingValues } from '../setting-values.ts'
import { TOKEN_FAMILY, timeText } from './family.ts'

export const TOKEN_REVOKE: CliCommand = {
  name: 'token revoke',
  family: TOKEN_FAMILY,
  group: 'Commands',
  usage: 'NAME [options]',
  summary: 'let nobody in with a token any more',
  description: `Revokes a token, for good. Running servers refuse it from the next request on.
It stays in the list, and its name stays taken.`,
  operands: [{ syntax: '<NAME>', description: 'the name of the token' }],
  examples: [{ line: 'reams token revoke ci', purpose: 'a token of reams.db' }],
  run: runTokenRevoke,
}

async function runTokenRevoke([name = '']: readonly string[], settings: SettingValues): Promise<number> {
  // What is typed here is shown in the message, and a token must not be.
  if (isTokenForm(name))
    throw new Failure(2, 'This is a token itself. Give its name: reams token list lists the names.')
  return withStore(settings.get('store'), {}, async (store) => {
    const token = (await store.tokens()).find((each) => each.name === name)
    if (token === undefined) throw new Failure(2, `There is no token "${name}". reams token list lists them.`)
    if (token.revokedAt === null) await store.revokeToken(name, Date.now())
    await print(
      token.revokedAt === null
        ? `${name}: revoked. Servers refuse it from the next request on.`
        : `${name}: is revoked already, since ${timeText(token.revokedAt)} UTC.`,
    )
    return 0
  })
}
