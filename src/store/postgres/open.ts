/** Opens a store in PostgreSQL, or in Citus. Any number of processes may have it open. */

import type { ItemRun } from '../../contract/item-run.ts'
import { isCollectionName } from '../../contract/name.ts'
import { missingCollection } from '../collection-rules.ts'
import type { Copy, CopyOptions } from '../copy.ts'
import { DeflatePool } from '../deflate-pool.ts'
import { itemTag } from '../item-tag.ts'
import type {
  AppendOptions,
  CollectionSettings,
  CollectionState,
  Created,
  Head,
  ItemConditions,
  ListedHead,
  Load,
  LoadOptions,
  PageRead,
  Put,
  ReadOptions,
  Segment,
  Store,
  TokenRecord,
  VerifyResult,
  WriteOptions,
} from '../store.ts'
import { explainRows, type StoredCollection, unwrap } from '../stored-collection.ts'
import { createCollection, dropCollection, ensureCollection, setPrivate } from './collection.ts'
import { Connections } from './connection.ts'
import { runCopy, storedRows } from './copy.ts'
import { explainError } from './explain-error.ts'
import { readAllHeads, readHead, shownHead } from './head.ts'
import { runLoad } from './load.ts'
import { PageReader } from './page-reader.ts'
import { Pulse } from './pulse.ts'
import { inSnapshot, readItem } from './read.ts'
import { readAll } from './read-all.ts'
import type { Rows } from './rows.ts'
import { prepareStore } from './schema.ts'
import { SharedReads } from './shared-reads.ts'
import { readStoreUrl, type StoreUrl } from './store-url.ts'
import { sweepAll } from './sweep.ts'
import { insertToken, readToken, readTokens, revokeToken } from './token.ts'
import { verifyPostgres } from './verify.ts'
import { appendItems, deleteItems, putItem, removeItem, replaceItems } from './write.ts'
import type { EncodeReam } from './write-draft.ts'
import { Writer } from './writer.ts'

export { ItemConflict, StoreError, type StoreErrorCode } from '../store-error.ts'

export interface PostgresStoreOptions {
  /**
   * `postgres://user@host:5432/database?schema=reams`. A password in it, in PGPASSWORD or in ~/.pgpass is used and
   * never shown. `prepare=never` is for a pooler that looks like a server, `prepare=always` for one that knows prepared
   * statements.
   */
  readonly url: string
  /** Make a store where there is none. Default false. */
  readonly create?: boolean
  /** Connections for reads, at most. Default 8. */
  readonly readConnections?: number
  /** Connections for writes, at most. Default 4. */
  readonly writeConnections?: number
  /** How long a statement of a read or a write may take. Default 10,000. */
  readonly statementMs?: number
}

const STATEMENT_MS = 10_000

/** For what takes long: loads, exports, checks. */
const LONG_CONNECTIONS = 8
const LONG_STATEMENT_MS = 600_000

/** Opens the store and brings its schema up to date. Rejects with a StoreError that says what to do. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const url = readStoreUrl(options.url)
  const store = new PostgresStore(url, options)
  try {
    await store.prepare(options.create ?? false)
    return store
  } catch (error) {
    await store.close()
    throw explainError(error, url)
  }
}

class PostgresStore implements Store {
  readonly #url: StoreUrl
  readonly #reads: Connections
  readonly #writes: Connections
  readonly #long: Connections
  readonly #pulse: Pulse
  readonly #shared: SharedReads
  readonly #pages: PageReader
  readonly #writer: Writer
  readonly #deflate = new DeflatePool()
  readonly #encode: EncodeReam = (raw, count) => this.#deflate.encode(raw, count)

  constructor(url: StoreUrl, options: PostgresStoreOptions) {
    const { readConnections = 8, writeConnections = 4, statementMs = STATEMENT_MS } = options
    this.#url = url
    this.#reads = new Connections(url, { mostConnections: readConnections, statementMs })
    this.#writes = new Connections(url, { mostConnections: writeConnections, isPipelined: true, statementMs })
    this.#long = new Connections(url, {
      mostConnections: LONG_CONNECTIONS,
      isPipelined: true,
      statementMs: LONG_STATEMENT_MS,
    })
    this.#pulse = new Pulse(url, this.#reads)
    this.#shared = new SharedReads(this.#reads)
    this.#pages = new PageReader(this.#reads, this.#shared)
    this.#writer = new Writer(this.#writes, url, this.#encode, () => sweepAll(this.#long))
  }

  prepare(mayCreate: boolean): Promise<void> {
    return prepareStore(this.#writes, this.#url, mayCreate)
  }

  async collections(): Promise<ListedHead[]> {
    const heads = await this.#explained(readAllHeads(this.#shared))
    return heads.map((head) => ({ ...shownHead(head), changedAt: head.changedAt }))
  }

  async head(name: string, { isPublicOnly = false }: ReadOptions = {}): Promise<Head | undefined> {
    const head = await this.#readNamed(name, () => readHead(this.#shared, name))
    return head === undefined || (isPublicOnly && head.isPrivate) ? undefined : shownHead(head)
  }

  async page(name: string, page: number, { isPublicOnly = false }: ReadOptions = {}): Promise<PageRead | undefined> {
    if (!(page >= 1)) throw new RangeError(`There is no page ${page}: pages count from 1.`)
    if (!isCollectionName(name)) return undefined
    if (isPublicOnly && !this.#pages.wasPublic(name) && !(await this.#explained(this.#pages.isPublic(name))))
      return undefined
    const read = await this.#explained(this.#pages.read(name, page))
    return isPublicOnly && read?.head.isPrivate ? undefined : read
  }

  async item(name: string, key: string, { isPublicOnly = false }: ReadOptions = {}): ReturnType<Store['item']> {
    if (isPublicOnly && !(isCollectionName(name) && (await this.#explained(this.#pages.isPublic(name)))))
      return undefined
    const found = await this.#readNamed(name, () => readItem(this.#shared, name, key))
    if (found === undefined || (isPublicOnly && found.head.isPrivate)) return undefined
    const { head, text } = found
    return { head, item: text && { text, tag: itemTag(text) } }
  }

  /** On a connection of its own: the snapshot lasts as long as the caller takes. */
  async *items(name: string): AsyncGenerator<Segment> {
    if (!isCollectionName(name)) throw missingCollection(name)
    try {
      yield* readAll(this.#long, name)
    } catch (error) {
      throw explainError(error, this.#url)
    }
  }

  create(name: string, settings: Partial<CollectionSettings> = {}): Promise<Head> {
    return this.#writer.change(name, createCollection(name, settings))
  }

  setPrivate(name: string, isPrivate: boolean): Promise<Head> {
    return this.#writer.change(name, setPrivate(isPrivate))
  }

  ensure(name: string, settings: CollectionSettings, { once }: Pick<WriteOptions, 'once'> = {}): Promise<Created> {
    return this.#writer.change(name, ensureCollection(name, settings), once)
  }

  async drop(name: string, state?: CollectionState, { once }: Pick<WriteOptions, 'once'> = {}): Promise<void> {
    await this.#writer.change(name, dropCollection(state), once)
    // It is dropped already: what cannot be removed now is left to a later time.
    await sweepAll(this.#long).catch(() => {})
  }

  append(name: string, run: ItemRun, { once, collectionId, create }: AppendOptions = {}): Promise<Head> {
    return this.#writer.change(name, appendItems(name, run, collectionId, create), once)
  }

  async put(
    name: string,
    run: ItemRun,
    conditions: ItemConditions = {},
    { once, collectionId }: WriteOptions = {},
  ): Promise<Put> {
    if (run.count !== 1) throw new RangeError(`One item is put at a time, and this run holds ${run.count}.`)
    return this.#writer.change(name, putItem(run, conditions, collectionId), once)
  }

  remove(
    name: string,
    key: string,
    conditions: ItemConditions = {},
    { once, collectionId }: WriteOptions = {},
  ): Promise<Head> {
    return this.#writer.change(name, removeItem(key, conditions, collectionId), once)
  }

  replace(name: string, run: ItemRun): Promise<Head> {
    return this.#writer.change(name, replaceItems(run))
  }

  delete(name: string, keys: readonly string[]): Promise<Head> {
    return this.#writer.change(name, deleteItems(keys))
  }

  load(name: string, options: LoadOptions = {}): Promise<Load> {
    return runLoad(this.#long, this.#url, this.#encode, name, options)
  }

  async stored<T>(name: string, use: (collection: StoredCollection) => Promise<T>): Promise<T> {
    if (!isCollectionName(name)) throw missingCollection(name)
    const read = async (rows: Rows): Promise<PromiseSettledResult<T>> => {
      const head = await readHead(rows, name)
      if (head === undefined) throw missingCollection(name)
      const stored = explainRows(storedRows(rows, head, head.next), (error) => explainError(error, this.#url))
      const [settled] = await Promise.allSettled([use({ head: shownHead(head), ...stored })])
      return settled
    }
    return unwrap(await this.#explained(this.#long.lend((rows) => inSnapshot(rows, () => read(rows)))))
  }

  copy(origin: Head, { isReplacement = false }: CopyOptions = {}): Promise<Copy> {
    return runCopy(this.#long, this.#url, this.#encode, origin, isReplacement)
  }

  async tokens(): Promise<TokenRecord[]> {
    return this.#explained(readTokens(this.#shared))
  }

  async token(hash: string): Promise<TokenRecord | undefined> {
    return this.#explained(readToken(this.#shared, hash))
  }

  addToken(token: TokenRecord): Promise<void> {
    return this.#explained(this.#writes.lend((rows) => insertToken(rows, token)))
  }

  revokeToken(name: string, at: number): Promise<void> {
    return this.#explained(this.#writes.lend((rows) => revokeToken(rows, name, at)))
  }

  verify(onProgress?: (items: number, total: number) => void): Promise<VerifyResult> {
    return this.#explained(this.#long.lend((rows) => verifyPostgres(rows, onProgress)))
  }

  async ping(): Promise<void> {
    await this.#explained(this.#pulse.feel())
  }

  async close(): Promise<void> {
    await this.#writer.close()
    await Promise.all([
      this.#reads.close(),
      this.#writes.close(),
      this.#long.close(),
      this.#pulse.close(),
      this.#deflate.close(),
    ])
  }

  /** There is nothing of a name that breaks the rule, and PostgreSQL could not even look for some of them. */
  async #readNamed<T>(name: string, read: () => Promise<T | undefined>): Promise<T | undefined> {
    return isCollectionName(name) ? this.#explained(read()) : undefined
  }

  async #explained<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (error) {
      throw explainError(error, this.#url)
    }
  }
}
