/** Who sends a request, and what that allows (D19). */

import { hash } from 'node:crypto'
import { isCollectionName } from '../contract/name.ts'
import { allows, isTokenForm } from '../contract/scope.ts'
import type { Head, Store } from '../store/store.ts'
import type { Incoming } from './incoming.ts'
import { collectionNotFound, Refusal } from './problem-reply.ts'

export interface Caller {
  readonly isKnown: boolean
  /** The hash of the token: tells one sender from another. */
  readonly id: string
  readonly scopes: readonly string[]
  /** Of the token. */
  readonly name?: string
}

/** Anyone without a token. */
const NOBODY: Caller = { isKnown: false, id: '', scopes: [] }

/** Undefined for a token that is malformed, unknown, expired or revoked: that is refused everywhere. */
export function findCaller(request: Incoming, store: Store): Caller | Promise<Caller | undefined> {
  const authorization = request.headers.get('authorization')
  return authorization === null ? NOBODY : callerWith(authorization, store)
}

async function callerWith(authorization: string, store: Store): Promise<Caller | undefined> {
  const [, token = ''] = /^Bearer +(\S+)$/i.exec(authorization) ?? []
  if (!isTokenForm(token)) return undefined
  // Read from the store with every request, so that a revoked token is refused from the next request on.
  const id = hash('sha256', token, 'hex')
  const record = await store.token(id)
  if (record === undefined || record.revokedAt !== null) return undefined
  if (record.expiresAt !== null && record.expiresAt <= Date.now()) return undefined
  return { isKnown: true, id, scopes: record.scopes, name: record.name }
}

/** To a caller who may not read it, a private collection is answered as if it did not exist. */
export function mayRead({ scopes }: Caller, { name, isPrivate }: Head): boolean {
  return !isPrivate || allows(scopes, 'read', name)
}

/**
 * Whether the caller has no scope on that collection. For such a caller the store looks at the head before it reads anything
 * else: otherwise the response time would tell a private name from one that does not exist.
 */
export function hasNoScope({ scopes }: Caller, name: string): boolean {
  return !allows(scopes, 'read', name)
}

/** Throws a Refusal unless the caller may write to the collection, or create it where there is none. */
export function requireWrite(caller: Caller, name: string, head: Head | undefined, mayCreate: boolean): void {
  if (!caller.isKnown) throw new Refusal('unauthorized', 'Writing needs a token.', CHALLENGE)
  if (allows(caller.scopes, head === undefined ? 'create' : 'write', name)) return
  if (head === undefined || !mayRead(caller, head)) {
    // The same for a private collection, so that it tells nothing.
    const hint =
      mayCreate && isCollectionName(name)
        ? { hint: `A token with the scope "create:${name}" could create it with PUT.` }
        : {}
    throw collectionNotFound(name, hint)
  }
  throw new Refusal('forbidden', `The token has no scope "write:${name}".`)
}

export const CHALLENGE = { headers: { 'WWW-Authenticate': 'Bearer' } }
