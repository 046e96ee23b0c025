/**
 * A table that is followed, and a twin of it that is not: the same SQL goes to both, through the same connections. What a
 * statement answers must be the same, and at quiet moments the collection is the table.
 */

import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { FollowedTable } from '../../src/follow/followed-table.ts'
import { type FollowEvent, Follower, type FollowOptions } from '../../src/follow/follower.ts'
import { Names } from '../../src/follow/installation.ts'
import { itemRun } from '../../src/items/item-run.ts'
import { DEFAULT_ITEM_BYTES } from '../../src/items/item-scanner.ts'
import { stateOf } from '../../src/postgres/postgres-error.ts'
import type { Store } from '../../src/store/store.ts'
import { PostgresSession } from '../../src/tables/postgres-session.ts'
import { linesIn } from '../cli/items.ts'
import { type Closer, shared } from '../service/open-service.ts'
import { newSchema, runSql } from '../store/postgres-engine.ts'
import { type PostgresServer, startPostgres } from '../store/postgres-server.ts'
import { openSqliteForTest } from '../store/sqlite-engine.ts'

const EVERY_MS = 5
const RETRY_MS = 50
/** Rounds without any news, after which nothing more will come: a repair takes a round, and tells nothing. */
const IDLE_ROUNDS = 3
const QUIET_MS = 60_000

/** What sessions of an application may have set, one after the other. */
const SESSIONS = [
  "SET TimeZone = 'UTC'",
  "SET TimeZone = 'America/St_Johns'; SET DateStyle = 'SQL, DMY'; SET IntervalStyle = 'sql_standard'; SET default_transaction_isolation = 'repeatable read'",
  "SET TimeZone = 'Asia/Kolkata'; SET extra_float_digits = 0; SET bytea_output = 'escape'; SET default_transaction_isolation = 'serializable'",
]

export const CONNECTIONS = SESSIONS.length

/** A statement for both, and what became of it: SQLSTATE, or undefined if it went well. */
interface Answer {
  readonly state: string | undefined
  readonly message: string
  readonly rowCount: number | null
}

/** Where the tables are that are followed, and where their collections are. */
export interface Source<Server extends PostgresServer = PostgresServer> {
  readonly server: Server
  readonly url: string
  readonly store: Store
}

/** The same server and store for all tests of a suite. */
export function sharedSource(): () => Source
export function sharedSource<Server extends PostgresServer>(start: () => Promise<Server>): () => Source<Server>
export function sharedSource(start: () => Promise<PostgresServer> = startPostgres): () => Source {
  return shared(async (closer) => {
    const server = await start()
    closer.after(() => server.stop())
    const { store, remove } = await openSqliteForTest()
    closer.after(remove)
    return { server, url: server.url, store }
  })
}

/** Definition of a table with two rows. */
export const ITEMS = ['CREATE TABLE t (id int PRIMARY KEY, v text)', "INSERT INTO t VALUES (1, 'one'), (2, 'two')"]

export class FollowedTwins {
  /** Everything that was sent, to be shown where something is wrong. */
  readonly log: string[] = []
  /** Kinds of events, and how many there were. */
  readonly counts = new Map<string, number>()
  readonly #store: Store
  readonly #url: string
  /** Where the followed table is. */
  readonly schema = newSchema()
  readonly #twin = newSchema()
  readonly #pairs = new Map<number, readonly [followed: Client, twin: Client]>()
  #options: Partial<FollowOptions> = {}
  #end = new AbortController()
  #running: Promise<unknown> = Promise.resolve()
  #failure: unknown
  #mayRetry = false
  #idleRounds = 0
  #onEvent: (event: FollowEvent) => void = () => {}

  private constructor({ store, url }: Omit<Source, 'server'>) {
    this.#store = store
    this.#url = url
  }

  /** Until the test ends. `definition` makes the table `t`, and what belongs to it. */
  static async open(t: Closer, source: Omit<Source, 'server'>, definition = ITEMS): Promise<FollowedTwins> {
    const twins = new FollowedTwins(source)
    t.after(() => twins.#close())
    await runSql(twins.#url, '', `CREATE SCHEMA ${twins.schema}; CREATE SCHEMA ${twins.#twin}`)
    for (const statement of definition) await twins.send(0, statement)
    return twins
  }

  /** One that is followed. */
  static async follow(
    t: Closer,
    source: Omit<Source, 'server'>,
    definition = ITEMS,
    options: Partial<FollowOptions> = {},
  ): Promise<FollowedTwins> {
    const twins = await FollowedTwins.open(t, source, definition)
    await twins.follow(options)
    return twins
  }

  /** Of what is installed for the follower. */
  async names(): Promise<Names> {
    const schema = `${this.schema}_follow`
    const [[id] = []] = await runSql(this.#url, '', `SELECT id FROM ${schema}.follower`)
    return new Names(schema, String(id))
  }

  /** The connections with this number, each with its own settings. */
  async #pair(number: number): Promise<readonly [followed: Client, twin: Client]> {
    const settings = SESSIONS[number] ?? assert.fail('no such connection')
    const pair =
      this.#pairs.get(number) ??
      ([await this.#connect(this.schema, settings), await this.#connect(this.#twin, settings)] as const)
    this.#pairs.set(number, pair)
    return pair
  }

  async #connect(schema: string, settings: string): Promise<Client> {
    const client = new Client(this.#url)
    // Tests may restart the server.
    client.on('error', () => {})
    await client.connect()
    await client.query(`SET search_path = ${schema}, public; ${settings}`)
    return client
  }

  /** Begins to follow, and answers when the first load is done. */
  async follow(changed = this.#options): Promise<void> {
    this.#options = changed
    this.#end = new AbortController()
    const { signal } = this.#end
    const options: FollowOptions = {
      url: this.#url,
      table: `${this.schema}.t`,
      keyField: undefined,
      schema: `${this.schema}_follow`,
      collection: this.schema,
      queueRows: 1_000_000,
      everyMs: EVERY_MS,
      retryMs: RETRY_MS,
      compareMs: 3_600_000,
      isToCompare: false,
      mayReplace: false,
      itemBytes: DEFAULT_ITEM_BYTES,
      approve: async () => {},
      onEvent: (event) => this.#hear(event),
      ...changed,
    }
    const table = await FollowedTable.open({ ...options, signal })
    this.#running = new Follower(this.#store, table, options, signal).run().catch((error) => {
      table.hangUp()
      if (signal.aborted) return
      this.#failure = error
      this.#onEvent({ kind: 'retry', error })
    })
    await this.quiet()
  }

  /** Ends the follower, and answers when it has ended; `follow` starts another. */
  async leave(): Promise<void> {
    this.#end.abort()
    await this.#running
  }

  /** From now on the follower may fail for a while, as long as it tries again. */
  allowRetries(): void {
    this.#mayRetry = true
  }

  /** A failure that was expected: another follower can start. */
  forgive(): void {
    this.#failure = undefined
  }

  /** Somebody else changes the collection. */
  async tamper(): Promise<void> {
    const [line] = (await linesIn(this.#store, this.schema)).split('\n')
    const keyField = (await this.#store.head(this.schema))?.keyField ?? null
    if (line === undefined || line === '') return
    const run = itemRun([line], { keyField })
    if (line.length % 2) await this.#store.delete(this.schema, run.keys ?? [])
    else await this.#store.replace(this.schema, itemRun([line.replace(/}$/, ',"tampered":true}')], { keyField }))
  }

  #hear(event: FollowEvent): void {
    this.counts.set(event.kind, (this.counts.get(event.kind) ?? 0) + 1)
    if (event.kind === 'retry' && !this.#mayRetry) this.#failure = event.error
    if (event.kind !== 'look') this.log.push(`-- ${JSON.stringify(event)}`)
    this.#idleRounds = event.kind === 'look' && event.waiting === 0 ? this.#idleRounds + 1 : 0
    this.#onEvent(event)
  }

  /** Sends a statement to both, through the connection with this number. Both must answer the same. */
  async send(connection: number, statement: string): Promise<Answer> {
    const [followed, twin] = await this.#pair(connection)
    const answer = await ask(followed, statement)
    const { state, message, rowCount } = answer
    this.log.push(`/* ${connection} */ ${statement}; -- ${state === undefined ? rowCount : `${state} ${message}`}`)
    const other = await ask(twin, statement)
    // What is done to triggers finds none in the twin.
    const isOfTriggers = statement.startsWith('DO ')
    if (!isOfTriggers && (other.state !== state || other.rowCount !== rowCount))
      assert.fail(this.#report(`The twin answered ${JSON.stringify(other)}`))
    return answer
  }

  /** Waits until the follower has seen everything, and has nothing to do. */
  async quiet(): Promise<void> {
    // The round that is under way may have begun before: it does not count.
    this.#idleRounds = -1
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(this.#report('The follower does not come to rest'))), QUIET_MS)
      this.#onEvent = () => {
        if (this.#failure === undefined && this.#idleRounds < IDLE_ROUNDS) return
        clearTimeout(timer)
        resolve()
      }
      if (this.#failure !== undefined) this.#onEvent({ kind: 'look', waiting: 0, at: 0 })
    })
    this.#onEvent = () => {}
    if (this.#failure !== undefined)
      throw new Error(this.#report(`The follower failed: ${this.#failure}`), { cause: this.#failure })
  }

  /** Sends statements that must not fail, and checks. */
  async run(...statements: readonly string[]): Promise<void> {
    for (const statement of statements) assert.equal((await this.send(0, statement)).state, undefined, statement)
    await this.check()
  }

  /** Whether an event of the follower has such a text. */
  hasReported(text: string): boolean {
    return this.log.some((line) => line.includes(text))
  }

  /** Fails unless the collection is the table, byte for byte, and the twin is too. Nothing may be under way. */
  async check(): Promise<void> {
    await this.quiet()
    const [rows, ofTwin] = [await this.#rows(this.schema), await this.#rows(this.#twin)]
    const lines = (await linesIn(this.#store, this.schema)).split('\n').filter((line) => line !== '')
    const head = await this.#store.head(this.schema)
    assert.equal(head?.live, rows.length, this.#report('The count is wrong'))
    assert.deepEqual(lines.sort(), rows, this.#report('The collection is not the table'))
    assert.deepEqual(ofTwin, rows, this.#report('The twin is not the table'))
  }

  /** As the follower reads them, but in the order of their text. */
  async #rows(schema: string): Promise<string[]> {
    const session = new PostgresSession(this.#url, new AbortController().signal)
    await session.connect()
    try {
      await session.begin('READ ONLY', [])
      const { rows } = await session.ask(`SELECT row_to_json(t.*)::text FROM ${schema}.t`)
      return rows.map(([text]) => String(text).replaceAll(/[\r\n]/g, ' ')).sort()
    } finally {
      await session.end()
    }
  }

  #report(what: string): string {
    return `${what}, after:\n${this.log.join('\n')}`
  }

  async #close(): Promise<void> {
    for (const pair of this.#pairs.values()) for (const client of pair) await client.end()
    await this.leave()
    await runSql(this.#url, '', `DROP SCHEMA IF EXISTS ${this.schema}, ${this.#twin}, ${this.schema}_follow CASCADE`)
  }
}

async function ask(client: Client, statement: string): Promise<Answer> {
  try {
    const { rowCount } = await client.query(statement)
    return { state: undefined, message: '', rowCount }
  } catch (error) {
    const state = stateOf(error)
    if (state === undefined) throw error
    return { state, message: error instanceof Error ? error.message : '', rowCount: null }
  }
}

/** For tests that want the follower to have a look in between. */
export async function aMoment(): Promise<void> {
  await sleep(4 * EVERY_MS)
}
