/** Opens SQLite stores for tests, each in a directory of its own that is removed at the end. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { StoreUnderTest } from './describe-store.ts'

export async function openSqliteForTest(): Promise<StoreUnderTest & { path: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'reams-test-'))
  const path = join(directory, 'test.db')
  const store = await openSqliteStore({ path, create: true })
  return {
    store,
    path,
    openAgain: () => openSqliteStore({ path }),
    async remove() {
      await store.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
