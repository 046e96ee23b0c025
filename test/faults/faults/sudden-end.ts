/** The server ends at a random moment, while it is being written to: by kill -9, or because the power fails. */

import { join } from 'node:path'
import type { Trial } from '../fault.ts'
import { XfsImage } from '../mounts.ts'
import { eachRound } from '../rounds.ts'
import { type StorePlace, StoreUnderTest } from '../store-under-test.ts'

export function killServer(trial: Trial, newPlace: () => StorePlace): Promise<void> {
  return eachRound(trial, newPlace, async (subject) => {
    const workload = subject.work()
    await workload.randomMoment()
    await subject.server.kill()
    await workload.stop()
    await subject.recover()
  })
}

/** Everything that had not reached the disk is gone. `wrapper` is what the server runs within. */
export async function cutPower(trial: Trial, wrapper: readonly string[] = []): Promise<void> {
  const { directory, rounds, random, report, beginRound } = trial
  using disk = new XfsImage(directory)
  await using subject = await StoreUnderTest.create({ location: join(disk.path, 'reams.db') }, report, random)
  for (let done = 0; done < rounds; done++) {
    beginRound()
    if (wrapper.length > 0) {
      await subject.server.kill()
      await subject.start(wrapper)
    }
    const workload = subject.work()
    await workload.randomMoment()
    // A machine without power answers nobody. The kernel here lives on, and calls a sync done that it has just cut off.
    subject.server.freeze()
    disk.cutPower()
    await subject.server.kill()
    await workload.stop()
    disk.mountAgain()
    await subject.recover()
  }
}
