/** Tokens as PostgreSQL's rows hold them. */

import type { TokenRecord } from '../store.ts'
import { StoreError } from '../store-error.ts'
import type { Row } from './rows/read-query.ts'
import type { Reading, Rows } from './rows/rows.ts'
import { Transaction } from './server/transaction.ts'

export async function readTokens(rows: Reading): Promise<TokenRecord[]> {
  return (await rows.all('readTokens')).map(tokenOf)
}

export async function readToken(rows: Reading, hash: string): Promise<TokenRecord | undefined> {
  const row = await rows.first('readToken', hash)
  return row && tokenOf(row)
}

export function insertToken(rows: Rows, token: TokenRecord): Promise<void> {
  const { name, hash, scopes, createdAt, expiresAt, revokedAt } = token
  return Transaction.run(rows, async (transaction) => {
    const values = [name, hash, JSON.stringify(scopes), createdAt, expiresAt, revokedAt]
    const { count } = await transaction.write('insertToken', ...values)
    if (count === 0) throw new StoreError('token-exists', `There is already a token "${name}". Choose another name.`)
    await transaction.commit()
  })
}

export function revokeToken(rows: Rows, name: string, at: number): Promise<void> {
  return Transaction.run(rows, async (transaction) => {
    const { count } = await transaction.write('revokeToken', name, at)
    if (count === 0) throw new StoreError('no-token', `There is no token "${name}". \`reams token list\` lists them.`)
    await transaction.commit()
  })
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
