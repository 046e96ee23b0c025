/** A Citus whose nodes run on this machine, for those who end them, which root may do. */

import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { shardKeyOf } from '../../src/store/postgres/rows/head.ts'
import { untilItWorks } from './postgres-cluster.ts'
import { newSchema, runSql, withParameter } from './postgres-engine.ts'

const run = promisify(execFile)

/** A coordinator or a worker, with the processes that it is. */
export class CitusNode {
  readonly id: number
  readonly port: number
  readonly #url: string
  readonly #directory: string
  readonly #programs: string

  private constructor(id: number, url: string, directory: string, postmaster: number) {
    this.id = id
    this.port = Number(new URL(url).port)
    this.#url = url
    this.#directory = directory
    this.#programs = dirname(readlinkSync(`/proc/${postmaster}/exe`))
  }

  static async find(id: number, url: string): Promise<CitusNode> {
    const sql = "SELECT current_setting('data_directory'), split_part(pg_read_file('postmaster.pid'), chr(10), 1)"
    const [[directory, postmaster] = []] = await runSql(url, '', sql)
    return new CitusNode(id, url, String(directory), Number(postmaster))
  }

  sql(text: string): Promise<unknown[][]> {
    return runSql(this.#url, '', text)
  }

  /** kill -9 of all of its processes. */
  kill(): void {
    this.#signal('SIGKILL')
  }

  /** Nothing of it goes on, and every connection stays. */
  hang(): void {
    this.#signal('SIGSTOP')
  }

  goOn(): void {
    this.#signal('SIGCONT')
  }

  /** As whoever watches over it would: until it starts. */
  async start(): Promise<void> {
    const { uid, gid } = statSync(this.#directory)
    const words = ['-D', this.#directory, '-l', join(this.#directory, 'log'), '-s', '-w', 'start']
    // A node is a client of the others: in our home it would look for certificates that are not for it.
    const env = { PATH: process.env['PATH'], HOME: this.#directory }
    await untilItWorks(() => run(join(this.#programs, 'pg_ctl'), words, { uid, gid, env, cwd: this.#directory }))
  }

  processes(): number[] {
    const postmaster = Number(readFileSync(join(this.#directory, 'postmaster.pid'), 'utf8').split('\n', 1)[0])
    return [postmaster, ...childrenOf(postmaster)]
  }

  #signal(signal: NodeJS.Signals): void {
    for (const pid of this.processes())
      try {
        process.kill(pid, signal)
      } catch {
        // It has ended meanwhile.
      }
  }
}

export class CitusCluster {
  readonly coordinator: CitusNode
  readonly workers: readonly CitusNode[]
  readonly #url: string
  readonly #schemas: string[] = []

  private constructor(url: string, coordinator: CitusNode, workers: readonly CitusNode[]) {
    this.#url = url
    this.coordinator = coordinator
    this.workers = workers
  }

  static async find(citusUrl: string): Promise<CitusCluster> {
    await untilSynced(citusUrl)
    const sql = 'SELECT nodeid, nodeport, groupid FROM pg_dist_node WHERE isactive ORDER BY groupid'
    const nodes = await Promise.all(
      (await runSql(citusUrl, '', sql)).map(async ([id, port, group]) => ({
        group: Number(group),
        node: await CitusNode.find(Number(id), atPort(citusUrl, Number(port))),
      })),
    )
    const coordinator = nodes.find(({ group }) => group === 0)
    if (coordinator === undefined) throw new Error('The coordinator is not among the nodes of the Citus.')
    return new CitusCluster(
      citusUrl,
      coordinator.node,
      nodes.filter(({ group }) => group !== 0).map(({ node }) => node),
    )
  }

  get port(): number {
    return this.coordinator.port
  }

  /** For a store, with which it goes. */
  newSchema(): string {
    this.#schemas.push(newSchema())
    return this.#schemas.at(-1) ?? ''
  }

  /** As `--store` takes it: a store in a schema, through the coordinator unless another port is given. */
  storeIn(schema: string, port = this.port): string {
    return withParameter(atPort(this.#url, port), 'schema', schema)
  }

  async connect(): Promise<Client & AsyncDisposable> {
    const client = new Client(this.#url)
    await client.connect()
    return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
  }

  sql(text: string): Promise<unknown[][]> {
    return runSql(this.#url, '', text)
  }

  /** The worker that holds a collection, of the store that was made last unless another schema is given. */
  async workerOf(collection: string, schema = this.#schemas.at(-1)): Promise<CitusNode> {
    const [[port] = []] = await this.sql(`
      SELECT nodeport FROM pg_dist_placement JOIN pg_dist_node USING (groupid)
      WHERE shardid = ${this.shardOf(collection, schema)}`)
    const worker = this.workers.find((node) => node.port === Number(port))
    if (worker === undefined) throw new Error(`No worker holds the collection "${collection}".`)
    return worker
  }

  /** The shard of its head, as an expression of SQL. */
  shardOf(collection: string, schema = this.#schemas.at(-1)): string {
    return `get_shard_id_for_distribution_column('${schema}.head', ${shardKeyOf(collection)}::bigint)`
  }

  /** Drops all stores that were made here. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const schema of this.#schemas) await this.sql(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
  }
}

/** After a node was away, the coordinator tells it what has changed; before that nothing about nodes can be changed. */
async function untilSynced(citusUrl: string): Promise<void> {
  await untilItWorks(async () => {
    const behind = await runSql(citusUrl, '', 'SELECT 1 FROM pg_dist_node WHERE hasmetadata AND NOT metadatasynced')
    if (behind.length > 0) throw new Error('A node of the Citus does not catch up.')
  })
}

function atPort(citusUrl: string, port: number): string {
  const url = new URL(citusUrl)
  url.port = String(port)
  return url.href
}

function childrenOf(parent: number): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.map(Number).filter((pid) => {
    try {
      // Behind the name of the program, which may hold anything: its state, and its parent.
      return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[1]) === parent
    } catch {
      return false
    }
  })
}
