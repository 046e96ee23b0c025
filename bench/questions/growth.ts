/** How does the last page get slower as a collection grows, ours and that of the server written by hand? */

import { lastPage } from '../../src/contract/page.ts'
import { type RunningServer, WITHOUT_CACHE } from '../child-process.ts'
import { compareLatencies, type Latency, pageOf } from '../latency.ts'
import { PageClient } from '../page-client.ts'
import type { Question } from '../question.ts'
import { COLLECTION, type Workspace } from '../workspace.ts'

const SIZES = [10_000, 100_000, 1_000_000, 10_000_000]
/** The hand-written server takes a second a page where items are many. */
const BUDGET_MS = 5_000

/** Both sides with so many items. */
export interface AtSize {
  readonly items: number
  readonly handWritten: Latency
  readonly reams: Latency
}

export const GROWTH: Question = {
  name: 'growth',
  needs: ['ndjson', 'store', 'rows'],
  cost: { seconds: 25, secondsAMillion: 1 },
  async run(workspace) {
    const sizes = [...SIZES.filter((size) => size < workspace.items), workspace.items]
    await using opened = new AsyncDisposableStack()
    const sides = Object.fromEntries(
      (await Array.fromAsync(sizes, (size) => sidesOf(workspace, size, opened))).flatMap(Object.entries),
    )
    workspace.step('growth: the last page of collections of several sizes, of both servers, in turn')
    const options = { requests: Math.ceil(workspace.requests / 20), block: 4, budgetMs: BUDGET_MS }
    const latencies = await compareLatencies(sides, { ...options, signal: workspace.signal })
    const measured = sizes.map(
      (items): AtSize => ({
        items,
        handWritten: latencies[`theirs ${items}`] as Latency,
        reams: latencies[`ours ${items}`] as Latency,
      }),
    )
    const [smallest, largest] = [measured[0], measured.at(-1)]
    return [
      {
        measured: 'last page of all items ÷ of the smallest collection, gzip through HTTP, uncached, p50',
        value: (largest?.reams.p50Ms ?? 0) / (smallest?.reams.p50Ms ?? 0),
        better: 'lower',
        raw: { sizes: measured },
      },
    ]
  },
}

/** The last page of both servers, for a collection of that size. */
async function sidesOf(workspace: Workspace, items: number, opened: AsyncDisposableStack) {
  const [store, rows] = await databasesOf(workspace, items)
  const client = (server: RunningServer) => opened.use(new PageClient(opened.use(server).url))
  const page = lastPage(items)
  return {
    [`ours ${items}`]: pageOf(client(await workspace.serve(store, WITHOUT_CACHE)), COLLECTION, page),
    [`theirs ${items}`]: pageOf(client(await workspace.serveByHand(rows)), COLLECTION, page),
  }
}

async function databasesOf(workspace: Workspace, items: number): Promise<[store: string, rows: string]> {
  if (items === workspace.items) return [(await workspace.store()).path, (await workspace.rows()).path]
  workspace.step(`growth: a collection of ${items} items, in reams and in rows`)
  const store = await workspace.storeOf(items, `growth-${items}.db`)
  return [store, await workspace.rowsOf(items, `growth-rows-${items}.db`)]
}
