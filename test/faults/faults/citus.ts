/** What can happen to the nodes of a Citus while a service on it is written to: it lives on, and comes back by itself. */

import { setTimeout as sleep } from 'node:timers/promises'
import { CitusCluster, type CitusNode } from '../../store/citus-cluster.ts'
import { citusUrl } from '../../store/citus-server.ts'
import { startProxy, type TcpProxy } from '../../store/tcp-proxy.ts'
import type { Fault, Trial } from '../fault.ts'
import { LOG, THINGS } from '../history.ts'
import { CITUS } from '../needs.ts'
import { strikeEachRound } from '../rounds.ts'
import type { Workload } from '../workload.ts'
import { PG_KILL_COMPACT } from './kill-compact.ts'
import { PG_KILL_IMPORT } from './kill-import.ts'
import { PG_KILL_SERVER } from './kill-server.ts'
import { PG_CROWD } from './pg-crowd.ts'
import { cutOnce, PG_CUT_COMMIT } from './pg-cut-commit.ts'

const LONGEST_HANG_MS = 3_000

const SHARED = { rounds: 50, fewRounds: 1, needs: [CITUS] } as const

/** What is done in a round, while the clients go on. */
type Blow = (workload: Workload, cluster: CitusCluster) => Promise<void>

/** What is done to the service, or to its line, on PostgreSQL: the same on Citus. */
export const CITUS_SERVICE_FAULTS = [PG_KILL_SERVER, PG_KILL_IMPORT, PG_KILL_COMPACT, PG_CUT_COMMIT, PG_CROWD].map(
  (fault): Fault => ({
    ...fault,
    name: fault.name.replace('pg-', 'citus-'),
    description: `${fault.description}, on Citus`,
    needs: [CITUS],
    async run(trial) {
      await using cluster = await CitusCluster.find(citusUrl)
      await fault.run({ ...trial, postgres: async () => cluster })
    },
  }),
)

export const CITUS_KILL_WORKER: Fault = {
  ...SHARED,
  name: 'citus-kill-worker',
  description: 'kill -9 of a worker of Citus, which is then started again',
  run: (trial) => strikeCitus(trial, killWorker(trial)),
}

export const CITUS_KILL_ASYNCHRONOUS_WORKER: Fault = {
  ...SHARED,
  name: 'citus-kill-asynchronous-worker',
  description: 'the same where synchronous_commit is off on all nodes',
  async run(trial) {
    const cluster = await CitusCluster.find(citusUrl)
    await using _ = await withSetting(cluster, 'synchronous_commit', 'off')
    await strikeCitus(trial, killWorker(trial))
  },
}

export const CITUS_KILL_COORDINATOR: Fault = {
  ...SHARED,
  name: 'citus-kill-coordinator',
  description: 'kill -9 of the coordinator of Citus, which is then started again',
  run: (trial) =>
    strikeCitus(trial, async (_, { coordinator }) => {
      coordinator.kill()
      await coordinator.start()
    }),
}

export const CITUS_HANG_WORKER: Fault = {
  ...SHARED,
  name: 'citus-hang-worker',
  description: 'SIGSTOP of a worker of Citus, and SIGCONT after up to three seconds',
  run: (trial) =>
    strikeCitus(trial, async (_, cluster) => {
      const worker = await anyWorker(trial, cluster)
      worker.hang()
      await sleep(trial.random(LONGEST_HANG_MS))
      worker.goOn()
    }),
}

export const CITUS_CUT_WORKER_COMMIT: Fault = {
  ...SHARED,
  name: 'citus-cut-worker-commit',
  description: 'the line from the coordinator to a worker cut right before and right after COMMIT',
  async run(trial) {
    const { report } = trial
    const cluster = await CitusCluster.find(citusUrl)
    await using resources = new AsyncDisposableStack()
    // Else the proxy sees nothing.
    resources.use(await withSetting(cluster, 'citus.node_conninfo', 'sslmode=disable'))
    const proxies: TcpProxy[] = []
    for (const { id, port } of cluster.workers) {
      const proxy = resources.adopt(await startProxy('127.0.0.1', port), (opened) => opened.close())
      resources.defer(() => moveNode(cluster, id, port))
      await moveNode(cluster, id, proxy.port)
      proxies.push(proxy)
    }
    const cuts = { before: 0, after: 0, unknown: 0 }
    await strikeCitus(trial, async (workload) => {
      await cutOnce(trial, proxies, cuts)
      await workload.servedAgain()
      cuts.unknown += workload.unknowns
    })
    report.notes.push(
      `${cuts.before} were cut before COMMIT and ${cuts.after} after it, ${cuts.unknown} answered as unknown`,
    )
  },
}

export const CITUS_MOVE_SHARDS: Fault = {
  ...SHARED,
  name: 'citus-move-shards',
  description: 'the shards of a collection moved to another worker of Citus, as a rebalance does it',
  run: (trial) =>
    strikeCitus(trial, async (_, cluster) => {
      const collection = trial.random(2) === 0 ? LOG : THINGS
      const from = await cluster.workerOf(collection)
      const others = cluster.workers.filter((worker) => worker !== from)
      const to = others[trial.random(others.length)]
      if (to === undefined) throw new Error('There is no other worker.')
      await cluster.sql(`
        SELECT citus_move_shard_placement(${cluster.shardOf(collection)}, '127.0.0.1', ${from.port}, '127.0.0.1',
          ${to.port}, shard_transfer_mode => 'force_logical')`)
    }),
}

function killWorker(trial: Trial): Blow {
  return async (_, cluster) => {
    const worker = await anyWorker(trial, cluster)
    worker.kill()
    await worker.start()
  }
}

/** One that holds something. */
function anyWorker({ random }: Trial, cluster: CitusCluster): Promise<CitusNode> {
  return cluster.workerOf(random(2) === 0 ? LOG : THINGS)
}

async function moveNode(cluster: CitusCluster, id: number, port: number): Promise<void> {
  await cluster.sql(`SELECT citus_update_node(${id}, '127.0.0.1', ${port})`)
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

/** On the Citus that runs here. */
async function strikeCitus(trial: Trial, blow: Blow): Promise<void> {
  await using cluster = await CitusCluster.find(citusUrl)
  await strikeEachRound(trial, cluster, async (workload) => {
    await blow(workload, cluster)
    return undefined
  })
}
