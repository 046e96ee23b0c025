/** All faults, in the order in which they are run. */

import type { Fault } from '../fault.ts'
import {
  CITUS_CUT_WORKER_COMMIT,
  CITUS_HANG_WORKER,
  CITUS_KILL_ASYNCHRONOUS_WORKER,
  CITUS_KILL_COORDINATOR,
  CITUS_KILL_WORKER,
  CITUS_MOVE_SHARDS,
  CITUS_SERVICE_FAULTS,
} from './citus.ts'
import { DISK_FULL } from './disk-full.ts'
import { FLIPS } from './flips.ts'
import { IO_ERROR } from './io-error.ts'
import { KILL_COMPACT, PG_KILL_COMPACT } from './kill-compact.ts'
import { KILL_IMPORT, PG_KILL_IMPORT } from './kill-import.ts'
import { KILL_PULL } from './kill-pull.ts'
import { KILL_SERVER, PG_KILL_SERVER } from './kill-server.ts'
import { PG_CROWD } from './pg-crowd.ts'
import { PG_CUT_COMMIT } from './pg-cut-commit.ts'
import { PG_KILL_BACKEND, PG_KILL_POSTMASTER, PG_RESTART } from './pg-down.ts'
import { POWER_CUT } from './power-cut.ts'

export const FAULTS: readonly Fault[] = [
  KILL_SERVER,
  KILL_IMPORT,
  KILL_COMPACT,
  DISK_FULL,
  IO_ERROR,
  POWER_CUT,
  FLIPS,
  KILL_PULL,
  PG_KILL_SERVER,
  PG_KILL_IMPORT,
  PG_KILL_COMPACT,
  PG_RESTART,
  PG_KILL_BACKEND,
  PG_KILL_POSTMASTER,
  PG_CUT_COMMIT,
  PG_CROWD,
  ...CITUS_SERVICE_FAULTS,
  CITUS_KILL_WORKER,
  CITUS_KILL_ASYNCHRONOUS_WORKER,
  CITUS_KILL_COORDINATOR,
  CITUS_HANG_WORKER,
  CITUS_CUT_WORKER_COMMIT,
  CITUS_MOVE_SHARDS,
]
