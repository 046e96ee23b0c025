/** Connections to PostgreSQL: a few for each kind of work, lent for a while, with bounds on all that could wait. */

import { setTimeout as sleep } from 'node:timers/promises'
import { Client, type ClientBase, Pool, type PoolClient, type PoolConfig } from 'pg'
import { isConnectionLost, isConnectTimeout, stateOf } from '../../../postgres/postgres-error.ts'
import { StoreError } from '../../store-error.ts'
import { Rows, type RowsOptions, StatementTexts } from '../rows/rows.ts'
import { isNodeAway, isRecoveryConflict, isRetry } from './explain-error.ts'
import type { StoreUrl } from './store-url.ts'
import { PLANNER_SETTINGS } from './transaction.ts'

/** For a connection, new or free. */
const CONNECT_MS = 5_000

/** The server gives up on a statement that takes too long, and the client so much later. */
const GRACE_MS = 2_000

const FULL_SERVER_MS = 2_000
const PAUSE_MS = 20
export const TOO_MANY_CONNECTIONS = '53300'

/**
 * Who would be the next to wait is told to come again. A request needs a connection several times: were only a few let
 * wait, most of a crowd would be sent away after a part of their work, and almost nobody would get to the end of it.
 */
const MAX_WAITING = 1_000

/** Idle connections are kept for a while: the first statement on a new one is slow. */
const IDLE_MS = 60_000

const KEEP_ALIVE_MS = 10_000

const EXAMINE =
  "SELECT pg_catalog.pg_backend_pid(), EXISTS (SELECT FROM pg_catalog.pg_extension WHERE extname OPERATOR(pg_catalog.=) 'citus')"

const PLANNING = Object.entries(PLANNER_SETTINGS).map(([name, value]) => `SET ${name} = ${value}`)

export interface ConnectionOptions {
  readonly mostConnections: number
  /** Statements are sent without waiting for the answers to those before. Default false. */
  readonly isPipelined?: boolean
  /** How long a statement may take; 0 for any time. */
  readonly statementMs: number
  /** How long to wait for a connection, new or free. Default: as the URL says, or 5,000. */
  readonly connectMs?: number
  /** How long is waited for a server that has no connection left. Default 2,000. */
  readonly fullServerMs?: number
}

interface BorrowedConnection {
  readonly rows: Rows
  /** The error itself, or the one that ended the connection between two statements. */
  reasonOf(error: unknown): unknown
  giveBack(isUsable: boolean): void
}

export class Connections {
  readonly #url: StoreUrl
  readonly #options: ConnectionOptions
  readonly #connectMs: number
  readonly #texts = new Map<boolean, StatementTexts>()
  readonly #pool: Pool
  /** How often work is tried on another connection: all that were idle may have died unnoticed. */
  readonly mostTries: number
  /** Which statements each client gets. They are prepared where it leads straight to a server and they stay. */
  readonly #statements = new WeakMap<ClientBase, Pick<RowsOptions, 'texts' | 'isPreparing'>>()

  constructor(url: StoreUrl, options: ConnectionOptions) {
    const { mostConnections, isPipelined = false, statementMs } = options
    this.#url = url
    this.#options = options
    this.#connectMs = options.connectMs ?? url.connection.connectionTimeoutMillis ?? CONNECT_MS
    this.mostTries = mostConnections + 2
    const config: PoolConfig = {
      ...url.connection,
      application_name: url.connection.application_name ?? 'reams',
      Client: ClosingClient,
      max: mostConnections,
      pipeline: isPipelined,
      connectionTimeoutMillis: this.#connectMs,
      idleTimeoutMillis: IDLE_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      onConnect: (client) => this.#examine(client),
      ...(statementMs > 0 && { query_timeout: statementMs + GRACE_MS }),
    }
    this.#pool = new Pool(config)
    // A connection that dies while nobody uses it is replaced when one is needed.
    this.#pool.on('error', () => {})
  }

  /** Lends a connection. After most errors it is closed: nobody knows in which state it is. */
  async lend<T>(use: (rows: Rows) => Promise<T>): Promise<T> {
    const { rows, reasonOf, giveBack } = await this.borrow()
    let isUsable = false
    try {
      const result = await use(rows)
      isUsable = true
      return result
    } catch (error) {
      isUsable = error instanceof StoreError || isRetry(error) || isNodeAway(error)
      throw reasonOf(error)
    } finally {
      giveBack(isUsable)
    }
  }

  /** A connection for as long as it takes. */
  async borrow(): Promise<BorrowedConnection> {
    const client = await this.#take()
    let conflict: Error | undefined
    const listen = (error: Error): void => {
      if (isRecoveryConflict(error)) conflict = error
    }
    client.on('error', listen)
    const { statementMs } = this.#options
    const { texts, isPreparing } = this.#statements.get(client) ?? { texts: this.#textsFor(false), isPreparing: false }
    const options = { texts, isPreparing, statementMs }
    return {
      rows: new Rows(client, options),
      reasonOf: (error) => conflict ?? error,
      giveBack(isUsable) {
        if (!isUsable && client instanceof ClosingClient) client.hangUp()
        client.off('error', listen)
        client.release(!isUsable)
      },
    }
  }

  /** As `lend`, for reads: one whose connection was lost, or that a standby cancelled, is sent again. */
  async retry<T>(use: (rows: Rows) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      let isLent = false
      try {
        return await this.lend((rows) => {
          isLent = true
          return use(rows)
        })
      } catch (error) {
        if (!isLent || tries === this.mostTries || !isReadLost(error)) throw error
      }
    }
  }

  async close(): Promise<void> {
    if (!this.#pool.ending) await this.#pool.end()
  }

  async #take(): Promise<PoolClient> {
    const { fullServerMs = FULL_SERVER_MS } = this.#options
    const deadline = performance.now() + fullServerMs
    for (let tries = 1; ; tries++) {
      if (this.#pool.ending) throw new StoreError('closed', 'The store is closed.')
      if (this.#pool.waitingCount >= MAX_WAITING)
        throw this.#overloaded(`${MAX_WAITING} others are already waiting for one`)
      try {
        return await this.#pool.connect()
      } catch (error) {
        if (isWaitOver(error)) throw this.#overloaded(`none became free within ${this.#connectMs / 1000} s`)
        // After a pause of the whole machine the time is over before the answer that came can be read.
        if (isConnectTimeout(error) && tries === 1) continue
        if (stateOf(error) !== TOO_MANY_CONNECTIONS || performance.now() >= deadline) throw error
        // One of ours may be free in a moment.
        await sleep(PAUSE_MS)
      }
    }
  }

  /** The same object for all connections to the same kind of server. */
  #textsFor(hasCitus: boolean): StatementTexts {
    const texts = this.#texts.get(hasCitus) ?? new StatementTexts(this.#url.schema, hasCitus)
    this.#texts.set(hasCitus, texts)
    return texts
  }

  #overloaded(reason: string): StoreError {
    return new StoreError(
      'overloaded',
      `There is no connection left to the store ${this.#url.label}: ${reason}. Try again in a moment.`,
    )
  }

  /** A pooler in between, such as PgBouncer, gives out numbers of its own for its clients. */
  async #examine(client: ClientBase): Promise<void> {
    const { preparing } = this.#url
    const { rows } = await client.query<[number, boolean]>({ text: EXAMINE, rowMode: 'array' })
    const [processId, hasCitus = false] = rows[0] ?? []
    const isDirect = preparing !== 'never' && 'processID' in client && client.processID === processId
    this.#statements.set(client, { texts: this.#textsFor(hasCitus), isPreparing: preparing === 'always' || isDirect })
    // A pooler would hand the settings on to others; there only transactions have them.
    const settings = [`SET statement_timeout = ${this.#options.statementMs}`, ...PLANNING]
    if (isDirect) await client.query(settings.join('; '))
  }
}

/** What the pool says when all of its connections are in use for long. */
function isWaitOver(error: unknown): boolean {
  return error instanceof Error && error.message === 'timeout exceeded when trying to connect'
}

/** Whether a read may succeed when it is sent again. */
function isReadLost(error: unknown): boolean {
  return isConnectionLost(error) || isRecoveryConflict(error)
}

type Callback = (error: Error | null, client?: Client) => void

class ClosingClient extends Client {
  override connect(): Promise<Client>
  override connect(callback: Callback): void
  override connect(callback?: Callback): Promise<Client> | undefined {
    if (callback === undefined) return super.connect()
    super.connect((error: Error | null, client?: Client) => {
      // The driver keeps the line open where a password is missing.
      if (error) this.hangUp()
      callback(error, client)
    })
    return undefined
  }

  hangUp(): void {
    this.connection.stream.destroy()
  }
}
