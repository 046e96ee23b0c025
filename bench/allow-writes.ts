/** Lets the bench write to a store over HTTP. */

import { hash, randomBytes } from 'node:crypto'
import { DataLocation } from '../src/cli/data-location.ts'
import { withStore } from '../src/cli/open-store.ts'
import { TOKEN_PREFIX } from '../src/contract/scope.ts'

/**
 * Makes a token that may do everything, and the store if there is none. It is a path, or the URL of a database. `collection`
 * is created there: a write over HTTP does not create one.
 */
export function allowWrites(store: string, name = 'bench', collection?: string): Promise<string> {
  return withStore(new DataLocation(store), { create: true }, async (store) => {
    const token = TOKEN_PREFIX + randomBytes(32).toString('base64url')
    const times = { createdAt: Date.now(), expiresAt: null, revokedAt: null }
    await store.addToken({ name, hash: hash('sha256', token), scopes: ['admin'], ...times })
    if (collection !== undefined) await store.create(collection)
    return token
  })
}
