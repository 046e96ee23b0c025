/** Tokens as SQLite's rows hold them. */

import type { TokenRecord } from '../store.ts'
import { StoreError } from '../store-error.ts'
import { checkAbsence, neighboursIn } from './rows/absence.ts'
import {
  changeRowCount,
  checkRowCount,
  checkSum,
  columnsOf,
  insertInto,
  rowStart,
  type SummedTable,
  withSum,
} from './rows/row-sum.ts'
import type { Row, Rows } from './rows/rows.ts'

const TOKEN: SummedTable = {
  name: 'token',
  key: ['hash'],
  columns: ['hash', 'name', 'scopes', 'created_at', 'expires_at', 'revoked_at'],
  title: ([, name]) => `The token ${JSON.stringify(name)}`,
}

const NEIGHBOURS = neighboursIn(TOKEN)

const ALL = `SELECT ${columnsOf(TOKEN, 0)} FROM token ORDER BY name`
const BY_HASH = `SELECT ${columnsOf(TOKEN, 0)} FROM token WHERE hash = ?`
const PUT = insertInto(TOKEN, 'INSERT OR REPLACE')

export function readTokens(rows: Rows): TokenRecord[] {
  return checkTokens(rows).map(tokenOf)
}

/** All rows, of which any damage is reported. */
export function checkTokens(rows: Rows): Row[] {
  return rows.inSnapshot(() => {
    const found = rows.all(ALL)
    for (const row of found) checkSum(rows, rowStart(TOKEN), undefined, row)
    checkRowCount(rows, TOKEN, found.length)
    return found
  })
}

export function readToken(rows: Rows, hash: string): TokenRecord | undefined {
  const row = rows.get(BY_HASH, hash) ?? rows.inSnapshot(() => findAgain(rows, hash))
  if (row === undefined) return undefined
  checkSum(rows, rowStart(TOKEN), undefined, row)
  return tokenOf(row)
}

/** What was not found is looked for once more, in one snapshot with the proof that it is not there. */
function findAgain(rows: Rows, hash: string): Row | undefined {
  const row = rows.get(BY_HASH, hash)
  if (row !== undefined) return row
  checkAbsence(rows, NEIGHBOURS, undefined, [hash])
  checkRowCount(rows, TOKEN)
  return undefined
}

export function insertToken(rows: Rows, token: TokenRecord): void {
  if (readTokens(rows).some(({ name, hash }) => name === token.name || hash === token.hash))
    throw new StoreError('token-exists', `There is already a token "${token.name}". Choose another name.`)
  putToken(rows, token)
  changeRowCount(rows, TOKEN, 1)
}

export function revokeToken(rows: Rows, name: string, at: number): void {
  const token = readTokens(rows).find((each) => each.name === name)
  if (token === undefined)
    throw new StoreError('no-token', `There is no token "${name}". \`reams token list\` lists them.`)
  putToken(rows, { ...token, revokedAt: token.revokedAt ?? at })
}

function putToken(rows: Rows, { hash, name, scopes, createdAt, expiresAt, revokedAt }: TokenRecord): void {
  rows.run(PUT, ...withSum(rowStart(TOKEN, hash), name, JSON.stringify(scopes), createdAt, expiresAt, revokedAt))
}

/** The sum was right, so the types hold. */
function tokenOf(row: Row): TokenRecord {
  return {
    hash: row[0] as string,
    name: row[1] as string,
    scopes: JSON.parse(row[2] as string),
    createdAt: row[3] as number,
    expiresAt: row[4] as number | null,
    revokedAt: row[5] as number | null,
  }
}
