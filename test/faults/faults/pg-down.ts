/** PostgreSQL goes down under a service that is written to and lives on, and comes back. */

import { median } from '../../../bench/measure.ts'
import { formatDuration } from '../../../src/cli/output.ts'
import type { PostgresCluster } from '../../store/postgres-cluster.ts'
import type { Fault } from '../fault.ts'
import { POSTGRES } from '../needs.ts'
import { strikeEachRound } from '../rounds.ts'

export const PG_RESTART = faultOf('pg-restart', 'pg_ctl restart -m immediate of PostgreSQL', (cluster) =>
  cluster.restartImmediately(),
)

export const PG_KILL_BACKEND = faultOf(
  'pg-kill-backend',
  'kill -9 of a backend of PostgreSQL, which then ends all others',
  (cluster) => cluster.killBackend(),
)

export const PG_KILL_POSTMASTER = faultOf(
  'pg-kill-postmaster',
  'kill -9 of the postmaster of PostgreSQL, which is then started again',
  (cluster) => cluster.killPostmaster(),
)

function faultOf(name: string, description: string, blow: (cluster: PostgresCluster) => Promise<void>): Fault {
  return {
    name,
    description,
    rounds: 100,
    fewRounds: 1,
    needs: [POSTGRES],
    mostRecoveryMs: 5_000,
    async run(trial) {
      const cluster = await trial.ownPostgres()
      const downMs: number[] = []
      await strikeEachRound(trial, cluster, async () => {
        const struckAt = performance.now()
        await cluster.strike(() => blow(cluster))
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
    },
  }
}
