/** A store in memory: every algorithm is that of the other engines, and only the rows are kept otherwise. */

import { setInterval } from 'node:timers/promises'
import { type ChangeCall, changeOf } from '../../../src/store/changes.ts'
import { existingToken, itemTag, missingCollection, missingToken } from '../../../src/store/collection-rules.ts'
import { DeflatePool } from '../../../src/store/deflate-pool.ts'
import { type Cutoff, FORGET_EVERY_MS, forgetAllOf } from '../../../src/store/history.ts'
import { splitItems } from '../../../src/store/item-text.ts'
import { abandonLoad, FULL_STEP, SweepNeeded, sweepStep } from '../../../src/store/leases.ts'
import { lostLease, ReamLoad } from '../../../src/store/load.ts'
import {
  beginLoad,
  claimKeys,
  finishLoad,
  putLoadedReams,
  putLoadedTail,
  stageReplacements,
} from '../../../src/store/load-steps.ts'
import { readState } from '../../../src/store/past.ts'
import { type AnyPage, readAnyPageOf } from '../../../src/store/read-any-page.ts'
import { ReadCache } from '../../../src/store/read-cache.ts'
import { readItems, textOf } from '../../../src/store/read-page.ts'
import { runAsync, runSync, type Steps } from '../../../src/store/rows.ts'
import type { Head, ListedHead, Once, PageRead, PastRead, Segment, Store } from '../../../src/store/store.ts'
import { StoreError } from '../../../src/store/store-error.ts'
import { StoreReads } from '../../../src/store/store-reads.ts'
import { forgetExpired, forgetStep } from '../../../src/store/stored-history.ts'
import { publicHead, type StoredHead } from '../../../src/store/tables.ts'
import { applyCall, beginDraft, readForCalls, writeDraft } from '../../../src/store/write-draft.ts'
import { copyTables, emptyTables, MemoryRows } from './memory-rows.ts'
import { verifyMemory } from './verify-memory.ts'

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

  /** Removes everything that is left over, in many small commits. */
  protected async sweepDropped(): Promise<void> {
    for (const name of this.#rows.findDeadLeases()) await this.#commit((rows) => runSync(abandonLoad(name), rows))
    for (const shardKey of this.#rows.findLeftoverShards())
      while (await this.#commit((rows) => runSync(sweepStep(shardKey, FULL_STEP), rows)));
  }

  protected async forgetOld(name: string, cutoff?: Cutoff): Promise<void> {
    const step = () => this.#commit((rows) => runSync(forgetStep(name, FULL_STEP, cutoff), rows))
    await forgetAllOf(step, this.activity)
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

  load: Store['load'] = async (name, options = {}) => {
    const load = await this.#commit((rows) => runSync(beginLoad(name, options), rows))
    /** Steps that are committed, and the position of the next key. */
    let [steps, next] = [0, load.base]
    const underLease = <T>(count: number, work: () => Steps<T>) =>
      this.#commit(async (rows) => {
        if (!rows.renewLease(load.lease, count)) throw lostLease(name)
        const result = await runAsync(work(), rows)
        steps += count
        return result
      })
    return new ReamLoad(load, {
      claimKeys: (keys, text = new Uint8Array(0)) =>
        underLease(1, function* () {
          const taken = yield* claimKeys(load, keys, next, () => splitItems(text))
          next += keys.length - taken.size
          return [...taken.keys()]
        }),
      putReams: (reams) => underLease(1, () => putLoadedReams(load, reams)),
      putTail: (from, raw) => underLease(1, () => putLoadedTail(load, from, raw)),
      stageReplacements: (from, staged) => underLease(1, () => stageReplacements(load, from, staged, this.#pool)),
      finish: (counts) => this.#commit((rows) => runAsync(finishLoad(load, { ...counts, steps }, this.#pool), rows)),
      abandon: () => this.#commit((rows) => runSync(abandonLoad(name, load.lease.holder), rows)),
      renew: () => underLease(0, function* () {}),
      sweep: () => this.forgetOld(name),
    })
  }

  tokens: Store['tokens'] = async () => byName(this.#rows.tables.token)

  token: Store['token'] = async (hash) => (await this.tokens()).find((token) => token.hash === hash)

  addToken: Store['addToken'] = (token) =>
    this.#commit(({ tables }) => {
      if (tables.token.has(token.name)) throw existingToken(token.name)
      tables.token.set(token.name, token)
    })

  revokeToken: Store['revokeToken'] = (name, at) =>
    this.#commit(({ tables }) => {
      const token = tables.token.get(name)
      if (token === undefined) throw missingToken(name)
      tables.token.set(name, { ...token, revokedAt: token.revokedAt ?? at })
    })

  noteFollowing: Store['noteFollowing'] = (name, following) =>
    this.#commit(({ tables }) => {
      if (!tables.head.has(name)) throw missingCollection(name)
      if (following === null) tables.following.delete(name)
      else tables.following.set(name, { name, ...following })
    })

  followings: Store['followings'] = async () => byName(this.#rows.tables.following)

  verify: Store['verify'] = async (onProgress) => verifyMemory(this.#rows.tables, onProgress)

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
