/** Who keeps a mirror: one process at a time. It notes that it runs and how far it is, for the others and for whoever looks. */

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Following, NOTE_MS, RECENT_MS } from '../store/following.ts'
import { isRunning, thisProcess } from '../store/running-process.ts'
import type { Head, Store } from '../store/store.ts'

const CLAIM_MS = 250

/** Another process keeps the mirror. */
export class Overtaken extends Error {}

export interface KeeperOptions {
  /** Of the mirror. */
  readonly name: string
  /** URL of its origin. */
  readonly source: string
  readonly signal: AbortSignal
}

export class Keeper implements AsyncDisposable {
  readonly #store: Store
  readonly #options: KeeperOptions
  readonly #holder = JSON.stringify({ ...thisProcess(), id: randomUUID() })
  #timer: NodeJS.Timeout | undefined
  /** Whether this process keeps it, and whether another one does as well by now. */
  #hasClaimed = false
  #isOvertaken = false
  #notedAt = Number.NEGATIVE_INFINITY
  /** The moment of the origin that the mirror shows; 0 while that is not known. */
  asOf = 0
  /** Versions that are still to be applied. */
  behind = 0

  constructor(store: Store, options: KeeperOptions) {
    this.#store = store
    this.#options = options
  }

  /** The mirror as it is, once nobody else keeps it; undefined where there is none. `check` refuses what is no mirror. */
  async claim(check: (head: Head | undefined) => void, onWait: () => void): Promise<Head | undefined> {
    const { name, signal } = this.#options
    // Others see by this that it is kept, however long its origin takes to answer.
    this.#timer ??= setInterval(() => void (this.#hasClaimed && this.note().catch(() => {})), NOTE_MS)
    this.#hasClaimed = false
    this.#isOvertaken = false
    for (let isFirst = true; ; isFirst = false) {
      const head = await this.#store.head(name)
      check(head)
      const noted = head && (await this.#noted())
      if (noted === undefined || !this.#isOthers(noted)) {
        // Until the origin answers, the mirror is as far as it was before.
        this.asOf ||= noted?.asOf ?? 0
        this.behind ||= noted?.waiting ?? 0
        this.#hasClaimed = head !== undefined
        return head
      }
      if (isFirst) onWait()
      await sleep(CLAIM_MS, undefined, { signal })
    }
  }

  /** There was none to claim, and now there is one, made by this process. */
  began(): void {
    this.#hasClaimed = true
  }

  /** Throws Overtaken where another one keeps the mirror, as this one stood still for so long that it was taken for dead. */
  async note(isUrgent = false): Promise<void> {
    if (this.#isOvertaken) throw new Overtaken()
    if (!isUrgent && performance.now() - this.#notedAt < NOTE_MS) return
    this.#notedAt = performance.now()
    const noted = await this.#noted()
    this.#isOvertaken = noted !== undefined && this.#isOthers(noted)
    if (this.#isOvertaken) throw new Overtaken()
    await this.#store.noteFollowing(this.#options.name, { ...this.#following(), holder: this.#holder })
  }

  async #noted(): Promise<Following | undefined> {
    return (await this.#store.followings()).find(({ name }) => name === this.#options.name)
  }

  #isOthers(noted: Following): boolean {
    return noted.holder !== this.#holder && !hasEnded(noted)
  }

  #following(): Following {
    return { source: this.#options.source, waiting: this.behind, asOf: this.asOf, seenAt: Date.now() }
  }

  /** Nobody keeps it any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    const { name, source } = this.#options
    try {
      const head = await this.#store.head(name)
      if (head?.origin?.url === source && this.#hasClaimed && !this.#isOvertaken)
        await this.#store.noteFollowing(name, this.#following())
    } catch {
      // What ended the mirror is what there is to tell.
    }
  }
}

/** Whether whoever said so has ended, as far as can be seen from here. */
function hasEnded({ holder, seenAt }: Following): boolean {
  if (holder === undefined || Math.abs(Date.now() - seenAt) > RECENT_MS) return true
  return isRunning(JSON.parse(holder)) === false
}
