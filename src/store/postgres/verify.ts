/** Lays the rows of a store in PostgreSQL open to the check of its invariants. */

import type { VerifyResult } from '../store.ts'
import type { StoredHead, Table } from '../tables.ts'
import { Findings, type KeyCount, type OwnedRows, verifyRows } from '../verify.ts'
import { inSnapshot } from './read/snapshot.ts'
import { readAllHeads } from './rows/head.ts'
import type { Rows } from './rows/rows.ts'
import { TableStatements } from './rows/table-statements.ts'

export function verifyPostgres(rows: Rows, onProgress?: (items: number, total: number) => void): Promise<VerifyResult> {
  const store = {
    rows: rows.tables,
    heads: () => readAllHeads(rows),
    owners: (table: Table) => ownersOf(rows, table),
    countKeys: (head: StoredHead) => countKeys(rows, head),
    ownFindings: () => [],
    notes: () => notes(rows),
    explain: (error: unknown) => error,
  }
  return inSnapshot(rows, async () => {
    // Here whole tables are to be read.
    await rows.execute('SET LOCAL enable_seqscan = on')
    return verifyRows(store, new Findings(), onProgress)
  })
}

async function ownersOf(rows: Rows, table: Table): Promise<OwnedRows[]> {
  const found = await rows.all(TableStatements.of(table).owners)
  return found.map(([shardKey, id, count]) => ({ shardKey: Number(shardKey), id: Number(id), count: Number(count) }))
}

async function countKeys(rows: Rows, { shardKey, generationId, next }: StoredHead): Promise<KeyCount> {
  const [visible, unseen] = (await rows.first('countKeys', shardKey, generationId, next)) ?? []
  return { visible: Number(visible), unseen: Number(unseen) }
}

/** Rows have no checksums of their own here: the database's pages have. */
async function notes(rows: Rows): Promise<string[]> {
  const [setting] = (await rows.first('readDataChecksums')) ?? []
  if (setting !== 'off') return []
  return [
    'The database runs without data checksums, so it would not detect bit flips on its disk. `pg_checksums --enable` turns them on, while the server is stopped.',
  ]
}
