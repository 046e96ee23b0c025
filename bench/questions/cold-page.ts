/** How much does the store add to reading the bytes of a page from SQLite? */

import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'
import { readIntoCache } from '../database-file.ts'
import { durationMs, inTurn, median } from '../measure.ts'
import type { Question } from '../question.ts'
import { randomPages } from '../random.ts'
import { COLLECTION } from '../workspace.ts'

const ROUNDS = 5
/** A round must be long next to the garbage collection that it causes: else one side pays for the other. */
const PAGES_A_REQUEST = 10

export const COLD_PAGE: Question = {
  name: 'cold-page',
  needs: ['ndjson', 'store'],
  cost: { seconds: 6, secondsAMillion: 0.5 },
  async run(workspace) {
    const { path } = await workspace.store()
    const barePath = workspace.path('bare.db')
    const store = await openSqliteStore({ path })
    try {
      workspace.step('cold-page: copying the bytes of all pages to a bare table')
      await copyPages(store, workspace.lastPage, barePath)
      await Promise.all([readIntoCache(path), readIntoCache(barePath)])
      const pages = randomPages(workspace.requests * PAGES_A_REQUEST, workspace.lastPage, 4)
      workspace.step('cold-page: random pages from the store and from the bare table in turn')
      using bare = new DatabaseSync(barePath, { readOnly: true })
      const select = bare.prepare('SELECT data FROM page WHERE number = ?')
      const { storeRates, bareRates } = await compareRates(store, select, pages)
      return [
        {
          measured: 'gzip pages/s from the store ÷ the same bytes by primary key from a bare table',
          value: median(storeRates) / median(bareRates),
          required: { atLeast: 0.7 },
          raw: { storePagesASecond: storeRates, barePagesASecond: bareRates, pagesARound: pages.length },
        },
      ]
    } finally {
      await store.close()
    }
  },
}

async function copyPages(store: Store, lastPage: number, path: string): Promise<void> {
  using database = new DatabaseSync(path)
  database.exec('PRAGMA journal_mode = WAL; CREATE TABLE page (number INTEGER PRIMARY KEY, data BLOB NOT NULL)')
  const insert = database.prepare('INSERT INTO page (number, data) VALUES (?, ?)')
  database.exec('BEGIN')
  for (let page = 1; page <= lastPage; page++) insert.run(page, Buffer.concat(await deflatedPage(store, page)))
  database.exec('COMMIT')
}

async function compareRates(store: Store, select: StatementSync, pages: readonly number[]) {
  const storeSide = { rates: [] as number[], read: () => readFromStore(store, pages) }
  const bareSide = { rates: [] as number[], read: () => readFromTable(select, pages) }
  await inTurn(ROUNDS + 1, [storeSide, bareSide], async ({ rates, read }, round) => {
    const rate = pages.length / ((await durationMs(read)) / 1000)
    // The first round is for the compiler and the caches.
    if (round > 0) rates.push(rate)
  })
  const [fromStore, fromTable] = [await storeSide.read(), await bareSide.read()]
  if (fromStore !== fromTable)
    throw new Error(`The store gave ${fromStore} bytes and the bare table ${fromTable}: they must be the same.`)
  return { storeRates: storeSide.rates, bareRates: bareSide.rates }
}

async function readFromStore(store: Store, pages: readonly number[]): Promise<number> {
  let bytes = 0
  for (const page of pages) for (const data of await deflatedPage(store, page)) bytes += data.byteLength
  return bytes
}

async function readFromTable(select: StatementSync, pages: readonly number[]): Promise<number> {
  let bytes = 0
  for (const page of pages) {
    const row = select.get(page) as { data: Uint8Array }
    bytes += row.data.byteLength
  }
  return bytes
}

async function deflatedPage(store: Store, page: number): Promise<Uint8Array[]> {
  const read = await store.page(COLLECTION, page)
  if (read === undefined) throw new Error(`The store of the bench has no collection "${COLLECTION}".`)
  return read.segments.map((segment) => segment.deflated())
}
