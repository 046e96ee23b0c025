/** Do readers wait for writers? */

import { lastPage } from '../../src/contract/page.ts'
import { allowWrites } from '../allow-writes.ts'
import { removedAtEnd } from '../database-file.ts'
import { LatencyRecorder } from '../latency.ts'
import { PageClient } from '../page-client.ts'
import type { Question } from '../question.ts'
import { randomPaths } from '../random-paths.ts'
import { startLoad } from '../running-load.ts'
import { COLLECTION, WRITERS } from '../workspace.ts'

export const READS_WHILE_WRITING: Question = {
  name: 'reads-while-writing',
  needs: ['sample'],
  cost: { seconds: 9, secondsAMillion: 0.5 },
  async run(workspace) {
    const { rounds, signal } = workspace
    const { path: file, items } = await workspace.sample()
    const { path } = await workspace.importSampleTo('read-and-written.db')
    await using _database = removedAtEnd(path)
    const token = await allowWrites(path)
    await using server = await workspace.serve(path)
    using client = new PageClient(server.url)
    const reads = Math.ceil(workspace.requests / 2 / rounds)
    const side = { client, encoding: 'gzip', paths: randomPaths(reads * rounds, lastPage(items)) } as const
    const plan = { kind: 'append', file, url: `${server.url}/${COLLECTION}`, token, connections: WRITERS } as const
    workspace.step(`reads-while-writing: random pages, idle and while ${WRITERS} connections append, in turn`)
    await new LatencyRecorder(side).fetch(reads, signal)
    const idle = new LatencyRecorder(side)
    const busy = new LatencyRecorder(side)
    let appends = 0
    for (let round = 0; round < rounds; round++) {
      await idle.fetch(reads, signal)
      // As fast as they can, each its next one when the last is on disk.
      const load = startLoad({ ...plan, warmUp: workspace.requests }, signal)
      await load.begun
      await busy.fetch(reads, signal)
      appends += (await load.stop()).requests
    }
    const raw = { whileWriting: busy.latency(), idle: idle.latency(), appends }
    return [
      {
        measured: `random page while ${WRITERS} connections append ÷ idle, gzip through HTTP, p99`,
        value: raw.whileWriting.p99Ms / raw.idle.p99Ms,
        required: { atMost: 4 },
        raw,
      },
      { measured: 'the same, p50', value: raw.whileWriting.p50Ms / raw.idle.p50Ms, better: 'lower', raw },
    ]
  },
}
