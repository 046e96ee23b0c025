/** kill -9 of the server at a random moment, while it is being written to. */

import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import type { Fault, Trial } from '../fault.ts'
import { POSTGRES } from '../needs.ts'
import { eachRound, newSchema } from '../rounds.ts'
import type { StorePlace } from '../store-under-test.ts'

export const KILL_SERVER: Fault = {
  name: 'kill-server',
  description: 'kill -9 of the server at a random moment',
  rounds: 200,
  fewRounds: 5,
  needs: [],
  mostRecoveryMs: 2_000,
  run: (trial) =>
    killServers(trial, () => ({ location: join(mkdtempSync(join(trial.directory, 'store-')), 'reams.db') })),
}

export const PG_KILL_SERVER: Fault = {
  name: 'pg-kill-server',
  description: 'kill -9 of the server of a store in PostgreSQL at a random moment',
  rounds: 100,
  fewRounds: 1,
  needs: [POSTGRES],
  mostRecoveryMs: 2_000,
  run: async (trial) => killServers(trial, newSchema(await trial.postgres())),
}

function killServers(trial: Trial, newPlace: () => StorePlace): Promise<void> {
  return eachRound(trial, newPlace, async (subject) => {
    const workload = subject.work()
    await workload.randomMoment()
    await subject.server.kill()
    await workload.stop()
    await subject.recover()
  })
}
