/** A PostgreSQL for the bench, and the data in it that questions share, each piece made when the first asks for it. */

import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { counted } from '../../src/contract/message-text.ts'
import { nodeProgram, REAMS, type RunningServer, runProgram, startServer, WITHOUT_CACHE } from '../child-process.ts'
import { writeEvents } from '../data.ts'
import { deleteAtRandom } from '../delete-at-random.ts'
import { type ImportRun, importRun } from '../import-run.ts'
import type { Skipped } from '../question.ts'
import { COLLECTION, COLLECTION_WITH_TAIL, DELETED_SHARE, ITEMS_WITH_TAIL, type Workspace } from '../workspace.ts'
import { copyLines } from './copy.ts'

const SERVER = nodeProgram('./postgres/server.ts')
const ADDRESS = /postgres:\S+(?=\s)/

export class PostgresWorkspace implements AsyncDisposable {
  /** Without the password, which is in PGPASSWORD for all who connect. */
  readonly url: string
  readonly #workspace: Workspace
  readonly #server: RunningServer | undefined
  /** What the names of all schemas begin with. */
  readonly #prefix = `reams_bench_${randomBytes(4).toString('hex')}`
  readonly #made = new Map<string, Promise<unknown>>()

  private constructor(workspace: Workspace, server: RunningServer | undefined, url: URL) {
    this.#workspace = workspace
    this.#server = server
    if (url.password !== '') process.env['PGPASSWORD'] = decodeURIComponent(url.password)
    url.password = ''
    this.url = url.href
  }

  /** The server that REAMS_BENCH_POSTGRES names, or one of our own; or why there is none. */
  static async open(workspace: Workspace): Promise<PostgresWorkspace | Skipped> {
    const given = process.env['REAMS_BENCH_POSTGRES']
    if (given !== undefined && given !== '') return new PostgresWorkspace(workspace, undefined, new URL(given))
    workspace.step('starting PostgreSQL')
    try {
      const server = await startServer(SERVER, [], workspace.signal, ADDRESS)
      return new PostgresWorkspace(workspace, server, new URL(server.url))
    } catch (error) {
      workspace.signal.throwIfAborted()
      const reason = error instanceof Error ? error.message : String(error)
      return { skipped: `PostgreSQL cannot be started here, and REAMS_BENCH_POSTGRES names none: ${reason}` }
    }
  }

  /** The Citus that REAMS_BENCH_CITUS names; or why there is none. */
  static async openCitus(workspace: Workspace): Promise<PostgresWorkspace | Skipped> {
    const given = process.env['REAMS_BENCH_CITUS']
    if (given === undefined || given === '') return { skipped: 'REAMS_BENCH_CITUS names no Citus.' }
    return new PostgresWorkspace(workspace, undefined, new URL(given))
  }

  /** The name of the schema for a purpose. */
  schema(purpose: string): string {
    return `${this.#prefix}_${purpose}`
  }

  /** The URL of the store in that schema. */
  store(purpose: string): string {
    return `${this.url}${this.url.includes('?') ? '&' : '?'}schema=${this.schema(purpose)}`
  }

  /** All items, without a key. */
  items(): Promise<ImportRun> {
    return this.#once('items', async () => this.#settled(await this.importTo('items')))
  }

  /** All items with a key, after one in a hundred was deleted. */
  itemsWithHoles(): Promise<{ path: string; deletes: number; deleteMs: number }> {
    return this.#once('holes', async () => {
      const { path } = await this.importTo('holes', ['--key', 'id'])
      const { items, signal } = this.#workspace
      const deletes = Math.floor(items * DELETED_SHARE)
      this.#workspace.step(`deleting ${counted(deletes, 'item')} at random`)
      const deleteMs = await deleteAtRandom(path, COLLECTION, { deletes, items, signal })
      return this.#settled({ path, deletes, deleteMs })
    })
  }

  /** Some items, with a last page that is not full. */
  itemsWithTail(): Promise<string> {
    return this.#once('tail', async () => {
      const file = this.#workspace.path('postgres-tail.ndjson')
      await writeEvents(file, ITEMS_WITH_TAIL)
      const path = this.store('tail')
      await runProgram(REAMS, ['import', COLLECTION_WITH_TAIL, file, '--store', path], this.#workspace.signal)
      return path
    })
  }

  /** A table with a row an item, as one makes it by hand. Answers its name. */
  rows(): Promise<string> {
    return this.#once('rows', async () => {
      const { path: file } = await this.#workspace.ndjson()
      this.#workspace.step('copying the same lines into a table, a row each')
      const schema = this.schema('rows')
      const columns = 'id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, json text NOT NULL'
      await this.execute(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.event (${columns})`)
      await copyLines(this.url, `${schema}.event (json)`, file, this.#workspace.signal)
      return this.#settled(`${schema}.event`)
    })
  }

  /** Imports all items once more. */
  async importTo(purpose: string, flags: readonly string[] = []): Promise<ImportRun> {
    const { path: file } = await this.#workspace.ndjson()
    this.#workspace.step(['reams import --store postgres://…', ...flags].join(' '))
    const path = this.store(purpose)
    const words = ['import', COLLECTION, file, '--store', path, ...flags]
    return importRun(path, this.#workspace.items, await runProgram(REAMS, words, this.#workspace.signal))
  }

  /** All items, served without a cache: one server for all questions, which the first one brings up to speed. */
  itemsServer(): Promise<RunningServer> {
    return this.#once('server', async () => this.serve((await this.items()).path, WITHOUT_CACHE))
  }

  serve(store: string, flags: readonly string[] = [], isQuiet = false): Promise<RunningServer> {
    const words = ['serve', '--store', store, '--port', '0', ...flags]
    return startServer(REAMS, words, this.#workspace.signal, undefined, isQuiet)
  }

  async connect(): Promise<Client> {
    const client = new Client(this.url)
    await client.connect()
    return client
  }

  async execute(sql: string): Promise<void> {
    const client = await this.connect()
    try {
      await client.query(sql)
    } finally {
      await client.end()
    }
  }

  async drop(purpose: string): Promise<void> {
    await this.execute(`DROP SCHEMA IF EXISTS ${this.schema(purpose)} CASCADE`)
  }

  async #settled<T>(made: T): Promise<T> {
    await this.settle()
    return made
  }

  /** The database does this by itself, at a time of its own, which would fall into some measurement. */
  async settle(): Promise<void> {
    await this.execute('VACUUM ANALYZE')
    // Not everybody may.
    await this.execute('CHECKPOINT').catch(() => {})
  }

  #once<T>(name: string, make: () => Promise<T>): Promise<T> {
    const made = this.#made.get(name) ?? make()
    this.#made.set(name, made)
    return made as Promise<T>
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const serving = this.#made.get('server') as Promise<RunningServer> | undefined
    await (await serving?.catch(() => undefined))?.[Symbol.asyncDispose]()
    if (this.#server !== undefined) return this.#server[Symbol.asyncDispose]()
    const found = `SELECT nspname FROM pg_namespace WHERE starts_with(nspname, '${this.#prefix}')`
    const drop = "EXECUTE format('DROP SCHEMA %I CASCADE', name)"
    await this.execute(`DO $$ DECLARE name text; BEGIN FOR name IN ${found} LOOP ${drop}; END LOOP; END $$`)
  }
}
