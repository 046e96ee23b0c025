/** Lays the rows of a store in PostgreSQL open to the check of its invariants. */

import type { VerifyResult } from '../store.ts'
import { Findings, type VerifiedStore, verifyRows } from '../verify.ts'
import { inSnapshot } from './read/snapshot.ts'
import { readAllHeads } from './rows/head.ts'
import type { Rows } from './rows/rows.ts'

export function verifyPostgres(rows: Rows, onProgress?: (items: number, total: number) => void): Promise<VerifyResult> {
  return inSnapshot(rows, async () => {
    // Here whole tables are to be read.
    await rows.execute('SET LOCAL enable_seqscan = on')
    return verifyRows(verifiedStore(rows), new Findings(), onProgress)
  })
}

function verifiedStore(rows: Rows): VerifiedStore {
  return {
    rows: rows.tables,
    heads: () => readAllHeads(rows),
    async countKeys({ shardKey, generationId, next }) {
      const [visible, unseen] = (await rows.first('countKeys', shardKey, generationId, next)) ?? []
      return { visible: Number(visible), unseen: Number(unseen) }
    },
    async mayHaveUnseen({ shardKey, generationId }) {
      return (await rows.first('mayHaveUnseen', shardKey, generationId)) !== undefined
    },
    ownFindings: () => ownFindings(rows),
    notes: () => notes(rows),
    explain: (error) => error,
  }
}

const STRAY_HISTORY = [
  'findStrayStates',
  'findStrayChanges',
  'findStrayPast',
  'findStrayPastHoles',
  'findStrayReplaced',
] as const

async function* ownFindings(rows: Rows): AsyncGenerator<string> {
  for (const [name] of await rows.all('findVisibleLeftovers'))
    yield `Items of the collection "${name}" that readers see are marked as leftovers, or as part of a load.`
  for (const [name] of await rows.all('findUnguarded'))
    yield `The head of the collection "${name}" does not say that a load is running or has left something behind.`
  for (const [name] of await rows.all('findStrayFollowings'))
    yield `There is no collection "${name}", and yet it is noted to follow something.`
  for (const stray of ['findStrayReams', 'findStrayTails', 'findStrayKeys', 'findStrayHoles'] as const)
    for (const [table, shardKey, generationId, count] of await rows.all(stray))
      yield `${count} rows of "${table}" belong to no collection (shard key ${shardKey}, generation ${generationId}).`
  for (const stray of STRAY_HISTORY)
    for (const [table, shardKey, id, count] of await rows.all(stray))
      yield `${count} rows of "${table}" belong to no collection (shard key ${shardKey}, id ${id}).`
}

/** Rows have no checksums of their own here: the database's pages have. */
async function notes(rows: Rows): Promise<string[]> {
  const [setting] = (await rows.first('readDataChecksums')) ?? []
  if (setting !== 'off') return []
  return [
    'The database runs without data checksums, so it would not detect bit flips on its disk. `pg_checksums --enable` turns them on, while the server is stopped.',
  ]
}
