/** The rounds of faults on a store that is written to: on new stores now and then, and struck while the service lives on. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { StoreServer, Trial } from './fault.ts'
import { type StorePlace, StoreUnderTest } from './store-under-test.ts'
import type { Workload } from './workload.ts'

/** Then a new store: reading everything after each round gets longer as it grows. */
const ROUNDS_A_STORE = 25

/** How long the clients go on when all of them were served again: then nobody may be refused any more. */
const AFTERWARDS_MS = 100

/** `newPlace` is asked for a place for each store. */
export async function eachRound(
  { rounds, random, report, beginRound }: Trial,
  newPlace: () => StorePlace,
  round: (subject: StoreUnderTest) => Promise<void>,
): Promise<void> {
  for (let done = 0; done < rounds; ) {
    await using subject = await StoreUnderTest.create(newPlace(), report, random)
    for (const end = Math.min(rounds, done + ROUNDS_A_STORE); done < end; done++) {
      beginRound()
      await round(subject)
    }
  }
}

/**
 * Strikes the database while the clients go on. `strike` may resolve with a promise of the moment at which it is back, in
 * an array, so that nobody waits for it: how long the database takes is its own affair, how long the service takes is ours.
 */
export async function strikeEachRound(
  trial: Trial,
  cluster: StoreServer,
  strike: (workload: Workload) => Promise<readonly Promise<number>[] | undefined>,
): Promise<void> {
  const { random, report } = trial
  const told = { refused: 0, unknown: 0 }
  const newPlace = () => ({ location: cluster.storeIn(cluster.newSchema()) })
  await eachRound(trial, newPlace, async (subject) => {
    const workload = subject.work({ keylessWriters: 2, isSteady: true })
    await workload.randomMoment()
    workload.tolerated = [503]
    const [back = performance.now()] = (await strike(workload)) ?? []
    const [backAt, servedAt] = await Promise.all([back, workload.servedAgain().then(() => performance.now())])
    report.recoveriesMs.push(Math.max(0, servedAt - backAt))
    workload.tolerated = []
    await sleep(random(AFTERWARDS_MS))
    await workload.stop()
    told.refused += workload.failures
    told.unknown += workload.unknowns
    await subject.check()
  })
  report.notes.push(`${told.refused} requests were answered 503, and ${told.unknown} that nobody knows`)
}
