/** What do 10,000 connections cost on which nothing happens: in memory, and in the time that others wait? */

import { formatCount } from '../../src/contract/message-text.ts'
import { allowWrites } from '../allow-writes.ts'
import { removedAtEnd } from '../database-file.ts'
import { compareHealthy, waitingFigures } from '../healthy-clients.ts'
import { MEGABYTE, peakMegabytes, requireMemory } from '../memory.ts'
import { lackOfOpenFiles } from '../open-files.ts'
import type { Question } from '../question.ts'

const CONNECTIONS = 10_000
/** Where figures do not matter. */
const FEW_CONNECTIONS = 100

export const IDLE_CONNECTIONS: Question = {
  name: 'idle-connections',
  needs: ['sample'],
  cost: { seconds: 40, secondsAMillion: 0.5 },
  async run(workspace) {
    const connections = workspace.isTryOut ? FEW_CONNECTIONS : CONNECTIONS
    const lack = lackOfOpenFiles(connections)
    if (lack !== undefined) return { skipped: lack }
    const { path } = await workspace.importSampleTo('idle-connections.db')
    await using _database = removedAtEnd(path)
    const token = await allowWrites(path)
    const { path: file, items } = await workspace.sample()
    await using server = await workspace.serve(path)
    const idle = `${formatCount(connections)} idle connections`
    workspace.step(`idle-connections: without, and with ${idle}, in turn`)
    const crowd = {
      url: `${server.url}/`,
      connections: { silent: connections / 2, answered: connections / 2 },
    }
    const compared = await compareHealthy(workspace, { server, items, file, token, crowd })
    const { waiting, crowds, memoryBefore, memory } = compared
    return [
      {
        measured: `memory of the server with ${idle}, half of them after an answer`,
        value: requireMemory(memory[0]).rssBytes / MEGABYTE,
        unit: 'MB',
        required: { atMost: 300 },
        raw: { memoryBefore, memory, crowds },
      },
      {
        measured: 'its peak, after they have come and gone several times',
        value: peakMegabytes(memory),
        unit: 'MB',
        better: 'lower',
        raw: { memory },
      },
      ...waitingFigures(waiting, `with ${idle}`, 2),
    ]
  },
}
