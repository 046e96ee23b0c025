/** What do an import and a single append cost on Citus, next to PostgreSQL on the same machine? */

import { DataLocation } from '../../src/cli/data-location.ts'
import { withStore } from '../../src/cli/open-store.ts'
import { allowWrites } from '../allow-writes.ts'
import { inTurn, median } from '../measure.ts'
import { PostClient } from '../post-client.ts'
import { askCitus } from '../postgres/ask.ts'
import type { PostgresWorkspace } from '../postgres/workspace.ts'
import type { Workspace } from '../workspace.ts'

const BLOCK = 50

export const CITUS_WRITES = askCitus({
  name: 'citus-writes',
  needs: ['ndjson'],
  cost: { seconds: 40, secondsAMillion: 25 },
  async run(engines, workspace) {
    const rates = { citus: [] as number[], plain: [] as number[] }
    await inTurn(workspace.rounds, ['citus', 'plain'] as const, async (side) => {
      // Tables take Citus a second or two, whatever goes into them.
      await withStore(new DataLocation(engines[side].store('imported')), { create: true }, async () => {})
      const { insideMs } = await engines[side].importTo('imported')
      rates[side].push(workspace.items / (insideMs / 1000))
      await engines[side].drop('imported')
    })
    await using citus = await appendsTo(engines.citus, workspace)
    await using plain = await appendsTo(engines.plain, workspace)
    const figures = []
    for (const collection of ['plain', 'keyed'] as const) {
      workspace.step(`citus-writes: single appends to both in turn, ${collection} items`)
      const times = { citus: [] as number[], plain: [] as number[] }
      const rounds = Math.ceil((workspace.requests * 1.25) / BLOCK)
      await inTurn(rounds, ['citus', 'plain'] as const, async (side, round) => {
        const taken = await { citus, plain }[side].append(collection, BLOCK)
        if (round >= rounds / 5) times[side].push(...taken)
      })
      figures.push({
        measured: `Citus: POST of one item ÷ on PostgreSQL, one at a time, p50${collection === 'keyed' ? ', with a key' : ''}`,
        value: median(times.citus) / median(times.plain),
        required: { atMost: 2.2 },
        raw: { citusMs: median(times.citus), plainMs: median(times.plain) },
      })
    }
    return [
      {
        measured: 'Citus: items/s of reams import ÷ into PostgreSQL, without the start of the process',
        value: median(rates.citus) / median(rates.plain),
        required: { atLeast: 0.8 },
        raw: { citus: rates.citus, plain: rates.plain },
      },
      ...figures,
    ]
  },
})

/** A server with an empty collection, and one with an empty collection that has a key. */
async function appendsTo(engine: PostgresWorkspace, workspace: Workspace) {
  const path = engine.store('posts')
  const token = await allowWrites(path)
  await withStore(new DataLocation(path), {}, async (store) => {
    await store.create('plain')
    await store.create('keyed', { keyField: 'id' })
  })
  const server = await engine.serve(path)
  const client = new PostClient(server.url, token)
  let id = 0
  return {
    async append(collection: string, count: number): Promise<number[]> {
      const times: number[] = []
      for (let done = 0; done < count; done++) {
        workspace.signal.throwIfAborted()
        const { status, durationMs } = await client.post(collection, { id: ++id, name: 'A reading', seats: 120 })
        if (status !== 201) throw new Error(`An append was answered ${status}.`)
        times.push(durationMs)
      }
      return times
    },
    async [Symbol.asyncDispose]() {
      client[Symbol.dispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}
