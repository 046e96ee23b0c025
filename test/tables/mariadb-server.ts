/** A real MariaDB with all its files in a directory of its own, which goes with it. */

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise'
import { TemporaryDirectory } from '../../src/cli/temporary-directory.ts'
import { withoutRights } from '../other-user.ts'
import { freePort } from '../store/free-port.ts'

const PATH = `${process.env['PATH']}:/usr/sbin`

/** Tests kill processes, not machines: what the kernel has is safe. */
const SETTINGS = ['--innodb-flush-log-at-trx-commit=0', '--innodb-buffer-pool-size=32M', '--max-connections=10']

export class MariadbServer implements AsyncDisposable {
  readonly port: number
  readonly socketPath: string
  readonly #directory: TemporaryDirectory
  readonly #process: ChildProcess
  #log = ''

  private constructor(directory: TemporaryDirectory, data: string, port: number) {
    this.port = port
    this.socketPath = join(data, 'socket')
    this.#directory = directory
    const place = [`--datadir=${data}`, `--socket=${this.socketPath}`, `--port=${port}`, '--bind-address=127.0.0.1']
    this.#process = spawn('mariadbd', ['--no-defaults', ...place, ...SETTINGS], {
      ...owner(),
      env: { PATH },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    this.#process.stderr?.setEncoding('utf8').on('data', (text) => {
      this.#log += text
    })
    process.prependListener('exit', this.#kill)
  }

  static async start(): Promise<MariadbServer> {
    const directory = new TemporaryDirectory()
    const data = join(directory.path, 'data')
    mkdirSync(data)
    // Root starts it as another user, who has to get there.
    chmodSync(directory.path, 0o755)
    const { uid, gid } = owner()
    if (uid !== undefined && gid !== undefined) chownSync(data, uid, gid)
    const words = ['--no-defaults', `--datadir=${data}`, '--auth-root-authentication-method=normal', '--skip-test-db']
    await promisify(execFile)('mariadb-install-db', words, { ...owner(), cwd: data, env: { PATH } })
    const server = new MariadbServer(directory, data, await freePort())
    while (!(await server.#answers())) await pause(20)
    return server
  }

  /** As a user who may do everything. */
  connect(): Promise<Connection> {
    return createConnection({ socketPath: this.socketPath, user: 'root', charset: 'utf8mb4' })
  }

  /** Runs statements, and answers with the rows of the last. */
  async run(...statements: readonly string[]): Promise<RowDataPacket[]> {
    const connection = await this.connect()
    try {
      let rows: RowDataPacket[] = []
      for (const statement of statements) [rows] = await connection.query<RowDataPacket[]>(statement)
      return rows
    } finally {
      await connection.end()
    }
  }

  async kill(): Promise<void> {
    const ended = once(this.#process, 'exit')
    this.#kill()
    await ended
  }

  async [Symbol.asyncDispose](): Promise<void> {
    process.off('exit', this.#kill)
    if (this.#process.exitCode === null && this.#process.signalCode === null) await this.kill()
    this.#directory[Symbol.dispose]()
  }

  async #answers(): Promise<boolean> {
    if (this.#process.exitCode !== null) throw new Error(`MariaDB does not start. It says:\n${this.#log}`)
    return this.run('SELECT 1').then(
      () => true,
      () => false,
    )
  }

  readonly #kill = (): void => {
    this.#process.kill('SIGKILL')
  }
}

/** MariaDB refuses to run as root. */
function owner(): { readonly uid?: number; readonly gid?: number } {
  const { uid } = withoutRights()
  return uid === undefined ? {} : { uid, gid: uid }
}
