/** Items for the tests of the command line: made, put into a store and read out of it without the command line. */

import { join } from 'node:path'
import { itemRun } from '../../src/items/item-run.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { CollectionSettings, Store } from '../../src/store/store.ts'

/** NDJSON with `count` items, whose ids go up from `first`. */
export function eventLines(count: number, first = 1): string {
  let lines = ''
  for (let id = first; id < first + count; id++) lines += `{"id":${id},"title":"Event ${id}"}\n`
  return lines
}

/** Makes a collection in `reams.db` of the directory. */
export async function putLines(
  directory: string,
  name: string,
  lines: string,
  settings: Partial<CollectionSettings> = {},
): Promise<void> {
  await withStore(directory, true, async (store) => {
    const load = await store.load(name, { settings })
    const texts = lines.split('\n').filter((line) => line !== '')
    await load.append(itemRun(texts, { keyField: settings.keyField ?? null }))
    await load.commit()
  })
}

/** The items of a collection in `reams.db` of the directory, as NDJSON. */
export async function storedLines(directory: string, name: string): Promise<string> {
  return withStore(directory, false, (store) => linesIn(store, name))
}

export async function linesIn(store: Store, name: string): Promise<string> {
  let lines = ''
  for await (const segment of store.items(name)) lines += `${Buffer.from(segment.raw())}\n`.replaceAll(',\n', '\n')
  return lines
}

export async function withStore<T>(directory: string, create: boolean, use: (store: Store) => Promise<T>): Promise<T> {
  const store = await openSqliteStore({ path: join(directory, 'reams.db'), create })
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}
