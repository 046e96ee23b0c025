/** What the commands about tokens have in common, and how they show one. */

import { makeVisible } from '../../contract/message-text.ts'
import type { TokenRecord } from '../../store/store.ts'
import type { CommandFamily } from '../command.ts'

export const TOKEN_FAMILY: CommandFamily = {
  name: 'token',
  group: 'Tokens',
  summary: 'create, list and revoke tokens for HTTP',
  description: `Tokens let programs write over HTTP, and read what is private. Each has a name,
scopes that say what it may do, and an end. A store knows the tokens for its
servers, and of each only the SHA-256.`,
  examples: [
    { line: 'reams token create --name ci --scope write:events', purpose: 'make one' },
    { line: 'reams token list', purpose: 'see who has one' },
    { line: 'reams token revoke ci', purpose: 'end it' },
  ],
}

export type TokenState = 'active' | 'expired' | 'revoked'

export function stateOf({ revokedAt, expiresAt }: TokenRecord, now: number): TokenState {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && expiresAt <= now ? 'expired' : 'active'
}

/** `write:events, read:venues`. */
export function scopesText(scopes: readonly string[]): string {
  return makeVisible(scopes.join(', '))
}

/** `2026-03-31 08:15`, in UTC. */
export function timeText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 16).replace('T', ' ')
}
