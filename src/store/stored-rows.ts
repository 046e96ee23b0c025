/** Heads in their rows: the columns that all engines have. */

import type { Head } from './store.ts'

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
