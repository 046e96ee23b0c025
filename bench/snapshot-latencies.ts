/** What a page of a snapshot takes, next to the same page of the live collection: for whichever store. */

import { snapshotPath } from '../src/contract/link.ts'
import { counted } from '../src/contract/message-text.ts'
import { lastPage } from '../src/contract/page.ts'
import { changeAtRandom } from './change-at-random.ts'
import { REAMS, type RunningServer, runProgram, WITHOUT_CACHE } from './child-process.ts'
import { compareLatencies } from './latency.ts'
import { PageClient } from './page-client.ts'
import type { Figure } from './question.ts'
import { randomPages } from './random.ts'
import { COLLECTION, type Workspace } from './workspace.ts'

/** The other collection of the same items: it is changed after the snapshot, and so its pages are not those of before. */
const CHANGED = 'changed-events'
/** 10,000 of a million. */
const CHANGED_SHARE = 0.01

/** A store for the question, which need not be there yet. */
export interface SnapshotStore {
  readonly question: string
  /** A path, or the URL of a database. */
  readonly store: string
  /** What each figure begins with. */
  readonly label: string
  serve(flags: readonly string[]): Promise<RunningServer>
}

export async function compareSnapshots(workspace: Workspace, place: SnapshotStore): Promise<Figure[]> {
  const { items, changes, past } = await makeCollections(workspace, place)
  await using server = await place.serve(WITHOUT_CACHE)
  using client = new PageClient(server.url)
  const requests = Math.ceil(workspace.requests / 2)
  const pages = randomPages(requests, lastPage(items - changes), 1)
  const side = (path: string) =>
    ({ client, encoding: 'gzip', paths: pages.map((page) => `/${path}?page=${page}`) }) as const
  workspace.step(`${place.question}: random pages of snapshots, and of the live collections, in turn`)
  const latencies = await compareLatencies(
    {
      live: side(COLLECTION),
      snapshot: side(await linkedSnapshot(client)),
      past: side(past),
      changedLive: side(CHANGED),
    },
    { requests, signal: workspace.signal },
  )
  const raw = { ...latencies, changes }
  const p50 = (name: keyof typeof latencies) => latencies[name].p50Ms
  return [
    {
      measured: `${place.label}page of a snapshot ÷ the same live page, nothing changed since, gzip, uncached, p50`,
      value: p50('snapshot') / p50('live'),
      required: { atMost: 1.1 },
      raw,
    },
    {
      measured: 'the same, with 1 % of items replaced or deleted since',
      value: p50('past') / p50('changedLive'),
      required: { atMost: 2 },
      raw,
    },
    {
      measured: 'that page of a snapshot ÷ the live page before anything changed',
      value: p50('past') / p50('live'),
      better: 'lower',
      raw,
    },
  ]
}

/** Answers the path of the snapshot of before the changes. */
async function makeCollections(
  workspace: Workspace,
  { question, store }: SnapshotStore,
): Promise<{ items: number; changes: number; past: string }> {
  const { signal } = workspace
  const { path: file, items } = await workspace.sample()
  workspace.step(`${question}: importing ${counted(items, 'item')} twice`)
  for (const name of [COLLECTION, CHANGED])
    await runProgram(REAMS, ['import', name, file, '--store', store, '--key', 'id'], signal)
  const changes = Math.floor(items * CHANGED_SHARE)
  workspace.step(`${question}: replacing and deleting ${counted(changes, 'item')} at random`)
  const state = await changeAtRandom(store, CHANGED, { items, changes, signal })
  return { items, changes, past: snapshotPath(CHANGED, state) }
}

/** The path of the snapshot that the live collection links. */
async function linkedSnapshot(client: PageClient): Promise<string> {
  const { _links } = (await client.json(`/${COLLECTION}`, 'gzip')) as { _links: { snapshot: { href: string } } }
  return new URL(_links.snapshot.href).pathname.slice(1)
}
