/** `reams token list`: lists the tokens of a store, without the tokens themselves. */

import { makeVisible } from '../../contract/message-text.ts'
import type { TokenRecord } from '../../store/store.ts'
import type { CliCommand } from '../command.ts'
import { withStore } from '../open-store.ts'
import { print } from '../output.ts'
import type { SettingValues } from '../setting-values.ts'
import { alignTable } from '../table.ts'
import { scopesText, stateOf, TOKEN_FAMILY, timeText } from './family.ts'

export const TOKEN_LIST: CliCommand = {
  name: 'token list',
  family: TOKEN_FAMILY,
  group: 'Commands',
  usage: '[options]',
  summary: 'list the tokens of a store',
  description: `Lists the tokens of a store by name, with their scopes, their times in UTC and
whether each is active, expired or revoked. The tokens themselves are not kept.`,
  operands: [],
  examples: [
    { line: 'reams token list --store my.db', purpose: 'as a table' },
    { line: 'reams token list --json', purpose: 'for a program' },
  ],
  run: runTokenList,
}

async function runTokenList(_operands: readonly string[], settings: SettingValues): Promise<number> {
  const location = settings.get('store')
  const tokens = await withStore(location, {}, (store) => store.tokens())
  const now = Date.now()
  if (settings.get('json'))
    await print(
      JSON.stringify(
        tokens.map((token) => toJson(token, now)),
        null,
        2,
      ),
    )
  else if (tokens.length === 0)
    await print(
      `${location} has no tokens. Make one: reams token create --name NAME --scope SCOPE --store ${location.word}`,
    )
  else await print(tableOf(tokens, now))
  return 0
}

function toJson(token: TokenRecord, now: number) {
  const { name, scopes, createdAt, expiresAt, revokedAt } = token
  const time = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString())
  return {
    name,
    scopes,
    state: stateOf(token, now),
    created: time(createdAt),
    expires: time(expiresAt),
    revoked: time(revokedAt),
  }
}

function tableOf(tokens: readonly TokenRecord[], now: number): string {
  const rows = tokens.map((token) => [
    makeVisible(token.name),
    stateOf(token, now),
    timeText(token.createdAt),
    token.expiresAt === null ? 'never' : timeText(token.expiresAt),
    scopesText(token.scopes),
  ])
  return alignTable([['NAME', 'STATE', 'CREATED (UTC)', 'EXPIRES (UTC)', 'SCOPES'], ...rows], [])
}
