/** The head of a collection as SQLite's rows hold it. */

import type { Head, ListedHead } from '../store.ts'
import type { Row, Rows } from './rows.ts'

export const HEAD_COLUMNS = `
  c.id, c.key_field, c.paginated, c.private, h.generation, h.version, h.commit_id, h.full_pages_id, h.next, h.live`

export const HEAD_TABLES = 'collection c JOIN head h ON h.collection_id = c.id'

/** How many columns HEAD_COLUMNS has: what a statement selects after them begins here. */
export const HEAD_WIDTH = 10

const HEAD_BY_NAME = `SELECT ${HEAD_COLUMNS} FROM ${HEAD_TABLES} WHERE c.name = ?`
const ALL_HEADS = `SELECT ${HEAD_COLUMNS}, c.name, h.changed_at FROM ${HEAD_TABLES} ORDER BY c.name`

export function readHead(rows: Rows, name: string): Head | undefined {
  const row = rows.get(HEAD_BY_NAME, name)
  return row && headOf(name, row)
}

export function readAllHeads(rows: Rows): ListedHead[] {
  return rows.all(ALL_HEADS).map((row) => ({
    ...headOf(row[HEAD_WIDTH] as string, row),
    changedAt: row[HEAD_WIDTH + 1] as number | null,
  }))
}

/** Reads the head from the first columns of a row. The tables are STRICT, so the types hold. */
export function headOf(name: string, row: Row): Head {
  return {
    name,
    id: row[0] as number,
    keyField: row[1] as string | null,
    isPaginated: row[2] === 1,
    isPrivate: row[3] === 1,
    generation: row[4] as number,
    version: row[5] as number,
    commitId: row[6] as string,
    fullPagesId: row[7] as string,
    next: row[8] as number,
    live: row[9] as number,
  }
}
