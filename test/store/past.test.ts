import assert from 'node:assert/strict'
import { it } from 'node:test'
import { stateOf } from '../../src/contract/state-tag.ts'
import { storedHead } from '../../src/store/default-operations.ts'
import { readPageAt, readState } from '../../src/store/past.ts'
import { ReadCache } from '../../src/store/read-cache.ts'
import { runSync } from '../../src/store/rows.ts'
import { openReadConnection } from '../../src/store/sqlite/file/store-file.ts'
import { SqliteRows } from '../../src/store/sqlite/rows/sqlite-rows.ts'
import { Statements } from '../../src/store/sqlite/rows/statements.ts'
import { changed, itemsFrom, keyed } from './items.ts'
import { openSqliteForTest } from './sqlite-engine.ts'
import { KEYED } from './subject.ts'

it('a page of an earlier state names the last commit that rewrote its stored items, if any did', async (t) => {
  const { store, path, remove } = await openSqliteForTest()
  t.after(remove)
  using database = openReadConnection(path)
  const rows = new SqliteRows(new Statements(database))
  await store.create('events', KEYED)
  await store.append('events', keyed(itemsFrom(0, 1_000)))
  const tag = stateOf((await store.head('events')) ?? assert.fail())
  const rewriters = async () => {
    const head = storedHead((await store.head('events')) ?? assert.fail())
    return [1, 2].map((page) => {
      const state = runSync(readState(head, tag, page, new ReadCache()), rows)
      const read = runSync(readPageAt(head, tag, page, 'deflated', new ReadCache()), rows)
      assert.equal(read.rewrittenBy, state.rewrittenBy)
      return state.rewrittenBy
    })
  }
  await store.append('events', keyed(itemsFrom(1_000, 1)))
  assert.deepEqual(await rewriters(), [undefined, undefined])
  for (const id of [3, 4, 3]) {
    const { head } = await store.put('events', keyed([changed(id, 1)]))
    assert.deepEqual(await rewriters(), [head.commitId, undefined])
  }
})
