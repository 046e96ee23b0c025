/** Tokens as PostgreSQL's rows hold them. */

import { existingToken, missingToken } from '../collection-rules.ts'
import type { TokenRecord } from '../store.ts'
import { tokenFrom, tokenValues } from '../stored-rows.ts'
import type { Rows } from './rows/rows.ts'
import type { Reading } from './rows/sender.ts'
import { Transaction } from './server/transaction.ts'

export async function readTokens(rows: Reading): Promise<TokenRecord[]> {
  return (await rows.all('readTokens')).map(tokenFrom)
}

export async function readToken(rows: Reading, hash: string): Promise<TokenRecord | undefined> {
  const row = await rows.first('readToken', hash)
  return row && tokenFrom(row)
}

export function insertToken(rows: Rows, token: TokenRecord): Promise<void> {
  return Transaction.run(rows, async (transaction) => {
    const { count } = await transaction.write('insertToken', ...tokenValues(token))
    if (count === 0) throw existingToken(token.name)
    await transaction.commit()
  })
}

export function revokeToken(rows: Rows, name: string, at: number): Promise<void> {
  return Transaction.run(rows, async (transaction) => {
    const { count } = await transaction.write('revokeToken', name, at)
    if (count === 0) throw missingToken(name)
    await transaction.commit()
  })
}
