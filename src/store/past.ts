/**
 * Reading earlier states of a collection, and the changes since. A page of an earlier state is made of the reams of today: what
 * was replaced or deleted since is put back, and what was appended since is left out. Everything comes from one snapshot of the store.
 */

import { deleteText, putText, resetText } from '../contract/change.ts'
import { effectivePage, pageRange } from '../contract/page.ts'
import { formatTag, keepsHistory, type StateTag } from '../contract/state-tag.ts'
import { keyReader } from '../items/item-scanner.ts'
import { damagedCollection } from './collection-rules.ts'
import { FORGET_EVERY_MS, keptMsOf, type State, type Stretch, UNKNOWN_VERSION } from './history.ts'
import { joinItems, type RawItems, splitItems } from './item-text.ts'
import { type HoleCount, liveSlots, type PageParts, type Part, REAM_SIZE, reamsIn, tailStart } from './positions.ts'
import type { ReadCache } from './read-cache.ts'
import { damagedReam, type Quire, quiresOf, readInflated, type SealedReam } from './ream.ts'
import { query, type Steps } from './rows.ts'
import { cutPieces, joinCuts, rawSegment } from './segment.ts'
import type { Head, PastRead, Segment, SegmentForm, StateRead } from './store.ts'
import { StoreError } from './store-error.ts'
import { changeFrom, readReplaced, readStates } from './stored-history.ts'
import { findReams, readHoles, readTail } from './stored-items.ts'
import { publicHead, type StoredHead } from './tables.ts'

/** Where a collection was when it was in a state. */
interface PastState extends Omit<State, 'bytes' | 'at'> {
  readonly keptMs: number
}

/** The state with that tag. Throws where there is none. */
function* findState(head: StoredHead, tag: StateTag): Steps<PastState> {
  if (tag.collectionId !== head.id || tag.version > head.version || tag.changes > head.changes) throw noState(head, tag)
  if (tag.version === head.version) return { ...head, keptMs: presentState(head, tag).keptMs }
  if (!keepsHistory(head) || tag.version < head.historyFrom) throw expiredState(head, tag)
  const [state, following] = yield* readStates(head, { changes: tag.changes, version: tag.version }, 2)
  if (state === undefined || !isTagged(state, tag)) {
    const [oldest] = yield* readStates(head, { changes: 0, version: 0 }, 1)
    throw oldest === undefined || tag.version < oldest.version ? expiredState(head, tag) : noState(head, tag)
  }
  if (following === undefined) throw damagedCollection(head.name, 'The last of its states is missing.')
  const keptMs = keptMsOf(head, following.at, Date.now())
  if (keptMs <= 0) throw expiredState(head, tag)
  const [last] = yield* readStates(head, { changes: head.changes, version: head.version }, 1)
  const isNearBound = (last?.bytes ?? 0) - state.bytes > head.retentionBytes / 2
  return { ...state, keptMs: isNearBound ? Math.min(keptMs, FORGET_EVERY_MS) : keptMs }
}

/** Whether all of the tag is right: each state has one address, so that nobody makes up more of them for a cache to keep. */
function isTagged({ version, changes, commitId }: Omit<StateTag, 'collectionId'>, tag: StateTag): boolean {
  return version === tag.version && changes === tag.changes && commitId === tag.commitId
}

/** Where the tag is that of the state that the collection is in. */
export function presentState(head: Head, tag: StateTag): Omit<PastRead, 'page' | 'segments'> {
  if (tag.collectionId !== head.id || !isTagged(head, tag)) throw noState(head, tag)
  if (!keepsHistory(head)) throw expiredState(head, tag)
  return { head, live: head.live, itemCount: head.live, keptMs: head.retentionMs }
}

/** `page`: see `StateOptions`. */
export function* readState(
  head: StoredHead,
  tag: StateTag,
  page: number | undefined,
  cache: ReadCache,
): Steps<StateRead> {
  const state = yield* findState(head, tag)
  const { live, keptMs } = state
  if (page === undefined || state.version === head.version) return { head: publicHead(head), live, keptMs }
  const generation = yield* generationOf(head, state.generation)
  const { parts } = yield* findPartsAt(head, state, generation, page, cache)
  let last: number | undefined
  for (const { ream } of parts) {
    const start = ream * REAM_SIZE
    const end = Math.min(start + REAM_SIZE, tailStart(state))
    if (start >= end) continue
    const numbers = { from: state.changes, to: head.changes }
    const found = yield* query((rows) => rows.lastChangeIn(head, state.generation, start, end, numbers))
    if (found !== undefined) last = Math.max(last ?? 0, found)
  }
  return { head: publicHead(head), live, keptMs, rewrittenBy: yield* commitOf(head, last) }
}

function noState({ name }: Head, tag: StateTag): StoreError {
  return new StoreError('no-state', `The collection "${name}" never was in the state "${formatTag(tag)}".`)
}

function expiredState({ name }: Head, tag: StateTag): StoreError {
  return new StoreError('state-expired', `The state "${formatTag(tag)}" of the collection "${name}" is no longer kept.`)
}

/** The head of a generation: the current one, or one that was replaced as a whole. */
function* generationOf(head: StoredHead, generation: number): Steps<StoredHead> {
  if (generation === head.generation) return head
  const replaced = yield* readReplaced(head, generation)
  if (replaced === undefined) throw damagedCollection(head.name, `Generation ${generation} of it is missing.`)
  return replaced
}

/** Where the items of a page were when the collection was in that state. */
function* findPartsAt(
  head: StoredHead,
  state: PastState,
  generation: StoredHead,
  requested: number,
  cache: ReadCache,
): Steps<PageParts> {
  const holes = cache.pastHoles(state)
  let found = holes.findParts(requested)
  for (let missing = holes.missing; found === undefined && missing !== undefined; missing = holes.missing) {
    holes.add(missing, yield* readHolesAt(generation, state, missing))
    found = holes.findParts(requested)
  }
  if (found === undefined) throw damagedCollection(head.name, 'Its hole counts do not add up.')
  return found
}

/**
 * The `commitId` of the commit with the last change of the items in quires of a page: only a replaced or deleted item rewrites a quire. The
 * tail of the state does not count: `cutAsOf` never takes it from a quire, even where it became one since.
 */
function* commitOf(head: StoredHead, last: number | undefined): Steps<string | undefined> {
  if (last === undefined) return undefined
  const [committed] = yield* readStates(head, { changes: last + 1, version: 0 }, 1)
  if (committed === undefined) throw damagedCollection(head.name, `The state after change ${last} is missing.`)
  return committed.commitId
}

/** A page of the collection as it was in that state. */
export function* readPageAt(
  head: StoredHead,
  tag: StateTag,
  requested: number,
  form: SegmentForm,
  cache: ReadCache,
): Steps<PastRead> {
  const state = yield* findState(head, tag)
  const generation = yield* generationOf(head, state.generation)
  const { page, parts } = yield* findPartsAt(head, state, generation, requested, cache)
  const numbers = parts.map(({ ream }) => ream)
  const reams = yield* readReams(head, generation, numbers)
  const segments: Segment[] = []
  const changed = { from: state.changes, to: head.changes }
  const isDeflated = form === 'deflated'
  let last: number | undefined
  for (const part of parts) {
    const start = part.ream * REAM_SIZE
    const end = start + REAM_SIZE
    const past = yield* query((rows) => rows.pastIn(head, state.generation, start, end, changed, isDeflated))
    for (const item of past)
      if (isDeflated && item.last !== undefined && item.position < tailStart(state))
        last = Math.max(last ?? 0, item.last)
    const ream = reams.get(part.ream)
    const texts = new Map(past.map(({ position, text }) => [position % REAM_SIZE, text]))
    const cut = ream && cutAsOf(ream, texts, state, part)
    if (cut === undefined) throw damagedCollection(head.name, `Ream ${part.ream} does not have the items that it had.`)
    segments.push(...cut)
  }
  const { live, keptMs } = state
  const rewrittenBy = yield* commitOf(head, last)
  return { head: publicHead(head), page, segments: joinCuts(segments), live, itemCount: live, keptMs, rewrittenBy }
}

/** How many positions were gone in these blocks when the collection was in that state. */
function* readHolesAt(
  generation: StoredHead,
  { changes }: PastState,
  { level, from, to }: { readonly level: number; readonly from: number; readonly to: number },
): Steps<readonly HoleCount[]> {
  const now = yield* readHoles(generation, level, from, to)
  // What was gone then is gone now, so no other blocks had any.
  const blocks = now.map(({ block }) => block)
  const then = yield* query((rows) => rows.pastHoles(generation, generation.generation, level, blocks, changes))
  const before = new Map(then.map(({ block, gone }) => [block, gone]))
  return now.map((count) => ({ ...count, gone: before.get(count.block) ?? count.gone })).filter(({ gone }) => gone > 0)
}

/** A ream as it is now, the last one together with the tail. */
interface ReamNow {
  readonly ream: SealedReam | undefined
  /** Where its quires end, and the tail begins. */
  readonly slots: number
  /** By slot. */
  readonly tail: ReadonlyMap<number, string>
}

function* readReams(head: StoredHead, generation: StoredHead, numbers: readonly number[]): Steps<Map<number, ReamNow>> {
  const end = tailStart(generation)
  const stored = numbers.filter((number) => number < reamsIn(generation))
  const reams = yield* findReams(generation, stored)
  const byNumber = new Map(reams.map((ream) => [ream.number, ream]))
  const reamOfTail = Math.floor(end / REAM_SIZE)
  const hasTail = numbers.includes(reamOfTail) && end < generation.next
  const items = hasTail ? yield* readTail(generation, end, generation.next) : []
  const tail = new Map(items.map(({ position, item }) => [position % REAM_SIZE, item]))
  const found = new Map<number, ReamNow>()
  for (const number of numbers) {
    const slots = Math.max(0, Math.min(REAM_SIZE, end - number * REAM_SIZE))
    const ream = byNumber.get(number)
    if (slots > 0 && ream === undefined) throw damagedCollection(head.name, `Ream ${number} is missing.`)
    found.set(number, { ream, slots, tail: number === reamOfTail ? tail : new Map() })
  }
  return found
}

/**
 * The part of a ream's items that belongs to a page of an earlier state, with the texts of `past`, by slot, in the place of those
 * that are there now. The deflated form depends on the state and its `rewrittenBy` alone: quires that were closed since are taken
 * apart, because the state had their items in its tail. Undefined if the counts do not add up.
 */
function cutAsOf(
  { ream, slots, tail }: ReamNow,
  past: ReadonlyMap<number, string>,
  state: PastState,
  { ream: number, from, take, count }: Part,
): Segment[] | undefined {
  const end = Math.min(REAM_SIZE, state.next - number * REAM_SIZE)
  const tailSlot = tailStart(state) - number * REAM_SIZE
  const pieces: (Quire | RawItems)[] = []
  const addTexts = (start: number, stop: number, now: ReadonlyMap<number, string>): void => {
    const texts: string[] = []
    for (let slot = start; slot < Math.min(stop, end); slot++) {
      const text = past.get(slot) ?? now.get(slot)
      if (text !== undefined) texts.push(text)
    }
    pieces.push({ raw: joinItems(texts), count: texts.length })
  }
  const changed = [...past.keys()]
  let start = 0
  for (const quire of ream === undefined ? [] : quiresOf(ream)) {
    const [first, stop] = [start, start + quire.slots]
    start = stop
    if (stop <= tailSlot && !changed.some((slot) => slot >= first && slot < stop)) pieces.push(quire)
    else if (first < end) addTexts(first, stop, textsIn(quire, liveSlots(ream?.gone ?? null, first, stop)))
  }
  if (slots < end) addTexts(slots, REAM_SIZE, tail)
  if (pieces.reduce((sum, piece) => sum + piece.count, 0) !== count) return undefined
  return cutPieces(ream, pieces, from, from + take)
}

/** By slot the items of a quire. */
function textsIn(quire: Quire, live: readonly number[]): Map<number, string> {
  const texts = quire.count === 0 ? [] : readInflated(quire, splitItems)
  return new Map(live.map((slot, index) => [slot, texts[index] ?? '']))
}

/** A page of the changes since that state, oldest first. */
export function* readChangesSince(head: StoredHead, tag: StateTag, requested: number): Steps<PastRead> {
  const state = yield* findState(head, tag)
  const itemCount = head.changes - state.changes
  const page = effectivePage(requested, itemCount)
  const { start, end } = pageRange(page, itemCount)
  const texts = yield* readChanges(head, state.changes + start, state.changes + end)
  const segments = texts.length === 0 ? [] : [rawSegment(joinItems(texts), texts.length)]
  return { head: publicHead(head), page, segments, live: state.live, itemCount, keptMs: state.keptMs }
}

/** The texts of the changes from number `from` on and before `to`. */
function* readChanges(head: StoredHead, from: number, to: number): Steps<string[]> {
  if (from >= to) return []
  const changes: Stretch[] = []
  const found = yield* query((rows) => rows.changes(head, { from, to }, to - from))
  for (const stretch of found.map(changeFrom)) {
    const first = Math.max(from, stretch.number)
    for (let number = first; number < Math.min(to, stretch.number + stretch.count); number++)
      changes.push(changeIn(stretch, number - stretch.number))
  }
  if (changes.length !== to - from || changes.some(({ number }, index) => number !== from + index))
    throw damagedCollection(head.name, 'Some of its changes are missing.')
  const items = yield* readPutItems(head, changes)
  const readKey = head.keyField === null ? undefined : keyReader(head.keyField)
  const keyOf = (text: string) => readKey?.(Buffer.from(text))
  const texts: string[] = []
  let state: Pick<State, 'version' | 'changes'> = { version: 0, changes: 0 }
  for (const change of changes) {
    // What a load wrote before it ended did not know its version: the state knows, and is the same for all of them.
    if (change.version === UNKNOWN_VERSION && change.number >= state.changes)
      state = (yield* readStates(head, { changes: change.number + 1, version: 0 }, 1))[0] ?? head
    const version = change.version === UNKNOWN_VERSION ? state.version : change.version
    texts.push(changeText({ ...change, version }, items.get(change.number), keyOf))
  }
  return texts
}

/** One of the changes of a stretch. */
function changeIn(stretch: Stretch, index: number): Stretch {
  const own = { ...stretch, number: stretch.number + index, position: stretch.position + index }
  return stretch.kind === 'appends' ? { ...own, kind: 'append', version: stretch.version + index } : own
}

/** `item` is what a put put. */
function changeText(
  { kind, version, before = '' }: Stretch,
  item: string | undefined,
  keyOf: (text: string) => string | undefined,
): string {
  if (kind === 'reset') return resetText(version)
  if (kind === 'delete') return deleteText(keyOf(before), version)
  if (item === undefined) throw damagedReam()
  return putText(keyOf(item), version, item)
}

/** Reams that are in memory at a time. */
const REAMS_AT_A_TIME = 50

/** By the number of each put what the item was after it: what the next change of it met, or what it is now. */
function* readPutItems(head: StoredHead, changes: readonly Stretch[]): Steps<Map<number, string>> {
  const items = new Map<number, string>()
  /** By generation and position, the last change so far. */
  const open = new Map<string, Stretch>()
  for (const change of changes) {
    const place = `${change.generation} ${change.position}`
    const last = open.get(place)
    if (last !== undefined && change.before !== undefined) items.set(last.number, change.before)
    if (change.kind === 'append' || change.kind === 'replace') open.set(place, change)
    else open.delete(place)
  }
  const numbers = { from: (changes.at(-1)?.number ?? 0) + 1, to: head.changes }
  for (const [generation, puts] of Map.groupBy(open.values(), (put) => put.generation)) {
    const base = yield* generationOf(head, generation)
    const positions = puts.map(({ position }) => position)
    const past = yield* query((rows) => rows.pastAt(head, generation, positions, numbers))
    const texts = new Map(past.map(({ position, text }) => [position, text]))
    const current = positions.filter((position) => !texts.has(position))
    yield* addCurrentTexts(head, base, current, texts)
    for (const { number, position } of puts) {
      const text = texts.get(position)
      if (text !== undefined) items.set(number, text)
    }
  }
  return items
}

/** Adds the items at these positions as they are now. */
function* addCurrentTexts(
  head: StoredHead,
  generation: StoredHead,
  positions: readonly number[],
  texts: Map<number, string>,
): Steps<void> {
  const byReam = Map.groupBy(positions, (position) => Math.floor(position / REAM_SIZE))
  const numbers = [...byReam.keys()]
  for (let at = 0; at < numbers.length; at += REAMS_AT_A_TIME) {
    const reams = yield* readReams(head, generation, numbers.slice(at, at + REAMS_AT_A_TIME))
    for (const [number, now] of reams) {
      const inReam = byReam.get(number) ?? []
      const found = currentTexts(now, new Set(inReam.map((position) => position % REAM_SIZE)))
      for (const position of inReam) {
        const text = found.get(position % REAM_SIZE)
        if (text !== undefined) texts.set(position, text)
      }
    }
  }
}

/** The items in some slots as they are now. Only their quires are looked into. */
function currentTexts({ ream, tail }: ReamNow, slots: ReadonlySet<number>): Map<number, string> {
  const texts = new Map(tail)
  let start = 0
  for (const quire of ream === undefined || slots.size === 0 ? [] : quiresOf(ream)) {
    const live = liveSlots(ream?.gone ?? null, start, start + quire.slots)
    start += quire.slots
    if (live.some((slot) => slots.has(slot))) for (const [slot, text] of textsIn(quire, live)) texts.set(slot, text)
  }
  return texts
}
