/** The power fails: everything that had not reached the disk is gone. */

import type { Fault, Trial } from '../fault.ts'
import { XfsImage } from '../mounts.ts'
import { XFS } from '../needs.ts'
import { StoreUnderTest } from '../store-under-test.ts'

export const POWER_CUT: Fault = {
  name: 'power-cut',
  description: 'the file system shut down without a flush, and mounted again',
  rounds: 50,
  fewRounds: 2,
  needs: [XFS],
  run: (trial) => cutPower([], trial),
}

/** `wrapper` is what the server runs within. */
export async function cutPower(
  wrapper: readonly string[],
  { directory, rounds, random, report, beginRound }: Trial,
): Promise<void> {
  using disk = new XfsImage(directory)
  await using subject = await StoreUnderTest.create(disk.path, report, random)
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
