/** Opens a store in PostgreSQL, or in Citus. Any number of processes may have it open. */

import { isCollectionName } from '../../contract/name.ts'
import type { StateTag } from '../../contract/state-tag.ts'
import { stateOf } from '../../postgres/postgres-error.ts'
import { type ChangeCall, changeOf } from '../changes.ts'
import { itemTag, missingCollection } from '../collection-rules.ts'
import { DeflatePool } from '../deflate-pool.ts'
import type { Following, NamedFollowing } from '../following.ts'
import { DATABASE_HISTORY_BYTES, FORGET_EVERY_MS } from '../history.ts'
import type { AnyPage } from '../read-any-page.ts'
import { textOf } from '../read-page.ts'
import { runAsync, type Steps } from '../rows.ts'
import { runLoad } from '../run-load.ts'
import type {
  Head,
  ListedHead,
  Load,
  LoadOptions,
  Once,
  Reachable,
  ReadOptions,
  Segment,
  StateOptions,
  StateRead,
  Store,
  TokenRecord,
  VerifyResult,
} from '../store.ts'
import { StoreError } from '../store-error.ts'
import { StoreReads } from '../store-reads.ts'
import { addToken, noteFollowing, readFollowings, readToken, readTokens, revokeToken } from '../stored-tokens.ts'
import { publicHead } from '../tables.ts'
import type { PageReader } from './read/page-reader.ts'
import { readAll } from './read/snapshot.ts'
import { shardKeyOf } from './rows/head.ts'
import type { Rows } from './rows/rows.ts'
import { prepareStore } from './schema.ts'
import type { DatabaseNode } from './server/database-nodes.ts'
import { DatabaseNodes } from './server/database-nodes.ts'
import { explainError, explained, isNodeAway, TOOK_TOO_LONG } from './server/explain-error.ts'
import { readStoreUrl, type StoreUrl } from './server/store-url.ts'
import { verifyPostgres } from './verify.ts'
import { stepsOn } from './write/commit-step.ts'
import { forgetName } from './write/forget.ts'
import { commitOn, sweepName, tryTransaction } from './write/try-transaction.ts'

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
  /** How often, after writes, it is looked for history that is not kept any more. Default 60,000. */
  readonly forgetEveryMs?: number
  /** About how much the history of all collections may take; the oldest states go first. Default 16 GiB. */
  readonly historyBytes?: number
}

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

class PostgresStore extends StoreReads implements Store {
  readonly #url: StoreUrl
  readonly #deflate = new DeflatePool()
  readonly #nodes: DatabaseNodes
  /** What is not about one collection; without Citus everything. */
  readonly #common: DatabaseNode

  constructor(url: StoreUrl, options: PostgresStoreOptions) {
    super()
    const { readConnections = 8, writeConnections = 4, statementMs = 10_000 } = options
    const { forgetEveryMs = FORGET_EVERY_MS, historyBytes = DATABASE_HISTORY_BYTES } = options
    const pool = this.#deflate
    this.#url = url
    this.#nodes = new DatabaseNodes({
      url,
      readConnections,
      writeConnections,
      statementMs,
      tidyEveryMs: forgetEveryMs,
      historyBytes,
      pool,
      activity: this.activity,
    })
    this.#common = this.#nodes.common
  }

  async prepare(mayCreate: boolean): Promise<void> {
    const { hasCitus } = await prepareStore(this.#common.writes, this.#url, mayCreate)
    if (hasCitus) await this.#nodes.findWorkers()
  }

  async collections(): Promise<ListedHead[]> {
    return [...(await this.#explained(this.#nodes.allHeads()))]
  }

  override async reachable(): Promise<Reachable> {
    return this.#explained(this.#nodes.reachableHeads())
  }

  async head(name: string, { isPublicOnly = false }: ReadOptions = {}): Promise<Head | undefined> {
    this.activity.reads.head++
    const head = await this.#readNamed(name, ({ rows }) => rows.readHead(name))
    return head === undefined || (isPublicOnly && head.isPrivate) ? undefined : publicHead(head)
  }

  async stateAt(name: string, tag: StateTag, options: StateOptions = {}): Promise<StateRead | undefined> {
    this.activity.reads.head++
    const { isPublicOnly = false } = options
    return this.#pages(name, isPublicOnly, (pages) => pages.readStateAt(name, tag, options))
  }

  protected async readAny(question: AnyPage) {
    const { name, isPublicOnly } = question
    return this.#pages(name, isPublicOnly, (pages) => pages.read(question))
  }

  async #pages<T>(
    name: string,
    isPublicOnly: boolean,
    read: (pages: PageReader) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    if (!isCollectionName(name)) return undefined
    const { pages } = await this.#explained(this.#nodes.of(name))
    if (isPublicOnly && !pages.wasPublic(name) && !(await this.#explained(pages.isPublic(name)))) return undefined
    return this.#explained(read(pages))
  }

  async item(name: string, key: string, { isPublicOnly = false }: ReadOptions = {}): ReturnType<Store['item']> {
    this.activity.reads.item++
    if (isPublicOnly && !(await this.#readNamed(name, ({ pages }) => pages.isPublic(name)))) return undefined
    const read = await this.#readNamed(name, ({ pages }) => pages.findItem(name, key))
    if (read === undefined || (isPublicOnly && read.head.isPrivate)) return undefined
    const { found } = read
    const head = publicHead(read.head)
    const text = found && textOf(head, found)
    return { head, item: text && { text, tag: itemTag(text) } }
  }

  async textBytes(name: string): Promise<number> {
    const row = await this.#readNamed(name, ({ shared }) => shared.first('readTextBytes', shardKeyOf(name), name))
    return Number(row?.[0] ?? 0)
  }

  /** On a connection of its own: the snapshot lasts as long as the caller takes. */
  async *items(name: string, onHead?: (head: Head) => void): AsyncGenerator<Segment> {
    if (!isCollectionName(name)) throw missingCollection(name)
    try {
      yield* readAll((await this.#nodes.of(name)).long, name, onHead)
    } catch (error) {
      throw explainError(error, this.#url)
    }
  }

  protected async change<T>(name: string, once: Once | undefined, ...change: ChangeCall): Promise<T> {
    const { writer } = await this.#explained(this.#nodes.of(name))
    return writer.change(name, once, changeOf(change))
  }

  protected async sweepDropped(name: string): Promise<void> {
    await sweepName((await this.#nodes.of(name)).long, name)
  }

  protected async forgetOld(name: string): Promise<void> {
    const { long } = await this.#explained(this.#nodes.of(name))
    await this.#explained(forgetName(long, name, this.activity))
  }

  async load(name: string, options: LoadOptions = {}): Promise<Load> {
    const { long } = await this.#explained(this.#nodes.of(name))
    // Here first, then what others left behind.
    return runLoad(stepsOn(long, name, this.#nodes.options), name, options, async () => {
      await sweepName(long, name)
      await this.#nodes.options.sweep()
    })
  }

  async tokens(): Promise<TokenRecord[]> {
    return this.#explained(runAsync(readTokens(), this.#common.rows))
  }

  async token(hash: string): Promise<TokenRecord | undefined> {
    return this.#explained(runAsync(readToken(hash), this.#common.rows))
  }

  addToken(token: TokenRecord): Promise<void> {
    return this.#commitToken(() => addToken(token))
  }

  revokeToken(name: string, at: number): Promise<void> {
    return this.#commitToken(() => revokeToken(name, at))
  }

  async noteFollowing(name: string, following: Following | null): Promise<void> {
    if (!isCollectionName(name)) throw missingCollection(name)
    const { writes } = await this.#explained(this.#nodes.of(name))
    const commit = (rows: Rows) => commitOn(rows, noteFollowing(name, following))
    await this.#explained(tryTransaction(writes, name, commit))
  }

  followings(): Promise<NamedFollowing[]> {
    return this.#explained(runAsync(readFollowings(), this.#common.rows))
  }

  verify(onProgress?: (items: number, total: number) => void): Promise<VerifyResult> {
    return this.#explained(this.#common.long.lend((rows) => verifyPostgres(rows, onProgress)))
  }

  async ping(): Promise<readonly string[]> {
    return this.#explained(this.#nodes.ping())
  }

  async close(): Promise<void> {
    await this.#nodes.close()
    await this.#deflate.close()
  }

  /** There is nothing of a name that breaks the rule, and PostgreSQL could not even look for some of them. */
  async #readNamed<T>(name: string, read: (node: DatabaseNode) => Promise<T | undefined>): Promise<T | undefined> {
    return isCollectionName(name) ? this.#explained(this.#nodes.of(name).then(read)) : undefined
  }

  /** Citus keeps tokens on every node. */
  async #commitToken(steps: () => Steps<void>): Promise<void> {
    const commit = (rows: Rows) => commitOn(rows, steps())
    try {
      await this.#explained(tryTransaction(this.#common.writes, '', commit))
    } catch (error) {
      const isLate = error instanceof StoreError && stateOf(error.cause) === TOOK_TOO_LONG
      if (!(error instanceof StoreError && (isLate || isNodeAway(error.cause))) || !this.#nodes.areSeveral) throw error
      const advice = 'Tokens are kept on every node, and this needs all of them. Try again when it is back.'
      throw new StoreError('unavailable', `${error.message} ${advice}`, { cause: error.cause })
    }
  }

  #explained<T>(work: Promise<T>): Promise<T> {
    return explained(work, this.#url)
  }
}
