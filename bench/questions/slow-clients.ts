/** Do healthy clients wait for others that are slow on purpose, or that send as much as they can? */

import { PAGE_SIZE } from '../../src/contract/page.ts'
import { allowWrites } from '../allow-writes.ts'
import { REAMS, runProgram } from '../child-process.ts'
import type { Kind } from '../crowd.ts'
import { writeLargeItems } from '../data.ts'
import { removedAtEnd } from '../database-file.ts'
import { compareHealthy, waitingFigures } from '../healthy-clients.ts'
import { peakMegabytes } from '../memory.ts'
import type { Question } from '../question.ts'
import type { Workspace } from '../workspace.ts'

const LARGE = 'large-events'
const CONNECTIONS = 500
/** Where figures do not matter. */
const FEW_CONNECTIONS = 5

export const SLOW_CLIENTS: Question = {
  name: 'slow-clients',
  needs: ['sample'],
  cost: { seconds: 30, secondsAMillion: 0.5 },
  async run(workspace) {
    const { path } = await workspace.importSampleTo('slow-clients.db')
    await using _database = removedAtEnd(path)
    await importLargeItems(workspace, path)
    const token = await allowWrites(path)
    const tokenOfCrowd = await allowWrites(path, 'crowd')
    const { path: file, items } = await workspace.sample()
    await using server = await workspace.serve(path)
    const slow = workspace.isTryOut ? FEW_CONNECTIONS : CONNECTIONS
    workspace.step(`slow-clients: without, and with ${slow} slow clients and two that flood, in turn`)
    const crowd = { url: `${server.url}/${LARGE}`, token: tokenOfCrowd, connections: mixOf(slow) }
    const compared = await compareHealthy(workspace, { server, items, file, token, crowd })
    const { waiting, crowds, memoryBefore, memory } = compared
    const slowest = Math.max(...waiting.map(({ withCrowd }) => withCrowd.p99Ms))
    return [
      ...waitingFigures(waiting, `while ${slow} clients read and write slowly and two flood`, 5),
      {
        measured: 'the slowest of these p99',
        value: slowest,
        unit: 'ms',
        required: { atMost: 50 },
        raw: { slowest, crowds },
      },
      {
        measured: 'peak memory of the server',
        value: peakMegabytes(memory),
        unit: 'MB',
        better: 'lower',
        raw: { memoryBefore, memory },
      },
    ]
  },
}

async function importLargeItems(workspace: Workspace, path: string): Promise<void> {
  const file = workspace.path(`${LARGE}.ndjson`)
  await writeLargeItems(file, PAGE_SIZE)
  await runProgram(REAMS, ['import', LARGE, file, '--store', path], workspace.signal)
}

/** A fifth are of the kind that sends half a head, two fifths read, two fifths write; and two flood. */
function mixOf(slow: number): Partial<Record<Kind, number>> {
  const fifth = slow / 5
  return {
    'slow reader': fifth,
    'stopped reader': fifth,
    'slow writer': 2 * fifth,
    'half a head': fifth,
    'flood of reads': 1,
    'flood of writes': 1,
  }
}
