/** The history of collections as SQLite's rows hold it. */

import {
  CHANGE_KINDS,
  type ChangeKind,
  type Cutoff,
  deletesByBlock,
  type Expired,
  findExpired,
  type State,
  type Stretch,
  takeStep,
} from '../../history.ts'
import type { HistoryEnds } from '../../history-limit.ts'
import type { Generation, PastItem, PastRows } from '../../past.ts'
import { blocksOf, type HoleCount, REAM_SIZE } from '../../positions.ts'
import type { Head } from '../../store.ts'
import { checkSum, SummedTable, withSum } from './row-sum.ts'
import type { Row, Rows } from './rows.ts'
import { type RowOwner, readHole, readHoles, readReam, readTailItems } from './stored-ream.ts'

const STATE = new SummedTable(
  'state',
  'collection_id changes version',
  'commit_id generation next live bytes at',
  ([, , version]) => `The state of version ${version}`,
)
const CHANGE = new SummedTable(
  'change',
  'collection_id number',
  'version generation kind position count before',
  ([, number]) => `Change ${number}`,
)
const PAST = new SummedTable(
  'past',
  'collection_id generation position number',
  '',
  ([, , position, number]) => `What change ${number} says about position ${position}`,
)
const PAST_HOLE = new SummedTable(
  'past_hole',
  'collection_id generation level block number',
  'gone',
  ([, , level, block]) => `The earlier hole count of level ${level}, block ${block}`,
)
const REPLACED = new SummedTable(
  'replaced',
  'collection_id generation',
  'next live',
  ([, generation]) => `Generation ${generation}`,
)

const PUT_STATE = STATE.put()
const PUT_CHANGE = CHANGE.put()
const PUT_PAST = `${PAST.insert()} ON CONFLICT DO NOTHING`
const PUT_PAST_HOLE = `${PAST_HOLE.insert()} ON CONFLICT DO NOTHING`
const PUT_REPLACED = REPLACED.put()

// A sign before the parameter of a LIMIT keeps SQLite from preparing the statement anew each time.
const STATES = `
  SELECT ${STATE.select(1)} FROM state
  WHERE collection_id = ? AND (changes, version) >= (?, ?) ORDER BY changes, version LIMIT +?`
const LAST_STATE = `
  SELECT ${STATE.select(1)} FROM state WHERE collection_id = ? ORDER BY changes DESC, version DESC LIMIT 1`
const FIRST_STRETCH = `
  SELECT ${CHANGE.select(1)} FROM change WHERE collection_id = ? AND number <= ? ORDER BY number DESC LIMIT 1`
const STRETCHES = `
  SELECT ${CHANGE.select(1)} FROM change WHERE collection_id = ? AND number > ? AND number < ? ORDER BY number LIMIT +?`
const ONE_CHANGE = `SELECT ${CHANGE.select(1)} FROM change WHERE collection_id = ? AND number = ?`
const NEXT_PAST = `
  SELECT ${PAST.select(2)} FROM past
  WHERE collection_id = ? AND generation = ? AND position >= ? AND position < ? ORDER BY position, number LIMIT 1`
const PAST_FROM = `
  SELECT ${PAST.select(2)} FROM past
  WHERE collection_id = ? AND generation = ? AND position = ? AND number >= ? AND number < ? ORDER BY number LIMIT 1`
const PAST_LAST = `
  SELECT ${PAST.select(2)} FROM past
  WHERE collection_id = ? AND generation = ? AND position = ? AND number >= ? AND number < ? ORDER BY number DESC LIMIT 1`
const HOLE_BEFORE = `
  SELECT ${PAST_HOLE.select(4)} FROM past_hole
  WHERE collection_id = ? AND generation = ? AND level = ? AND block = ? AND number >= ? ORDER BY number LIMIT 1`
const ONE_REPLACED = `SELECT ${REPLACED.select(1)} FROM replaced WHERE collection_id = ? AND generation = ?`
const REPLACED_BEFORE = `
  SELECT ${REPLACED.select(1)} FROM replaced WHERE collection_id = ? AND generation < ? ORDER BY generation`

const DELETE_STATE = 'DELETE FROM state WHERE collection_id = ? AND changes = ? AND version = ?'
const DELETE_CHANGE = 'DELETE FROM change WHERE collection_id = ? AND number = ?'
const DELETE_PAST = 'DELETE FROM past WHERE collection_id = ? AND generation = ? AND position = ? AND number = ?'
const DELETE_PAST_HOLE = `
  DELETE FROM past_hole WHERE collection_id = ? AND generation = ? AND level = ? AND block = ? AND number = ?`
const DELETE_REPLACED = 'DELETE FROM replaced WHERE collection_id = ? AND generation = ?'

/** Before all states there can be. */
const FIRST = { changes: 0, version: 0 }

function stateFrom(rows: Rows, { id, name }: Pick<Head, 'id' | 'name'>, row: Row): State {
  checkSum(rows, STATE.start(id), name, row)
  const [changes, version, commitId, generation, next, live, bytes, at] = row as [
    ...[number, number, string, number, number, number, number, number],
  ]
  return { changes, version, commitId, generation, next, live, bytes, at }
}

function stretchFrom(rows: Rows, { id, name }: Pick<Head, 'id' | 'name'>, row: Row): Stretch {
  checkSum(rows, CHANGE.start(id), name, row)
  const [number, version, generation, kind, position, count, before] = row as [
    ...[number, number, number, number, number, number],
    string | null,
  ]
  const what: ChangeKind = CHANGE_KINDS[kind] ?? 'reset'
  return { number, version, generation, kind: what, position, count, before: before ?? undefined }
}

/** The rows of a collection's past, for whoever reads it. To be asked in the snapshot of its head. */
export function pastRows(rows: Rows, head: Head): PastRows {
  const { id, name } = head
  const ownerOf = (generation: number): RowOwner => ({ name, id, generation })
  const textOf = (number: number): string => {
    const row = rows.get(ONE_CHANGE, id, number)
    const before = row && stretchFrom(rows, head, row).before
    if (before === undefined) rows.reportDamage(name, `Change ${number} is missing.`)
    return before ?? ''
  }
  /** The next position, from one on and before another, at which something was ever changed. */
  const nextChanged = (generation: number, from: number, end: number): number | undefined => {
    const row = rows.get(NEXT_PAST, id, generation, from, end)
    if (row !== undefined) checkSum(rows, PAST.start(id, generation), name, row)
    return row?.[0] as number | undefined
  }
  const itemAt = (generation: number, position: number, from: number, to: number): PastItem[] => {
    const row = rows.get(PAST_FROM, id, generation, position, from, to)
    if (row === undefined) return []
    checkSum(rows, PAST.start(id, generation), name, row)
    return [{ position, text: textOf(row[1] as number) }]
  }
  return {
    states: (changes, version, most) => readStates(rows, head, { changes, version }, most),
    replaced(generation): Generation | undefined {
      const row = rows.get(ONE_REPLACED, id, generation)
      return row && replacedFrom(rows, head, row)
    },
    reams: (generation, numbers) => numbers.flatMap((number) => readReam(rows, ownerOf(generation), number) ?? []),
    tail: (generation, from, to) => readTailItems(rows, ownerOf(generation), from, to),
    holes: (generation, level, from, to) => [...readHoles(rows, ownerOf(generation), level, from, to)],
    pastHoles: (generation, level, blocks, number) =>
      blocks.flatMap((block): HoleCount[] => {
        const row = rows.get(HOLE_BEFORE, id, generation, level, block, number)
        if (row === undefined) return []
        checkSum(rows, PAST_HOLE.start(id, generation, level, block), name, row)
        return [{ level, block, gone: row[1] as number }]
      }),
    pastIn(generation, ream, from, to) {
      const items: PastItem[] = []
      const end = (ream + 1) * REAM_SIZE
      let position = nextChanged(generation, ream * REAM_SIZE, end)
      for (; position !== undefined; position = nextChanged(generation, position + 1, end))
        items.push(...itemAt(generation, position, from, to))
      return items
    },
    lastChangeIn(generation, start, end, from, to) {
      let last: number | undefined
      let position = nextChanged(generation, start, end)
      for (; position !== undefined; position = nextChanged(generation, position + 1, end)) {
        const row = rows.get(PAST_LAST, id, generation, position, from, to)
        if (row === undefined) continue
        checkSum(rows, PAST.start(id, generation), name, row)
        last = Math.max(last ?? 0, row[1] as number)
      }
      return last
    },
    pastAt(generation, positions, from, to) {
      const items: PastItem[] = []
      const sorted = positions.toSorted((a, b) => a - b)
      const end = (sorted.at(-1) ?? 0) + 1
      let changed: number | undefined = -1
      for (const position of sorted) {
        if (changed < position) changed = nextChanged(generation, position, end)
        if (changed === undefined) break
        if (changed === position) items.push(...itemAt(generation, position, from, to))
      }
      return items
    },
    stretches: (from, to) => readStretches(rows, head, from, to, to - from),
  }
}

function replacedFrom(rows: Rows, { id, name }: Pick<Head, 'id' | 'name'>, row: Row): Generation {
  checkSum(rows, REPLACED.start(id), name, row)
  const [generation, next, live] = row as [number, number, number]
  return { generation, next, live }
}

/** The stretch that has change `from`, if there is one, and those behind it. */
function readStretches(rows: Rows, head: Pick<Head, 'id' | 'name'>, from: number, to: number, most: number): Stretch[] {
  const first = rows.get(FIRST_STRETCH, head.id, from)
  const others = rows.all(STRETCHES, head.id, from, to, most)
  const all = [...(first === undefined ? [] : [first]), ...others].map((row) => stretchFrom(rows, head, row))
  return all.filter(({ number, count }) => number + count > from)
}

export function lastState(rows: Rows, head: Pick<Head, 'id' | 'name'>): State | undefined {
  const row = rows.get(LAST_STATE, head.id)
  return row && stateFrom(rows, head, row)
}

export function putState(rows: Rows, { id }: Head, state: State): void {
  const { changes, version, commitId, generation, next, live, bytes, at } = state
  rows.run(PUT_STATE, ...withSum(STATE.start(id), changes, version, commitId, generation, next, live, bytes, at))
}

export function putStretches(rows: Rows, { id }: Pick<RowOwner, 'id'>, stretches: readonly Stretch[]): void {
  for (const { number, version, generation, kind, position, count, before } of stretches) {
    const values = [version, generation, CHANGE_KINDS.indexOf(kind), position, count, before ?? null]
    rows.run(PUT_CHANGE, ...withSum(CHANGE.start(id, number), ...values))
    if (before !== undefined) rows.run(PUT_PAST, ...withSum(PAST.start(id, generation, position, number)))
  }
}

/** What the hole counts were before the changes of a commit. To be called before they are changed. */
export function putPastHoles(rows: Rows, owner: Pick<RowOwner, 'id' | 'name'>, stretches: readonly Stretch[]): void {
  const { id, name } = owner
  const [{ generation } = { generation: 0 }] = stretches
  for (const { level, block, number } of deletesByBlock(stretches)) {
    const gone = readHole(rows, { id, name, generation }, level, block)
    rows.run(PUT_PAST_HOLE, ...withSum(PAST_HOLE.start(id, generation, level, block, number), gone))
  }
}

export function putReplaced(rows: Rows, { id, generation, next, live }: Head): void {
  rows.run(PUT_REPLACED, ...withSum(REPLACED.start(id, generation), next, live))
}

/** The generations before that one which are kept. */
export function readReplaced(rows: Rows, head: Pick<Head, 'id' | 'name'>, before: number): Generation[] {
  return rows.all(REPLACED_BEFORE, head.id, before).map((row) => replacedFrom(rows, head, row))
}

/** The same where they are not to be kept any more. */
export function takeReplaced(rows: Rows, head: Pick<Head, 'id' | 'name'>, before: number): Generation[] {
  const found = readReplaced(rows, head, before)
  for (const { generation } of found) rows.run(DELETE_REPLACED, head.id, generation)
  return found
}

/** Up to `most` states, oldest first, from one of them on. */
export function readStates(
  rows: Rows,
  head: Pick<Head, 'id' | 'name'>,
  { changes, version }: Pick<State, 'changes' | 'version'>,
  most: number,
): State[] {
  return rows.all(STATES, head.id, changes, version, most).map((row) => stateFrom(rows, head, row))
}

export function readHistoryEnds(rows: Rows, head: Head): HistoryEnds[] {
  const [oldest] = readStates(rows, head, FIRST, 1)
  const last = lastState(rows, head)
  return oldest === undefined || last === undefined ? [] : [{ head, oldest, last }]
}

/** Whether something is not kept any more, by what is oldest. */
export function isHistoryOld(rows: Rows, head: Head): boolean {
  const oldest = readStates(rows, head, FIRST, 2)
  const { states, kept } = findExpired(head, { oldest, last: lastState(rows, head) }, Date.now())
  if (states.length > 0) return true
  const [first] = rows.all(STRETCHES, head.id, -1, kept?.changes ?? head.changes, 1)
  return first !== undefined || rows.get(REPLACED_BEFORE, head.id, kept?.generation ?? head.generation) !== undefined
}

/** Removes up to `most` of the states that are not kept. Returns what it found. */
export function removeStates(rows: Rows, head: Head, most: number, cutoff?: Cutoff): Expired {
  const oldest = readStates(rows, head, FIRST, most)
  const expired = findExpired(head, { oldest, last: lastState(rows, head) }, Date.now(), cutoff)
  for (const { changes, version } of expired.states) rows.run(DELETE_STATE, head.id, changes, version)
  return expired
}

/** Removes up to `most` of the changes in `[from, to)`, oldest first. True while there is more. */
export function removeChanges(
  rows: Rows,
  head: Pick<Head, 'id' | 'name'>,
  from: number,
  to: number,
  most: number,
): boolean {
  const { id } = head
  const { taken, isMore } = takeStep(changesWithoutTexts(rows, head, from, to, most + 1), most)
  for (const { number, generation, kind, position, bytes } of taken) {
    rows.run(DELETE_CHANGE, id, number)
    if (bytes > 0) rows.run(DELETE_PAST, id, generation, position, number)
    if (kind === 'delete')
      for (const { level, block } of blocksOf(Math.floor(position / REAM_SIZE)))
        rows.run(DELETE_PAST_HOLE, id, generation, level, block, number)
  }
  return isMore
}

/** Read one by one, so that only one text at a time is in memory. */
function* changesWithoutTexts(rows: Rows, head: Pick<Head, 'id' | 'name'>, from: number, to: number, most: number) {
  for (const row of rows.each(STRETCHES, head.id, from - 1, to, most)) {
    const { before, ...change } = stretchFrom(rows, head, row)
    yield { ...change, bytes: before?.length ?? 0 }
  }
}

const EACH_STATE = `SELECT ${STATE.select(1)} FROM state WHERE collection_id = ? ORDER BY changes, version`
const EACH_CHANGE = `SELECT ${CHANGE.select(1)} FROM change WHERE collection_id = ? ORDER BY number`
const EACH_PAST = `
  SELECT ${PAST.select(1, 'p')}, c.position FROM past p
  LEFT JOIN change c ON c.collection_id = p.collection_id AND c.number = p.number WHERE p.collection_id = ?`
const EACH_PAST_HOLE = `SELECT ${PAST_HOLE.select(1)} FROM past_hole WHERE collection_id = ?`
const LOST_CHANGES = `
  SELECT c.number FROM change c LEFT JOIN past p
    ON p.collection_id = c.collection_id AND p.generation = c.generation AND p.position = c.position AND p.number = c.number
  WHERE c.collection_id = ? AND c.before IS NOT NULL AND p.number IS NULL`

export function* allStates(rows: Rows, head: Head): Generator<State> {
  for (const row of rows.each(EACH_STATE, head.id)) yield stateFrom(rows, head, row)
}

export function* readAllStretches(rows: Rows, head: Head): Generator<Stretch> {
  for (const row of rows.each(EACH_CHANGE, head.id)) yield stretchFrom(rows, head, row)
}

/** Checks what leads from items to their changes. Says in words what is wrong. */
export function* findLostPast(rows: Rows, { id, name }: Head): Generator<string> {
  for (const row of rows.each(EACH_PAST, id)) {
    checkSum(rows, PAST.start(id), name, row)
    const [, position, number, , changed] = row
    if (position !== changed) yield `Change ${number} is not about position ${position}, as another row says.`
  }
  for (const row of rows.each(EACH_PAST_HOLE, id)) checkSum(rows, PAST_HOLE.start(id), name, row)
  for (const [number] of rows.each(LOST_CHANGES, id)) yield `Change ${number} cannot be found by its item.`
}

const SWEEP_STATES = `
  DELETE FROM state WHERE (collection_id, changes, version) IN (
    SELECT collection_id, changes, version FROM state WHERE collection_id = ? LIMIT +?)`

/** Removes up to `most` of the states of a collection that is gone. True while there is more. */
export function sweepStates(rows: Rows, id: number, most: number): boolean {
  return rows.run(SWEEP_STATES, id, most) > 0
}
