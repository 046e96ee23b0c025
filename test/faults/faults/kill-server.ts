/** kill -9 of the server at a random moment, while it is being written to. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Fault } from '../fault.ts'
import { StoreUnderTest } from '../store-under-test.ts'

/** Then a new store: reading everything after each round gets longer as it grows. */
const ROUNDS_A_STORE = 25

export const KILL_SERVER: Fault = {
  name: 'kill-server',
  description: 'kill -9 of the server at a random moment',
  rounds: 200,
  fewRounds: 5,
  needs: [],
  mostRecoveryMs: 2_000,
  async run({ directory, rounds, random, report, beginRound }) {
    for (let done = 0; done < rounds; ) {
      const own = join(directory, String(done))
      mkdirSync(own)
      await using subject = await StoreUnderTest.create(own, report, random)
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
