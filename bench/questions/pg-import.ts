/** How fast is an import into PostgreSQL, next to copying the same text into a table without anything? */

import type { ImportRun } from '../import-run.ts'
import { inTurn, median } from '../measure.ts'
import { askPostgres } from '../postgres/ask.ts'
import { copyLines, findPsql } from '../postgres/copy.ts'
import type { PostgresWorkspace } from '../postgres/workspace.ts'

export const PG_IMPORT = askPostgres({
  name: 'pg-import',
  needs: ['ndjson', 'postgresItems'],
  cost: { seconds: 3, secondsAMillion: 12 },
  async run(postgres, workspace) {
    const { items, signal } = workspace
    const { path: file } = await workspace.ndjson()
    const psql = await findPsql()
    const imports: ImportRun[] = []
    const copies: number[] = []
    await inTurn(workspace.rounds, ['import', 'copy'] as const, async (side, round) => {
      if (side === 'import') imports.push(await importOnce(postgres, round))
      else {
        workspace.step('copying the same lines into a bare table')
        copies.push(await copyOnce(postgres, (table) => copyLines(postgres.url, table, file, signal)))
      }
    })
    const rate = (durationMs: number) => items / (durationMs / 1000)
    const rates = imports.map(({ wallMs }) => rate(wallMs))
    const insideRates = imports.map(({ insideMs }) => rate(insideMs))
    const raw = { copiedASecond: copies.map(rate), copiedWith: psql ?? 'pg' }
    const rival = psql === undefined ? 'COPY through pg, as psql is missing' : 'psql \\copy'
    return [
      {
        measured: `PostgreSQL: items/s of reams import, the whole process ÷ of ${rival} into a bare table`,
        value: median(rates) / median(raw.copiedASecond),
        required: { atLeast: 1 },
        raw: { itemsASecond: rates, ...raw },
      },
      {
        measured: 'the same without the start of the process, which weighs in where items are few',
        value: median(insideRates) / median(raw.copiedASecond),
        better: 'higher',
        raw: { itemsASecond: insideRates, ...raw },
      },
    ]
  },
})

/** The first round makes what all questions share; later ones leave nothing behind. */
async function importOnce(postgres: PostgresWorkspace, round: number): Promise<ImportRun> {
  if (round === 0) return postgres.items()
  await postgres.settle()
  const run = await postgres.importTo('again')
  await postgres.drop('again')
  return run
}

async function copyOnce(postgres: PostgresWorkspace, copy: (table: string) => Promise<number>): Promise<number> {
  const schema = postgres.schema('copied')
  await postgres.execute(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.line (line text)`)
  await postgres.settle()
  const durationMs = await copy(`${schema}.line`)
  await postgres.drop('copied')
  return durationMs
}
