/** What a page costs that nobody has asked for before: read from the store and put into its form, without HTTP. */

import { pageEnvelopeHead } from '../src/contract/envelope.ts'
import { lastPage } from '../src/contract/page.ts'
import { PAGE_FORMS } from '../src/service/read/page-body.ts'
import { openSqliteStore } from '../src/store/sqlite/open.ts'
import type { Store } from '../src/store/store.ts'
import { readIntoCache } from './database-file.ts'
import { inTurn, median } from './measure.ts'
import type { Encoding } from './page-client.ts'
import { randomPages } from './random.ts'
import { COLLECTION } from './workspace.ts'

const BASE_URL = 'https://example.com'
const PAGES_IN_ORDER = 5_000

/** Milliseconds of a core for a page: whatever else the machine does meanwhile is not in them. */
export interface PageCost {
  readonly gzip: number
  readonly identity: number
}

/** Random pages of several stores, in turn; the medians of the rounds, the first of which is for the compiler. */
export async function comparePageCosts<Name extends string>(
  paths: Readonly<Record<Name, string>>,
  { rounds, budgetMs }: { rounds: number; budgetMs: number },
): Promise<Record<Name, PageCost>> {
  await using stores = new AsyncDisposableStack()
  const sides: { name: Name; encoding: Encoding; store: Store; costs: number[] }[] = []
  for (const [name, path] of Object.entries(paths) as [Name, string][]) {
    await readIntoCache(path)
    const store = await openSqliteStore({ path })
    stores.defer(() => store.close())
    for (const encoding of ['gzip', 'identity'] as const) sides.push({ name, encoding, store, costs: [] })
  }
  await inTurn(rounds + 1, sides, async ({ store, encoding, costs }, round) => {
    const cost = await costOfPages(store, encoding, budgetMs, round)
    if (round > 0) costs.push(cost)
  })
  const costOf = (wanted: Name, form: Encoding): number =>
    median(sides.find(({ name, encoding }) => name === wanted && encoding === form)?.costs ?? [])
  const names = Object.keys(paths) as Name[]
  return Object.fromEntries(
    names.map((name) => [name, { gzip: costOf(name, 'gzip'), identity: costOf(name, 'identity') }]),
  ) as Record<Name, PageCost>
}

/** Reads until so much time of a core is used up: a round must be long next to the garbage that others left. */
async function costOfPages(store: Store, encoding: Encoding, budgetMs: number, seed: number): Promise<number> {
  const { live = 0 } = (await store.head(COLLECTION)) ?? {}
  const order = randomPages(PAGES_IN_ORDER, lastPage(live), seed)
  const before = process.cpuUsage()
  for (let read = 0; ; ) {
    await readPage(store, encoding, order[read++ % order.length] ?? 1)
    const { user, system } = process.cpuUsage(before)
    const usedMs = (user + system) / 1000
    if (usedMs > budgetMs) return usedMs / read
  }
}

async function readPage(store: Store, encoding: Encoding, page: number): Promise<void> {
  const read = await store.page(COLLECTION, page)
  if (read === undefined) throw new Error(`The store of the bench has no collection "${COLLECTION}".`)
  const head = Buffer.from(pageEnvelopeHead(BASE_URL, COLLECTION, read.page, read.head.live))
  const form = PAGE_FORMS[encoding]
  form.bodyOf(head, form.itemsOf(read.segments))
}
