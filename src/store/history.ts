/**
 * The history of a collection, whatever engine keeps it: a row for each state that readers saw, a row for each stretch of
 * changes, and of each item that was replaced or deleted the text that it had. Changes are numbered through, from 0: the state
 * with `changes` n has changes 0 to n − 1 behind it. So a number is the time by which everything else is found. Pure.
 */

import { formatCount } from '../contract/message-text.ts'
import { keepsHistory } from '../contract/state-tag.ts'
import { holeCounts, REAM_SIZE } from './positions.ts'
import { damagedReam } from './ream.ts'
import type { Head } from './store.ts'

/** A state that readers saw: one a commit. */
export interface State {
  readonly version: number
  readonly commitId: string
  readonly generation: number
  readonly next: number
  readonly live: number
  /** How many changes came before it. */
  readonly changes: number
  /** How much the history took when it was written, beginning with the first state there ever was. */
  readonly bytes: number
  /** When it was committed, in milliseconds since 1970 by the clock of this process. */
  readonly at: number
}

/** 'appends': items that were appended by as many writes, whose versions follow one another. */
export type ChangeKind = 'append' | 'replace' | 'delete' | 'reset' | 'appends'

/** Their numbers in the rows. */
export const CHANGE_KINDS: readonly ChangeKind[] = ['append', 'replace', 'delete', 'reset', 'appends']

/** A change as it is made, before it is known what number it gets. */
export interface LoggedChange {
  readonly kind: ChangeKind
  /** Of the item; of the first one where several were appended. */
  readonly position: number
  /** Items that were appended in a row; 1 for any other change. */
  readonly count: number
  /** What was there before. Undefined: nothing, or it is yet to be read out of its ream. */
  readonly before?: string | undefined
  /** That its write, or the first of them, led to. Undefined: that of the head. */
  readonly version?: number
}

/** Changes in a row, as they are stored: several only where items were appended. */
export interface Stretch extends LoggedChange {
  /** Of the first of them. */
  readonly number: number
  /** That their write, or the first of them, led to, or UNKNOWN_VERSION. */
  readonly version: number
  readonly generation: number
}

/** Adds the changes of a write to those of the writes before it: single items that are appended are one stretch. */
export function addToLog(log: LoggedChange[], changes: readonly LoggedChange[], version: number): void {
  for (const change of changes) {
    const last = log.at(-1)
    const isNext = last?.version !== undefined && last.version + last.count === version
    const isSingle = last !== undefined && (last.kind === 'appends' || (last.kind === 'append' && last.count === 1))
    const isBehind = last !== undefined && last.position + last.count === change.position
    if (isNext && isSingle && isBehind && change.kind === 'append' && change.count === 1)
      log.splice(-1, 1, { ...last, kind: 'appends', count: last.count + 1 })
    else log.push({ ...change, version })
  }
}

/** In the changes that a load writes before it ends. */
export const UNKNOWN_VERSION = 0

/** What a row takes beside its text, about. */
export const ROW_BYTES = 64

/** How much changes take, about. */
export function bytesOf(stretches: readonly Stretch[]): number {
  let bytes = 0
  for (const { before } of stretches) bytes += ROW_BYTES + (before === undefined ? 0 : 2 * ROW_BYTES + before.length)
  return bytes
}

/** Numbers the changes of a commit, the first of which is `first`. */
export function numberChanges(
  { version, generation }: Pick<Head, 'version' | 'generation'>,
  first: number,
  log: readonly LoggedChange[],
): Stretch[] {
  let number = first
  return log.map((change) => {
    const stretch = { ...change, number, version: change.version ?? version, generation }
    number += change.count
    return stretch
  })
}

/**
 * Numbered changes, some of whose texts come out of the reams that are changed. Each can be written when its ream is made: a commit
 * may change more than memory holds.
 */
export class OpenChanges {
  readonly #complete: Stretch[] = []
  /** By position those whose texts are yet to come. */
  readonly #open = new Map<number, Stretch>()

  constructor(stretches: readonly Stretch[]) {
    for (const stretch of stretches) {
      const isItem = stretch.kind === 'replace' || stretch.kind === 'delete'
      if (isItem && stretch.before === undefined) this.#open.set(stretch.position, stretch)
      else this.#complete.push(stretch)
    }
  }

  /** Those whose texts this ream had, by slot. */
  complete({ number, before }: { readonly number: number; readonly before: ReadonlyMap<number, string> }): Stretch[] {
    const completed: Stretch[] = []
    for (const [slot, text] of before) {
      const position = number * REAM_SIZE + slot
      const stretch = this.#open.get(position)
      if (stretch !== undefined) completed.push({ ...stretch, before: text })
      this.#open.delete(position)
    }
    return completed
  }

  /** All others, when all reams are made. */
  rest(): readonly Stretch[] {
    if (this.#open.size > 0) throw damagedReam()
    return this.#complete
  }
}

/** By level and block the first delete of a commit. */
export function deletesByBlock(stretches: readonly Stretch[]): { level: number; block: number; number: number }[] {
  const firsts = new Map<number, number>()
  for (const { kind, position, number } of stretches) {
    const ream = Math.floor(position / REAM_SIZE)
    if (kind === 'delete' && !firsts.has(ream)) firsts.set(ream, number)
  }
  const places = new Map<string, { level: number; block: number; number: number }>()
  for (const [ream, number] of firsts)
    for (const { level, block } of holeCounts(new Map([[ream, 1]]))) {
      const place = `${level} ${block}`
      const known = places.get(place)
      if (known === undefined || known.number > number) places.set(place, { level, block, number })
    }
  return [...places.values()]
}

/** The state that a head is in, as a row, with what its history took before, and what it takes itself. */
export function stateRow(head: Head, bytesBefore: number, bytes: number, at: number): State {
  const { version, commitId, generation, next, live, changes } = head
  return { version, commitId, generation, next, live, changes, bytes: bytesBefore + ROW_BYTES + bytes, at }
}

/** Rows that one step removes, at most: so few that no writer is held up. */
export const STATES_A_STEP = 500
export const CHANGES_A_STEP = 1_000
/** The same of the texts that they have, unless a single one takes more. */
export const BYTES_A_STEP = 4 * 1024 * 1024

/** The changes that one step removes: the first of those that there are, and whether there are more. */
export function takeStep<Change extends { readonly bytes: number }>(
  changes: Iterable<Change>,
  most: number = CHANGES_A_STEP,
) {
  const taken: Change[] = []
  let bytes = 0
  for (const change of changes) {
    bytes += change.bytes
    if (taken.length === most || (bytes > BYTES_A_STEP && taken.length > 0)) return { taken, isMore: true }
    taken.push(change)
  }
  return { taken, isMore: false }
}

/** Some of the oldest states, and the last one, of which at least the version and the bytes are known. */
export interface OldStates {
  readonly oldest: readonly State[]
  readonly last: Pick<State, 'version' | 'bytes'> | undefined
}

/** What is to be removed of the oldest states. */
export interface Expired {
  readonly states: readonly State[]
  /** Whether some of them have to go because of their size, before their time. */
  readonly isForSize: boolean
  /** The oldest state that is kept, if it is known yet: else there is more to remove. */
  readonly kept: State | undefined
}

/** States of the collection with this id before this version are no longer kept. */
export interface Cutoff {
  readonly id: number
  readonly version: number
}

/**
 * How much longer a state is kept that was superseded then. A time in the future is one by a clock that was set back since: what
 * lies as far ahead is as old, lest it be kept until then.
 */
export function keptMsOf({ retentionMs }: Pick<Head, 'retentionMs'>, supersededAt: number, now: number): number {
  return retentionMs - Math.abs(now - supersededAt)
}

/**
 * A state is kept for a time from the commit that superseded it. The last state is kept in any case. States before the cutoff, which
 * the limit of the store sets, are not.
 */
export function findExpired(head: Head, { oldest, last }: OldStates, now: number, cutoff?: Cutoff): Expired {
  const { retentionBytes } = head
  const historyFrom = Math.max(head.historyFrom, cutoff?.id === head.id ? cutoff.version : 0)
  const isOn = keepsHistory(head)
  const states: State[] = []
  let isForSize = false
  for (const [index, state] of oldest.entries()) {
    const following = oldest[index + 1]
    // It came after the head was read, which may have had no history.
    if (state.version > head.version) return { states, isForSize, kept: state }
    const isDropped = !isOn || state.version < historyFrom
    const isLast = state.version === last?.version
    if (!isDropped && isLast) return { states, isForSize, kept: state }
    const isOld = isDropped || (following !== undefined && keptMsOf(head, following.at, now) <= 0)
    const isTooMuch = (last?.bytes ?? 0) - state.bytes > retentionBytes
    if (!isOld && !isTooMuch) return { states, isForSize, kept: following === undefined && !isLast ? undefined : state }
    // The next one decides, and is read in the next step.
    if (following === undefined && !isDropped) return { states, isForSize, kept: undefined }
    isForSize ||= !isOld
    states.push(state)
  }
  return { states, isForSize, kept: undefined }
}

/** The share of its disk that the history of a store in a file may take. */
export const HISTORY_SHARE = 1 / 4

/** What the history of a store in PostgreSQL may take: the size of the server's disk is unknown. */
export const DATABASE_HISTORY_BYTES = 16 * 1024 ** 3

/** How often it is looked for what is not kept any more. */
export const FORGET_EVERY_MS = 60_000

/** What is told when something is removed before its time. */
export function forgottenForSize({ name, retentionBytes }: Head): string {
  return `The history of "${name}" takes more than ${formatCount(retentionBytes)} bytes: the oldest states are no longer kept. \`reams set ${name} --retention-bytes\` changes that.`
}

/** What a step of the removal did. */
export interface Forgotten {
  readonly isMore: boolean
  /** What somebody should know of. */
  readonly notice?: string
}

/** Goes on until nothing is left to remove, and tells once of all steps what somebody should know of. */
export async function forgetAllOf(
  step: () => Promise<Forgotten>,
  activity: { readonly onNotice: (message: string) => void },
): Promise<void> {
  let notice: string | undefined
  try {
    for (let isMore = true; isMore; ) {
      const forgotten = await step()
      notice = forgotten.notice ?? notice
      isMore = forgotten.isMore
    }
  } finally {
    if (notice !== undefined) activity.onNotice(notice)
  }
}
