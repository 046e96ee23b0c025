/** PostgreSQL, or a node of a Citus, goes down under a service that is written to and lives on, and comes back. */

import { setTimeout as sleep } from 'node:timers/promises'
import { median } from '../../../bench/measure.ts'
import { formatDuration } from '../../../src/cli/output.ts'
import { CitusCluster, type CitusNode } from '../../store/citus-cluster.ts'
import { citusUrl } from '../../store/citus-server.ts'
import { startProxy, type TcpProxy } from '../../store/tcp-proxy.ts'
import type { Trial } from '../fault.ts'
import { LOG, THINGS } from '../history.ts'
import { strikeEachRound } from '../rounds.ts'
import type { Workload } from '../workload.ts'
import { Cuts, cutOnce } from './cut-commit.ts'

const LONGEST_HANG_MS = 3_000

/** Ends all connections of a PostgreSQL in each round. */
export function takeDown(how: 'restartImmediately' | 'killBackend' | 'killPostmaster') {
  return async (trial: Trial): Promise<void> => {
    const cluster = await trial.ownPostgres()
    const downMs: number[] = []
    await strikeEachRound(trial, cluster, async () => {
      const struckAt = performance.now()
      await cluster.strike(() => cluster[how]())
      const back = async () => {
        await cluster.ready()
        downMs.push(performance.now() - struckAt)
        return performance.now()
      }
      return [back()]
    })
    trial.report.notes.push(
      `PostgreSQL was down for ${formatDuration(median(downMs))}, at most ${formatDuration(Math.max(...downMs))}`,
    )
  }
}

/** What is done in a round to the Citus that runs here, while the clients go on. */
type Blow = (cluster: CitusCluster, trial: Trial, workload: Workload) => Promise<void>

export function strikeCitus(blow: Blow) {
  return async (trial: Trial): Promise<void> => {
    await using cluster = await CitusCluster.find(citusUrl)
    await strikeEachRound(trial, cluster, async (workload) => {
      await blow(cluster, trial, workload)
      return undefined
    })
  }
}

export const killWorker: Blow = async (cluster, trial) => {
  const worker = await anyWorker(cluster, trial)
  worker.kill()
  await worker.start()
}

export const killCoordinator: Blow = async ({ coordinator }) => {
  coordinator.kill()
  await coordinator.start()
}

export const hangWorker: Blow = async (cluster, trial) => {
  const worker = await anyWorker(cluster, trial)
  worker.hang()
  await sleep(trial.random(LONGEST_HANG_MS))
  worker.goOn()
}

export const moveShards: Blow = async (cluster, { random }) => {
  const collection = random(2) === 0 ? LOG : THINGS
  const from = await cluster.workerOf(collection)
  const others = cluster.workers.filter((worker) => worker !== from)
  const to = others[random(others.length)]
  if (to === undefined) throw new Error('There is no other worker.')
  await cluster.sql(`
    SELECT citus_move_shard_placement(${cluster.shardOf(collection)}, '127.0.0.1', ${from.port}, '127.0.0.1',
      ${to.port}, shard_transfer_mode => 'force_logical')`)
}

/** Where synchronous_commit is off on all nodes. */
export async function killAsynchronousWorker(trial: Trial): Promise<void> {
  await using _ = await withSetting(await CitusCluster.find(citusUrl), 'synchronous_commit', 'off')
  await strikeCitus(killWorker)(trial)
}

/** Cuts the line from the coordinator to a worker. */
export async function cutWorkerCommit(trial: Trial): Promise<void> {
  const cluster = await CitusCluster.find(citusUrl)
  await using resources = new AsyncDisposableStack()
  // Else the proxy sees nothing.
  resources.use(await withSetting(cluster, 'citus.node_conninfo', 'sslmode=disable'))
  const moveNode = (id: number, port: number) => cluster.sql(`SELECT citus_update_node(${id}, '127.0.0.1', ${port})`)
  const proxies: TcpProxy[] = []
  for (const { id, port } of cluster.workers) {
    const proxy = resources.adopt(await startProxy('127.0.0.1', port), (opened) => opened.close())
    resources.defer(async () => void (await moveNode(id, port)))
    await moveNode(id, proxy.port)
    proxies.push(proxy)
  }
  const cuts = new Cuts()
  const strike = strikeCitus(async (_cluster, _trial, workload) => {
    await cutOnce(trial, proxies, cuts)
    await workload.servedAgain()
    cuts.unknown += workload.unknowns
  })
  await strike(trial)
  trial.report.notes.push(`${cuts}`)
}

/** One that holds something. */
function anyWorker(cluster: CitusCluster, { random }: Trial): Promise<CitusNode> {
  return cluster.workerOf(random(2) === 0 ? LOG : THINGS)
}

/** On all nodes, until it is disposed of. */
async function withSetting(cluster: CitusCluster, name: string, value: string): Promise<AsyncDisposable> {
  const execute = async (sql: string) => {
    for (const node of [cluster.coordinator, ...cluster.workers]) {
      await node.sql(sql)
      await node.sql('SELECT pg_reload_conf()')
    }
  }
  await execute(`ALTER SYSTEM SET ${name} = '${value}'`)
  return { [Symbol.asyncDispose]: () => execute(`ALTER SYSTEM RESET ${name}`) }
}
