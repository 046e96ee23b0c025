/** Lets the bench write to a store over HTTP. */

import { hash, randomBytes } from 'node:crypto'
import { TOKEN_PREFIX } from '../src/contract/token.ts'
import { openSqliteStore } from '../src/store/sqlite/open.ts'

/** Makes a token that may do everything, and the store if there is none. */
export async function allowWrites(path: string): Promise<string> {
  const token = TOKEN_PREFIX + randomBytes(32).toString('base64url')
  const store = await openSqliteStore({ path, create: true })
  try {
    const times = { createdAt: Date.now(), expiresAt: null, revokedAt: null }
    await store.addToken({ name: 'bench', hash: hash('sha256', token), scopes: ['admin'], ...times })
  } finally {
    await store.close()
  }
  return token
}
