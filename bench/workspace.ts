/** The data that the questions share, each piece made when the first question asks for it. */

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { TemporaryDirectory } from '../src/cli/temporary-directory.ts'
import { counted } from '../src/contract/message-text.ts'
import { lastPage } from '../src/contract/page.ts'
import {
  DELAYED_SERVER,
  type FinishedProgram,
  HAND_WRITTEN_SERVER,
  type Program,
  REAMS,
  ROW_INSERT,
  type RunningServer,
  runProgram,
  STORELESS_SERVER,
  startServer,
} from './child-process.ts'
import { writeEvents } from './data.ts'
import { readIntoCache } from './database-file.ts'
import { deleteAtRandom } from './delete-at-random.ts'
import { type ImportRun, importRun } from './import-run.ts'
import { PostgresWorkspace } from './postgres/workspace.ts'
import type { Cost, Skipped } from './question.ts'
import { onSlowDisk } from './slow-disk.ts'

/** The name of every collection here, but for one. */
export const COLLECTION = 'events'
/** A collection of the small store whose last page is half full: some quires, and a tail. */
export const COLLECTION_WITH_TAIL = 'events-with-tail'
export const SMALL_ITEMS = 10_000
export const ITEMS_WITH_TAIL = SMALL_ITEMS + 300
export const LAST_PAGE_WITH_TAIL = lastPage(ITEMS_WITH_TAIL)
export const DELETED_SHARE = 0.01
/** Questions about writes use so many items, if there are more. */
const MAX_SAMPLE_ITEMS = 1_000_000
/** Fewer requests give no figures: such a run only tries whether the questions work. */
const FEWEST_REQUESTS = 100
/** Connections that write at once. */
export const WRITERS = 64

/** How long each piece takes to make. */
export const ARTIFACTS = {
  ndjson: { seconds: 0, secondsAMillion: 1.7 },
  store: { seconds: 0.5, secondsAMillion: 2.3 },
  smallStore: { seconds: 2, secondsAMillion: 0 },
  keyedStore: { seconds: 0.5, secondsAMillion: 5 },
  storeWithHoles: { seconds: 0.5, secondsAMillion: 3.5 },
  rows: { seconds: 0.3, secondsAMillion: 2.3 },
  sample: { seconds: 1.5, secondsAMillion: 0 },
  postgres: { seconds: 3, secondsAMillion: 0 },
  citus: { seconds: 1, secondsAMillion: 0 },
  postgresItems: { seconds: 1, secondsAMillion: 3 },
  postgresHoles: { seconds: 1, secondsAMillion: 20 },
  postgresRows: { seconds: 1, secondsAMillion: 4 },
} as const satisfies Record<string, Cost>

export type ArtifactName = keyof typeof ARTIFACTS

export interface WorkspaceOptions {
  readonly items: number
  /** Requests of each kind that count. */
  readonly requests: number
  /** How often each side of a long comparison runs. */
  readonly rounds: number
  /** Its reason is thrown at the next step when it is aborted. */
  readonly signal: AbortSignal
  /** Told what is being done, for whoever waits. */
  readonly onStep: (step: string) => void
}

export interface RowInsertRun {
  readonly path: string
  readonly rows: number
  /** The time in the loop of inserts, without reading and splitting the lines. */
  readonly insertMs: number
}

export class Workspace implements AsyncDisposable {
  readonly items: number
  readonly requests: number
  readonly rounds: number
  readonly signal: AbortSignal
  readonly #onStep: (step: string) => void
  readonly #directory = new TemporaryDirectory()
  readonly #made = new Map<ArtifactName, Promise<unknown>>()

  constructor(options: WorkspaceOptions) {
    this.items = options.items
    this.requests = options.requests
    this.rounds = options.rounds
    this.signal = options.signal
    this.#onStep = options.onStep
  }

  /** Then nothing need be waited for that only makes figures better. */
  get isTryOut(): boolean {
    return this.requests < FEWEST_REQUESTS
  }

  get lastPage(): number {
    return lastPage(this.items)
  }

  /** Says what comes next, and is where an interrupted run ends. */
  step(text: string): void {
    this.signal.throwIfAborted()
    this.#onStep(text)
  }

  path(fileName: string): string {
    return join(this.#directory.path, fileName)
  }

  /** All items as NDJSON. */
  ndjson(): Promise<{ path: string; bytes: number }> {
    return this.#once('ndjson', async () => {
      this.step('generating the items')
      const path = this.path('events.ndjson')
      return { path, bytes: await writeEvents(path, this.items, () => this.signal.throwIfAborted()) }
    })
  }

  /** The first of the items as NDJSON, as many as the questions about writes use. */
  sample(): Promise<{ path: string; items: number }> {
    return this.#once('sample', async () => {
      const items = Math.min(this.items, MAX_SAMPLE_ITEMS)
      if (items === this.items) return { path: (await this.ndjson()).path, items }
      this.step('generating the items for writers')
      const path = this.path('sample.ndjson')
      await writeEvents(path, items, () => this.signal.throwIfAborted())
      return { path, items }
    })
  }

  /** All items, without a key. */
  store(): Promise<ImportRun> {
    return this.#once('store', () => this.importTo('store.db'))
  }

  /** All items, with the key `id`. */
  keyedStore(): Promise<ImportRun> {
    return this.#once('keyedStore', () => this.importTo('keyed.db', ['--key', 'id']))
  }

  /** The keyed store after one in a hundred items was deleted. */
  storeWithHoles(): Promise<{ path: string; deletes: number; deleteMs: number }> {
    return this.#once('storeWithHoles', async () => {
      const { path } = await this.keyedStore()
      const deletes = Math.floor(this.items * DELETED_SHARE)
      this.step(`deleting ${counted(deletes, 'item')} at random`)
      const deleteMs = await deleteAtRandom(path, COLLECTION, { deletes, items: this.items, signal: this.signal })
      return { path, deletes, deleteMs }
    })
  }

  /** 10,000 of the same items; and some more of them, with a last page that is not full. */
  smallStore(): Promise<{ path: string }> {
    return this.#once('smallStore', async () => {
      this.step('importing the small collections')
      const path = this.path('small.db')
      const collections = { [COLLECTION]: SMALL_ITEMS, [COLLECTION_WITH_TAIL]: ITEMS_WITH_TAIL }
      for (const [name, items] of Object.entries(collections)) {
        const file = this.path(`${name}-${items}.ndjson`)
        await writeEvents(file, items)
        await runProgram(REAMS, ['import', name, file, '--store', path], this.signal)
      }
      return { path }
    })
  }

  /** A row an item, made by the bare loop. */
  rows(): Promise<RowInsertRun> {
    return this.#once('rows', () => this.insertRowsTo('rows.db'))
  }

  /** Imports all items once more. */
  async importTo(fileName: string, flags: readonly string[] = [], cores?: string): Promise<ImportRun> {
    const { path: file } = await this.ndjson()
    return this.#import({ path: file, items: this.items }, fileName, flags, cores)
  }

  /** The same with the sample. */
  async importSampleTo(fileName: string, flags: readonly string[] = []): Promise<ImportRun> {
    return this.#import(await this.sample(), fileName, flags)
  }

  async #import(
    file: { path: string; items: number },
    fileName: string,
    flags: readonly string[],
    cores?: string,
  ): Promise<ImportRun> {
    this.step(['reams import', ...flags, ...(cores === undefined ? [] : [`on cores ${cores}`])].join(' '))
    const path = this.path(fileName)
    const words = ['import', COLLECTION, file.path, '--store', path, ...flags]
    const program: Program = cores === undefined ? REAMS : ['taskset', '--cpu-list', cores, ...REAMS]
    return importRun(path, file.items, await runProgram(program, words, this.signal))
  }

  /** Inserts all items as rows once more. */
  async insertRowsTo(fileName: string): Promise<RowInsertRun> {
    const { path: file } = await this.ndjson()
    this.step('inserting the same lines as rows')
    return this.#insertRows(file, fileName, this.items)
  }

  async #insertRows(file: string, fileName: string, items: number): Promise<RowInsertRun> {
    const path = this.path(fileName)
    const { stdout } = await runProgram(ROW_INSERT, [file, path], this.signal)
    const { rows, insertMs } = JSON.parse(stdout) as { rows: number; insertMs: number }
    if (rows !== items) throw new Error(`The loop inserted ${rows} rows instead of ${items}.`)
    return { path, rows, insertMs }
  }

  /** The first so many of the items as rows of a database of their own. */
  async rowsOf(items: number, fileName: string): Promise<string> {
    const file = this.path(`${fileName}.ndjson`)
    await writeEvents(file, items)
    return (await this.#insertRows(file, fileName, items)).path
  }

  /** The first so many of the items in a store of their own. */
  async storeOf(items: number, fileName: string): Promise<string> {
    const file = this.path(`${fileName}.ndjson`)
    await writeEvents(file, items)
    const path = this.path(fileName)
    await runProgram(REAMS, ['import', COLLECTION, file, '--store', path], this.signal)
    return path
  }

  /** Pulls a collection into a file, and removes that. */
  async pull(url: string, inFlight: number): Promise<FinishedProgram> {
    const file = this.path('pulled.ndjson')
    const words = ['pull', url, '-o', file, '--force', '--quiet', '--concurrency', String(inFlight)]
    const run = await runProgram(REAMS, words, this.signal)
    await rm(file)
    return run
  }

  async serve(path: string, flags: readonly string[] = [], program = REAMS): Promise<RunningServer> {
    await readIntoCache(path)
    return startServer(program, ['serve', '--store', path, '--port', '0', ...flags], this.signal)
  }

  /** The service in front of a store that keeps nothing. */
  serveStoreless(): Promise<RunningServer> {
    return startServer(STORELESS_SERVER, [], this.signal)
  }

  /** What its syncs took is in the trace file when the server has ended. */
  serveOnSlowDisk(path: string, traceFile: string): Promise<RunningServer> {
    return startServer(onSlowDisk(REAMS, traceFile), ['serve', '--store', path, '--port', '0'], this.signal)
  }

  /** The service far away, by so much. */
  serveDelayed(path: string, delayMs: number): Promise<RunningServer> {
    return startServer(DELAYED_SERVER, [path, String(delayMs)], this.signal)
  }

  async serveByHand(path: string): Promise<RunningServer> {
    await readIntoCache(path)
    return startServer(HAND_WRITTEN_SERVER, [path], this.signal)
  }

  /** A PostgreSQL, or why there is none. */
  postgres(): Promise<PostgresWorkspace | Skipped> {
    return this.#once('postgres', () => PostgresWorkspace.open(this))
  }

  /** A Citus, or why there is none. */
  citus(): Promise<PostgresWorkspace | Skipped> {
    return this.#once('citus', () => PostgresWorkspace.openCitus(this))
  }

  #once<T>(name: ArtifactName, make: () => Promise<T>): Promise<T> {
    const made = this.#made.get(name) ?? make()
    this.#made.set(name, made)
    return made as Promise<T>
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const name of ['postgres', 'citus'] as const) {
      const opened = await this.#made.get(name)?.catch(() => undefined)
      if (opened instanceof PostgresWorkspace) await opened[Symbol.asyncDispose]()
    }
    this.#directory[Symbol.dispose]()
  }
}
