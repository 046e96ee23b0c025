/** kill -9 of a compaction at a random moment, and another one beside it of a collection that clients write to. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Fault, Trial } from '../fault.ts'
import { THINGS } from '../history.ts'
import { POSTGRES } from '../needs.ts'
import { ReamsProcess, runReams } from '../reams-process.ts'
import type { StoreUnderTest } from '../store-under-test.ts'
import { walk } from '../walk.ts'
import {
  checkNothingStays,
  type ImportTarget,
  type ItemFile,
  importWhole,
  LOADING_PART,
  loadBegun,
  STOCK,
  withDatabase,
  withFile,
  writeItems,
  writeOne,
} from './kill-import.ts'

const ITEMS = 30_000
const DELETES = 20

export const KILL_COMPACT: Fault = {
  name: 'kill-compact',
  description: 'kill -9 of a compaction, and one beside it of what clients write to',
  rounds: 100,
  fewRounds: 2,
  needs: [],
  run: (trial) => withFile(trial, (target) => killCompactions(trial, target)),
}

export async function killCompactions(trial: Trial, target: ImportTarget): Promise<void> {
  const { directory, rounds, random, report, beginRound } = trial
  const { findings, notes } = report
  const { subject } = target
  const all = writeItems(directory, STOCK, ITEMS)
  const usualMs = await importWhole(subject, all)
  let killed = 0
  for (let done = 0; done < rounds; done++) {
    beginRound()
    await importWhole(subject, all)
    const left = await deleteSome(subject, all, trial)
    const workload = subject.work({ writers: 2 })
    workload.tolerated = [503]
    await using victim = new ReamsProcess(['compact', STOCK], subject.named)
    if (random(4) > 0) await loadBegun(target, victim)
    const beside = runReams(['compact', THINGS], subject.named)
    await sleep(random(usualMs * LOADING_PART))
    if (!victim.hasEnded) killed++
    await victim.kill()
    const { status, stdout, stderr } = await beside
    if (status !== 0) findings.add('other', `reams compact ${THINGS}: ${stdout}${stderr}`)
    await workload.servedAgain()
    await workload.stop()
    await subject.check()
    await checkStock(subject, left, trial)
    await writeOne(target, findings)
    await checkNothingStays(target, findings)
  }
  notes.push(`${killed} compactions were killed before their end`)
}

/** Answers what is left. */
async function deleteSome(subject: StoreUnderTest, { texts }: ItemFile, { random }: Trial): Promise<string[]> {
  using connection = subject.connect()
  const left = [...texts]
  for (let count = 0; count < DELETES; count++) {
    const [text = ''] = left.splice(random(left.length), 1)
    const answer = await connection.ask({ method: 'DELETE', path: `/${STOCK}/${JSON.parse(text).id}` })
    if (answer.status >= 300) throw new Error(`A DELETE was answered ${answer.status}: ${answer.body}`)
  }
  return left
}

/** Whether it was killed or not: the same items in the same order. */
async function checkStock(subject: StoreUnderTest, left: readonly string[], { report }: Trial): Promise<void> {
  using connection = subject.connect()
  const found = await walk(connection, STOCK, report.findings)
  if (found.length !== left.length || !left.every((text, index) => text === found[index]))
    report.findings.add('partial', `${found.length} items are not the ${left.length} that were there before`)
}

export const PG_KILL_COMPACT: Fault = {
  name: 'pg-kill-compact',
  description: 'kill -9 of a compaction in PostgreSQL, and one beside it of what clients write to',
  rounds: 30,
  fewRounds: 1,
  needs: [POSTGRES],
  run: (trial) => withDatabase(trial, (target) => killCompactions(trial, target)),
}
