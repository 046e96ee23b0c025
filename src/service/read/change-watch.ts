/**
 * Those who wait for a collection to change, and what tells them. The store is asked again and again, for as long as somebody
 * waits: so a change is noticed whichever process makes it.
 */

import { keepsHistory } from '../../contract/state-tag.ts'
import type { Head, Store } from '../../store/store.ts'
import { MAX_WAITING_REQUESTS, WAITING_A_CALLER } from '../limits.ts'

/** From one look at the heads to the next. */
const INTERVAL_MS = 10
/** Where looking takes long, it gets this part of the time at most … */
const MAX_SHARE = 0.1
/** … but it is never put off for longer than that. */
const MAX_INTERVAL_MS = 1_000

interface Waiter {
  readonly caller: string
  readonly seen: string
  readonly wake: () => void
}

export class ChangeWatch {
  readonly #store: Pick<Store, 'head'>
  readonly #waiters = new Map<string, Set<Waiter>>()
  /** How many wait: of each caller, and of all. */
  readonly #counts = new Map<string, number>()
  #count = 0
  #timer: NodeJS.Timeout | undefined
  #isLooking = false

  constructor(store: Pick<Store, 'head'>) {
    this.#store = store
  }

  /**
   * Resolves when the collection is not as that head says any more, after `waitMs`, or with the signal. Undefined where nobody
   * can wait: there are too many already, of this caller or of all, or the signal has come.
   */
  wait(head: Head, waitMs: number, signal: AbortSignal, caller: string): Promise<void> | undefined {
    if (signal.aborted || this.#countOf(caller) >= WAITING_A_CALLER) return undefined
    if (this.#count >= MAX_WAITING_REQUESTS && !this.#makeRoom(caller)) return undefined
    const { promise, resolve } = Promise.withResolvers<void>()
    const timeout = setTimeout(() => waiter.wake(), waitMs)
    const waiter: Waiter = {
      caller,
      seen: markOf(head),
      wake: () => {
        clearTimeout(timeout)
        signal.removeEventListener('abort', waiter.wake)
        this.#remove(head.name, waiter)
        resolve()
      },
    }
    signal.addEventListener('abort', waiter.wake)
    this.#add(head.name, waiter)
    return promise
  }

  /**
   * Wakes a request of the caller that has most, unless that is this one or has only one more. So a few callers, such as the
   * networks of one IPv6 customer, cannot take all places from the others.
   */
  #makeRoom(caller: string): boolean {
    let largest = ''
    for (const [name, count] of this.#counts) if (count > this.#countOf(largest)) largest = name
    if (this.#countOf(largest) <= this.#countOf(caller) + 1) return false
    for (const waiters of this.#waiters.values())
      for (const waiter of waiters)
        if (waiter.caller === largest) {
          waiter.wake()
          return true
        }
    return false
  }

  #add(name: string, waiter: Waiter): void {
    const waiters = this.#waiters.get(name) ?? new Set()
    this.#waiters.set(name, waiters.add(waiter))
    this.#counts.set(waiter.caller, this.#countOf(waiter.caller) + 1)
    this.#count++
    if (this.#timer === undefined && !this.#isLooking) this.#lookIn(INTERVAL_MS)
  }

  #remove(name: string, waiter: Waiter): void {
    const waiters = this.#waiters.get(name)
    if (waiters?.delete(waiter) !== true) return
    const left = this.#countOf(waiter.caller) - 1
    if (left === 0) this.#counts.delete(waiter.caller)
    else this.#counts.set(waiter.caller, left)
    this.#count--
    if (waiters.size === 0) this.#waiters.delete(name)
    if (this.#count > 0) return
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #countOf(caller: string): number {
    return this.#counts.get(caller) ?? 0
  }

  #lookIn(ms: number): void {
    this.#timer = setTimeout(() => void this.#look(), ms)
  }

  async #look(): Promise<void> {
    this.#timer = undefined
    this.#isLooking = true
    const startedAt = performance.now()
    await Promise.all([...this.#waiters].map(([name, waiters]) => this.#lookAt(name, [...waiters])))
    this.#isLooking = false
    if (this.#count === 0) return
    const tookMs = performance.now() - startedAt
    this.#lookIn(Math.min(MAX_INTERVAL_MS, Math.max(INTERVAL_MS, tookMs * (1 / MAX_SHARE - 1))))
  }

  /** `waiters`: who waits before the head is read. One who comes later may have seen a newer one. */
  async #lookAt(name: string, waiters: readonly Waiter[]): Promise<void> {
    // Where the store fails, all are woken, and their requests fail as any other.
    const head = await this.#store.head(name).catch(() => undefined)
    const mark = head && markOf(head)
    for (const waiter of waiters) if (waiter.seen !== mark) waiter.wake()
  }
}

/** Differs where an answer may. */
function markOf(head: Head): string {
  return `${head.id} ${head.commitId} ${head.isPrivate} ${keepsHistory(head)}`
}
