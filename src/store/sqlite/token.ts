/** Tokens as SQLite's rows hold them. */

import type { TokenRecord } from '../store.ts'
import { StoreError } from '../store-error.ts'
import type { Row, Rows } from './rows.ts'

const COLUMNS = 'name, hash, scopes, created_at, expires_at, revoked_at'
const ALL = `SELECT ${COLUMNS} FROM token ORDER BY name`
const BY_HASH = `SELECT ${COLUMNS} FROM token WHERE hash = ?`
const INSERT = `INSERT INTO token (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`
const REVOKE = 'UPDATE token SET revoked_at = coalesce(revoked_at, ?) WHERE name = ?'

export function readTokens(rows: Rows): TokenRecord[] {
  return rows.all(ALL).map(tokenOf)
}

export function readToken(rows: Rows, hash: string): TokenRecord | undefined {
  const row = rows.get(BY_HASH, hash)
  return row && tokenOf(row)
}

export function insertToken(rows: Rows, token: TokenRecord): void {
  const { name, hash, scopes, createdAt, expiresAt, revokedAt } = token
  if (rows.run(INSERT, name, hash, JSON.stringify(scopes), createdAt, expiresAt, revokedAt) === 0)
    throw new StoreError('token-exists', `There is a token "${name}" already. Choose another name.`)
}

export function revokeToken(rows: Rows, name: string, at: number): void {
  if (rows.run(REVOKE, at, name) === 0)
    throw new StoreError('no-token', `There is no token "${name}". \`reams token list\` lists them.`)
}

/** The table is STRICT, so the types hold. */
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
