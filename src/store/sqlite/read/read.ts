/** Reads pages on this connection, in a snapshot where one statement is not enough. */

import { type AnyPage, readAnyPage, readAnyPageOf } from '../../read-any-page.ts'
import { MOVED } from '../../read-page.ts'
import { runSync } from '../../rows.ts'
import type { PageRead, PastRead } from '../../store.ts'
import type { StoredHead } from '../../tables.ts'
import { inCollection } from '../rows/explain-error.ts'
import type { SqliteRows } from '../rows/sqlite-rows.ts'

export function readPageHere(rows: SqliteRows, question: AnyPage): PageRead | PastRead | undefined {
  const read = runSync(readAnyPage(question, rows.cache), rows)
  if (read !== MOVED) return read
  const { name, isPublicOnly } = question
  return rows.sql.inSnapshot(() => {
    const head = rows.readHead(name, isPublicOnly)
    return head && readPageOfHead(rows, head, question)
  })
}

/** In the snapshot of the head. */
export function readPageOfHead(rows: SqliteRows, head: StoredHead, question: AnyPage): PageRead | PastRead {
  return inCollection(head.name, () => runSync(readAnyPageOf(head, question, rows.cache), rows))
}
