/** How much memory does a server hold after it has served many pages? */

import { formatCount } from '../../src/cli/figures.ts'
import { readMemory, requireMemory } from '../memory.ts'
import { PageClient } from '../page-client.ts'
import type { Question } from '../question.ts'
import { randomPaths } from '../random-paths.ts'

const MEGABYTE = 1e6

export const SERVER_MEMORY: Question = {
  name: 'server-memory',
  needs: ['ndjson', 'store'],
  cost: { seconds: 8, secondsAMillion: 0 },
  async run(workspace) {
    await using server = await workspace.serve((await workspace.store()).path)
    using client = new PageClient(server.url)
    const atStart = requireMemory(readMemory(server.pid))
    const paths = randomPaths(workspace.requests * 5, workspace.lastPage)
    workspace.step('server-memory: random pages, gzip and plain in turn')
    for (const [index, path] of paths.entries()) {
      workspace.signal.throwIfAborted()
      await client.time(path, index % 2 === 0 ? 'gzip' : 'identity')
    }
    const atEnd = requireMemory(readMemory(server.pid))
    return [
      {
        measured: `memory of the server after ${formatCount(paths.length)} random pages, gzip and plain`,
        value: atEnd.rssBytes / MEGABYTE,
        unit: 'MB',
        required: { atMost: 150 },
        raw: {
          megabytes: atEnd.rssBytes / MEGABYTE,
          peakMegabytes: atEnd.peakRssBytes / MEGABYTE,
          startMegabytes: atStart.rssBytes / MEGABYTE,
        },
      },
    ]
  },
}
