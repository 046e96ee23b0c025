/** Keeps a collection the same as one elsewhere: copies it, then applies what changes there, a version at a time. */

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { ConnectionLost, HttpError, TimeoutError } from '../client/client-error.ts'
import type { Page } from '../client/page.ts'
import { PAGE_SIZE } from '../contract/page.ts'
import { ChangeFlaw, readChange } from '../items/change-reader.ts'
import { ItemError, ItemPacker, type ItemRun } from '../items/item-run.ts'
import { ItemScanner } from '../items/item-scanner.ts'
import { ReadAhead } from '../store/read-ahead.ts'
import { isRunning, thisProcess } from '../store/running-process.ts'
import type { Following, Head, Load, Store } from '../store/store.ts'
import { StoreError } from '../store/store-error.ts'
import { changesSince, nextPage } from './changes.ts'
import { HistoryLost, MirrorError } from './mirror-error.ts'
import { known, type Origin } from './origin.ts'
import { formatPosition, type Position, parsePosition, WALKED } from './position.ts'
import { type Applied, VersionWriter } from './version-writer.ts'
import { WalkedPages } from './walked-pages.ts'

const NOTE_MS = 2_000
/** Within this time one that runs has noted something. */
const RECENT_MS = 10_000
const CLAIM_MS = 250

/** Between two tries while the origin is away. */
const RETRY_MS = 1_000

/** How long a server may keep a request waiting, at most. */
const MAX_WAIT_SECONDS = 30

export type MirrorEvent =
  | { readonly kind: 'claimed-by-other' | 'walked' | 'back' }
  | { readonly kind: 'loading'; readonly items: number; readonly total: number }
  | { readonly kind: 'loaded'; readonly items: number; readonly reason: string; readonly durationMs: number }
  | { readonly kind: 'behind'; readonly versions: number }
  | ({ readonly kind: 'applied' } & Applied)
  | { readonly kind: 'current'; readonly at: number }
  | { readonly kind: 'retry'; readonly error: unknown }

export interface MirrorOptions {
  /** Of the mirror. */
  readonly name: string
  /** As `--key` has it; undefined where the origin is to say. */
  readonly keyField: string | undefined
  readonly everyMs: number
  /** Whether to end when the mirror is as its origin. */
  readonly isOnce: boolean
  readonly itemBytes: number
  /** Called for each try, with what the origin is reached by. */
  readonly open: () => Promise<Origin>
  readonly onEvent: (event: MirrorEvent) => void
}

export class Mirror {
  readonly #store: Store
  readonly #options: MirrorOptions
  readonly #signal: AbortSignal
  readonly #holder = JSON.stringify({ ...thisProcess(), id: randomUUID() })
  #origin: Origin
  /** Whether there is a mirror: until then, what goes wrong is for the user to mend. */
  #hasStarted = false
  /** Whether this process keeps it, and whether another one does as well by now. */
  #hasClaimed = false
  #isOvertaken = false
  #isAway = false
  /** Since the origin last answered. */
  #hasAskedAgain = false
  /** The moment of the origin that the mirror shows; 0 while that is not known. */
  #asOf = 0
  #behind = 0
  #notedAt = Number.NEGATIVE_INFINITY

  constructor(store: Store, origin: Origin, options: MirrorOptions, signal: AbortSignal) {
    this.#store = store
    this.#origin = origin
    this.#options = options
    this.#signal = signal
  }

  /** Ends where only once was asked for; else with an error: what passes by itself is tried again. */
  async run(): Promise<void> {
    // Others see by this that it is kept, however long its origin takes to answer.
    const noting = setInterval(() => void (this.#hasClaimed && this.#note().catch(() => {})), NOTE_MS)
    try {
      for (;;) {
        try {
          this.#hasClaimed = false
          this.#isOvertaken = false
          const head = await this.#claim()
          this.#hasClaimed = head !== undefined
          return await this.#follow(head)
        } catch (error) {
          await this.#recover(error)
        }
      }
    } finally {
      clearInterval(noting)
      await this.#leave()
    }
  }

  /** The mirror as it is, once nobody else keeps it. */
  async #claim(): Promise<Head | undefined> {
    const { name } = this.#options
    for (let isFirst = true; ; isFirst = false) {
      const head = await this.#store.head(name)
      this.#check(head)
      const noted = head && (await this.#noted())
      if (noted === undefined || !this.#isOthers(noted)) {
        // Until the origin answers, the mirror is as of when it was before.
        this.#asOf ||= noted?.asOf ?? 0
        this.#hasStarted ||= head !== undefined
        return head
      }
      if (isFirst) this.#tell({ kind: 'claimed-by-other' })
      await sleep(CLAIM_MS, undefined, { signal: this.#signal })
    }
  }

  /** Refuses what is no mirror, or one of something else. */
  #check(head: Head | undefined): void {
    const { name } = this.#options
    const { url } = this.#origin
    const ended = (what: string) => new MirrorError('usage', `The collection "${name}" ${what}.`)
    if (head === undefined) {
      if (this.#hasStarted) throw ended('was dropped, so there is nothing to keep the same any more')
    } else if (head.origin === null)
      throw this.#hasStarted
        ? ended('is no mirror any more: somebody detached it')
        : ended('exists and is no mirror; it stays as it is. Choose another name with --name')
    else if (head.origin.url !== url)
      throw ended(`is a mirror of ${head.origin.url}, and stays one. Choose another name with --name`)
  }

  async #follow(claimed: Head | undefined): Promise<void> {
    let head = claimed
    let reason = 'for the first time'
    for (;;) {
      const position = head?.origin && parsePosition(head.origin.position)
      try {
        if (!head || !position) {
          const page = await this.#origin.live.page(1, { signal: this.#signal })
          const tag = this.#origin.tagOf(page)
          if (tag === undefined) return await this.#walk(head, page)
          head = await this.#copy(head, page, tag, reason)
        } else {
          await this.#note(true)
          return await this.#keepUp(head, position)
        }
      } catch (error) {
        if (!(error instanceof HistoryLost)) throw error
        reason = error.message
        head = await this.#store.head(this.#options.name)
        this.#check(head)
        head = head && { ...head, origin: null }
      }
    }
  }

  // A copy of one state

  /** The whole collection as it was in one state, as one swap. `page` is a live one of that state. */
  async #copy(head: Head | undefined, page: Page, tag: string, reason: string): Promise<Head> {
    const startedAt = performance.now()
    const load = await this.#load(head, page)
    try {
      const pages = page.isLast ? [page] : this.#origin.snapshot(tag)
      const items = await this.#fill(load, pages)
      const { head: after } = await load.commit({
        url: this.#origin.url,
        position: formatPosition({ tag, changes: 0 }),
      })
      this.#started()
      this.#hasClaimed = true
      this.#tell({ kind: 'loaded', items, reason, durationMs: performance.now() - startedAt })
      return after
    } catch (error) {
      await load.abort().catch(() => {})
      throw error
    }
  }

  async #load(head: Head | undefined, { isPaginated }: Page): Promise<Load> {
    const { name, keyField: wanted } = this.#options
    const state = head === undefined ? null : { id: head.id, commitId: head.commitId }
    const common = { isReplacement: head !== undefined, state, isMirroring: true }
    if (head !== undefined) return this.#store.load(name, common)
    const { keyField = wanted ?? null, isPrivate } = await this.#origin.settings()
    if (wanted !== undefined && wanted !== keyField) {
      const key = keyField === null ? 'no key' : `the key "${keyField}"`
      throw new MirrorError('usage', `${this.#origin.url} has ${key}, not "${wanted}". Leave out --key.`)
    }
    return this.#store.load(name, { ...common, settings: { keyField, isPaginated, isPrivate } })
  }

  /** Answers how many items there were. */
  async #fill(load: Load, pages: Iterable<Page> | AsyncIterable<Page>): Promise<number> {
    const ahead = new ReadAhead()
    const { keyField } = load.settings
    const scanner = new ItemScanner({ keyField, itemBytes: this.#options.itemBytes })
    let items = 0
    try {
      for await (const page of pages) {
        const run = this.#runOf(page, scanner)
        await ahead.add(load.append({ ...run, isTransferred: true }), run.text.length)
        items += run.count
        this.#tell({ kind: 'loading', items, total: page.itemCount })
      }
    } finally {
      await ahead.end()
    }
    this.#signal.throwIfAborted()
    return items
  }

  #runOf(page: Page, scanner: ItemScanner): ItemRun {
    const packer = new ItemPacker(scanner)
    try {
      for (const text of page.texts()) {
        scanner.check(text, 0, text.length)
        packer.add(text, 0, text.length)
      }
      return packer.take()
    } catch (error) {
      if (!(error instanceof ItemError)) throw error
      const place = (page.number - 1) * PAGE_SIZE + packer.count + 1
      throw new MirrorError('data', `Item ${place} of ${this.#origin.url}: ${error.reason}.`, { cause: error })
    }
  }

  // Its changes

  async #keepUp(claimed: Head, start: Position): Promise<void> {
    const { everyMs, isOnce } = this.#options
    const signal = this.#signal
    const waitSeconds = isOnce ? 0 : Math.min(MAX_WAIT_SECONDS, Math.ceil(everyMs / 1000))
    let [head, position, etag] = [claimed, start, undefined as string | undefined]
    for (;;) {
      const asked = Date.now()
      const changes = this.#origin.changes(position.tag)
      const number = nextPage(position)
      const page = await known(
        etag === undefined
          ? changes.page(number, { signal })
          : changes.newerPage(number, etag, { waitSeconds, signal }),
      )
      this.#started()
      const isNew = page !== undefined && (page.itemCount > position.changes || !this.#isEnd(page, position))
      if (isNew) {
        head = await this.#apply(head, position, page)
        position = parsePosition(head.origin?.position ?? '') ?? position
        etag = undefined
        continue
      }
      // Where it waited, nothing has changed since.
      this.#asOf = page === undefined ? Date.now() : asked
      this.#behind = 0
      this.#tell({ kind: 'current', at: this.#asOf })
      this.#check(await this.#store.head(this.#options.name))
      await this.#note()
      if (isOnce) return
      // A server that does not wait, or does not name its pages, is asked again after a while.
      const hasWaited = page === undefined && Date.now() - asked > 500 * waitSeconds
      if (!hasWaited && (page === undefined || page.etag === undefined)) await sleep(everyMs, undefined, { signal })
      etag = page?.etag ?? etag
    }
  }

  /** Whether the changes end with the state that the mirror shows. */
  #isEnd(page: Page, { tag }: Position): boolean {
    return this.#origin.tagOf(page) === tag
  }

  async #apply(head: Head, position: Position, first: Page): Promise<Head> {
    const { url } = this.#origin
    const { itemBytes } = this.#options
    const offset = position.changes % PAGE_SIZE
    let version = (versionAt(first, offset) ?? 1) - 1
    const onLast = (last: Page) => this.#fallBehind((versionAt(last, last.length - 1) ?? version) - version)
    const onApplied = (applied: Applied) => {
      version = applied.version
      this.#tell({ kind: 'applied', ...applied })
      this.#behind = Math.max(0, this.#behind - 1)
      void this.#note().catch(() => {})
    }
    const writer = new VersionWriter(this.#store, head, position, { url, itemBytes, onApplied })
    try {
      const pages = changesSince(this.#origin, position, first, onLast, this.#signal)
      for await (const { page, first: from, until, isEnd } of pages) {
        for (const text of page.texts(from)) await writer.add(decode(text), until)
        if (isEnd) return await writer.end(until)
      }
      throw new HistoryLost('the changes of its origin have no end')
    } catch (error) {
      await writer.abort()
      throw this.#unfit(error)
    }
  }

  #fallBehind(versions: number): void {
    this.#behind = Math.max(0, versions)
    this.#tell({ kind: 'behind', versions: this.#behind })
  }

  /** What shows that the mirror is not what the changes are made to: it is copied anew. */
  #unfit(error: unknown): unknown {
    if (error instanceof StoreError && ['no-item', 'key-conflict'].includes(error.code))
      return new HistoryLost('it was not as its origin', { cause: error })
    if (!(error instanceof ChangeFlaw)) return error
    return new MirrorError('data', `A change of ${this.#origin.url}: ${error.message}.`, { cause: error })
  }

  // An origin that does not name its states

  async #walk(claimed: Head | undefined, first: Page): Promise<void> {
    const { everyMs, isOnce, name } = this.#options
    const { live, url } = this.#origin
    if (first.isPaginated) this.#tell({ kind: 'walked' })
    let head = claimed
    const pages = new WalkedPages(live, this.#signal)
    if (head !== undefined) await pages.remember(this.#store.items(name))
    for (;;) {
      const asked = Date.now()
      if (await pages.hasChanged()) {
        const startedAt = performance.now()
        const load = await this.#load(head, first)
        try {
          const items = await this.#fill(load, pages.walk())
          if (pages.isSame && head !== undefined) await load.abort()
          else {
            head = (await load.commit({ url, position: WALKED })).head
            this.#hasClaimed = true
            this.#tell({ kind: 'loaded', items, reason: 'as it changed', durationMs: performance.now() - startedAt })
          }
        } catch (error) {
          await load.abort().catch(() => {})
          throw error
        }
      }
      this.#started()
      this.#asOf = asked
      this.#tell({ kind: 'current', at: asked })
      this.#check(await this.#store.head(name))
      await this.#note()
      if (isOnce) return
      await sleep(everyMs, undefined, { signal: this.#signal })
    }
  }

  // What goes wrong

  #started(): void {
    this.#hasStarted = true
    this.#hasAskedAgain = false
    if (!this.#isAway) return
    this.#isAway = false
    this.#tell({ kind: 'back' })
  }

  /** Rethrows what will not pass. */
  async #recover(error: unknown): Promise<void> {
    this.#signal.throwIfAborted()
    if (error instanceof Overtaken) return
    if (this.#isRefused(error)) {
      // There may be another token by now.
      this.#hasAskedAgain = true
      this.#origin = await this.#options.open()
      return
    }
    if (!this.#mayPass(error)) throw error
    this.#isAway = true
    this.#tell({ kind: 'retry', error })
    await this.#note(true).catch(() => {})
    await sleep(RETRY_MS, undefined, { signal: this.#signal })
    this.#origin = await this.#options.open()
  }

  #isRefused(error: unknown): boolean {
    return error instanceof HttpError && error.status === 401 && this.#hasStarted && !this.#hasAskedAgain
  }

  #mayPass(error: unknown): boolean {
    const { isOnce } = this.#options
    if (error instanceof StoreError)
      return OVERTAKEN.includes(error.code) || (!isOnce && UNAVAILABLE.includes(error.code))
    if (isOnce || !this.#hasStarted) return false
    if (error instanceof ConnectionLost || error instanceof TimeoutError) return true
    return error instanceof HttpError && (error.status >= 500 || [404, 408, 429].includes(error.status))
  }

  /**
   * For `reams collections`, metrics, and others that would keep the same mirror. Throws Overtaken where one does, as this one
   * stood still for so long that it was taken for dead.
   */
  async #note(isUrgent = false): Promise<void> {
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

  /** Nobody keeps it any more. */
  async #leave(): Promise<void> {
    try {
      const head = await this.#store.head(this.#options.name)
      if (head?.origin?.url === this.#origin.url && this.#hasClaimed && !this.#isOvertaken)
        await this.#store.noteFollowing(this.#options.name, this.#following())
    } catch {
      // What ended the mirror is what there is to tell.
    }
  }

  #following(): Following {
    return { source: this.#origin.url, waiting: this.#behind, asOf: this.#asOf, seenAt: Date.now() }
  }

  #tell(event: MirrorEvent): void {
    this.#options.onEvent(event)
  }
}

/** Another process keeps the mirror. */
class Overtaken extends Error {}

/** Somebody else was quicker: it is looked again who keeps the mirror, and where it is. */
const OVERTAKEN: readonly StoreError['code'][] = [
  'busy',
  'lease-lost',
  'outcome-unknown',
  'precondition-failed',
  'collection-exists',
  'no-collection',
]

const UNAVAILABLE: readonly StoreError['code'][] = ['unavailable', 'overloaded', 'full']

/** That of a change on a page of changes, if there is one. */
function versionAt(page: Page, index: number): number | undefined {
  const [text] = index < 0 ? [] : page.texts(index)
  return text && readChange(decode(text)).version
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}

/** Whether whoever said so has ended, as far as can be seen from here. */
function hasEnded({ holder, seenAt }: Following): boolean {
  if (holder === undefined || Math.abs(Date.now() - seenAt) > RECENT_MS) return true
  return isRunning(JSON.parse(holder)) === false
}
