/** kill -9 of the server at a random moment, while it is being written to, on a store in PostgreSQL. */

import type { Fault } from '../fault.ts'
import { POSTGRES } from '../needs.ts'
import { StoreUnderTest } from '../store-under-test.ts'

/** Then a new store: reading everything after each round gets longer as it grows. */
const ROUNDS_A_STORE = 25

export const PG_KILL_SERVER: Fault = {
  name: 'pg-kill-server',
  description: 'kill -9 of the server of a store in PostgreSQL at a random moment',
  rounds: 100,
  fewRounds: 1,
  needs: [POSTGRES],
  mostRecoveryMs: 2_000,
  async run({ rounds, random, report, postgres, beginRound }) {
    const cluster = await postgres()
    for (let done = 0; done < rounds; ) {
      const place = { location: cluster.storeIn(cluster.newSchema()) }
      await using subject = await StoreUnderTest.createAt(place, report, random)
      for (const end = Math.min(rounds, done + ROUNDS_A_STORE); done < end; done++) {
        beginRound()
        const workload = subject.work()
        await workload.randomMoment()
        await subject.server.kill()
        await workload.stop()
        await subject.recover()
      }
    }
  },
}
