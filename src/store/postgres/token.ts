/** Tokens as PostgreSQL's rows hold them. */

import type { TokenRecord } from '../store.ts'
import { StoreError } from '../store-error.ts'
import type { Reading, Row, Rows } from './rows.ts'

export async function readTokens(rows: Reading): Promise<TokenRecord[]> {
  return (await rows.all('readTokens')).map(tokenOf)
}

export async function readToken(rows: Reading, hash: string): Promise<TokenRecord | undefined> {
  const row = await rows.first('readToken', hash)
  return row && tokenOf(row)
}

export async function insertToken(rows: Rows, token: TokenRecord): Promise<void> {
  const { name, hash, scopes, createdAt, expiresAt, revokedAt } = token
  const { count } = await rows.send('insertToken', name, hash, JSON.stringify(scopes), createdAt, expiresAt, revokedAt)
  if (count === 0) throw new StoreError('token-exists', `There is a token "${name}" already. Choose another name.`)
}

export async function revokeToken(rows: Rows, name: string, at: number): Promise<void> {
  const { count } = await rows.send('revokeToken', name, at)
  if (count === 0) throw new StoreError('no-token', `There is no token "${name}". \`reams token list\` lists them.`)
}

/** The columns have these types. */
function tokenOf(row: Row): TokenRecord {
  return {
    name: row[0] as string,
    hash: row[1] as string,
    scopes: JSON.parse(row[2] as string),
    createdAt: row[3] as number,
    expiresAt: row[4] as number | null,
    revokedAt: row[5] as number | null,
  }
}
