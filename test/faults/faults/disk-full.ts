/** The disk runs full under a running server, and has room again later. */

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { waitUntil } from '../../wait-until.ts'
import type { Trial } from '../fault.ts'
import { fillDisk, mountTmpfs } from '../mounts.ts'
import { StoreUnderTest } from '../store-under-test.ts'

/** Enough for what all rounds write. */
const DISK_MEGABYTES = 256

const PHASE_MS = 200

/** The log may still have room of its own, but not for so long. */
const MAX_MS_UNTIL_FULL = 20_000

export async function runFullDisk({ directory, rounds, random, report, beginRound }: Trial): Promise<void> {
  using disk = mountTmpfs(directory, DISK_MEGABYTES)
  await using subject = await StoreUnderTest.create({ location: join(disk.path, 'reams.db') }, report, random)
  const ballast = join(disk.path, 'ballast')
  let refused = 0
  for (let done = 0; done < rounds; done++) {
    beginRound()
    const workload = subject.work()
    await sleep(random(PHASE_MS))
    workload.tolerated = [507]
    fillDisk(ballast)
    const refusal = waitUntil(() => workload.failures > 0, MAX_MS_UNTIL_FULL)
    await refusal.catch(() => report.findings.add('other', 'no write was answered 507, although the disk is full'))
    await sleep(PHASE_MS)
    rmSync(ballast)
    workload.tolerated = []
    await sleep(PHASE_MS)
    await workload.stop()
    refused += workload.failures
    await subject.check()
  }
  report.notes.push(`${refused} writes were answered 507`)
}
