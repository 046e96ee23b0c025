/** A connection to MySQL or MariaDB that reads, with everything fixed that would change what is read. */

import { connect, type Socket } from 'node:net'
import { type Connection, createConnection, type FieldPacket, type QueryOptions, type RowDataPacket } from 'mysql2'
import type { MysqlOptions } from './mysql-options.ts'
import { DRIVER_OPTIONS } from './mysql-values.ts'

const CONNECT_MS = 10_000
const KEEP_ALIVE_MS = 10_000

/** A year: a reader that is slow is still wanted. */
const MAX_SECONDS = 31_536_000

/**
 * The same rows are the same bytes, all of them come, and nothing ends it but the user. What words and quotes mean is
 * left as the server has it, since queries are tried out there. The comments are read by MySQL, or by MariaDB.
 */
const SETTINGS = [
  'SET NAMES utf8mb4',
  'SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ',
  `SET SESSION time_zone = '+00:00', sql_mode = REPLACE(@@sql_mode, 'PAD_CHAR_TO_FULL_LENGTH', ''),
    sql_select_limit = 18446744073709551615, sql_big_selects = 1,
    net_write_timeout = ${MAX_SECONDS}, wait_timeout = ${MAX_SECONDS}
    /*!50708 , max_execution_time = 0 */ /*M!100101 , max_statement_time = 0 */`,
  // Functions of a query run even while it is only described or explained.
  'SET SESSION TRANSACTION READ ONLY',
]

export class MysqlSession {
  readonly connection: Connection
  readonly #socket: Socket

  private constructor(options: MysqlOptions, isSecure: boolean) {
    const { user, password, database, socketPath, host, port, ssl } = options
    const socket =
      socketPath === undefined
        ? connect({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS })
        : connect({ path: socketPath })
    this.#socket = socket
    this.connection = createConnection({
      ...DRIVER_OPTIONS,
      user,
      password,
      host,
      stream: () => socket,
      charset: 'utf8mb4_general_ci',
      connectTimeout: CONNECT_MS,
      flags: ['-LOCAL_FILES'],
      ...(database !== undefined && { database }),
      ...(socketPath !== undefined && { socketPath }),
      ...(isSecure && ssl !== undefined && { ssl }),
    })
    // Whoever waits for an answer is told as well.
    this.connection.on('error', () => {})
  }

  /** When `signal` is aborted, the connection is gone, and whoever waits gets an error. */
  static async open(options: MysqlOptions, signal: AbortSignal): Promise<MysqlSession> {
    try {
      return await MysqlSession.#connect(options, true, signal)
    } catch (error) {
      if (!options.isTlsOptional || !isLackOfTls(error)) throw error
      return MysqlSession.#connect(options, false, signal)
    }
  }

  static async #connect(options: MysqlOptions, isSecure: boolean, signal: AbortSignal): Promise<MysqlSession> {
    signal.throwIfAborted()
    const session = new MysqlSession(options, isSecure)
    signal.addEventListener('abort', () => session.hangUp(), { once: true })
    try {
      await session.#connected()
      for (const statement of SETTINGS) await session.ask(statement)
      return session
    } catch (error) {
      session.hangUp()
      throw error
    }
  }

  #connected(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.connection.connect((error) => (error ? reject(error) : resolve()))
    })
  }

  /** By the protocol of prepared statements, which takes one statement and no more, and gives numbers in full. */
  execute(options: QueryOptions): ReturnType<Connection['execute']> {
    return this.connection.execute({ ...options, rowsAsArray: true })
  }

  /** The columns of what a statement answers. */
  async describe(sql: string): Promise<readonly FieldPacket[]> {
    const [, fields] = await this.connection.promise().execute(sql)
    return fields
  }

  async ask(sql: string): Promise<readonly RowDataPacket[]> {
    const [rows] = await this.connection.promise().query<RowDataPacket[]>(sql)
    return rows
  }

  hangUp(): void {
    this.#socket.destroy()
  }

  /** Says goodbye: a server would log anything else. */
  close(): void {
    this.connection.end()
    this.#socket.destroySoon()
  }
}

function isLackOfTls(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'HANDSHAKE_NO_SSL_SUPPORT'
}
