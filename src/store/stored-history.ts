/** The history of a collection in its rows: what a commit adds, what is read of it, and what is removed when it expires. */

import { setImmediate as nextTurn } from 'node:timers/promises'
import { keepsHistory } from '../contract/state-tag.ts'
import {
  bytesOf,
  CHANGE_KINDS,
  type Cutoff,
  deletesByBlock,
  type Expired,
  type Forgotten,
  findExpired,
  forgottenForSize,
  type State,
  type Stretch,
  stateRow,
  takeStep,
} from './history.ts'
import { type HistoryEnds, limitHistory } from './history-limit.ts'
import { blocksOf, REAM_SIZE } from './positions.ts'
import { type Answer, type History, type Numbers, query, queryAll, type Range, type Steps } from './rows.ts'
import { CHANGE, HOLE, PAST, PAST_HOLE, REPLACED, type Row, STATE, type StoredHead } from './tables.ts'

export function stateFrom(row: Row): State {
  const [changes, version, commitId, generation, next, live, bytes, at] = row as [
    ...[number, number, string, number, number, number, number, number],
  ]
  return { changes, version, commitId, generation, next, live, bytes, at }
}

export function changeFrom(row: Row): Stretch {
  const [number, version, generation, kind, position, count, before] = row as [
    ...[number, number, number, number, number, number],
    string | null,
  ]
  const base = { number, version, generation, position, count }
  return { ...base, kind: CHANGE_KINDS[kind] ?? 'reset', before: before ?? undefined }
}

// States

type StatePlace = Pick<State, 'changes' | 'version'>

const FIRST: StatePlace = { changes: 0, version: 0 }

/** Up to `limit` states, oldest first, from one of them on. */
export function* readStates(owner: History, { changes, version }: StatePlace, limit: number): Steps<State[]> {
  const found = yield* query((rows) => rows.scan(STATE, owner, { from: [changes, version], limit }))
  return found.map(stateFrom)
}

export const LAST: Range = { limit: 1, isReverse: true }

function* readLastState(owner: History): Steps<State | undefined> {
  const [found] = yield* query((rows) => rows.scan(STATE, owner, LAST))
  return found && stateFrom(found)
}

/** How much the history has taken so far. */
export function* readHistoryBytes(owner: History): Steps<number> {
  return (yield* readLastState(owner))?.bytes ?? 0
}

/** The oldest and the last state, if there are any. */
function* readHistoryEnds(head: StoredHead): Steps<HistoryEnds<StoredHead>[]> {
  const [oldest] = yield* readStates(head, FIRST, 1)
  const last = yield* readLastState(head)
  return oldest === undefined || last === undefined ? [] : [{ head, oldest, last }]
}

// What a commit adds

/** How much of the history is written already, and how large it was before. */
interface Written {
  readonly bytes: number
  readonly bytesBefore: number
}

/** The state that a commit leads to, and its changes besides those that are written already. */
export function* writeHistory(
  head: StoredHead,
  changes: readonly Stretch[],
  { bytes, bytesBefore }: Written,
): Steps<void> {
  yield* putChanges(head, changes)
  const state = stateRow(head, bytesBefore, bytes + bytesOf(changes), Date.now())
  const { changes: count, version, commitId, generation, next, live } = state
  const row = [count, version, commitId, generation, next, live, state.bytes, state.at]
  yield* query((rows) => rows.put(STATE, head, [row]))
}

/** Changes of one commit. */
export function* putChanges(owner: History, changes: readonly Stretch[]): Steps<void> {
  if (changes.length === 0) return
  const rowOf = ({ number, version, generation, kind, position, count, before }: Stretch): Row => [
    ...[number, version, generation, CHANGE_KINDS.indexOf(kind), position, count],
    before ?? null,
  ]
  const items = changes.filter(({ before }) => before !== undefined)
  yield* query((rows) => rows.put(CHANGE, owner, changes.map(rowOf)))
  if (items.length === 0) return
  const past = items.map(({ generation, position, number }) => [generation, position, number])
  yield* query((rows) => rows.put(PAST, owner, past))
}

/** The hole counts before the deletes of a commit. To be called before the counts are changed. */
export function* putPastHoles(head: StoredHead, changes: readonly Stretch[]): Steps<void> {
  const places = deletesByBlock(changes)
  if (places.length === 0) return
  const { generation } = head
  const keys = places.map(({ level, block }) => [level, block])
  const found = yield* query((rows) => rows.find(HOLE, head, keys))
  const past = places.map(({ level, block, number }, at) => [
    ...[generation, level, block, number],
    found[at]?.at(-1) ?? 0,
  ])
  yield* query((rows) => rows.put(PAST_HOLE, head, past))
}

// What expires

/** How many rows a step removes at most. */
export interface StepSize {
  readonly states: number
  readonly changes: number
}

function* readExpired(head: StoredHead, limit: number, cutoff?: Cutoff): Steps<Expired> {
  const [oldest, [last]] = yield* queryAll(
    (rows) => rows.scan(STATE, head, { from: [0, 0], limit }),
    (rows) => rows.scan(STATE, head, LAST),
  )
  return findExpired(head, { oldest: oldest.map(stateFrom), last: last && stateFrom(last) }, Date.now(), cutoff)
}

/** Whether something is no longer kept. */
function* isHistoryOld(head: StoredHead): Steps<boolean> {
  const { states, kept } = yield* readExpired(head, 2)
  if (states.length > 0) return true
  const to = kept?.changes ?? head.changes
  const [change] = yield* query((rows) => rows.changeSizes(head, { from: 0, to }, 1))
  if (change !== undefined) return true
  const range = { to: [kept?.generation ?? head.generation], limit: 1 }
  return (yield* query((rows) => rows.scan(REPLACED, head, range))).length > 0
}

/** Removes some of what is no longer kept. States go first: a state must never lack some of its changes. */
export function* forgetStep(name: string, size: StepSize, cutoff?: Cutoff): Steps<Forgotten> {
  const head = yield* query((rows) => rows.readHead(name))
  if (head === undefined) return { isMore: false }
  const { states, isForSize, kept } = yield* readExpired(head, size.states, cutoff)
  const notice = isForSize ? { notice: forgottenForSize(head) } : {}
  const expired = states.map(({ changes, version }) => [changes, version])
  if (expired.length > 0) yield* query((rows) => rows.remove(STATE, head, expired))
  if (kept === undefined && states.length > 0) return { isMore: true, ...notice }
  const numbers = { from: 0, to: kept?.changes ?? head.changes }
  if (yield* removeChanges(head, numbers, size.changes)) return { isMore: true, ...notice }
  for (const replaced of yield* takeReplaced(head, kept?.generation ?? head.generation))
    yield* retireGeneration(replaced)
  return { isMore: false, ...notice }
}

/** Removes up to `limit` changes, oldest first. Returns whether there are more. */
export function* removeChanges(owner: History, numbers: Numbers, limit: number): Steps<boolean> {
  const sizes = yield* query((rows) => rows.changeSizes(owner, numbers, limit + 1))
  const { taken, isMore } = takeStep(sizes, limit)
  if (taken.length === 0) return false
  const past: Row[] = []
  const holes: Row[] = []
  for (const { number, generation, kind, position, bytes } of taken) {
    if (bytes > 0) past.push([generation, position, number])
    if (CHANGE_KINDS[kind] !== 'delete') continue
    for (const { level, block } of blocksOf(Math.floor(position / REAM_SIZE)))
      holes.push([generation, level, block, number])
  }
  const keys = taken.map(({ number }) => [number])
  yield* query((rows) => rows.remove(CHANGE, owner, keys))
  if (past.length > 0) yield* query((rows) => rows.remove(PAST, owner, past))
  if (holes.length > 0) yield* query((rows) => rows.remove(PAST_HOLE, owner, holes))
  return isMore
}

/** What an engine does to forget. */
export interface Forgetting {
  run<T>(steps: Steps<T>): Answer<T>
  /** Removes what is no longer kept of the history of a collection. */
  forget(name: string, cutoff?: Cutoff): Promise<void>
  /** Whether the other collections can be looked at after such an error. */
  mayGoOn(error: unknown): boolean
  readonly limitBytes: number
  readonly onNotice: (message: string) => void
}

/** Removes what is no longer kept of all collections. One that is damaged does not keep the others from being trimmed. */
export async function forgetExpired(heads: readonly StoredHead[], engine: Forgetting): Promise<void> {
  const { run, forget, mayGoOn } = engine
  const ends: HistoryEnds<StoredHead>[] = []
  for (const head of heads) {
    try {
      if (await run(isHistoryOld(head))) await forget(head.name)
      ends.push(...(await run(readHistoryEnds(head))))
    } catch (error) {
      if (!mayGoOn(error)) throw error
    }
    // There may be thousands.
    await nextTurn()
  }
  await limitHistory(ends, {
    limitBytes: engine.limitBytes,
    readStates: (head, from, most) => run(readStates(head, from, most)),
    forget: ({ name }, cutoff) => forget(name, cutoff),
    onNotice: engine.onNotice,
  })
}

// Generations that were replaced

/** A generation that was replaced, as the head that it had. */
function replacedFrom(head: StoredHead, row: Row): StoredHead {
  const [generation, generationId, next, live] = row as [number, number, number, number]
  return { ...head, generation, generationId, next, live }
}

export function* putReplaced(head: StoredHead): Steps<void> {
  const { generation, generationId, next, live } = head
  yield* query((rows) => rows.put(REPLACED, head, [[generation, generationId, next, live]]))
}

export function* readReplaced(head: StoredHead, generation: number): Steps<StoredHead | undefined> {
  const row = yield* query((rows) => rows.get(REPLACED, head, [generation]))
  return row && replacedFrom(head, row)
}

/** The generations before that one which are kept. */
export function* allReplaced(head: StoredHead, before: number): Steps<StoredHead[]> {
  const found = yield* query((rows) => rows.scan(REPLACED, head, { to: [before] }))
  return found.map((row) => replacedFrom(head, row))
}

/** The same, and removes their rows. */
export function* takeReplaced(head: StoredHead, before: number): Steps<StoredHead[]> {
  const found = yield* allReplaced(head, before)
  const keys = found.map(({ generation }) => [generation])
  if (keys.length > 0) yield* query((rows) => rows.remove(REPLACED, head, keys))
  return found
}

/** Queues a generation that nobody needs any more for sweeping. */
export function* retireGeneration(generation: StoredHead): Steps<void> {
  yield* query((rows) => rows.addLeftover(generation, 0))
}

/** Whether a commit of this head writes history. */
export function writesHistory(head: StoredHead, before: StoredHead | undefined): boolean {
  return keepsHistory(head) && head.commitId !== before?.commitId
}
