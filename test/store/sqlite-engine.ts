/** Opens SQLite stores for tests, each in a directory of its own that is removed at the end. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { BUSY_TIMEOUT_MS } from '../../src/store/sqlite/file/store-file.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { changeSoundRows } from './sqlite-rows.ts'
import { type RowValue, SqlStoredRows } from './stored-rows.ts'
import type { StoreUnderTest } from './test-store.ts'

export interface SqliteUnderTest extends StoreUnderTest {
  readonly path: string
  /** Runs SQL on the file behind the store's back. */
  execute(sql: string, values?: readonly RowValue[]): Promise<unknown[][]>
}

/** The condition for the rows of a collection. */
export function rowsOf(collection: string, table = ''): string {
  if (table === 'head' || table === 'following') return `name = '${collection}'`
  return `collection_id = ${idOf(collection)}`
}

const idOf = (collection: string) => `(SELECT id FROM head WHERE name = '${collection}')`

export async function openSqliteForTest(): Promise<SqliteUnderTest> {
  const directory = await mkdtemp(join(tmpdir(), 'reams-test-'))
  const path = join(directory, 'test.db')
  const store = await openSqliteStore({ path, create: true })
  const execute = async (sql: string, values: readonly RowValue[] = []): Promise<unknown[][]> => {
    using database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS })
    const rows = database.prepare(sql.replaceAll(/\$(\d)/g, '?$1')).all(...values)
    return rows.map((row) => Object.values(row))
  }
  return {
    store,
    path,
    location: path,
    execute,
    rows: new SqlStoredRows({
      execute,
      rowsOf,
      ownerOf: (collection) => ['collection_id', idOf(collection)],
      generation: 'generation',
      others: ['sum'],
    }),
    async ageRequests(ms, keys) {
      const chosen = keys === undefined ? '' : ` WHERE key IN (${keys.map((key) => `'${key}'`)})`
      changeSoundRows(path, 'request_log', `UPDATE request_log SET at = ${Date.now() - ms}${chosen}`)
    },
    async ageStates(ms, collection, version) {
      const chosen = version === undefined ? '' : ` AND version = ${version}`
      changeSoundRows(path, 'state', `UPDATE state SET at = ${Date.now() - ms} WHERE ${rowsOf(collection)}${chosen}`)
    },
    async ageLeases() {
      await execute('UPDATE lease SET renewed_tick = 0')
    },
    async forbidRequest(key) {
      await execute(`CREATE TRIGGER forbid BEFORE INSERT ON request_log WHEN new.key = '${key}'
        BEGIN SELECT RAISE(ABORT, 'no'); END`)
      return () => execute('DROP TRIGGER forbid')
    },
    openAgain: (options) => openSqliteStore({ path, ...options }),
    async remove() {
      await store.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
