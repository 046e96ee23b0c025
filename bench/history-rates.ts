/** How fast a collection is written whose history is kept, next to one that has none: for whichever store. */

import { DataLocation } from '../src/cli/data-location.ts'
import { withStore } from '../src/cli/open-store.ts'
import { allowWrites } from './allow-writes.ts'
import { REAMS, type RunningServer, runProgram } from './child-process.ts'
import { cpuMs } from './cpu-time.ts'
import { inTurn, median } from './measure.ts'
import type { Figure } from './question.ts'
import { type LoadResult, type LoadSize, requestsASecond, runLoad, sentBy, warmUpOf } from './running-load.ts'
import { COLLECTION, type Workspace, WRITERS } from './workspace.ts'

const APPENDED = 'appended'

export interface HistoryStores {
  readonly question: string
  /** Two stores that are not there yet: paths, or URLs of a database. */
  readonly kept: string
  readonly none: string
  /** What each figure begins with. */
  readonly label: string
  serve(store: string): Promise<RunningServer>
}

interface Side {
  readonly server: RunningServer
  readonly token: string
  readonly appends: Rates
  readonly changes: Rates
}

/** Of every round. */
interface Rates {
  readonly writesASecond: number[]
  /** What a write takes of the server's cores, without the database where that is another process. */
  readonly cpuMsAWrite: number[]
}

export async function compareHistoryRates(workspace: Workspace, stores: HistoryStores): Promise<Figure[]> {
  await using servers = new AsyncDisposableStack()
  const serveSide = async (store: string, isKept: boolean): Promise<Side> => {
    const token = await makeStore(workspace, store, isKept)
    const server = servers.use(await stores.serve(store))
    const noRates = () => ({ writesASecond: [], cpuMsAWrite: [] })
    return { server, token, appends: noRates(), changes: noRates() }
  }
  const kept = await serveSide(stores.kept, true)
  const none = await serveSide(stores.none, false)
  await measure(workspace, stores, [kept, none])
  const ratio = (kind: 'appends' | 'changes') => median(kept[kind].writesASecond) / median(none[kind].writesASecond)
  return [
    {
      measured: `${stores.label}appends/s of ${WRITERS} connections, with history kept ÷ without`,
      value: ratio('appends'),
      required: { atLeast: 0.9 },
      raw: { kept: kept.appends, without: none.appends },
    },
    {
      measured: 'the same, replaces and deletes of random items in turn',
      value: ratio('changes'),
      required: { atLeast: 0.75 },
      raw: { kept: kept.changes, without: none.changes },
    },
  ]
}

/** One collection to change and one to append to. Answers the token of writers. */
async function makeStore(workspace: Workspace, store: string, isKept: boolean): Promise<string> {
  const { path: file } = await workspace.sample()
  workspace.step(`reams import --key id, for a store ${isKept ? 'with' : 'without'} history`)
  await runProgram(REAMS, ['import', COLLECTION, file, '--store', store, '--key', 'id'], workspace.signal)
  await withStore(new DataLocation(store), {}, async (opened) => {
    await opened.create(APPENDED)
    if (!isKept) for (const name of [COLLECTION, APPENDED]) await opened.setRetention(name, { retentionMs: 0 })
  })
  return allowWrites(store)
}

async function measure(workspace: Workspace, stores: HistoryStores, sides: readonly Side[]): Promise<void> {
  const { signal } = workspace
  const { path: file, items } = await workspace.sample()
  // The two sides are nearly alike: only many rounds tell them apart.
  const rounds = 2 * workspace.rounds
  workspace.step(`${stores.question}: ${WRITERS} connections that append, with history and without, in turn`)
  await inTurn(rounds, sides, async ({ server, token, appends }, round) => {
    const { requests } = workspace
    const url = `${server.url}/${APPENDED}`
    const size = { connections: WRITERS, requests, warmUp: warmUpOf(round, requests) }
    await measureRound(server, size, appends, () => runLoad({ ...size, kind: 'append', file, url, token }, signal))
  })
  workspace.step(`${stores.question}: ${WRITERS} connections that change random items, with and without, in turn`)
  // Every item is changed once, and a quarter more than count are.
  const requests = Math.min(workspace.requests, Math.floor((items / rounds - WRITERS) * 0.8))
  const size = { connections: WRITERS, requests, warmUp: Math.ceil(requests / 4) }
  await inTurn(rounds, sides, async ({ server, token, changes }, round) => {
    const url = `${server.url}/${COLLECTION}`
    const load = { ...size, kind: 'change', file, url, token, skip: round * sentBy(size) } as const
    await measureRound(server, size, changes, () => runLoad(load, signal))
  })
}

async function measureRound(
  { pid }: RunningServer,
  size: LoadSize,
  { writesASecond, cpuMsAWrite }: Rates,
  run: () => Promise<LoadResult>,
): Promise<void> {
  const before = cpuMs([pid])
  writesASecond.push(requestsASecond(await run()))
  cpuMsAWrite.push((cpuMs([pid]) - before) / sentBy(size))
}
