/** kill -9 of an import into PostgreSQL at a random moment, while the same store is served and written to. */

import type { Fault, Trial } from '../fault.ts'
import { POSTGRES } from '../needs.ts'
import { StoreUnderTest } from '../store-under-test.ts'
import { type ImportTarget, killImports } from './kill-import.ts'

/** An import counts as dead when it has been silent for 10 s. */
const MAX_BUSY_MS = 15_000
/** It is looked for leftovers once a minute. */
const MAX_UNTIDY_MS = 70_000

export const PG_KILL_IMPORT: Fault = {
  name: 'pg-kill-import',
  description: 'kill -9 of an import into PostgreSQL, with and without --replace',
  rounds: 30,
  fewRounds: 1,
  needs: [POSTGRES],
  run: (trial) => withDatabase(trial, (target) => killImports(trial, target)),
}

/** Does something to a store in PostgreSQL. */
export async function withDatabase(trial: Trial, use: (target: ImportTarget) => Promise<void>): Promise<void> {
  const { report, random } = trial
  const cluster = await trial.postgres()
  const schema = cluster.newSchema()
  await using client = await cluster.connect()
  await using subject = await StoreUnderTest.createAt({ location: cluster.storeIn(schema) }, report, random)
  await use({
    subject,
    mostBusyMs: MAX_BUSY_MS,
    mostUntidyMs: MAX_UNTIDY_MS,
    async marks() {
      const { rows } = await client.query(
        `SELECT (SELECT count(*) FROM ${schema}.lease) + (SELECT count(*) FROM ${schema}.leftover) AS marks`,
      )
      return Number(rows[0]?.marks)
    },
    strangers: () => [],
  })
}
