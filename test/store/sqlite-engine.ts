/** Opens SQLite stores for tests, each in a directory of its own that is removed at the end. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { BUSY_TIMEOUT_MS } from '../../src/store/sqlite/file/store-file.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { changeSoundRows } from './sqlite-rows.ts'
import type { StoreUnderTest } from './test-store.ts'

export async function openSqliteForTest(): Promise<StoreUnderTest & { path: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'reams-test-'))
  const path = join(directory, 'test.db')
  const store = await openSqliteStore({ path, create: true })
  const execute = async (sql: string, values: (string | Uint8Array)[] = []): Promise<unknown[][]> => {
    using database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS })
    const rows = database.prepare(sql.replaceAll(/\$(\d)/g, '?$1')).all(...values)
    return rows.map((row) => Object.values(row))
  }
  return {
    store,
    path,
    location: path,
    execute,
    rowsOf: (collection) => `collection_id = (SELECT id FROM head WHERE name = '${collection}')`,
    columns: { ids: 'collection_id, generation', generation: 'generation', sum: ', sum' },
    async ageRequests(ms, condition = 'true') {
      changeSoundRows(path, 'request_log', `UPDATE request_log SET at = ${Date.now() - ms} WHERE ${condition}`)
    },
    async ageStates(ms, condition) {
      changeSoundRows(path, 'state', `UPDATE state SET at = ${Date.now() - ms} WHERE ${condition}`)
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
