/** All faults, in the order in which they are run. */

import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { CitusCluster } from '../../store/citus-cluster.ts'
import { citusUrl } from '../../store/citus-server.ts'
import type { Fault, Trial } from '../fault.ts'
import { CITUS, POSTGRES, STRACE, TMPFS, XFS } from '../needs.ts'
import type { StorePlace } from '../store-under-test.ts'
import { crowdIn } from './crowd.ts'
import { cutCommits } from './cut-commit.ts'
import {
  cutWorkerCommit,
  hangWorker,
  killAsynchronousWorker,
  killCoordinator,
  killWorker,
  moveShards,
  strikeCitus,
  takeDown,
} from './database-down.ts'
import { runFullDisk } from './disk-full.ts'
import { flipBits } from './flips.ts'
import { followBank } from './follow.ts'
import { failOneCall } from './io-error.ts'
import { killImports } from './kill-load.ts'
import { killPulls } from './kill-pull.ts'
import { mirrorBank } from './mirror.ts'
import { cutPower, killServer } from './sudden-end.ts'
import { moveAmounts } from './transfers.ts'

type Run = Fault['run']
type RunAnywhere = (trial: Trial, newPlace: () => StorePlace) => Promise<void>

const inFiles = (run: RunAnywhere): Run => {
  return (trial) => run(trial, () => ({ location: join(mkdtempSync(join(trial.directory, 'store-')), 'reams.db') }))
}

const inDatabase = (run: RunAnywhere): Run => {
  return async (trial) => {
    const cluster = await trial.postgres()
    await run(trial, () => ({ location: cluster.storeIn(cluster.newSchema()) }))
  }
}

const inCitus = (run: Run): Run => {
  return async (trial) => {
    await using cluster = await CitusCluster.find(citusUrl)
    await run({ ...trial, postgres: async () => cluster })
  }
}

const WALKS_OF_TRANSFERS = 'kill -9 of the server, again and again, while snapshots are walked'

const BACK_SOON = { mostRecoveryMs: 5_000 }

type Row = readonly [name: string, description: string, run: Run, more?: Partial<Fault>]

/** Faults that have most in common. */
function faultsOf(shared: Pick<Fault, 'needs' | 'rounds' | 'fewRounds'>, rows: readonly Row[]): Fault[] {
  return rows.map(([name, description, run, more]) => ({ ...shared, name, description, run, ...more }))
}

/** What is done to a service, or to its line to a database: the same on PostgreSQL and on Citus. */
const onDatabase = (name: string, change: (run: Run) => Run): Row[] => [
  [`${name}-kill-server`, 'kill -9 of the server', change(inDatabase(killServer)), { mostRecoveryMs: 2_000 }],
  [`${name}-kill-import`, 'kill -9 of an import', change(inDatabase(killImports)), { rounds: 30 }],
  [`${name}-cut-commit`, 'the line to the database cut at COMMIT', change(cutCommits), { fewRounds: 2 }],
  [`${name}-transfers`, WALKS_OF_TRANSFERS, change(inDatabase(moveAmounts)), { fewRounds: 10 }],
  [`${name}-crowd`, '500 clients, and a database that stands still for 6 s', change(crowdIn), { rounds: 10 }],
]

export const FAULTS: readonly Fault[] = [
  ...faultsOf({ needs: [], rounds: 100, fewRounds: 2 }, [
    ['kill-server', 'kill -9 of the server', inFiles(killServer), { rounds: 200, fewRounds: 5, mostRecoveryMs: 2_000 }],
    ['kill-import', 'kill -9 of an import, with and without --replace', inFiles(killImports), { fewRounds: 3 }],
    ['disk-full', 'no space left, then some again, without a restart', runFullDisk, { rounds: 20, needs: [TMPFS] }],
    ['io-error', 'EIO on the n-th sync, and on the n-th write, n = 1 … 100', failOneCall, { needs: [STRACE] }],
    [
      'power-cut',
      'the file system shut down without a flush',
      (trial) => cutPower(trial),
      { rounds: 50, needs: [XFS] },
    ],
    ['flips', 'a random bit of the store file is flipped', flipBits, { rounds: 1_000, fewRounds: 20 }],
    ['kill-pull', 'kill -9 of a pull, which is resumed', killPulls, { fewRounds: 12 }],
    ['transfers', WALKS_OF_TRANSFERS, inFiles(moveAmounts), { rounds: 1_000, fewRounds: 20 }],
  ]),
  ...faultsOf({ needs: [POSTGRES], rounds: 100, fewRounds: 1 }, [
    ...onDatabase('pg', (run) => run),
    ['pg-restart', 'pg_ctl restart -m immediate', takeDown('restartImmediately'), BACK_SOON],
    ['pg-kill-backend', 'kill -9 of a backend, which then ends all others', takeDown('killBackend'), BACK_SOON],
    ['pg-kill-postmaster', 'kill -9 of the postmaster, started again', takeDown('killPostmaster'), BACK_SOON],
    [
      'follow',
      'kill -9 of a follower, its server and PostgreSQL, while 8 clerks move amounts in the table',
      followBank,
      { fewRounds: 4, mostRecoveryMs: 30_000 },
    ],
    [
      'mirror',
      'a mirror and its mirror: kill -9 of each and its server, cut connections, and an origin put back to a backup',
      mirrorBank,
      { rounds: 300, fewRounds: 2, mostRecoveryMs: 30_000 },
    ],
  ]),
  ...faultsOf({ needs: [CITUS], rounds: 100, fewRounds: 1 }, onDatabase('citus', inCitus)),
  ...faultsOf({ needs: [CITUS], rounds: 50, fewRounds: 1 }, [
    ['citus-kill-worker', 'kill -9 of a worker, which is then started again', strikeCitus(killWorker)],
    ['citus-kill-asynchronous-worker', 'the same where synchronous_commit is off', killAsynchronousWorker],
    ['citus-kill-coordinator', 'kill -9 of the coordinator, which is then started again', strikeCitus(killCoordinator)],
    ['citus-hang-worker', 'SIGSTOP of a worker, and SIGCONT after up to three seconds', strikeCitus(hangWorker)],
    ['citus-cut-worker-commit', 'the line from the coordinator to a worker cut at COMMIT', cutWorkerCommit],
    ['citus-move-shards', 'shards moved to another worker, as a rebalance does it', strikeCitus(moveShards)],
  ]),
]
