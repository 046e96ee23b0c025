/** What the rows of both engines hold in the same columns: heads, tokens and what is followed. */

import type { Following, NamedFollowing } from './following.ts'
import type { Head, TokenRecord } from './store.ts'

type Row = readonly unknown[]

/** What a head has beside its name, in the order in which `headFrom` reads it. */
export const HEAD_COLUMNS =
  'id key_field paginated private generation version commit_id full_pages_id next live changes history_from retention_ms retention_bytes origin'.split(
    ' ',
  )

/** The head of a collection, from the first columns of a row. The engine vouches for the types. */
export function headFrom(name: string, row: Row): Head {
  return {
    name,
    id: row[0] as number,
    keyField: row[1] === null ? null : String(row[1]),
    isPaginated: Boolean(row[2]),
    isPrivate: Boolean(row[3]),
    generation: row[4] as number,
    version: row[5] as number,
    commitId: row[6] as string,
    fullPagesId: row[7] as string,
    next: row[8] as number,
    live: row[9] as number,
    changes: row[10] as number,
    historyFrom: row[11] as number,
    retentionMs: row[12] as number,
    retentionBytes: row[13] as number,
    origin: row[14] === null ? null : JSON.parse(row[14] as string),
  }
}

/** The column of the same name. */
export function originText({ origin }: Head): string | null {
  return origin && JSON.stringify(origin)
}

/** What a token has, in the order in which `tokenFrom` reads it. */
export const TOKEN_COLUMNS = 'hash, name, scopes, created_at, expires_at, revoked_at'

export function tokenFrom(row: Row): TokenRecord {
  return {
    hash: row[0] as string,
    name: row[1] as string,
    scopes: JSON.parse(row[2] as string),
    createdAt: row[3] as number,
    expiresAt: row[4] as number | null,
    revokedAt: row[5] as number | null,
  }
}

export function tokenValues({ hash, name, scopes, createdAt, expiresAt, revokedAt }: TokenRecord) {
  return [hash, name, JSON.stringify(scopes), createdAt, expiresAt, revokedAt] as const
}

/** What is known of a collection that follows something, in the order in which `followingFrom` reads it. */
export const FOLLOWING_COLUMNS = 'source waiting as_of seen_at holder'.split(' ')

/** From a row that begins with the name of the collection. */
export function followingFrom(row: Row): NamedFollowing {
  return {
    name: row[0] as string,
    source: row[1] as string,
    waiting: row[2] as number,
    asOf: row[3] as number,
    seenAt: row[4] as number,
    ...(row[5] === '' ? {} : { holder: row[5] as string }),
  }
}

export function followingValues({ source, waiting, asOf, seenAt, holder = '' }: Following) {
  return [source, waiting, asOf, seenAt, holder] as const
}
