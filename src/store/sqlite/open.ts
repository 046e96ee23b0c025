/** Opens a store in an SQLite file: reads on connections that only read, many pages at once on a thread; writes on another. */

import type { DatabaseSync } from 'node:sqlite'
import type { StateTag } from '../../contract/state-tag.ts'
import { availableMemory, planMemory } from '../../memory/memory-plan.ts'
import type { ChangeCall } from '../changes.ts'
import { itemTag } from '../collection-rules.ts'
import { storedHead } from '../default-operations.ts'
import type { Following, NamedFollowing } from '../following.ts'
import { type Cutoff, FORGET_EVERY_MS, forgetAllOf, HISTORY_SHARE } from '../history.ts'
import { readState } from '../past.ts'
import { readItems, textOf } from '../read-page.ts'
import { runSync } from '../rows.ts'
import { runLoad } from '../run-load.ts'
import type {
  Head,
  ListedHead,
  Load,
  LoadOptions,
  Once,
  ReadOptions,
  Segment,
  SegmentForm,
  StateOptions,
  StateRead,
  Store,
  TokenRecord,
  VerifyResult,
} from '../store.ts'
import { StoreError } from '../store-error.ts'
import { type PageQuestion, StoreReads } from '../store-reads.ts'
import { forgetExpired } from '../stored-history.ts'
import { readFollowings, readToken, readTokens } from '../stored-tokens.ts'
import { publicHead } from '../tables.ts'
import { readDiskSpace } from './file/disk-space.ts'
import { checkOnlyName } from './file/other-name.ts'
import { fillReserve, releaseReserve } from './file/reserve-file.ts'
import { checkSameFile, type FilePlace, fileIdentity, foldLog, openReadConnection } from './file/store-file.ts'
import { ChangesReader } from './read/changes-reader.ts'
import { PageReader } from './read/page-reader.ts'
import { readPageHere } from './read/read.ts'
import { explainError, inCollection, isFull } from './rows/explain-error.ts'
import { readAllHeads, readHead } from './rows/head.ts'
import { SqliteRows } from './rows/sqlite-rows.ts'
import { Statements } from './rows/statements.ts'
import { prepareStore } from './schema.ts'
import { verifySqlite } from './verify.ts'
import { Writer } from './write/writer.ts'

export { ItemConflict, StoreError, type StoreErrorCode } from '../store-error.ts'

export interface SqliteStoreOptions {
  /** The path of the file. */
  readonly path: string
  /** Make a store where there is none. Default false. */
  readonly create?: boolean
  /** How often it is looked for history that is not kept any more. Default 60,000. */
  readonly forgetEveryMs?: number
  /** About how much the history of all collections may take; the oldest states go first. Default: a quarter of the disk. */
  readonly historyBytes?: number
  /** Keep some disk space in a file beside the store, so that space can be freed on a full disk. Default false. */
  readonly keepReserve?: boolean
  /** How many processes such as this one share the memory of the machine: each has smaller caches. Default 1. */
  readonly workers?: number
}

/** When the reserve file is created, after the store is opened. */
const FIRST_FILL_MS = 1_000

/** How often a full disk makes it look for history that is not kept any more. */
const FORGET_FOR_SPACE_MS = 1_000

/** See `Store.textBytes`. */
const TEXT_BYTES = `
  SELECT (SELECT coalesce(sum(raw_length), 0) FROM ream WHERE collection_id = ?1 AND generation = ?2)
    + (SELECT coalesce(sum(octet_length(item)), 0) FROM tail WHERE collection_id = ?1 AND generation = ?2)`

/** So that the writer thread has always something to do. */
const KEY_STEPS_AHEAD = 4

/** A ream is read fast, and may be large. */
const REAMS_AT_A_TIME = 1

const READ_ALL_HEADS = 'SELECT count(live) FROM head'

/** Opens the store and brings its schema up to date. Rejects with a StoreError that says what to do. */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { create = false } = options
  // SQLite reads other things into names such as `:memory:` and `file:x.db`. Here a path is a path.
  const path = /^(:|file:)/.test(options.path) ? `./${options.path}` : options.path
  try {
    return new SqliteStore(path, await openUsingReserve(path, create), options)
  } catch (error) {
    throw explainError(error, path)
  }
}

/** On a full disk there is no room for the index of the log: then the reserve is given up. */
async function openUsingReserve(path: string, create: boolean): Promise<DatabaseSync> {
  const open = async () => {
    await checkOnlyName(path)
    await prepareStore(path, create)
    return openForGood(path)
  }
  try {
    return await open()
  } catch (error) {
    if (!isFull(error) || !releaseReserve(path)) throw error
    return open()
  }
}

/** A connection with a lock: SQLite opens a file with the first statement. What is wrong shows now, not in a request. */
function openForGood(path: string): DatabaseSync {
  const database = openReadConnection(path)
  try {
    new Statements(database).get(READ_ALL_HEADS)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

class SqliteStore extends StoreReads implements Store {
  readonly #path: string
  readonly #database: DatabaseSync
  readonly #rows: SqliteRows
  readonly #writer: Writer
  readonly #pageReader: PageReader
  readonly #changesReader: ChangesReader
  readonly #place: FilePlace
  readonly #forgetting: NodeJS.Timeout
  #isForgetting = false
  #forgotAt = Number.NEGATIVE_INFINITY
  readonly #historyBytes: number | undefined
  readonly #keepReserve: boolean
  #filling: Promise<void> = Promise.resolve()
  readonly #closing = new AbortController()

  constructor(path: string, database: DatabaseSync, options: SqliteStoreOptions) {
    super()
    const { forgetEveryMs = FORGET_EVERY_MS, historyBytes, keepReserve = false } = options
    this.#historyBytes = historyBytes
    this.#keepReserve = keepReserve
    this.#path = path
    this.#place = { path, identity: fileIdentity(path) }
    this.#database = database
    this.#rows = new SqliteRows(new Statements(database))
    const plan = planMemory(availableMemory(), options.workers)
    this.#writer = new Writer({ place: this.#place, plan }, this.activity, () => this.#forgetSoon())
    const readHere = (question: PageQuestion) => this.#read((rows) => readPageHere(rows, question))
    this.#pageReader = new PageReader(this.#place, readHere)
    this.#changesReader = new ChangesReader(this.#place, readHere)
    this.#forgetting = setInterval(() => this.#tidyUp(), forgetEveryMs).unref()
    // A command that ends at once needs no reserve.
    setTimeout(() => this.#fillReserve(), Math.min(forgetEveryMs, FIRST_FILL_MS)).unref()
  }

  async collections(): Promise<ListedHead[]> {
    return this.#read(({ sql }) => readAllHeads(sql))
  }

  async head(name: string, { isPublicOnly = false }: ReadOptions = {}): Promise<Head | undefined> {
    this.activity.reads.head++
    return this.#read(({ sql }) => readHead(sql, name, isPublicOnly))
  }

  async stateAt(name: string, tag: StateTag, options: StateOptions = {}): Promise<StateRead | undefined> {
    this.activity.reads.head++
    const { isPublicOnly = false, page } = options
    return this.#read((rows) =>
      rows.sql.inSnapshot(() => {
        const head = rows.readHead(name, isPublicOnly)
        return head && inCollection(name, () => runSync(readState(head, tag, page, rows.cache), rows))
      }),
    )
  }

  protected async readAny(question: PageQuestion, form: SegmentForm | undefined) {
    if (form === undefined) return this.#read((rows) => readPageHere(rows, question))
    return question.past?.isChanges ? this.#changesReader.read(question) : this.#pageReader.read(question)
  }

  async item(name: string, key: string, { isPublicOnly = false }: ReadOptions = {}): ReturnType<Store['item']> {
    this.activity.reads.item++
    const read = this.#read((rows) => rows.findItem(name, key, isPublicOnly))
    if (read === undefined) return undefined
    const head = publicHead(read.head)
    const { found } = read
    const text = found && this.#read(() => textOf(head, found))
    return { head, item: text && { text, tag: itemTag(text) } }
  }

  async textBytes(name: string): Promise<number> {
    return this.#read(({ sql }) =>
      sql.inSnapshot(() => {
        const head = readHead(sql, name)
        return head === undefined ? 0 : Number(sql.get(TEXT_BYTES, head.id, head.generation)?.[0] ?? 0)
      }),
    )
  }

  /** On a connection of its own: the snapshot lasts as long as the caller takes. */
  async *items(name: string, onHead?: (head: Head) => void): AsyncGenerator<Segment> {
    try {
      using database = openReadConnection(this.#path)
      const rows = new SqliteRows(new Statements(database))
      database.exec('BEGIN')
      yield* readItems(rows, name, REAMS_AT_A_TIME, onHead)
    } catch (error) {
      throw explainError(error, this.#path)
    }
  }

  protected change<T>(name: string, once: Once | undefined, ...change: ChangeCall): Promise<T> {
    return this.#writer.ask({ name, once, change })
  }

  protected sweepDropped(): Promise<void> {
    return this.#writer.sweep()
  }

  protected async forgetOld(name: string, cutoff?: Cutoff): Promise<void> {
    await forgetAllOf(() => this.#writer.step('forgetOld', name, cutoff), this.activity)
    await this.#writer.sweep()
  }

  #tidyUp(): void {
    void this.#forgetAll()
    this.#fillReserve()
  }

  #fillReserve(): void {
    if (!this.#keepReserve) return
    const { signal } = this.#closing
    this.#filling = this.#filling.then(() => (signal.aborted ? undefined : fillReserve(this.#path, signal)))
  }

  /** A write was refused because the disk is full: history that is no longer kept may make room. */
  #forgetSoon(): void {
    if (performance.now() - this.#forgotAt >= FORGET_FOR_SPACE_MS) void this.#forgetAll()
  }

  /** What cannot be removed now is left to a later time, and keeps nobody from removing the rest. */
  async #forgetAll(): Promise<void> {
    // What takes longer than it is to the next time goes on.
    if (this.#isForgetting) return
    this.#isForgetting = true
    const disk = this.#historyBytes === undefined ? readDiskSpace(this.#path) : undefined
    const heads = await this.collections().catch(() => [])
    const forgotten = forgetExpired(heads.map(storedHead), {
      run: (steps) => this.#read((rows) => runSync(steps, rows)),
      forget: (name, cutoff) => this.forgetOld(name, cutoff),
      mayGoOn: () => true,
      limitBytes: this.#historyBytes ?? (disk?.totalBytes ?? Number.POSITIVE_INFINITY) * HISTORY_SHARE,
      onNotice: this.activity.onNotice,
    })
    await forgotten.catch(() => {})
    this.#forgotAt = performance.now()
    this.#isForgetting = false
  }

  load(name: string, options: LoadOptions = {}): Promise<Load> {
    // Whoever only loads would never remove anything else.
    const sweep = async () => {
      await this.#writer.sweep()
      await this.forgetOld(name)
    }
    return runLoad(this.#writer.step, name, options, sweep, KEY_STEPS_AHEAD)
  }

  async tokens(): Promise<TokenRecord[]> {
    return this.#read((rows) => rows.sql.inSnapshot(() => runSync(readTokens(), rows)))
  }

  async token(hash: string): Promise<TokenRecord | undefined> {
    return this.#read((rows) => runSync(readToken(hash), rows))
  }

  addToken(token: TokenRecord): Promise<void> {
    return this.#writer.step('addToken', token)
  }

  revokeToken(name: string, at: number): Promise<void> {
    return this.#writer.step('revokeToken', name, at)
  }

  noteFollowing(name: string, following: Following | null): Promise<void> {
    return this.#writer.step('noteFollowing', name, following)
  }

  async followings(): Promise<NamedFollowing[]> {
    return this.#read((rows) => runSync(readFollowings(), rows))
  }

  verify(onProgress?: (items: number, total: number) => void): Promise<VerifyResult> {
    return verifySqlite(this.#path, onProgress)
  }

  /** On a connection of its own, which has nothing in its cache yet: so it is the file that answers. */
  async ping(): Promise<readonly string[]> {
    this.#read(() => {
      checkSameFile(this.#place)
      using database = openReadConnection(this.#path)
      new Statements(database).get(READ_ALL_HEADS)
    })
    return []
  }

  async close(): Promise<void> {
    if (!this.#database.isOpen) return
    clearInterval(this.#forgetting)
    this.#closing.abort()
    this.#database.close()
    await this.#filling
    await this.#pageReader.close()
    await this.#changesReader.close()
    await this.#writer.close()
    if (fileIdentity(this.#path) === this.#place.identity) foldLog(this.#path)
  }

  #read<T>(read: (rows: SqliteRows) => T): T {
    if (!this.#database.isOpen) throw new StoreError('closed', 'The store is closed.')
    try {
      return read(this.#rows)
    } catch (error) {
      throw explainError(error, this.#path)
    }
  }
}
