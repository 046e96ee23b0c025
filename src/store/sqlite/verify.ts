/** Lays the rows of an SQLite store open to the check of its invariants. */

import { storedHead } from '../default-operations.ts'
import type { VerifyResult } from '../store.ts'
import type { StoredHead } from '../tables.ts'
import { Findings, type KeyCount, type VerifiedStore, verifyRows } from '../verify.ts'
import { openReadConnection } from './file/store-file.ts'
import { readFollowings } from './following.ts'
import { explainError } from './rows/explain-error.ts'
import { readAllHeads } from './rows/head.ts'
import { readPositions } from './rows/keys.ts'
import { checkRequests } from './rows/request-rows.ts'
import { SqliteRows } from './rows/sqlite-rows.ts'
import { Statements } from './rows/statements.ts'
import { checkTokens } from './token.ts'

const UNSEEN = `
  SELECT 1 FROM lease WHERE collection_id = ?1 AND generation = ?2
  UNION ALL SELECT 1 FROM leftover WHERE collection_id = ?1 AND generation = ?2`
/** Rows of a generation that neither a head nor a load nor a leftover accounts for. */
const STRAYS = ['ream', 'tail', 'key', 'hole'].map(
  (table) => `
    SELECT '${table}', collection_id, generation, count(*) FROM ${table}
    WHERE (collection_id, generation) NOT IN (
      SELECT id, generation FROM head
      UNION ALL SELECT collection_id, generation FROM lease
      UNION ALL SELECT collection_id, generation + 1 FROM lease
      UNION ALL SELECT collection_id, generation FROM leftover
      UNION ALL SELECT collection_id, generation FROM replaced)
    GROUP BY collection_id, generation`,
)
/** Rows of a history that belongs to no collection. */
const STRAY_HISTORY = ['state', 'change', 'past', 'past_hole', 'replaced'].map(
  (table) => `
    SELECT '${table}', collection_id, count(*) FROM ${table}
    WHERE collection_id NOT IN (SELECT id FROM head UNION ALL SELECT collection_id FROM leftover WHERE generation < 0)
    GROUP BY collection_id`,
)
/** What is to be swept, or belongs to a load, must not be what readers see. */
const LEFTOVERS_IN_USE = `
  SELECT h.name FROM head h
  JOIN (SELECT collection_id, generation, base FROM leftover UNION ALL SELECT collection_id, generation, base FROM lease) l
    ON l.collection_id = h.id AND l.generation = h.generation AND l.base < h.next`
const STRAY_FOLLOWINGS = 'SELECT name FROM following WHERE name NOT IN (SELECT name FROM head)'

export async function verifySqlite(
  path: string,
  onProgress?: (items: number, total: number) => void,
): Promise<VerifyResult> {
  try {
    using database = openReadConnection(path)
    database.exec('BEGIN')
    const findings = new Findings()
    const sql = new Statements(database, (collection = '', message) => findings.add(collection, message))
    return await verifyRows(verifiedStore(new SqliteRows(sql), path), findings, onProgress)
  } catch (error) {
    throw explainError(error, path)
  }
}

function verifiedStore(rows: SqliteRows, path: string): VerifiedStore {
  const { sql } = rows
  return {
    rows,
    heads: () => readAllHeads(sql).map(storedHead),
    countKeys: (head) => countKeys(sql, head),
    mayHaveUnseen: (head) => sql.get(UNSEEN, head.id, head.generation) !== undefined,
    ownFindings: () => ownFindings(sql),
    notes: () => [],
    explain: (error) => explainError(error, path),
  }
}

function countKeys(rows: Statements, head: StoredHead): KeyCount {
  let [visible, all] = [0, 0]
  for (const position of readPositions(rows, head)) {
    all++
    if (position < head.next) visible++
  }
  return { visible, unseen: all - visible }
}

function* ownFindings(rows: Statements): Generator<string> {
  for (const [message] of rows.all('PRAGMA quick_check')) if (message !== 'ok') yield `SQLite: ${message}`
  for (const [name] of rows.all(LEFTOVERS_IN_USE))
    yield `Items of the collection "${name}" that readers see are marked as leftovers, or as part of a load.`
  checkTokens(rows)
  checkRequests(rows)
  readFollowings(rows)
  for (const [name] of rows.all(STRAY_FOLLOWINGS))
    yield `There is no collection "${name}", and yet it is noted to follow something.`
  for (const stray of STRAYS)
    for (const [table, id, generation, count] of rows.all(stray))
      yield `${count} rows of "${table}" belong to no collection (id ${id}, generation ${generation}).`
  for (const stray of STRAY_HISTORY)
    for (const [table, id, count] of rows.all(stray))
      yield `${count} rows of "${table}" belong to no collection (id ${id}).`
}
