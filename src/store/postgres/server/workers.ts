/** What only Citus has: workers, on which collections lie. Asked of the coordinator, which knows it without them. */

import { LRUCache } from 'lru-cache'
import type { ListedHead } from '../../store.ts'
import { StoreError } from '../../store-error.ts'
import type { StoredHead } from '../../tables.ts'
import { SharedRun } from '../read/shared-reads.ts'
import { listedHead } from '../rows/head.ts'
import type { Row } from '../rows/sender.ts'
import { HEAD } from '../rows/statements.ts'
import type { Connections } from './connection.ts'

/** How long an answer counts: a rebalance moves collections to other workers. */
const FRESH_MS = 30_000

/** Among so many shard keys there is one on every worker, unless it holds next to nothing. */
const SHARD_KEYS_TRIED = 300

/** The servers that hold a shard, `p` being its placement. Standbys are nodes too. */
const HOLDERS = "JOIN pg_catalog.pg_dist_node n ON n.groupid = p.groupid AND n.noderole = 'primary'"

interface Known {
  readonly worker: string
  readonly at: number
}

export class Workers {
  readonly #connections: Connections
  readonly #schema: string
  /** By shard key. */
  readonly #known = new LRUCache<number, Known>({ max: 10_000 })
  readonly #wanted = new Set<number>()
  readonly #found = new SharedRun(() => this.#find())
  #all: ReadonlyMap<string, number | undefined> = new Map()
  #allAt = Number.NEGATIVE_INFINITY

  private constructor(connections: Connections, schema: string) {
    this.#connections = connections
    this.#schema = schema
  }

  /** Undefined where the tables are ordinary ones, as in a store that is older than the extension. */
  static async find(connections: Connections, schema: string): Promise<Workers | undefined> {
    const found = await connections.retry((rows) =>
      rows.query(`SELECT 1 FROM pg_catalog.pg_dist_partition WHERE logicalrelid = '"${schema}".head'::regclass`),
    )
    return found.length > 0 ? new Workers(connections, schema) : undefined
  }

  /** The worker that holds a shard key, as far as is known. What is known for long is asked again, which nobody waits for. */
  of(shardKey: number): string | Promise<string> {
    const known = this.#known.get(shardKey)
    if (known === undefined || performance.now() - known.at > FRESH_MS) {
      const asked = this.#ask(shardKey)
      if (known === undefined) return asked
      asked.catch(() => {})
    }
    return known.worker
  }

  /** All that hold collections, each with a shard key that lies there, if one is known. */
  async all(): Promise<ReadonlyMap<string, number | undefined>> {
    if (performance.now() - this.#allAt < FRESH_MS) return this.#all
    const found = await this.#query(`
      SELECT n.nodename || ':' || n.nodeport, min(i)
      FROM pg_catalog.pg_dist_shard s JOIN pg_catalog.pg_dist_placement p USING (shardid) ${HOLDERS}
      LEFT JOIN generate_series(1, ${SHARD_KEYS_TRIED}) i ON ${this.#holds('i::bigint')}
      WHERE s.logicalrelid = '"${this.#schema}".head'::regclass GROUP BY 1 ORDER BY 1`)
    this.#all = new Map(
      found.map(([worker, shardKey]) => [String(worker), shardKey === null ? undefined : Number(shardKey)]),
    )
    this.#allAt = performance.now()
    return this.#all
  }

  /** The heads on all workers but these. A statement for all shards would fail. */
  async headsWithout(away: readonly string[]): Promise<(StoredHead & ListedHead)[]> {
    const head = `"${this.#schema}".head`
    const columns = HEAD.replace('h.key_field', "encode(h.key_field, 'base64')")
    const left = away.map(quoted).join(', ')
    const found = await this.#query(`
      SELECT r.success, r.result FROM (
        SELECT array_agg(n.nodename::text) AS names, array_agg(n.nodeport) AS ports, array_agg(format(
          $q$SELECT coalesce(json_agg(json_build_array(${columns}, h.name, h.changed_at, h.shard_key)), '[]') FROM %s h$q$,
          pg_catalog.shard_name('${head}'::regclass, s.shardid))) AS commands
        FROM pg_catalog.pg_dist_shard s JOIN pg_catalog.pg_dist_placement p USING (shardid)
        ${HOLDERS}
        WHERE s.logicalrelid = '${head}'::regclass AND n.nodename || ':' || n.nodeport <> ALL (ARRAY[${left}]::text[])
      ) c, pg_catalog.master_run_on_worker(c.names, c.ports, c.commands, true) r`)
    const failed = found.find(([isDone]) => isDone !== true)
    if (failed !== undefined) throw new StoreError('unavailable', `Part of the store cannot be listed: ${failed[1]}`)
    const rows = found.flatMap(([, json]) => JSON.parse(String(json)) as Row[])
    return rows
      .map((row) => listedHead(row.with(1, row[1] === null ? null : Buffer.from(String(row[1]), 'base64'))))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** Something that a worker has to answer for, as a text of SQL. */
  async questionFor(worker: string): Promise<string> {
    const shardKey = (await this.all()).get(worker)
    if (shardKey !== undefined) return `SELECT 1 FROM "${this.#schema}".head WHERE shard_key = ${shardKey} LIMIT 1`
    const [host, port] = /^(.*):(\d+)$/.exec(worker)?.slice(1) ?? []
    const node = `ARRAY[${quoted(host ?? '')}], ARRAY[${port}]`
    return `SELECT 1 / success::integer FROM pg_catalog.master_run_on_worker(${node}, ARRAY['SELECT 1'], false)`
  }

  #query(sql: string): Promise<readonly Row[]> {
    return this.#connections.retry((rows) => rows.query(sql))
  }

  /** In one statement for all who ask meanwhile: anybody may ask for names that nobody has. */
  async #ask(shardKey: number): Promise<string> {
    this.#wanted.add(shardKey)
    return (await this.#found.ask()).get(shardKey) ?? ''
  }

  async #find(): Promise<ReadonlyMap<number, string>> {
    const wanted = [...this.#wanted]
    this.#wanted.clear()
    const rows = await this.#query(`
      SELECT u.shard_key, n.nodename || ':' || n.nodeport FROM unnest(ARRAY[${wanted.join(', ')}]::bigint[]) u (shard_key)
      JOIN pg_catalog.pg_dist_shard s ON ${this.#holds('u.shard_key')}
      JOIN pg_catalog.pg_dist_placement p USING (shardid) ${HOLDERS}`)
    const found = new Map(rows.map(([shardKey, worker]) => [Number(shardKey), String(worker)]))
    for (const [shardKey, worker] of found) this.#known.set(shardKey, { worker, at: performance.now() })
    return found
  }

  /** Whether the shard `s` of the heads holds a shard key. */
  #holds(shardKey: string): string {
    return `s.logicalrelid = '"${this.#schema}".head'::regclass
        AND pg_catalog.worker_hash(${shardKey}) BETWEEN s.shardminvalue::integer AND s.shardmaxvalue::integer`
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
