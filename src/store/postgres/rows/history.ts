/** The history of collections as PostgreSQL's rows hold it. */

import { damagedCollection } from '../../collection-rules.ts'
import {
  bytesOf,
  CHANGE_KINDS,
  CHANGES_A_STEP,
  deletesByBlock,
  type State,
  type Stretch,
  stateRow,
  takeStep,
} from '../../history.ts'
import type { PastItem, PastRows } from '../../past.ts'
import { holeCounts, REAM_SIZE } from '../../positions.ts'
import type { Head } from '../../store.ts'
import type { Transaction } from '../server/transaction.ts'
import type { RowOwner, StoredHead } from './head.ts'
import type { Reading, Row } from './rows.ts'
import { inMessages, reamOf } from './stored-ream.ts'

/** How old a state is, is said by the clock of the database, which wrote its time: ours may be another. */
export function stateFrom(row: Row): State {
  const [changes, version, commitId, generation, next, live, bytes, ageMs] = row as [
    ...[number, number, string, number, number, number, number, number],
  ]
  return { changes, version, commitId, generation, next, live, bytes, at: Date.now() - ageMs }
}

function stretchFrom(row: Row): Stretch {
  const [number, version, generation, kind, position, count, before] = row as [
    ...[number, number, number, number, number, number],
    Buffer | null,
  ]
  return {
    number,
    version,
    generation,
    kind: CHANGE_KINDS[kind] ?? 'reset',
    position,
    count,
    before: before?.toString(),
  }
}

/** The rows of a collection's past, for whoever reads it. To be asked in the snapshot of its head. */
export function pastRows(
  rows: Reading,
  { name, shardKey, id, generation: current, generationId }: StoredHead,
): PastRows {
  const generationIds = new Map([[current, generationId]])
  const idOf = (generation: number): number => {
    const found = generationIds.get(generation)
    if (found === undefined) throw damagedCollection(name, `Generation ${generation} of it is missing.`)
    return found
  }
  return {
    states: async (changes, version, most) =>
      (await rows.all('readStates', shardKey, id, changes, version, most)).map(stateFrom),
    async replaced(generation) {
      const row = await rows.first('readReplaced', shardKey, id, generation)
      if (row === undefined) return undefined
      const [replacedId, next, live] = row as [number, number, number]
      generationIds.set(generation, replacedId)
      return { generation, next, live }
    },
    async reams(generation, numbers) {
      if (numbers.length === 0) return []
      const found = await rows.all('readReamsByNumber', shardKey, idOf(generation), listOf(numbers))
      return found.map((row) => reamOf(row))
    },
    async tail(generation, from, to) {
      const found = await rows.all('readTail', shardKey, idOf(generation), from, to, REAM_SIZE)
      return found.map(([position, item]) => ({ position: Number(position), item: String(item) }))
    },
    async holes(generation, level, from, to) {
      const found = await rows.all('readHolesOf', shardKey, idOf(generation), level, from, to)
      return found.map(([block, gone]) => ({ level, block: Number(block), gone: Number(gone) }))
    },
    async pastHoles(generation, level, blocks, number) {
      const found = await rows.all('readPastHoles', shardKey, id, generation, level, listOf(blocks), number)
      return found.map(([block, gone]) => ({ level, block: Number(block), gone: Number(gone) }))
    },
    async pastIn(generation, ream, from, to) {
      const start = ream * REAM_SIZE
      return pastFrom(await rows.all('readPastIn', shardKey, id, generation, start, from, to, start + REAM_SIZE))
    },
    async lastChangeIn(generation, start, end, from, to) {
      const row = await rows.first('readLastChangeIn', shardKey, id, generation, start, from, to, end)
      return (row?.[0] ?? undefined) as number | undefined
    },
    async pastAt(generation, positions, from, to) {
      if (positions.length === 0) return []
      return pastFrom(await rows.all('readPastAt', shardKey, id, generation, listOf(positions), from, to))
    },
    async stretches(from, to) {
      const found = await rows.all('readStretches', shardKey, id, from, to, to - from + 1)
      return found.map(stretchFrom).filter(({ number, count }) => number + count > from)
    },
  }
}

function pastFrom(rows: readonly Row[]): PastItem[] {
  return rows.map(([position, before]) => ({ position: Number(position), text: String(before) }))
}

/** As PostgreSQL writes an array: statements that only read take numbers, texts and bytes. */
function listOf(numbers: readonly number[]): string {
  return `{${numbers.join(',')}}`
}

/** How much the history of a collection has taken so far. */
export async function readHistoryBytes(transaction: Transaction, { shardKey, id }: StoredHead): Promise<number> {
  const row = await transaction.first('readLastState', shardKey, id)
  return row === undefined ? 0 : stateFrom(row).bytes
}

/** The state that a commit leads to, and how, beside what is written already and takes so many bytes. */
export async function writeHistory(
  transaction: Transaction,
  head: Head & RowOwner,
  stretches: readonly Stretch[],
  bytes: number,
  bytesBefore: number,
): Promise<void> {
  await putStretches(transaction, head, stretches)
  const {
    changes,
    version,
    commitId,
    generation,
    next,
    live,
    bytes: total,
  } = stateRow(head, bytesBefore, bytes + bytesOf(stretches), 0)
  const values = [changes, version, commitId, generation, next, live, total]
  void transaction.write('putState', head.shardKey, head.id, ...values)
}

/** What a change takes in a message beside its text, about. */
const CHANGE_BYTES = 500

/** Changes of one commit, and so of one generation. */
export async function putStretches(
  transaction: Transaction,
  owner: Pick<Head, 'id'> & RowOwner,
  stretches: readonly Stretch[],
): Promise<void> {
  let last: Promise<unknown> | undefined
  for (const part of inMessages(stretches, ({ before = '' }) => CHANGE_BYTES + before.length)) {
    // Texts of gigabytes would else be written out at once.
    await last
    last = putChanges(transaction, owner, part)
  }
  await last
}

/** What the hole counts were before the changes of a commit. To be called before they are changed. */
export async function putPastHoles(
  transaction: Transaction,
  owner: Pick<Head, 'id'> & RowOwner,
  stretches: readonly Stretch[],
): Promise<void> {
  const [{ generation } = { generation: 0 }] = stretches
  const places = deletesByBlock(stretches)
  if (places.length === 0) return
  const { shardKey, id, generationId } = owner
  const [levels, blocks] = [places.map(({ level }) => level), places.map(({ block }) => block)]
  const found = await transaction.all('readHolesAt', shardKey, generationId, levels, blocks)
  const goneAt = new Map(found.map(([level, block, gone]) => [`${level} ${block}`, Number(gone)]))
  const gone = places.map(({ level, block }) => goneAt.get(`${level} ${block}`) ?? 0)
  const firsts = places.map(({ number }) => number)
  void transaction.write('putPastHoles', shardKey, id, generation, levels, blocks, firsts, gone)
}

function putChanges(
  transaction: Transaction,
  { shardKey, id }: Pick<Head, 'id'> & RowOwner,
  stretches: readonly Stretch[],
): Promise<unknown> {
  const [{ generation } = { generation: 0 }] = stretches
  const versions = stretches.map(({ version }) => version)
  const kinds = stretches.map(({ kind }) => CHANGE_KINDS.indexOf(kind))
  const texts = stretches.map(({ before }) => (before === undefined ? null : Buffer.from(before)))
  const [numbers, positions] = [stretches.map(({ number }) => number), stretches.map(({ position }) => position)]
  const counts = stretches.map(({ count }) => count)
  const columns = [numbers, versions, generation, kinds, positions, counts, texts]
  const written = transaction.write('putChanges', shardKey, id, ...columns)
  const items = stretches.filter(({ before }) => before !== undefined)
  if (items.length > 0)
    void transaction.write(
      'putPast',
      ...[shardKey, id, generation],
      items.map(({ position }) => position),
      items.map(({ number }) => number),
    )
  return written
}

/** Removes some of the changes from number `from` on and before `to`, oldest first. True while there is more. */
export async function removeChanges(
  transaction: Transaction,
  { shardKey, id }: Pick<Head, 'id'> & Pick<RowOwner, 'shardKey'>,
  from: number,
  to: number,
): Promise<boolean> {
  const rows = await transaction.all('readOldChanges', shardKey, id, from, to, CHANGES_A_STEP + 1)
  const { taken, isMore } = takeStep(rows.map(oldChangeFrom))
  const [first, last] = [taken[0], taken.at(-1)]
  if (first === undefined || last === undefined) return false
  const range = [first.number, last.number]
  void transaction.write('deleteChanges', shardKey, id, ...range)
  for (const [generation, changes] of Map.groupBy(taken, (change) => change.generation)) {
    const items = changes.filter(({ bytes }) => bytes > 0).map(({ position }) => position)
    if (items.length > 0) void transaction.write('deletePast', shardKey, id, generation, items, ...range)
    const reams = changes
      .filter(({ kind }) => kind === 'delete')
      .map(({ position }) => Math.floor(position / REAM_SIZE))
    const holes = holeCounts(new Map(reams.map((ream) => [ream, 1])))
    for (const [level, counts] of Map.groupBy(holes, (count) => count.level)) {
      const blocks = counts.map(({ block }) => block)
      void transaction.write('deletePastHoles', shardKey, id, generation, level, blocks, ...range)
    }
  }
  return isMore
}

/** Without its text, which nobody needs any more. */
function oldChangeFrom(row: Row) {
  const [number, generation, kind, position, bytes] = row as [number, number, number, number, number | null]
  return { number, generation, kind: CHANGE_KINDS[kind], position, bytes: bytes ?? 0 }
}

/** Rows that are fetched at a time, so that memory stays flat. */
const AT_A_TIME = 1_000

export async function* readAllStates(rows: Reading, { shardKey, id }: StoredHead): AsyncGenerator<State> {
  for (let from = { changes: 0, version: 0 }; ; ) {
    const found = (await rows.all('readStates', shardKey, id, from.changes, from.version, AT_A_TIME)).map(stateFrom)
    yield* found
    const last = found.at(-1)
    if (last === undefined || found.length < AT_A_TIME) return
    from = { changes: last.changes, version: last.version + 1 }
  }
}

export async function* readAllStretches(rows: Reading, { shardKey, id }: StoredHead): AsyncGenerator<Stretch> {
  for (let from = 0; ; ) {
    const found = await rows.all('readStretches', shardKey, id, from, Number.MAX_SAFE_INTEGER, AT_A_TIME)
    const stretches = found.map(stretchFrom).filter(({ number }) => number >= from)
    yield* stretches
    const last = stretches.at(-1)
    if (last === undefined || found.length < AT_A_TIME) return
    from = last.number + 1
  }
}
