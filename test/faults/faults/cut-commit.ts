/** The line to PostgreSQL is cut right before or right after COMMIT is sent. */

import { startProxy, type TcpProxy } from '../../store/tcp-proxy.ts'
import { waitUntil } from '../../wait-until.ts'
import type { Trial } from '../fault.ts'
import { eachRound } from '../rounds.ts'

/** Cuts in a round, and commits that pass before each, at most. */
const CUTS_A_ROUND = 5
const MAX_COMMITS_BETWEEN = 8

/** The message that asks for a commit: its kind, its length, its text. */
const COMMIT = Buffer.from('Q\0\0\0\x0bCOMMIT\0')

const MAX_MS_UNTIL_CUT = 20_000

/** What was cut, and how many writes were answered that nobody knows. */
export class Cuts {
  before = 0
  after = 0
  unknown = 0

  toString(): string {
    return `${this.before} connections were cut before COMMIT and ${this.after} after it; ${this.unknown} writes were answered that nobody knows`
  }
}

export async function cutCommits(trial: Trial): Promise<void> {
  const { rounds, report } = trial
  const cluster = await trial.postgres()
  await using resources = new AsyncDisposableStack()
  const proxy = resources.adopt(await startProxy('127.0.0.1', cluster.port), (opened) => opened.close())
  const newPlace = () => {
    const schema = cluster.newSchema()
    return { location: cluster.storeIn(schema), servedLocation: cluster.storeIn(schema, proxy.port) }
  }
  const cuts = new Cuts()
  await eachRound(trial, newPlace, async (subject) => {
    const workload = subject.work({ keylessWriters: 4, isSteady: true })
    for (let cut = 0; cut < CUTS_A_ROUND; cut++) await cutOnce(trial, [proxy], cuts)
    await workload.servedAgain()
    await workload.stop()
    cuts.unknown += workload.unknowns
    await subject.check()
  })
  report.notes.push(`${cuts}`)
  if (rounds > 1 && cuts.unknown === 0) report.findings.add('other', 'no write without a key was cut')
}

/** On one of the proxies, right before or right after a COMMIT, when a few others have passed. */
export async function cutOnce({ random, report }: Trial, proxies: readonly TcpProxy[], cuts: Cuts): Promise<void> {
  const moment = random(2) === 0 ? 'before' : 'after'
  let left = random(MAX_COMMITS_BETWEEN)
  let isCut = false
  for (const proxy of proxies)
    proxy.judge = (data) => {
      const at = data.indexOf(COMMIT)
      if (isCut || at < 0 || left-- > 0) return 'pass'
      isCut = true
      return moment === 'before' ? at : at + COMMIT.length
    }
  await waitUntil(() => isCut, MAX_MS_UNTIL_CUT).catch(() => {})
  for (const proxy of proxies) proxy.judge = () => 'pass'
  if (isCut) cuts[moment]++
  else report.findings.add('other', 'there was no commit to be cut')
}
