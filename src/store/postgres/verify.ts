/** Lays the rows of a store in PostgreSQL open to the check of its invariants. */

import { isCollectionName } from '../../contract/name.ts'
import { MAX_POSITION } from '../positions.ts'
import type { Head, VerifyResult } from '../store.ts'
import { StoreError } from '../store-error.ts'
import { Findings, type OpenRows, verifyRows } from '../verify.ts'
import { HoleCounts } from './read/page-parts.ts'
import { inSnapshot, readPage } from './read/read.ts'
import { readAllHeads, readHead, type StoredHead } from './rows/head.ts'
import { readAllStates, readAllStretches } from './rows/history.ts'
import type { Rows } from './rows/rows.ts'
import { keyBytes, readReams, readTail } from './rows/stored-ream.ts'

export function verifyPostgres(rows: Rows, onProgress?: (items: number, total: number) => void): Promise<VerifyResult> {
  return inSnapshot(rows, async () => {
    // Here whole tables are to be read.
    await rows.execute('SET LOCAL enable_seqscan = on')
    const heads = await readAllHeads(rows)
    return verifyRows(openRows(rows, heads), new Findings(), onProgress)
  })
}

function openRows(rows: Rows, heads: readonly StoredHead[]): OpenRows {
  const placeOf = ({ id, generation }: Head) => `${id} ${generation}`
  const stored = new Map(heads.map((head) => [placeOf(head), head]))
  const storedOf = (head: Head): StoredHead => {
    const found = stored.get(placeOf(head))
    if (found === undefined) throw new StoreError('corrupt', `Two collections have the id ${head.id}.`)
    return found
  }
  /** Of the collection whose pages are read: one comes after the other. */
  let holes: HoleCounts | undefined
  return {
    heads: () => [...heads],
    reams: (head) => readReams(rows, storedOf(head), 0, MAX_POSITION),
    tail: (head) => readTail(rows, storedOf(head), 0, MAX_POSITION),
    async *holes(head) {
      const { shardKey, generationId } = storedOf(head)
      for (const [level, block, gone] of await rows.all('readHoles', shardKey, generationId))
        yield { level: Number(level), block: Number(block), gone: Number(gone) }
    },
    positions: (head, keys) => readPositions(rows, storedOf(head), keys),
    async countKeys(head) {
      const { shardKey, generationId, next } = storedOf(head)
      const [visible, unseen] = (await rows.first('countKeys', shardKey, generationId, next)) ?? []
      return { visible: Number(visible), unseen: Number(unseen) }
    },
    async mayHaveUnseen(head) {
      const { shardKey, generationId } = storedOf(head)
      return (await rows.first('mayHaveUnseen', shardKey, generationId)) !== undefined
    },
    async page(head, page) {
      const found = isCollectionName(head.name) ? await readHead(rows, head.name) : undefined
      if (found === undefined)
        throw new StoreError('corrupt', `The collection "${head.name}" cannot be found by its name.`)
      if (!holes?.areOf(found)) holes = new HoleCounts(found)
      return readPage(rows, found, page, holes)
    },
    async *replaced(head) {
      const { shardKey, id } = storedOf(head)
      for (const row of await rows.all('readAllReplaced', shardKey, id)) {
        const [generation, generationId, next, live] = row as [number, number, number, number]
        const replaced = { ...storedOf(head), generation, generationId, next, live }
        stored.set(placeOf(replaced), replaced)
        yield replaced
      }
    },
    states: (head) => readAllStates(rows, storedOf(head)),
    stretches: (head) => readAllStretches(rows, storedOf(head)),
    async *lostPast(head) {
      const { shardKey, id } = storedOf(head)
      for (const [number] of await rows.all('readLostPast', shardKey, id))
        yield `Change ${number} and the row that leads from its item to it do not fit.`
    },
    ownFindings: () => ownFindings(rows),
    notes: () => notes(rows),
    explain: (error) => error,
  }
}

async function readPositions(
  rows: Rows,
  { shardKey, generationId }: StoredHead,
  keys: readonly string[],
): Promise<(number | undefined)[]> {
  const bytes = keys.map(keyBytes)
  const found = await rows.all('readPositions', shardKey, generationId, bytes)
  const positions = new Map(found.map(([number, position]) => [Number(number) - 1, Number(position)]))
  return keys.map((_, index) => positions.get(index))
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
