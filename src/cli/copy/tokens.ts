/** Tokens on their way to another store: they stay valid, because only their hashes are kept. */

import type { TokenRecord } from '../../store/store.ts'
import { Failure } from '../failure.ts'
import type { CopyJob } from './collection.ts'

/** Refuses to copy where another token has the name of one, before anything is copied. */
export async function checkTokens({ from, to }: CopyJob): Promise<void> {
  const there = await tokensByName(to.store.tokens())
  for (const { name, hash } of await from.store.tokens())
    if ((there.get(name)?.hash ?? hash) !== hash)
      throw new Failure(
        1,
        `There is another token "${name}" in ${to.location} already. Nothing was copied; leave --tokens out, and make new tokens there.`,
      )
}

/** Answers how many were not there, or not yet revoked. */
export async function copyTokens({ from, to }: CopyJob): Promise<number> {
  const there = await tokensByName(to.store.tokens())
  let copied = 0
  for (const token of await from.store.tokens()) {
    const known = there.get(token.name)
    if (known === undefined) await to.store.addToken(token)
    else if (token.revokedAt !== null && known.revokedAt === null)
      await to.store.revokeToken(token.name, token.revokedAt)
    else continue
    copied++
  }
  return copied
}

async function tokensByName(tokens: Promise<TokenRecord[]>): Promise<Map<string, TokenRecord>> {
  return new Map((await tokens).map((token) => [token.name, token]))
}
