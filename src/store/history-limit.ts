/**
 * Keeps the history of a whole store under its limit. The oldest states go first, whichever collection they belong to: a limit for
 * each collection alone is worth little where anybody may create collections. Sizes are those that `State.bytes` adds up.
 */

import { formatCount } from '../contract/message-text.ts'
import type { Cutoff, State } from './history.ts'
import type { Head } from './store.ts'

/** The oldest and the last state of a collection. */
export interface HistoryEnds<H extends Head = Head> {
  readonly head: H
  readonly oldest: State
  readonly last: State
}

interface LimitOptions<H extends Head> {
  readonly limitBytes: number
  /** Up to `most` states of a collection, oldest first, beginning with `from`. */
  readonly readStates: (head: H, from: State, most: number) => readonly State[] | Promise<readonly State[]>
  readonly forget: (head: H, cutoff: Cutoff) => Promise<void>
  readonly onNotice: (message: string) => void
}

/** States in memory at a time, of all collections. */
const MAX_STATES = 100_000

/** More names than this would hide the message. */
const NAMES_SHOWN = 3

/** One collection that cannot be changed now does not keep the others from being trimmed. */
export async function limitHistory<H extends Head>(
  ends: readonly HistoryEnds<H>[],
  options: LimitOptions<H>,
): Promise<void> {
  const { limitBytes, forget, onNotice } = options
  const cutoffs = await findCutoffs(ends, options)
  if (cutoffs.size === 0) return
  const names: string[] = []
  for (const [head, version] of cutoffs)
    await forget(head, { id: head.id, version }).then(
      () => names.push(`"${head.name}"`),
      () => {},
    )
  if (names.length === 0) return
  const others = names.length > NAMES_SHOWN ? ` and ${formatCount(names.length - NAMES_SHOWN)} others` : ''
  onNotice(
    `The history of the store takes more than ${formatCount(limitBytes)} bytes: the oldest states of ${names.slice(0, NAMES_SHOWN).join(', ')}${others} are no longer kept. \`--history-bytes\` changes that.`,
  )
}

/** By collection the first version that is kept, where something has to go. Its last state stays in any case. */
async function findCutoffs<H extends Head>(
  ends: readonly HistoryEnds<H>[],
  { limitBytes, readStates }: LimitOptions<H>,
): Promise<Map<H, number>> {
  const cutoffs = new Map<H, number>()
  let excessBytes = ends.reduce((sum, { oldest, last }) => sum + last.bytes - oldest.bytes, -limitBytes)
  if (!(excessBytes > 0)) return cutoffs
  const most = Math.max(2, Math.min(500, Math.floor(MAX_STATES / ends.length)))
  // The collection with the oldest state comes last, where it is cheap to take.
  const queue = new AgeQueue<H>()
  for (const { head, oldest } of ends) queue.add({ head, states: [oldest] })
  for (let next = queue.take(); next !== undefined && excessBytes > 0; next = queue.take()) {
    const { head } = next
    const [first] = next.states
    const states = next.states.length > 1 || first === undefined ? next.states : await readStates(head, first, most)
    const [oldest, following] = states
    if (oldest === undefined || following === undefined) continue
    excessBytes -= following.bytes - oldest.bytes
    cutoffs.set(head, following.version)
    queue.add({ head, states: states.slice(1) })
  }
  return cutoffs
}

interface Candidate<H> {
  readonly head: H
  readonly states: readonly State[]
}

/** Collections by the age of their oldest state. */
class AgeQueue<H> {
  readonly #now = Date.now()
  readonly #sorted: { age: number; candidate: Candidate<H> }[] = []

  add(candidate: Candidate<H>): void {
    // A time in the future means that the clock was set back; its distance counts as age, as in `keptMsOf`.
    const age = Math.abs(this.#now - (candidate.states[0]?.at ?? this.#now))
    let [from, to] = [0, this.#sorted.length]
    while (from < to) {
      const middle = (from + to) >> 1
      if ((this.#sorted[middle]?.age ?? 0) < age) from = middle + 1
      else to = middle
    }
    this.#sorted.splice(from, 0, { age, candidate })
  }

  /** Removes the one with the oldest state. */
  take(): Candidate<H> | undefined {
    return this.#sorted.pop()?.candidate
  }
}
