/** Tries any text as a token in the code that decides who sent a request: only good ones may get in, and nothing may throw. */

import { isTokenForm } from '../../src/contract/token.ts'
import { findCaller } from '../../src/service/access.ts'
import type { Store } from '../../src/store/store.ts'
import type { Dice } from './dice.ts'
import { badAuthorization } from './grammar/header-lines.ts'
import { mutate } from './grammar/mutate.ts'
import { TOKENS } from './site.ts'

const GOOD = [TOKENS.writer.token, TOKENS.reader.token, TOKENS.stranger.token]

export function anyAuthorization(dice: Dice): string {
  const good = `Bearer ${dice.of(GOOD)}`
  if (dice.chance(20)) return good
  if (dice.chance(40)) return badAuthorization(dice)
  return mutate(dice, Buffer.from(good)).toString(dice.of(['latin1', 'utf8']))
}

/** What is wrong; undefined if nothing is. */
export async function judgeToken(authorization: string, store: Store): Promise<string | undefined> {
  try {
    const headers = new Map([['authorization', authorization]])
    const incoming = { get: (name: string) => headers.get(name) ?? null, has: (name: string) => headers.has(name) }
    const request = { method: 'GET', target: '/', host: null, headers: incoming, readBody: async () => {} }
    const caller = await findCaller(request, store)
    const [, token = ''] = /^bearer +(\S+)$/i.exec(authorization) ?? []
    const isGood = GOOD.includes(token)
    if (isGood !== (caller?.isKnown === true)) return isGood ? 'a good token is refused' : 'a bad token is accepted'
    return isGood && !isTokenForm(token) ? 'a good token does not have the form of a token' : undefined
  } catch (error) {
    return `a token made the code throw ${error instanceof Error ? error.stack : error}`
  }
}
