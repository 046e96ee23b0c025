/** Tokens as SQLite's rows hold them. */

import { existingToken, missingToken } from '../collection-rules.ts'
import type { TokenRecord } from '../store.ts'
import { tokenFrom, tokenValues } from '../stored-rows.ts'
import { changeRowCount, checkAbsence, checkRowCount, checkSum, SummedTable, withSum } from './rows/row-sum.ts'
import type { Row, Statements } from './rows/statements.ts'

const TOKEN = new SummedTable(
  'token',
  'hash',
  'name scopes created_at expires_at revoked_at',
  ([, name]) => `The token ${JSON.stringify(name)}`,
)

const ALL = `SELECT ${TOKEN.select(0)} FROM token ORDER BY name`
const BY_HASH = `SELECT ${TOKEN.select(0)} FROM token WHERE hash = ?`
const PUT = TOKEN.put()

export function readTokens(rows: Statements): TokenRecord[] {
  return checkTokens(rows).map(tokenFrom)
}

/** All rows, of which any damage is reported. */
export function checkTokens(rows: Statements): Row[] {
  return rows.inSnapshot(() => {
    const found = rows.all(ALL)
    for (const row of found) checkSum(rows, TOKEN.start(), undefined, row)
    checkRowCount(rows, TOKEN, found.length)
    return found
  })
}

export function readToken(rows: Statements, hash: string): TokenRecord | undefined {
  const row = rows.get(BY_HASH, hash) ?? rows.inSnapshot(() => findAgain(rows, hash))
  if (row === undefined) return undefined
  checkSum(rows, TOKEN.start(), undefined, row)
  return tokenFrom(row)
}

/** What was not found is looked for once more, in one snapshot with the proof that it is not there. */
function findAgain(rows: Statements, hash: string): Row | undefined {
  const row = rows.get(BY_HASH, hash)
  if (row !== undefined) return row
  checkAbsence(rows, TOKEN, undefined, [hash])
  checkRowCount(rows, TOKEN)
  return undefined
}

export function insertToken(rows: Statements, token: TokenRecord): void {
  const isTaken = readTokens(rows).some(({ name, hash }) => name === token.name || hash === token.hash)
  if (isTaken) throw existingToken(token.name)
  putToken(rows, token)
  changeRowCount(rows, TOKEN, 1)
}

export function revokeToken(rows: Statements, name: string, at: number): void {
  const token = readTokens(rows).find((each) => each.name === name)
  if (token === undefined) throw missingToken(name)
  putToken(rows, { ...token, revokedAt: token.revokedAt ?? at })
}

function putToken(rows: Statements, token: TokenRecord): void {
  rows.run(PUT, ...withSum(TOKEN.start(), ...tokenValues(token)))
}
