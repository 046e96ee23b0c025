/** Does a large collection in PostgreSQL 15 get slower when 1,500 small ones join it? Its planner takes any collection for a row or two. */

import { Client } from 'pg'
import { PAGE_SIZE } from '../../src/contract/page.ts'
import { itemRun } from '../../src/items/item-run.ts'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import type { Store } from '../../src/store/store.ts'
import { withParameter } from '../../test/store/postgres-engine.ts'
import { startOwnPostgres } from '../../test/store/postgres-server.ts'
import { REAMS, runProgram } from '../child-process.ts'
import { eventKey, eventTexts } from '../data.ts'
import { durationMs, inTurn, median } from '../measure.ts'
import type { Question } from '../question.ts'
import { randomPages, randomSample } from '../random.ts'
import { COLLECTION } from '../workspace.ts'

const NEIGHBOURS = 1_500
const ITEMS_OF_A_NEIGHBOUR = 20

/** Calls of one side before it is the other one's turn: enough for PostgreSQL to plan for any values. */
const BLOCK = 20

export const PG_NEIGHBOURS: Question = {
  name: 'pg-neighbours',
  needs: ['ndjson'],
  cost: { seconds: 40, secondsAMillion: 25 },
  async run(workspace) {
    const { path: file } = await workspace.ndjson()
    const { items, signal } = workspace
    const postgres = await startOwnPostgres(['fsync=on', 'shared_buffers=1GB', 'max_wal_size=8GB'], 15)
    const stores: Store[] = []
    try {
      /** A store with the large collection and others, in a schema of its own. */
      const make = async (schema: string, neighbours: number) => {
        const url = withParameter(postgres.url, 'schema', schema)
        workspace.step(`pg-neighbours: a collection and ${neighbours} others`)
        await runProgram(REAMS, ['import', COLLECTION, file, '--store', url, '--key', 'id'], signal)
        const store = await openPostgresStore({ url })
        stores.push(store)
        for (let number = 0; number < neighbours; number++) {
          await store.create(`neighbour-${number}`, { keyField: 'id' })
          await store.append(`neighbour-${number}`, itemRun(eventTexts(ITEMS_OF_A_NEIGHBOUR), { keyField: 'id' }))
        }
        const order = randomPages(Math.floor(items / PAGE_SIZE), Math.floor(items / PAGE_SIZE), 6)
        return { store, order, deletes: [] as number[], pages: [] as number[] }
      }
      const alone = await make('alone', 0)
      const crowded = await make('crowded', NEIGHBOURS)
      await using client = Object.assign(new Client(postgres.url), { [Symbol.asyncDispose]: () => client.end() })
      await client.connect()
      await client.query('VACUUM ANALYZE')
      const rounds = Math.ceil(Math.min(workspace.requests, items / 100) / BLOCK)
      const keys = [...randomSample(rounds * BLOCK, items, 3)].map(eventKey)
      workspace.step('pg-neighbours: pages and deletes in turn')
      await inTurn(rounds, [alone, crowded], async ({ store, order, deletes, pages }, round) => {
        signal.throwIfAborted()
        for (let call = round * BLOCK; call < (round + 1) * BLOCK; call++) {
          const page = order[call % order.length] ?? 1
          pages.push(await durationMs(() => store.page(COLLECTION, page)))
          deletes.push(await durationMs(() => store.delete(COLLECTION, [keys[call] ?? ''])))
        }
      })
      const sides = { alone, crowded }
      const p50 = (kind: 'deletes' | 'pages') =>
        Object.fromEntries(Object.entries(sides).map(([name, side]) => [name, median(side[kind])]))
      return (['deletes', 'pages'] as const).map((kind) => ({
        measured: `PostgreSQL 15: ${kind} in a large collection with ${NEIGHBOURS} small ones beside it ÷ alone, p50`,
        value: median(crowded[kind]) / median(alone[kind]),
        required: { atMost: 1.2 },
        raw: { p50Ms: p50(kind), calls: alone[kind].length },
      }))
    } finally {
      for (const store of stores) await store.close()
      await postgres.stop()
    }
  },
}
