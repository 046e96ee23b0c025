/** What do holes cost, by how many there are, and what does `reams compact` cost, which closes them? */

import { copyFile } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { StoreLocation, withStore } from '../../src/cli/open-store.ts'
import { lastPage } from '../../src/contract/page.ts'
import { REAMS, runProgram } from '../child-process.ts'
import { eventKey } from '../data.ts'
import { removedAtEnd } from '../database-file.ts'
import { comparePageCosts, type PageCost } from '../holey-pages.ts'
import { median } from '../measure.ts'
import type { Figure, Question } from '../question.ts'
import { createRandom } from '../random.ts'
import { COLLECTION, type Workspace } from '../workspace.ts'

/** Deleted at random, each on top of those before. */
const SHARES = [0.001, 0.01, 0.1, 0.5, 0.9]
const DELETES_A_BATCH = 5_000

export const COMPACT: Question = {
  name: 'compact',
  needs: ['sample'],
  cost: { seconds: 110, secondsAMillion: 0 },
  async run(workspace) {
    const { items } = await workspace.sample()
    const { path: whole } = await workspace.importSampleTo('compact-whole.db', ['--key', 'id'])
    const holey = workspace.path('compact-holey.db')
    await using _whole = removedAtEnd(whole)
    await using _holey = removedAtEnd(holey)
    const figures: HoleFigure[] = []
    await copyFile(whole, holey)
    const shares = workspace.isTryOut ? SHARES.slice(-1) : SHARES
    for (const [index, share] of shares.entries()) {
      await deleteItems(workspace, holey, drawn(items, shares[index - 1] ?? 0, share))
      figures.push(await figureOf(workspace, `${share * 100} % of the items deleted at random`, whole, holey))
    }
    await copyFile(whole, holey)
    await deleteItems(
      workspace,
      holey,
      Array.from({ length: Math.ceil(items / 2) + 1 }, (_, index) => eventKey(index)),
    )
    figures.push(await figureOf(workspace, 'the older half and one more deleted', whole, holey))
    return [...figures, afterwards(figures)]
  },
}

type Costs = Record<'whole' | 'holey' | 'compacted', PageCost>

/** The middle one of all kinds of holes. */
function afterwards(figures: readonly HoleFigure[]): Figure {
  const ratios = figures.map(({ raw: { msAPage } }) => msAPage.compacted.gzip / msAPage.whole.gzip)
  return {
    measured: 'the same after reams compact ÷ without holes, the median of these',
    value: median(ratios),
    required: { atMost: 1.2 },
    raw: { ratios },
  }
}

interface HoleFigure extends Figure {
  readonly raw: { readonly msAPage: Costs; readonly [more: string]: unknown }
}

async function figureOf(workspace: Workspace, what: string, whole: string, holey: string): Promise<HoleFigure> {
  const { rounds, requests, signal } = workspace
  const compacted = workspace.path('compacted.db')
  await using _compacted = removedAtEnd(compacted)
  await copyFile(holey, compacted)
  workspace.step(`compact: ${what}; reams compact`)
  const { wallMs } = await runProgram(REAMS, ['compact', COLLECTION, '--store', compacted], signal)
  workspace.step('compact: random pages without holes, with them, and after reams compact, in turn')
  const costs = await comparePageCosts({ whole, holey, compacted }, { rounds, budgetMs: requests / 10 })
  const readings = await readingsUntilPaid(compacted, wallMs, costs)
  const bytes = { whole: usedBytes(whole), holey: usedBytes(holey), compacted: usedBytes(compacted) }
  return {
    measured: `cold page, gzip, without HTTP: ${what} ÷ without holes`,
    value: costs.holey.gzip / costs.whole.gzip,
    raw: { msAPage: costs, usedBytes: bytes, compactMs: wallMs, readingsUntilPaid: readings },
    note: explain(what, costs, bytes, wallMs, readings),
  }
}

/** How often all pages have to be read cold as gzip until what compacting took is saved. */
async function readingsUntilPaid(path: string, ms: number, costs: Costs) {
  const head = await withStore(new StoreLocation(path), {}, (store) => store.head(COLLECTION))
  return ms / (lastPage(head?.live ?? 0) * (costs.holey.gzip - costs.compacted.gzip))
}

function explain(
  what: string,
  costs: Costs,
  bytes: { holey: number; compacted: number },
  compactMs: number,
  readings: number,
): string {
  const sides = [costs.whole, costs.holey, costs.compacted]
  const [gzip, plain] = (['gzip', 'identity'] as const).map((form) =>
    sides.map((side) => side[form].toFixed(2)).join(', '),
  )
  const [before, after] = [bytes.holey, bytes.compacted].map((used) => (used / 1e6).toFixed(0))
  return `${what}: without, with, and after reams compact a page takes ${gzip} ms of a core as gzip and ${plain} ms plain. It took ${(compactMs / 1000).toFixed(1)} s, and ${before} MB became ${after} MB; that is paid back after all pages were read cold ${readings.toFixed(1)} times.`
}

/** What is not free for others: a file does not shrink. */
function usedBytes(path: string): number {
  using database = new DatabaseSync(path, { readOnly: true })
  const pragma = (name: string): number => Number(database.prepare(`PRAGMA ${name}`).get()?.[name])
  return (pragma('page_count') - pragma('freelist_count')) * pragma('page_size')
}

/** The keys that are drawn at one share and not yet at a smaller one. */
function drawn(items: number, from: number, to: number): string[] {
  const random = createRandom(8)
  const keys: string[] = []
  for (let index = 0; index < items; index++) {
    const lot = random(1e6) / 1e6
    if (lot >= from && lot < to) keys.push(eventKey(index))
  }
  return keys
}

function deleteItems({ signal }: Workspace, path: string, keys: readonly string[]): Promise<void> {
  return withStore(new StoreLocation(path), {}, async (store) => {
    for (let start = 0; start < keys.length; start += DELETES_A_BATCH) {
      signal.throwIfAborted()
      await store.delete(COLLECTION, keys.slice(start, start + DELETES_A_BATCH))
    }
  })
}
