/** Keeps a collection the same as one elsewhere: copies it, then applies what changes there, a version at a time. */

import { setTimeout as sleep } from 'node:timers/promises'
import { ClientError, CollectionChanged, HttpError, PageTooLarge } from '../client/client-error.ts'
import type { Page, ReadItem } from '../client/page.ts'
import { PAGE_SIZE } from '../contract/page.ts'
import { ChangeFlaw, readChange } from '../items/change-reader.ts'
import { ReadAhead } from '../store/read-ahead.ts'
import type { Head, Load, Store } from '../store/store.ts'
import { StoreError } from '../store/store-error.ts'
import { changesSince, nextPage } from './changes.ts'
import { Keeper, Overtaken } from './keeper.ts'
import { HistoryLost, MirrorError } from './mirror-error.ts'
import { type LimitOptions, MirrorLimits } from './mirror-limits.ts'
import { known, type Origin } from './origin.ts'
import { PageRuns } from './page-runs.ts'
import { formatPosition, type Position, parsePosition, WALKED } from './position.ts'
import { type Applied, VersionWriter } from './version-writer.ts'
import { WalkedPages } from './walked-pages.ts'

/** Why a mirror that was walked is copied anew. */
const NAMES_STATES = 'its origin names its states by now'

const DEFAULT_RETRY_MS = 1_000

/** Copies in a row that come to nothing. */
const MAX_LOSSES = 3

/** While the origin changes, it is looked so often what it is: whether it is private, say. */
const SETTINGS_MS = 10_000

export type MirrorEvent =
  | { readonly kind: 'claimed-by-other' | 'claimed' | 'walked' | 'back' }
  | { readonly kind: 'loading'; readonly items: number; readonly total: number }
  | { readonly kind: 'loaded'; readonly items: number; readonly reason: string; readonly durationMs: number }
  | { readonly kind: 'behind'; readonly versions: number }
  | ({ readonly kind: 'applied' } & Applied)
  | { readonly kind: 'current'; readonly at: number }
  /** `asOf` is the moment of the origin that the mirror shows; 0 where there is none yet, or that is not known. */
  | { readonly kind: 'retry'; readonly error: unknown; readonly isOrigins: boolean; readonly asOf: number }

export interface MirrorOptions {
  /** Of the mirror. */
  readonly name: string
  /** As `--key` has it; undefined where the origin is to say. */
  readonly keyField: string | undefined
  readonly everyMs: number
  /** The pause between two tries while the origin is unreachable; 1 s by default. */
  readonly retryMs?: number
  /** How long the origin may keep a request waiting. */
  readonly waitSeconds: number
  /** Whether to end when the mirror is as its origin was at the start, or later. */
  readonly isOnce: boolean
  readonly limits: LimitOptions
  readonly itemBytes: number
  /** Called for each try, with what the origin is reached by. */
  readonly open: () => Promise<Origin>
  readonly onEvent: (event: MirrorEvent) => void
}

export class Mirror {
  readonly #store: Store
  readonly #options: MirrorOptions
  readonly #signal: AbortSignal
  readonly #keeper: Keeper
  readonly #limits: MirrorLimits
  readonly #retryMs: number
  #origin: Origin
  /** Whether there is a mirror: until then, what goes wrong is for the user to mend. */
  #hasStarted = false
  #isAway = false
  /** Whether it was told that another one keeps the mirror. */
  #isWaiting = false
  /** Since the origin last answered. */
  #hasAskedAgain = false
  /** How often the mirror was to be copied anew since it was last as its origin. */
  #losses = 0
  #settingsAt = Number.NEGATIVE_INFINITY

  constructor(store: Store, origin: Origin, options: MirrorOptions, signal: AbortSignal) {
    this.#store = store
    this.#origin = origin
    this.#options = options
    this.#signal = signal
    this.#retryMs = options.retryMs ?? DEFAULT_RETRY_MS
    this.#limits = new MirrorLimits(options.limits, origin.url)
    this.#keeper = new Keeper(store, { name: options.name, source: origin.url, signal })
  }

  get hasStarted(): boolean {
    return this.#hasStarted
  }

  /** Ends where only once was asked for; else with an error: what passes by itself is tried again. */
  async run(): Promise<void> {
    await using keeper = this.#keeper
    for (;;) {
      try {
        const check = (head: Head | undefined) => {
          this.#check(head)
          this.#hasStarted ||= head !== undefined
        }
        const head = await keeper.claim(check, () => this.#wait())
        if (head !== undefined) this.#claimed()
        return await this.#follow(head)
      } catch (error) {
        await this.#recover(error)
      }
    }
  }

  #wait(): void {
    if (!this.#isWaiting) this.#tell({ kind: 'claimed-by-other' })
    this.#isWaiting = true
  }

  #claimed(): void {
    if (this.#isWaiting) this.#tell({ kind: 'claimed' })
    this.#isWaiting = false
  }

  /** Refuses what is no mirror, or one of something else. */
  #check(head: Head | undefined): void {
    const { name, keyField: wanted } = this.#options
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
    else if (wanted !== undefined && wanted !== head.keyField)
      throw ended(`has ${keyText(head.keyField)}, not "${wanted}". Leave out --key`)
  }

  async #follow(claimed: Head | undefined): Promise<void> {
    let head = claimed
    let reason = claimed === undefined ? 'for the first time' : NAMES_STATES
    for (;;) {
      const position = head?.origin && parsePosition(head.origin.position)
      try {
        if (!head || !position) {
          const asked = Date.now()
          const page = await this.#origin.live.page(1, { signal: this.#signal })
          const tag = this.#origin.tagOf(page)
          if (tag !== undefined) {
            head = await this.#copy(head, page, tag, reason)
            this.#keeper.asOf = asked
            if (this.#options.isOnce) return await this.#current(asked)
            continue
          }
          head = await this.#walk(head, page)
          if (this.#options.isOnce) return
          reason = NAMES_STATES
        } else {
          await this.#keeper.note(true)
          return await this.#keepUp(head, position)
        }
      } catch (error) {
        if (!(error instanceof HistoryLost)) throw error
        if (++this.#losses === MAX_LOSSES) {
          const { cause } = error
          if (!(cause instanceof HttpError && cause.status === 404)) throw this.#uncopied(error)
          this.#losses = 0
          this.#origin.ignoreStates()
        }
        reason = error.message
        head = await this.#store.head(this.#options.name)
        this.#check(head)
        head = head && { ...head, origin: null }
      }
    }
  }

  #uncopied(cause: HistoryLost): HistoryLost {
    this.#losses = 0
    const message = `${this.#origin.url} could not be copied, ${MAX_LOSSES} times in a row: ${cause.message}.`
    return new HistoryLost(message, { cause })
  }

  // A copy of one state

  /** The whole collection as it was in one state, as one swap. `page` is a live one of that state. */
  async #copy(head: Head | undefined, page: Page, tag: string, reason: string): Promise<Head> {
    const startedAt = performance.now()
    const load = await this.#load(head, page)
    try {
      const items = await this.#fill(load, (readItem) => (page.isLast ? [page] : this.#origin.snapshot(tag, readItem)))
      const { head: after } = await load.commit({
        url: this.#origin.url,
        position: formatPosition({ tag, changes: 0 }),
      })
      this.#started()
      this.#keeper.began()
      this.#tell({ kind: 'loaded', items, reason, durationMs: performance.now() - startedAt })
      return after
    } catch (error) {
      await load.abort().catch(() => {})
      throw error
    }
  }

  async #load(head: Head | undefined, { isPaginated, itemCount }: Page): Promise<Load> {
    this.#limits.checkClaim(itemCount)
    await this.#limits.checkSpace(0)
    const { name, keyField: wanted } = this.#options
    const { hasToken, url } = this.#origin
    if (head !== undefined) {
      if (isPaginated !== head.isPaginated) throw this.#remade(`has ${isPaginated ? 'pages' : 'no pages'} by now`)
      const { id, commitId } = await this.#takeSettings(head)
      return this.#store.load(name, { isReplacement: true, state: { id, commitId }, isMirroring: true })
    }
    // What was read with a token, nobody is to read without one, unless the server says that everybody may.
    const { keyField = wanted ?? null, isPrivate = hasToken } = await this.#origin.settings()
    if (wanted !== undefined && wanted !== keyField)
      throw new MirrorError('usage', `${url} has ${keyText(keyField)}, not "${wanted}". Leave out --key.`)
    return this.#store.load(name, { state: null, isMirroring: true, settings: { keyField, isPaginated, isPrivate } })
  }

  /** A mirror becomes private with its origin. Another key cannot be taken over: a delete would hit another item. */
  async #takeSettings(head: Head): Promise<Head> {
    const { keyField, isPrivate } = await this.#origin.settings()
    this.#settingsAt = performance.now()
    if (keyField !== undefined && keyField !== head.keyField)
      throw this.#remade(`has ${keyText(keyField)} by now, and the mirror ${keyText(head.keyField)}`)
    return isPrivate && !head.isPrivate ? await this.#store.setPrivate(head.name, true) : head
  }

  #remade(what: string): MirrorError {
    const { url } = this.#origin
    const advice = `Drop the mirror (\`reams drop ${this.#options.name}\`), and begin again`
    return new MirrorError('usage', `${url} ${what}. ${advice}; until then it stays as it is.`)
  }

  /** Answers how many items there were. */
  async #fill(load: Load, read: (readItem: ReadItem) => Iterable<Page> | AsyncIterable<Page>): Promise<number> {
    const ahead = new ReadAhead()
    const { keyField } = load.settings
    const runs = new PageRuns(this.#origin.url, { keyField, itemBytes: this.#options.itemBytes })
    const count = this.#limits.newCount()
    let items = 0
    try {
      for await (const page of read(runs.readItem)) {
        this.#limits.checkClaim(page.itemCount)
        const run = runs.of(page)
        count.add(run.count, run.text.length)
        await this.#limits.checkSpace(run.text.length)
        await ahead.add(load.append({ ...run, isTransferred: true }), run.text.length)
        items += run.count
        this.#tell({ kind: 'loading', items, total: page.itemCount })
      }
    } finally {
      await ahead.end()
    }
    this.#signal.throwIfAborted()
    this.#limits.setSize(count.bytes)
    return items
  }

  // Its changes

  async #keepUp(claimed: Head, start: Position): Promise<void> {
    const { everyMs, isOnce, waitSeconds: mostSeconds } = this.#options
    const signal = this.#signal
    const waitSeconds = isOnce ? 0 : Math.min(mostSeconds, Math.ceil(everyMs / 1000))
    let [head, position, etag] = [claimed, start, undefined as string | undefined]
    await this.#limits.checkMirror(this.#store, head, 0)
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
        if (page.itemCount - position.changes > this.#options.limits.maxItems)
          throw new HistoryLost('its origin has more changes than a mirror may have items')
        const isLooked = performance.now() - this.#settingsAt < SETTINGS_MS
        // Where nothing else has changed, it is the settings that have.
        if (!isLooked || page.itemCount === position.changes) head = await this.#takeSettings(head)
        head = await this.#apply(head, position, page)
        this.#losses = 0
        if (isOnce) return await this.#current(asked)
        position = parsePosition(head.origin?.position ?? '') ?? position
        etag = undefined
        continue
      }
      // Where it waited, nothing has changed since.
      await this.#current(page === undefined ? Date.now() : asked)
      if (isOnce) return
      // A server that does not wait, or does not name its pages by what is on them, is asked again after a while.
      const hasWaited = page === undefined && waitSeconds > 0 && Date.now() - asked > 500 * waitSeconds
      const canWait = etag === undefined && page?.etag !== undefined
      if (!hasWaited && !canWait) await sleep(everyMs, undefined, { signal })
      etag = page?.etag ?? etag
    }
  }

  /** The mirror is as its origin was at that moment. */
  async #current(at: number): Promise<void> {
    this.#losses = 0
    this.#keeper.asOf = at
    this.#keeper.behind = 0
    this.#tell({ kind: 'current', at })
    this.#check(await this.#store.head(this.#options.name))
    await this.#keeper.note()
  }

  /** Whether the changes end with the state that the mirror shows. */
  #isEnd(page: Page, { tag }: Position): boolean {
    return this.#origin.tagOf(page) === tag
  }

  async #apply(head: Head, position: Position, first: Page): Promise<Head> {
    const { url } = this.#origin
    const { itemBytes, isOnce } = this.#options
    const limits = this.#limits
    const offset = position.changes % PAGE_SIZE
    let version = (versionAt(first, offset) ?? 1) - 1
    const onLast = (last: Page) => this.#fallBehind((versionAt(last, last.length - 1) ?? version) - version)
    const onApplied = (applied: Applied) => {
      version = applied.version
      this.#tell({ kind: 'applied', ...applied })
      this.#keeper.behind = Math.max(0, this.#keeper.behind - 1)
      void this.#keeper.note().catch(() => {})
    }
    const writer = new VersionWriter(this.#store, head, position, { url, itemBytes, limits, onApplied })
    let bytes = 0
    // With --once, the changes that were there at the start: others may come for ever.
    let left = isOnce ? first.itemCount - position.changes : Number.POSITIVE_INFINITY
    try {
      const pages = changesSince(this.#origin, position, first, onLast, this.#signal)
      for await (const { page, first: from, until, isEnd } of pages) {
        for (const text of page.texts(from)) {
          if (left-- === 0) return await writer.stop(until)
          this.#signal.throwIfAborted()
          await writer.add(decode(text), until)
        }
        bytes += page.body.length
        await limits.checkMirror(this.#store, writer.head, page.body.length)
        if (!isEnd) continue
        const after = await writer.end(until)
        // Once more with all of it: some was still on its way to the store.
        await limits.checkMirror(this.#store, after, bytes)
        return after
      }
      throw new HistoryLost('the changes of its origin have no end')
    } catch (error) {
      await writer.abort()
      throw this.#unfit(error)
    }
  }

  #fallBehind(versions: number): void {
    this.#keeper.behind = Math.max(0, versions)
    this.#tell({ kind: 'behind', versions: this.#keeper.behind })
  }

  /** What shows that the mirror is not what the changes are made to: it is copied anew. */
  #unfit(error: unknown): unknown {
    if (error instanceof StoreError && ['no-item', 'key-conflict'].includes(error.code))
      return new HistoryLost('it was not as its origin', { cause: error })
    if (!(error instanceof ChangeFlaw)) return error
    return new MirrorError('data', `A change of ${this.#origin.url}: ${error.message}.`, { cause: error })
  }

  // An origin that does not name its states

  /** Until only once was asked for, or the origin names its states. Answers with the mirror. */
  async #walk(claimed: Head | undefined, begun: Page): Promise<Head | undefined> {
    const { everyMs, isOnce, name } = this.#options
    const { live } = this.#origin
    const signal = this.#signal
    if (begun.isPaginated) this.#tell({ kind: 'walked' })
    let [head, first] = [claimed, begun as Page | undefined]
    const pages = new WalkedPages(live, signal)
    if (head !== undefined) await pages.remember(this.#store.items(name))
    for (;;) {
      const asked = Date.now()
      if (await pages.hasChanged()) {
        first ??= await live.page(1, { signal })
        if (this.#origin.tagOf(first) !== undefined) return head
        const copied = await this.#copyWalked(head, first, pages)
        first = undefined
        if (copied === undefined) {
          // Items were removed meanwhile.
          await sleep(this.#retryMs, undefined, { signal })
          continue
        }
        head = copied
      }
      this.#started()
      await this.#current(asked)
      if (isOnce) return head
      await sleep(everyMs, undefined, { signal })
    }
  }

  /** Undefined where it has to be walked again. */
  async #copyWalked(head: Head | undefined, first: Page, pages: WalkedPages): Promise<Head | undefined> {
    const { url } = this.#origin
    const startedAt = performance.now()
    const load = await this.#load(head, first)
    try {
      const items = await this.#fill(load, () => pages.walk())
      if (pages.isSame && head !== undefined) {
        await load.abort()
        return head
      }
      const { head: after } = await load.commit({ url, position: WALKED })
      this.#keeper.began()
      const reason = head === undefined ? 'for the first time' : 'as it changed'
      this.#tell({ kind: 'loaded', items, reason, durationMs: performance.now() - startedAt })
      return after
    } catch (error) {
      await load.abort().catch(() => {})
      if (!(error instanceof CollectionChanged)) throw error
      if (this.#options.isOnce && ++this.#losses === MAX_LOSSES) throw error
      return undefined
    }
  }

  // What goes wrong

  #started(): void {
    this.#hasStarted = true
    this.#isWaiting = false
    this.#hasAskedAgain = false
    if (!this.#isAway) return
    this.#isAway = false
    this.#tell({ kind: 'back' })
  }

  /** Rethrows what will not pass. */
  async #recover(error: unknown): Promise<void> {
    this.#signal.throwIfAborted()
    this.#losses = 0
    if (error instanceof Overtaken) return
    if (this.#isRefused(error)) {
      // There may be another token by now.
      this.#hasAskedAgain = true
      await this.#reopen()
      return
    }
    if (!this.#mayPass(error)) throw error
    if (isOvertaken(error)) this.#wait()
    else {
      this.#isAway = true
      this.#tell({ kind: 'retry', error, isOrigins: !(error instanceof StoreError), asOf: this.#keeper.asOf })
      await this.#keeper.note(true).catch(() => {})
    }
    await sleep(this.#retryMs, undefined, { signal: this.#signal })
    await this.#reopen()
  }

  /** With the token of now. Where its file is missing, or not written to its end, the one before may still do. */
  async #reopen(): Promise<void> {
    try {
      this.#origin = await this.#options.open()
    } catch (error) {
      if (!this.#hasStarted) throw error
    }
  }

  #isRefused(error: unknown): boolean {
    return error instanceof HttpError && error.status === 401 && this.#hasStarted && !this.#hasAskedAgain
  }

  #mayPass(error: unknown): boolean {
    const { isOnce } = this.#options
    if (isOvertaken(error)) return true
    if (error instanceof StoreError) return !isOnce && UNAVAILABLE.includes(error.code)
    if (isOnce || !this.#hasStarted) return false
    // A page about maintenance, or one to log in at, may have any status.
    if (error instanceof HttpError) return !REFUSED.includes(error.status)
    return error instanceof HistoryLost || (error instanceof ClientError && !(error instanceof PageTooLarge))
  }

  #tell(event: MirrorEvent): void {
    this.#options.onEvent(event)
  }
}

/** Somebody else was quicker: it is looked again who keeps the mirror, and where it is. */
const OVERTAKEN: readonly StoreError['code'][] = [
  'busy',
  'lease-lost',
  'outcome-unknown',
  'precondition-failed',
  'collection-exists',
  'no-collection',
]

function isOvertaken(error: unknown): boolean {
  return error instanceof StoreError && OVERTAKEN.includes(error.code)
}

const REFUSED: readonly number[] = [401, 403]

const UNAVAILABLE: readonly StoreError['code'][] = ['unavailable', 'overloaded', 'full']

function keyText(keyField: string | null): string {
  return keyField === null ? 'no key' : `the key "${keyField}"`
}

/** That of a change on a page of changes, if there is one. */
function versionAt(page: Page, index: number): number | undefined {
  const [text] = index < 0 ? [] : page.texts(index)
  return text && readChange(decode(text)).version
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}
