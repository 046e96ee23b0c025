/** How much memory does a server hold after it has served many pages, without the pages that it keeps and with them? */

import { formatCount } from '../../src/contract/message-text.ts'
import { WITHOUT_CACHE } from '../child-process.ts'
import { MEGABYTE, readMemory, requireMemory } from '../memory.ts'
import { PageClient } from '../page-client.ts'
import type { Figure, Question } from '../question.ts'
import { randomPaths } from '../random-paths.ts'
import type { Workspace } from '../workspace.ts'

export const SERVER_MEMORY: Question = {
  name: 'server-memory',
  needs: ['ndjson', 'store'],
  cost: { seconds: 16, secondsAMillion: 0 },
  async run(workspace) {
    const pages = formatCount(pathsFor(workspace).length)
    return [
      {
        measured: `memory of the server after ${pages} random pages, gzip and plain, none of them kept`,
        required: { atMost: 150 },
        ...(await memoryAfter(workspace, WITHOUT_CACHE)),
      },
      {
        measured: 'the same, with the 64 MiB of pages that it usually keeps',
        better: 'lower',
        ...(await memoryAfter(workspace)),
      },
    ]
  },
}

function pathsFor({ requests, lastPage }: Workspace): string[] {
  return randomPaths(requests * 5, lastPage)
}

async function memoryAfter(
  workspace: Workspace,
  flags: readonly string[] = [],
): Promise<Pick<Figure, 'value' | 'unit' | 'raw'>> {
  await using server = await workspace.serve((await workspace.store()).path, flags)
  using client = new PageClient(server.url)
  const atStart = requireMemory(readMemory(server.pid))
  workspace.step(`server-memory: random pages, gzip and plain in turn ${flags.join(' ')}`)
  for (const [index, path] of pathsFor(workspace).entries()) {
    workspace.signal.throwIfAborted()
    await client.time(path, index % 2 === 0 ? 'gzip' : 'identity')
  }
  const atEnd = requireMemory(readMemory(server.pid))
  const megabytes = atEnd.rssBytes / MEGABYTE
  const raw = {
    megabytes,
    peakMegabytes: atEnd.peakRssBytes / MEGABYTE,
    startMegabytes: atStart.rssBytes / MEGABYTE,
  }
  return { value: megabytes, unit: 'MB', raw }
}
