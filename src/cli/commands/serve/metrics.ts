/** What a process that serves has done, as metrics of Prometheus. `docs/reference/metrics.md` lists them. */

import { AggregatorRegistry, collectDefaultMetrics, Registry } from 'prom-client'
import type { ServerLoad } from '../../../service/node/listen.ts'
import type { RequestRecord } from '../../../service/request-record.ts'
import type { StoreActivity } from '../../../store/activity.ts'
import type { Following } from '../../../store/following.ts'
import type { ListedHead } from '../../../store/store.ts'
import { type Listed, secondsBehind } from '../../followed.ts'

type Labels = Readonly<Record<string, string | number>>

interface Sample {
  readonly labels: Labels
  readonly value: number
  /** Where it is not the name of the metric: `…_bucket`, `…_sum`, `…_count`. */
  readonly metricName?: string
}

/** As prom-client has it in JSON: it can be sent to another process. */
export interface Metric {
  readonly name: string
  readonly help: string
  readonly type: string
  /** What becomes of the samples of several processes with the same labels. */
  readonly aggregator: string
  readonly values: readonly Sample[]
}

/** Others are counted as one: a stranger must not make new time series. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])
const OTHER_METHOD = 'other'

const DURATION_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const CHANGES = [1, 2, 4, 8, 16, 32, 64, 128, 256]

/** Collections that have time series of their own: the first by name. */
export const MAX_COLLECTIONS = 1_000

/** What was answered with the same labels. */
interface Answered {
  readonly labels: { readonly method: string; readonly route: string; readonly status: number }
  bytes: number
  seconds: number
  /** Of each bucket, without those below it; the last is for all that is longer. */
  readonly counts: number[]
}

/**
 * Requests by method, route and status, in plain numbers: prom-client would look at all labels of each metric for every
 * request, which takes longer than the whole of this.
 */
export class RequestCounts {
  readonly #answered = new Map<string, Answered>()
  readonly #cache = { hit: 0, miss: 0 }

  add({ method, route, status, durationMs, waitedMs = 0, bytes, cache }: RequestRecord): void {
    const answered = this.#find(method, route, status)
    const seconds = (durationMs - waitedMs) / 1_000
    answered.bytes += bytes
    answered.seconds += seconds
    addTo(answered.counts, DURATION_SECONDS, seconds, 1)
    if (cache !== undefined) this.#cache[cache]++
  }

  #find(method: string, route: string, status: number): Answered {
    const known = METHODS.has(method) ? method : OTHER_METHOD
    const key = `${known} ${status} ${route}`
    const found = this.#answered.get(key)
    if (found !== undefined) return found
    const counts = new Array<number>(DURATION_SECONDS.length + 1).fill(0)
    const answered = { labels: { method: known, route, status }, bytes: 0, seconds: 0, counts }
    this.#answered.set(key, answered)
    return answered
  }

  read(): Metric[] {
    const answered = [...this.#answered.values()]
    const parts = answered.map(({ labels, counts, seconds }) => ({ labels, counts, sum: seconds }))
    return [
      counter(
        'http_requests_total',
        'Requests that were answered, or whose connection broke before (status 499).',
        answered.map(({ labels, counts }) => ({ labels, value: total(counts) })),
      ),
      histogram(
        'http_request_duration_seconds',
        'From the end of the head of a request until its response was handed over, without the time that it asked to wait.',
        DURATION_SECONDS,
        parts,
      ),
      counter(
        'http_response_bytes_total',
        'Bytes of the bodies of responses, as they were sent.',
        answered.map(({ labels, bytes }) => ({ labels, value: bytes })),
      ),
      counter(
        'reams_page_cache_total',
        'Pages that were looked for in the cache.',
        Object.entries(this.#cache).map(([result, value]) => ({ labels: { result }, value })),
      ),
    ]
  }
}

export function loadMetrics({ connections, runningRequests, waitingRequests }: ServerLoad): Metric[] {
  return [
    gauge('http_connections', 'Open connections, also those that are idle.', connections),
    gauge('http_requests_running', 'Requests that are being answered.', runningRequests),
    gauge('http_requests_waiting', 'Requests that have come, and wait for others.', waitingRequests),
  ]
}

export function activityMetrics({ reads, commits, waitingChanges }: StoreActivity): Metric[] {
  const counts = new Array<number>(CHANGES.length + 1).fill(0)
  let sum = 0
  for (const [changes, times] of commits) {
    addTo(counts, CHANGES, changes, times)
    sum += changes * times
  }
  return [
    counter(
      'reams_store_reads_total',
      'Reads of the store, by what was read.',
      Object.entries(reads).map(([kind, value]) => ({ labels: { kind }, value })),
    ),
    counter('reams_store_commits_total', 'Commits of changes.', [{ labels: {}, value: total(counts) }]),
    histogram('reams_store_changes_per_commit', 'Changes that one commit made durable.', CHANGES, [
      { labels: {}, counts, sum },
    ]),
    gauge('reams_store_changes_waiting', 'Changes that were asked for, and are not durable yet.', waitingChanges),
  ]
}

/** `listed`: undefined where the store cannot be read. */
export function collectionMetrics(listed: Pick<Listed, 'heads' | 'followings'> | undefined): Metric[] {
  const up = gauge('reams_store_up', 'Whether the store can be read.', listed === undefined ? 0 : 1)
  if (listed === undefined) return [up]
  const { heads, followings } = listed
  const shown = heads.slice(0, MAX_COLLECTIONS)
  const each = (value: (head: ListedHead) => number) =>
    shown.map((head) => ({ labels: { collection: head.name }, value: value(head) }))
  const eachFollowing = (isMirror: boolean, value: (following: Following) => number) =>
    shown.flatMap(({ name, origin }) => {
      const following = followings.get(name)
      return following === undefined || isMirror !== (origin !== null)
        ? []
        : [{ labels: { collection: name }, value: value(following) }]
    })
  return [
    up,
    gauge('reams_collections', 'Collections in the store.', heads.length),
    gauges(
      'reams_collection_items',
      'Items of a collection.',
      each(({ live }) => live),
    ),
    gauges(
      'reams_collection_version',
      'The version of a collection: every commit raises it.',
      each(({ version }) => version),
    ),
    gauges(
      'reams_follow_waiting_rows',
      'Rows that wait in the table that a collection follows, as its follower last said.',
      eachFollowing(false, ({ waiting }) => waiting),
    ),
    gauges(
      'reams_follow_behind_seconds',
      'How old the moment of the table is that a collection shows.',
      eachFollowing(false, secondsBehind),
    ),
    gauges(
      'reams_mirror_behind_versions',
      'Versions by which a mirror is behind its origin, as far as is known.',
      eachFollowing(true, ({ waiting }) => waiting),
    ),
    gauges(
      'reams_mirror_behind_seconds',
      'How long ago a mirror was known to be as its origin.',
      eachFollowing(true, secondsBehind),
    ),
  ]
}

export function workerMetric(workers: number): Metric {
  return gauge('reams_workers', 'Processes that serve.', workers)
}

/** prom-client leaves out the first where several processes are taken together, and of the others takes the average. */
const AGGREGATORS: Readonly<Record<string, string>> = {
  process_start_time_seconds: 'min',
  nodejs_eventloop_lag_p50_seconds: 'max',
  nodejs_eventloop_lag_p90_seconds: 'max',
  nodejs_eventloop_lag_p99_seconds: 'max',
}

/** What prom-client tells of any process: its time, memory, event loop and garbage collection. */
export function createProcessMetrics(): () => Promise<Metric[]> {
  const register = new Registry()
  collectDefaultMetrics({ register })
  // To count them, Node makes a list of all connections. We have a count of our own.
  for (const { name } of register.getMetricsAsArray())
    if (name.startsWith('nodejs_active_')) register.removeSingleMetric(name)
  return async () => plain(await register.getMetricsAsJSON())
}

/** Those of several processes become one each. */
export async function combine(metrics: readonly Metric[]): Promise<Metric[]> {
  return plain(await AggregatorRegistry.aggregate([[...metrics]]).getMetricsAsJSON())
}

/** In the text format of Prometheus. */
export async function expose(metrics: readonly Metric[]): Promise<{ contentType: string; text: string }> {
  const registry = AggregatorRegistry.aggregate([[...metrics]])
  return { contentType: registry.contentType, text: await registry.metrics() }
}

/** Without what cannot be sent to another process. */
function plain(metrics: Awaited<ReturnType<Registry['getMetricsAsJSON']>>): Metric[] {
  return metrics.map(({ name, help, type, aggregator, values }) => ({
    name,
    help,
    type: String(type),
    aggregator: AGGREGATORS[name] ?? aggregator,
    values: values as readonly Sample[],
  }))
}

function counter(name: string, help: string, values: readonly Sample[]): Metric {
  return { name, help, type: 'counter', aggregator: 'sum', values }
}

function gauge(name: string, help: string, value: number): Metric {
  return gauges(name, help, [{ labels: {}, value }])
}

function gauges(name: string, help: string, values: readonly Sample[]): Metric {
  return { name, help, type: 'gauge', aggregator: 'sum', values }
}

/** `counts`: of each bucket alone. Prometheus wants each with all those below it. */
function histogram(
  name: string,
  help: string,
  bounds: readonly number[],
  parts: readonly { readonly labels: Labels; readonly counts: readonly number[]; readonly sum: number }[],
): Metric {
  const values = parts.flatMap(({ labels, counts, sum }): Sample[] => {
    const buckets = [...bounds, '+Inf'].map((le, index) => ({
      metricName: `${name}_bucket`,
      labels: { ...labels, le },
      value: total(counts.slice(0, index + 1)),
    }))
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: total(counts) },
    ]
  })
  return { name, help, type: 'histogram', aggregator: 'sum', values }
}

function addTo(counts: number[], bounds: readonly number[], value: number, times: number): void {
  let bucket = 0
  while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket++
  counts[bucket] = (counts[bucket] ?? 0) + times
}

function total(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0)
}
