/** PostgreSQL goes down under a service that is written to and lives on, and comes back. */

import { setTimeout as sleep } from 'node:timers/promises'
import { median } from '../../../bench/measure.ts'
import { formatDuration } from '../../../src/cli/figures.ts'
import type { PostgresCluster } from '../../store/postgres-cluster.ts'
import type { Fault, Trial } from '../fault.ts'
import { POSTGRES } from '../needs.ts'
import { StoreUnderTest } from '../store-under-test.ts'

/** Then a new store: reading everything after each round gets longer as it grows. */
const ROUNDS_A_STORE = 25

/** How long the clients go on when all of them were served again: then nobody may be refused any more. */
const AFTERWARDS_MS = 100

const SHARED = { rounds: 100, fewRounds: 1, needs: [POSTGRES], mostRecoveryMs: 5_000 } as const

export const PG_RESTART: Fault = {
  ...SHARED,
  name: 'pg-restart',
  description: 'pg_ctl restart -m immediate of PostgreSQL',
  run: (trial) => strikeEachRound(trial, (cluster) => cluster.restartImmediately()),
}

export const PG_KILL_BACKEND: Fault = {
  ...SHARED,
  name: 'pg-kill-backend',
  description: 'kill -9 of a backend of PostgreSQL, which then ends all others',
  run: (trial) => strikeEachRound(trial, (cluster) => cluster.killBackend()),
}

export const PG_KILL_POSTMASTER: Fault = {
  ...SHARED,
  name: 'pg-kill-postmaster',
  description: 'kill -9 of the postmaster of PostgreSQL, which is then started again',
  run: (trial) => strikeEachRound(trial, (cluster) => cluster.killPostmaster()),
}

type Blow = (cluster: PostgresCluster) => Promise<void>

async function strikeEachRound(trial: Trial, blow: Blow): Promise<void> {
  const { rounds, random, report, beginRound } = trial
  const cluster = await trial.ownPostgres()
  const told = { refused: 0, unknown: 0 }
  const databaseMs: number[] = []
  for (let done = 0; done < rounds; ) {
    const place = { location: cluster.storeIn(cluster.newSchema()) }
    await using subject = await StoreUnderTest.createAt(place, report, random)
    for (const end = Math.min(rounds, done + ROUNDS_A_STORE); done < end; done++) {
      beginRound()
      const workload = subject.work({ keylessWriters: 2, isSteady: true })
      await workload.randomMoment()
      workload.tolerated = [503]
      const struckAt = performance.now()
      await cluster.strike(() => blow(cluster))
      const [backAt, servedAt] = await Promise.all([momentOf(cluster.ready()), momentOf(workload.servedAgain())])
      // How long the database takes is its own affair; how long the service takes to notice is ours.
      report.recoveriesMs.push(Math.max(0, servedAt - backAt))
      databaseMs.push(backAt - struckAt)
      workload.tolerated = []
      await sleep(random(AFTERWARDS_MS))
      await workload.stop()
      told.refused += workload.failures
      told.unknown += workload.unknowns
      await subject.check()
    }
  }
  const downMs = `${formatDuration(median(databaseMs))}, at most ${formatDuration(Math.max(...databaseMs))}`
  report.notes.push(
    `${told.refused} requests were answered 503, and ${told.unknown} that nobody knows; PostgreSQL was down for ${downMs}`,
  )
}

async function momentOf(event: Promise<unknown>): Promise<number> {
  await event
  return performance.now()
}
