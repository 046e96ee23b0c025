/** Tokens, and what collections follow, in their rows. */

import { existingToken, missingCollection, missingToken } from './collection-rules.ts'
import type { Following, NamedFollowing } from './following.ts'
import { query, type Steps } from './rows.ts'
import type { TokenRecord } from './store.ts'
import { FOLLOWING, type Row, STORE, TOKEN } from './tables.ts'

function tokenFrom(row: Row): TokenRecord {
  const [hash, name, scopes, createdAt, expiresAt, revokedAt] = row as [
    ...[string, string, string, number],
    ...[number | null, number | null],
  ]
  return { hash, name, scopes: JSON.parse(scopes), createdAt, expiresAt, revokedAt }
}

export function* readTokens(): Steps<TokenRecord[]> {
  const found = yield* query((rows) => rows.all(TOKEN))
  return found.map(tokenFrom).sort((a, b) => (a.name < b.name ? -1 : 1))
}

export function* readToken(hash: string): Steps<TokenRecord | undefined> {
  const row = yield* query((rows) => rows.get(TOKEN, STORE, [hash], true))
  return row && tokenFrom(row)
}

export function* addToken(token: TokenRecord): Steps<void> {
  const isTaken = (yield* readTokens()).some(({ name, hash }) => name === token.name || hash === token.hash)
  if (isTaken) throw existingToken(token.name)
  yield* putToken(token)
}

export function* revokeToken(wanted: string, at: number): Steps<void> {
  const token = (yield* readTokens()).find(({ name }) => name === wanted)
  if (token === undefined) throw missingToken(wanted)
  yield* putToken({ ...token, revokedAt: token.revokedAt ?? at })
}

function* putToken({ hash, name, scopes, createdAt, expiresAt, revokedAt }: TokenRecord): Steps<void> {
  const row = [hash, name, JSON.stringify(scopes), createdAt, expiresAt, revokedAt]
  yield* query((rows) => rows.put(TOKEN, STORE, [row]))
}

export function* readFollowings(): Steps<NamedFollowing[]> {
  const found = yield* query((rows) => rows.all(FOLLOWING))
  return found.map(followingFrom).sort((a, b) => (a.name < b.name ? -1 : 1))
}

function followingFrom(row: Row): NamedFollowing {
  const [name, source, waiting, asOf, seenAt, holder] = row as [string, string, number, number, number, string]
  return { name, source, waiting, asOf, seenAt, ...(holder === '' ? {} : { holder }) }
}

/** With null, nothing any more. */
export function* noteFollowing(name: string, following: Following | null): Steps<void> {
  const owner = yield* query((rows) => rows.holdHead(name))
  if (owner === undefined) throw missingCollection(name)
  if (following === null) return yield* query((rows) => rows.remove(FOLLOWING, owner, [[name]]))
  const { source, waiting, asOf, seenAt, holder = '' } = following
  yield* query((rows) => rows.put(FOLLOWING, owner, [[name, source, waiting, asOf, seenAt, holder]]))
}
