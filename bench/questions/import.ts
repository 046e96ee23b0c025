/** How fast is an import, next to the simplest durable way of getting the same lines into SQLite? */

import { removeDatabase } from '../database-file.ts'
import type { ImportRun } from '../import-run.ts'
import { inTurn, median } from '../measure.ts'
import type { Question } from '../question.ts'
import type { RowInsertRun, Workspace } from '../workspace.ts'

export const IMPORT: Question = {
  name: 'import',
  needs: ['ndjson', 'store', 'rows', 'keyedStore'],
  cost: { seconds: 1, secondsAMillion: 10 },
  async run(workspace) {
    const { items } = workspace
    const imports: ImportRun[] = []
    const inserts: RowInsertRun[] = []
    await inTurn(workspace.rounds, ['import', 'insert'] as const, async (side, round) => {
      if (side === 'import') imports.push(await importOnce(workspace, round))
      else inserts.push(await insertOnce(workspace, round))
    })
    const keyed = await workspace.keyedStore()

    const rate = (durationMs: number) => items / (durationMs / 1000)
    const importRates = imports.map(({ wallMs }) => rate(wallMs))
    const insideRates = imports.map(({ insideMs }) => rate(insideMs))
    const rowRates = inserts.map(({ insertMs }) => rate(insertMs))
    const raw = { rowsASecond: rowRates }
    return [
      {
        measured: 'items/s of reams import, the whole process ÷ of bare inserts, a row an item',
        value: median(importRates) / median(rowRates),
        required: { atLeast: 1.2 },
        raw: { itemsASecond: importRates, ...raw },
      },
      {
        measured: 'the same without the start of the process, which weighs in where items are few',
        value: median(insideRates) / median(rowRates),
        better: 'higher',
        raw: { itemsASecond: insideRates, ...raw },
      },
      {
        measured: 'with --key id, the whole process ÷ the same inserts',
        value: rate(keyed.wallMs) / median(rowRates),
        better: 'higher',
        raw: { itemsASecond: rate(keyed.wallMs), ...raw },
      },
    ]
  },
}

/** The first round makes the store that all questions share; later ones leave nothing behind. */
async function importOnce(workspace: Workspace, round: number): Promise<ImportRun> {
  if (round === 0) return workspace.store()
  const run = await workspace.importTo('again.db')
  await removeDatabase(run.path)
  return run
}

async function insertOnce(workspace: Workspace, round: number): Promise<RowInsertRun> {
  if (round === 0) return workspace.rows()
  const run = await workspace.insertRowsTo('rows-again.db')
  await removeDatabase(run.path)
  return run
}
