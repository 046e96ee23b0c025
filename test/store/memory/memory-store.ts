/** A store in memory: every algorithm is that of the other engines, and only the rows are kept otherwise. */

import { setInterval } from 'node:timers/promises'
import { type ChangeCall, changeOf } from '../../../src/store/changes.ts'
import { itemTag } from '../../../src/store/collection-rules.ts'
import { DeflatePool } from '../../../src/store/deflate-pool.ts'
import { type Cutoff, FORGET_EVERY_MS, forgetAllOf } from '../../../src/store/history.ts'
import { FULL_STEP, SweepNeeded } from '../../../src/store/leases.ts'
import { readState } from '../../../src/store/past.ts'
import { type AnyPage, readAnyPageOf } from '../../../src/store/read-any-page.ts'
import { ReadCache } from '../../../src/store/read-cache.ts'
import { readItems, textOf } from '../../../src/store/read-page.ts'
import { runAsync, runSync } from '../../../src/store/rows.ts'
import { runLoad } from '../../../src/store/run-load.ts'
import { type CommitStep, stepOf } from '../../../src/store/steps.ts'
import type { Head, ListedHead, Once, PageRead, PastRead, Segment, Store } from '../../../src/store/store.ts'
import { StoreError } from '../../../src/store/store-error.ts'
import { StoreReads } from '../../../src/store/store-reads.ts'
import { forgetExpired } from '../../../src/store/stored-history.ts'
import { readFollowings, readToken, readTokens } from '../../../src/store/stored-tokens.ts'
import { publicHead, type StoredHead, type Table } from '../../../src/store/tables.ts'
import { Findings, verifyRows } from '../../../src/store/verify.ts'
import { applyCall, beginDraft, readForCalls, writeDraft } from '../../../src/store/write-draft.ts'
import { copyTables, emptyTables, MemoryRows, ownersOf } from './memory-rows.ts'

/** What the stores that are opened on the same data share. */
export class MemoryDatabase {
  /** As they were committed. Nobody changes them: a commit puts others in their place. */
  tables = emptyTables()
  #last: Promise<unknown> = Promise.resolve()

  /** One transaction after another. If the work fails, nothing of it stays. */
  commit<T>(work: (rows: MemoryRows) => T | Promise<T>): Promise<T> {
    const committed = this.#last.then(async () => {
      const tables = copyTables(this.tables)
      const result = await work(new MemoryRows(tables))
      this.tables = tables
      return result
    })
    this.#last = committed.catch(() => {})
    return committed
  }
}

export class MemoryStore extends StoreReads implements Store {
  readonly #database: MemoryDatabase
  readonly #cache = new ReadCache()
  readonly #pool = new DeflatePool()
  readonly #closing = new AbortController()

  constructor(database: MemoryDatabase, forgetEveryMs = FORGET_EVERY_MS, historyBytes = Number.POSITIVE_INFINITY) {
    super()
    this.#database = database
    void this.#keepForgetting(forgetEveryMs, historyBytes).catch(() => {})
  }

  get #open(): MemoryDatabase {
    if (this.#closing.signal.aborted) throw new StoreError('closed', 'The store is closed.')
    return this.#database
  }

  /** What was committed, as one snapshot. */
  get #rows(): MemoryRows {
    return new MemoryRows(this.#open.tables)
  }

  /** One transaction. Leftovers that are in its way are removed first. */
  async #commit<T>(work: (rows: MemoryRows) => T | Promise<T>): Promise<T> {
    return this.#open.commit(work).catch(async (error: unknown) => {
      if (!(error instanceof SweepNeeded)) throw error
      await this.sweepDropped()
      return this.#commit(work)
    })
  }

  async collections(): Promise<ListedHead[]> {
    return byName(this.#rows.tables.head).map((head) => ({ ...publicHead(head), changedAt: head.changedAt }))
  }

  #readFrom<T>(
    { name, isPublicOnly }: Pick<AnyPage, 'name' | 'isPublicOnly'>,
    read: (head: StoredHead, rows: MemoryRows) => T,
  ): T | undefined {
    const rows = this.#rows
    const head = rows.readHead(name, isPublicOnly)
    return head && read(head, rows)
  }

  head: Store['head'] = async (name, { isPublicOnly = false } = {}) => {
    this.activity.reads.head++
    return this.#readFrom({ name, isPublicOnly }, publicHead)
  }

  protected async readAny(question: AnyPage): Promise<PageRead | PastRead | undefined> {
    return this.#readFrom(question, (head, rows) => runSync(readAnyPageOf(head, question, this.#cache), rows))
  }

  stateAt: Store['stateAt'] = async (name, tag, { isPublicOnly = false, page } = {}) => {
    this.activity.reads.head++
    const read = (head: StoredHead, rows: MemoryRows) => runSync(readState(head, tag, page, this.#cache), rows)
    return this.#readFrom({ name, isPublicOnly }, read)
  }

  item: Store['item'] = async (name, key, { isPublicOnly = false } = {}) => {
    this.activity.reads.item++
    const read = this.#rows.findItem(name, key, isPublicOnly)
    const text = read?.found && textOf(read.head, read.found)
    return read && { head: publicHead(read.head), item: text && { text, tag: itemTag(text) } }
  }

  textBytes: Store['textBytes'] = async (name) => {
    let bytes = 0
    if (this.#rows.readHead(name) === undefined) return bytes
    for await (const { rawLength } of this.items(name)) bytes += rawLength
    return bytes
  }

  async *items(name: string, onHead?: (head: Head) => void): AsyncGenerator<Segment> {
    yield* readItems(this.#rows, name, 1, onHead)
  }

  // Writes

  protected async change<T>(name: string, once: Once | undefined, ...call: ChangeCall): Promise<T> {
    const value = await this.#commit(async (rows) => {
      const draft = runSync(beginDraft(name), rows)
      const sent = { change: changeOf(call), once }
      runSync(readForCalls(draft, [sent]), rows)
      const value = applyCall(draft, sent)
      await runAsync(writeDraft(draft, this.#pool), rows)
      return value
    })
    this.activity.addCommit(1)
    // What others left behind. Nobody waits for it, and what fails is left to a later time.
    void this.sweepDropped().catch(() => {})
    // It is what the change returned, or what it returned the first time.
    return value as T
  }

  /** A step in a transaction of its own. */
  readonly #step = ((step, ...parameters) =>
    this.#commit((rows) =>
      runAsync(stepOf(step, { pool: this.#pool, size: FULL_STEP }, parameters), rows),
    )) as CommitStep

  /** Removes everything that is left over, in many small commits. */
  protected async sweepDropped(): Promise<void> {
    while (await this.#step('sweep'));
  }

  protected async forgetOld(name: string, cutoff?: Cutoff): Promise<void> {
    await forgetAllOf(() => this.#step('forgetOld', name, cutoff), this.activity)
    await this.sweepDropped()
  }

  async #keepForgetting(everyMs: number, limitBytes: number): Promise<void> {
    for await (const _ of setInterval(everyMs, undefined, { ref: false, signal: this.#closing.signal }))
      await forgetExpired([...this.#rows.tables.head.values()], {
        run: (steps) => runSync(steps, this.#rows),
        forget: (name, cutoff) => this.forgetOld(name, cutoff),
        mayGoOn: () => true,
        limitBytes,
        onNotice: this.activity.onNotice,
      }).catch(() => {})
  }

  load: Store['load'] = (name, options = {}) => runLoad(this.#step, name, options, () => this.forgetOld(name))

  tokens: Store['tokens'] = async () => runSync(readTokens(), this.#rows)

  token: Store['token'] = async (hash) => runSync(readToken(hash), this.#rows)

  addToken: Store['addToken'] = (token) => this.#step('addToken', token)

  revokeToken: Store['revokeToken'] = (name, at) => this.#step('revokeToken', name, at)

  noteFollowing: Store['noteFollowing'] = (name, following) => this.#step('noteFollowing', name, following)

  followings: Store['followings'] = async () => runSync(readFollowings(), this.#rows)

  verify: Store['verify'] = async (onProgress) => {
    const rows = this.#rows
    const store = {
      rows,
      heads: () => [...rows.tables.head.values()],
      owners: (table: Table) => ownersOf(rows.tables, table),
      ownFindings: () => [],
      notes: () => [],
      explain: (error: unknown) => error,
    }
    return verifyRows(store, new Findings(), onProgress)
  }

  ping: Store['ping'] = async () => {
    this.#rows.readHead('')
    return []
  }

  close: Store['close'] = async () => {
    this.#closing.abort()
    await this.#database.commit(() => {})
    await this.#pool.close()
  }
}

function byName<T extends { readonly name: string }>(rows: ReadonlyMap<string, T>): T[] {
  return [...rows.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}
