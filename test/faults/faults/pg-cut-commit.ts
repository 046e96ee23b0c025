/** The line to PostgreSQL is cut right before or right after COMMIT is sent. */

import { startProxy } from '../../store/tcp-proxy.ts'
import { cutOnce } from '../cut-commit.ts'
import type { Fault } from '../fault.ts'
import { POSTGRES } from '../needs.ts'
import { StoreUnderTest } from '../store-under-test.ts'

/** Cuts in a round, and commits that pass before each, at most. */
const CUTS_A_ROUND = 5
const MAX_COMMITS_BETWEEN = 8

const ROUNDS_A_STORE = 25

export const PG_CUT_COMMIT: Fault = {
  name: 'pg-cut-commit',
  description: 'the line to PostgreSQL cut right before and right after COMMIT, five times a round',
  rounds: 100,
  fewRounds: 2,
  needs: [POSTGRES],
  async run({ rounds, random, report, postgres, beginRound }) {
    const cluster = await postgres()
    await using resources = new AsyncDisposableStack()
    const proxy = resources.adopt(await startProxy('127.0.0.1', cluster.port), (opened) => opened.close())
    const cuts = { before: 0, after: 0 }
    let unknown = 0
    for (let done = 0; done < rounds; ) {
      const schema = cluster.newSchema()
      const place = { location: cluster.storeIn(schema), servedLocation: cluster.storeIn(schema, proxy.port) }
      await using subject = await StoreUnderTest.createAt(place, report, random)
      for (const end = Math.min(rounds, done + ROUNDS_A_STORE); done < end; done++) {
        beginRound()
        const workload = subject.work({ keylessWriters: 4, isSteady: true })
        for (let cut = 0; cut < CUTS_A_ROUND; cut++) {
          const moment = random(2) === 0 ? 'before' : 'after'
          if (await cutOnce([proxy], moment, random(MAX_COMMITS_BETWEEN))) cuts[moment]++
          else report.findings.add('other', 'there was no commit to be cut')
        }
        await workload.servedAgain()
        await workload.stop()
        unknown += workload.unknowns
        await subject.check()
      }
    }
    report.notes.push(
      `${cuts.before} connections were cut before COMMIT and ${cuts.after} after it; ${unknown} writes were answered that nobody knows`,
    )
    if (rounds > 1 && unknown === 0) report.findings.add('other', 'no write without a key was cut')
  },
}
