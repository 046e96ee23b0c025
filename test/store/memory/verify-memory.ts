/** Lays the rows of a store in memory open to the check of its invariants. */

import type { Store, VerifyResult } from '../../../src/store/store.ts'
import { KEY, type Place, REPLACED, type StoredHead } from '../../../src/store/tables.ts'
import { Findings, verifyRows } from '../../../src/store/verify.ts'
import { generationOf, MemoryRows, type Tables } from './memory-rows.ts'

type Unseen = Place & { readonly base: number; readonly stagingId?: number; readonly isHistory?: boolean }

export function verifyMemory(tables: Tables, ...[onProgress]: Parameters<Store['verify']>): Promise<VerifyResult> {
  const leftovers = [...tables.leftover.values()].map(({ owner, ...each }) => ({ ...owner, ...each }))
  const unseen: readonly Unseen[] = [...tables.lease.values(), ...leftovers]
  const rows = new MemoryRows(tables)
  const store = {
    rows,
    heads: () => [...tables.head.values()],
    countKeys(head: StoredHead) {
      const keys = rows.scan(KEY, head, {})
      const visible = keys.filter(([, position]) => Number(position) < head.next).length
      return { visible, unseen: keys.length - visible }
    },
    mayHaveUnseen: (head: StoredHead) => unseen.some((each) => generationOf(each) === generationOf(head)),
    ownFindings: () => ownFindings(rows, unseen),
    notes: () => [],
    explain: (error: unknown) => error,
  }
  return verifyRows(store, new Findings(), onProgress)
}

function* ownFindings(rows: MemoryRows, unseen: readonly Unseen[]): Generator<string> {
  const { tables } = rows
  const heads = [...tables.head.values()]
  for (const head of heads)
    if (unseen.some((each) => generationOf(each) === generationOf(head) && each.base < head.next))
      yield `Items of the collection "${head.name}" that readers see are marked as leftovers, or as part of a load.`
  for (const name of tables.following.keys())
    if (!tables.head.has(name)) yield `There is no collection "${name}", and yet it is noted to follow something.`
  const known = new Set<string>()
  for (const head of heads) {
    known.add(`${head.id}`).add(generationOf(head))
    for (const [, generationId] of rows.scan(REPLACED, head, {})) known.add(`${head.id} ${generationId}`)
  }
  for (const { shardKey, generationId, stagingId, ...each } of unseen) {
    known.add(`${shardKey} ${generationId}`).add(`${shardKey} ${stagingId}`)
    if (each.isHistory) known.add(`${shardKey}`)
  }
  for (const [place, { length }] of tables.rows) {
    const [table, ...owner] = place.split(' ')
    if (length > 0 && !known.has(owner.join(' ')))
      yield `${length} rows of "${table}" belong to no collection (${owner.join(', generation ')}).`
  }
}
