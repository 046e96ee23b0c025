/** Lays the rows of an SQLite store open to the check of its invariants. */

import { storedHead } from '../default-operations.ts'
import type { VerifyResult } from '../store.ts'
import type { Table } from '../tables.ts'
import { Findings, type OwnedRows, verifyRows } from '../verify.ts'
import { openReadConnection } from './file/store-file.ts'
import { explainError } from './rows/explain-error.ts'
import { readAllHeads } from './rows/head.ts'
import { checkRequests } from './rows/request-rows.ts'
import { SqliteRows } from './rows/sqlite-rows.ts'
import { Statements } from './rows/statements.ts'

export async function verifySqlite(
  path: string,
  onProgress?: (items: number, total: number) => void,
): Promise<VerifyResult> {
  try {
    using database = openReadConnection(path)
    database.exec('BEGIN')
    const findings = new Findings()
    const sql = new Statements(database, (collection = '', message) => findings.add(collection, message))
    const store = {
      rows: new SqliteRows(sql),
      heads: () => readAllHeads(sql).map(storedHead),
      owners: (table: Table) => ownersOf(sql, table),
      ownFindings: () => ownFindings(sql),
      notes: () => [],
      explain: (error: unknown) => explainError(error, path),
    }
    return await verifyRows(store, findings, onProgress)
  } catch (error) {
    throw explainError(error, path)
  }
}

function ownersOf(rows: Statements, { name, owner }: Table): OwnedRows[] {
  const id = owner === 'generation' ? 'generation' : 'collection_id'
  const found = rows.all(`SELECT collection_id, ${id}, count(*) FROM ${name} GROUP BY collection_id, ${id}`)
  return found.map(([shardKey, owned, count]) => ({
    shardKey: Number(shardKey),
    id: Number(owned),
    count: Number(count),
  }))
}

function* ownFindings(rows: Statements): Generator<string> {
  for (const [message] of rows.all('PRAGMA quick_check')) if (message !== 'ok') yield `SQLite: ${message}`
  checkRequests(rows)
}
