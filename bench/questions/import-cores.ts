/** How well does an import use a second core? */

import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { removeDatabase } from '../database-file.ts'
import { inTurn, median } from '../measure.ts'
import type { Question } from '../question.ts'

export const IMPORT_CORES: Question = {
  name: 'import-cores',
  needs: ['ndjson'],
  cost: { seconds: 3, secondsAMillion: 12 },
  async run(workspace) {
    if (availableParallelism() < 2) return { skipped: 'it needs two cores' }
    if (spawnSync('taskset', ['--version']).error !== undefined) return { skipped: 'it needs taskset, of util-linux' }
    await workspace.ndjson()
    const times = { one: [] as number[], two: [] as number[] }
    await inTurn(workspace.rounds, ['one', 'two'] as const, async (side) => {
      const run = await workspace.importTo('cores.db', [], side === 'one' ? '0' : '0,1')
      times[side].push(run.wallMs)
      await removeDatabase(run.path)
    })
    return [
      {
        measured: 'items/s of reams import on two cores ÷ on one',
        value: median(times.one) / median(times.two),
        required: { atLeast: 1.5 },
        raw: { oneCoreMs: times.one, twoCoresMs: times.two, items: workspace.items },
      },
    ]
  },
}
