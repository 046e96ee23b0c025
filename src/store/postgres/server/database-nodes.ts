/** The servers that hold a store: the one, or on Citus its workers, each with connections of its own. */

import { setTimeout as sleep } from 'node:timers/promises'
import { stateOf } from '../../../postgres/postgres-error.ts'
import type { ListedHead } from '../../store.ts'
import { StoreError } from '../../store-error.ts'
import { PageReader } from '../read/page-reader.ts'
import { SharedReads, SharedRun } from '../read/shared-reads.ts'
import { readAllHeads, shardKeyOf, shownListedHead } from '../rows/head.ts'
import { PostgresRows } from '../rows/postgres-rows.ts'
import type { Rows } from '../rows/rows.ts'
import { forgetAll } from '../write/forget.ts'
import { sweepAll } from '../write/try-transaction.ts'
import { Writer, type WriterOptions } from '../write/writer.ts'
import { Connections, TOO_MANY_CONNECTIONS } from './connection.ts'
import { ReamVacuum } from './ream-vacuum.ts'
import type { StoreUrl } from './store-url.ts'
import { Workers } from './workers.ts'

type Heads = readonly ListedHead[]

export class DatabaseNodes {
  readonly options: NodeOptions
  /** For what is not about one collection; without Citus for everything. */
  readonly common: DatabaseNode
  readonly #probe: HealthProbe
  readonly #maintenance: Connections
  readonly #vacuum: ReamVacuum
  /** By worker of Citus. */
  readonly #nodes = new Map<string, DatabaseNode>()
  readonly #probes = new Map<string, HealthProbe>()
  #workers: Workers | undefined
  /** A list takes so long, while a worker is away or hangs, that many at once would take all connections. */
  readonly #all = new SharedRun(async () => (await this.common.reads.retry(readAllHeads)).map(shownListedHead))
  readonly #reachable = new SharedRun(() => this.#listReachable())

  constructor(options: Omit<NodeOptions, 'sweep' | 'onCommit'>) {
    this.options = { ...options, sweep: () => this.#sweep(), onCommit: () => this.#vacuum.noteWrite() }
    this.common = new DatabaseNode(this.options)
    this.#maintenance = new Connections(options.url, MAINTENANCE)
    this.#vacuum = new ReamVacuum(this.#maintenance, options.url.schema)
    this.#probe = new HealthProbe(options.url, this.common.reads, (rows) => rows.all('ping'))
  }

  /** To be called before anything else where the extension Citus is there. */
  async findWorkers(): Promise<void> {
    this.#workers = await Workers.find(this.common.reads, this.options.url.schema)
  }

  get areSeveral(): boolean {
    return this.#workers !== undefined
  }

  /** The one that holds a collection, or would. */
  async of(name: string): Promise<DatabaseNode> {
    if (this.#workers === undefined) return this.common
    const worker = await this.#workers.of(shardKeyOf(name))
    const node = this.#nodes.get(worker) ?? new DatabaseNode(this.options)
    this.#nodes.set(worker, node)
    return node
  }

  /** Rejects when the store cannot be read. Answers with the workers that are away. */
  async ping(): Promise<string[]> {
    await this.#probe.check()
    return this.#away()
  }

  allHeads(): Promise<Heads> {
    return this.#all.ask()
  }

  /** The heads on all workers that answer, and the names of the others. */
  async reachableHeads(): Promise<{ heads: Heads; away: readonly string[] }> {
    if ((await this.#away()).length === 0)
      try {
        return { heads: await this.allHeads(), away: [] }
      } catch (error) {
        if ((await this.#away()).length === 0) throw error
      }
    return this.#reachable.ask()
  }

  async close(): Promise<void> {
    await this.#vacuum.close()
    await this.#maintenance.close()
    await Promise.all([this.common, ...this.#nodes.values()].map((node) => node.close()))
    // After them: what they still had to do may have asked whether workers are well.
    await Promise.all([this.#probe, ...this.#probes.values()].map((probe) => probe.close()))
  }

  async #listReachable(): Promise<{ heads: Heads; away: readonly string[] }> {
    const away = await this.#away()
    const heads =
      away.length === 0 ? await this.allHeads() : (await this.#workers?.headsWithout(away))?.map(shownListedHead)
    return { heads: heads ?? [], away }
  }

  /** Not while a worker is away: one that hangs would keep whoever sweeps waiting, and what it has stays anyway. */
  async #sweep(): Promise<void> {
    if ((await this.#away()).length > 0) return
    await sweepAll(this.common.long)
    await forgetAll(this.common.long, this.options.activity, this.options.historyBytes)
  }

  /** The workers that do not answer. */
  async #away(): Promise<string[]> {
    const workers = this.#workers
    if (workers === undefined) return []
    const names = [...(await workers.all()).keys()]
    const checks = await Promise.allSettled(names.map((worker) => this.#probeOf(workers, worker).check()))
    return names.filter((_, index) => checks[index]?.status === 'rejected')
  }

  #probeOf(workers: Workers, worker: string): HealthProbe {
    // Collections move: asked for anew each time.
    const ask = async (rows: Rows) => rows.query(await workers.questionFor(worker))
    const probe = this.#probes.get(worker) ?? new HealthProbe(this.options.url, this.common.reads, ask)
    this.#probes.set(worker, probe)
    return probe
  }
}

interface NodeOptions extends WriterOptions {
  readonly historyBytes: number
  readonly readConnections: number
  readonly writeConnections: number
  readonly statementMs: number
}

/** A VACUUM takes as long as it takes, and the second connection can cancel it. */
const MAINTENANCE = { mostConnections: 2, statementMs: 0 }

/** For what takes long: loads, exports, checks. */
const LONG = { mostConnections: 8, isPipelined: true, statementMs: 600_000 }

export class DatabaseNode {
  readonly reads: Connections
  readonly writes: Connections
  readonly long: Connections
  readonly shared: SharedReads
  readonly rows: PostgresRows
  readonly pages: PageReader
  readonly writer: Writer

  constructor(options: NodeOptions) {
    const { url, readConnections, writeConnections, statementMs } = options
    this.reads = new Connections(url, { mostConnections: readConnections, isPipelined: true, statementMs })
    this.writes = new Connections(url, { mostConnections: writeConnections, isPipelined: true, statementMs })
    this.long = new Connections(url, LONG)
    this.shared = new SharedReads(this.reads)
    this.rows = new PostgresRows(this.shared)
    this.pages = new PageReader(this.reads, this.rows)
    this.writer = new Writer(this.writes, options)
  }

  async close(): Promise<void> {
    await this.writer.close()
    await Promise.all([this.reads.close(), this.writes.close(), this.long.close()])
  }
}

const LONGEST_MS = 2_000

export class HealthProbe {
  /** One of its own, which never waits for slow reads. */
  readonly #connections: Connections
  /** For when the server has no connection left: then reads are still answered on those that they have. */
  readonly #reads: Connections
  readonly #label: string
  readonly #ask: (rows: Rows) => Promise<unknown>
  #asking: Promise<unknown> | undefined

  /** `ask` asks for something that only the store has. */
  constructor(url: StoreUrl, reads: Connections, ask: (rows: Rows) => Promise<unknown>) {
    this.#label = url.label
    this.#ask = ask
    this.#reads = reads
    this.#connections = new Connections(url, {
      mostConnections: 1,
      connectMs: LONGEST_MS,
      statementMs: LONGEST_MS,
      fullServerMs: 0,
    })
  }

  /** Rejects when it cannot be read. */
  async check(): Promise<void> {
    const asking = this.#askOnce()
    const deadline = new AbortController()
    const late = sleep(LONGEST_MS, 'late', { signal: deadline.signal, ref: false })
    late.catch(() => {})
    try {
      if ((await Promise.race([asking, late])) === 'late')
        throw new StoreError(
          'unavailable',
          `The store ${this.#label} has not answered for ${LONGEST_MS / 1000} s. Check that the server is healthy.`,
        )
    } finally {
      deadline.abort()
    }
  }

  close(): Promise<void> {
    return this.#connections.close()
  }

  /** Who comes meanwhile gets the same answer. */
  #askOnce(): Promise<unknown> {
    if (this.#asking === undefined) {
      const asking = this.#connections
        .retry(this.#ask)
        .catch((error: unknown) => {
          if (stateOf(error) !== TOO_MANY_CONNECTIONS) throw error
          return this.#reads.retry(this.#ask)
        })
        .finally(() => {
          this.#asking = undefined
        })
      asking.catch(() => {})
      this.#asking = asking
    }
    return this.#asking
  }
}
