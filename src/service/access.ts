/** Who sends a request, and what that allows (D19). */

import { hash } from 'node:crypto'
import { allows } from '../contract/scope.ts'
import { isTokenForm } from '../contract/token.ts'
import type { Head, Store } from '../store/store.ts'

export interface Caller {
  readonly isKnown: boolean
  readonly scopes: readonly string[]
}

/** Somebody without a token. */
const NOBODY: Caller = { isKnown: false, scopes: [] }

/** Undefined for a token that is malformed, unknown, expired or revoked: that is refused everywhere. */
export async function findCaller(request: Request, store: Store): Promise<Caller | undefined> {
  const authorization = request.headers.get('authorization')
  if (authorization === null) return NOBODY
  const [, token = ''] = /^Bearer +(\S+)$/i.exec(authorization) ?? []
  if (!isTokenForm(token)) return undefined
  // Read from the store with every request: a token that was revoked is refused from the next one on.
  const record = await store.token(hash('sha256', token, 'hex'))
  if (record === undefined || record.revokedAt !== null) return undefined
  if (record.expiresAt !== null && record.expiresAt <= Date.now()) return undefined
  return { isKnown: true, scopes: record.scopes }
}

/** Whoever may not read a private collection is answered as if it did not exist. */
export function mayRead({ scopes }: Caller, { name, isPrivate }: Head): boolean {
  return !isPrivate || allows(scopes, 'read', name)
}
