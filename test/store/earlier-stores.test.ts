/** Stores that an earlier Reams made, in the same format: see `fixtures/make-store.ts`. */

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { itemRun } from '../../src/items/item-run.ts'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'
import { workDirectory } from '../cli/run-cli.ts'
import { describeContents, type KnownState } from './fixtures/store-contents.ts'
import { keyed } from './items.ts'
import { runSql } from './postgres-engine.ts'
import { startPostgres } from './postgres-server.ts'
import { readItems } from './store-reading.ts'

const read = (file: string): Buffer => readFileSync(new URL(`fixtures/${file}`, import.meta.url))

async function checkStore(store: Store, expected: { readonly states: readonly KnownState[] }): Promise<void> {
  assert.deepEqual(await describeContents(store, expected.states), expected)
  assert.deepEqual((await store.verify()).findings, [])
  assert.equal((await store.token(hash('sha256', 'a token')))?.name, 'reader')

  // What the load left that was killed is removed first.
  const { live = 0 } = (await store.head('holes')) ?? {}
  const head = await store.append('holes', keyed(['{"id":10000}', '{"id":10699}']))
  assert.deepEqual([head.live, head.next], [live + 2, 1_313])
  await store.patch('holes', { puts: keyed(['{"id":5,"new":true}', '{"id":3}']), steps: [null, '600', null] })
  const load = await store.load('merged', { onConflict: 'replace' })
  await load.append(keyed(['{"id":0}', '{"id":9000}']))
  await load.commit()
  await store.append('whole', itemRun(['{"last":1}']))
  await store.drop('replaced')
  assert.equal((await readItems(store, 'holes')).length, live + 2)
  assert.deepEqual((await store.verify()).findings, [])
  const states = expected.states.filter(({ name }) => name === 'holes')
  const { states: found } = await describeContents(store, states)
  const before = (expected as unknown as { states: typeof found }).states.filter(({ name }) => name === 'holes')
  const pagesOf = (all: typeof found) => all.map(({ live: items, pages }) => [items, pages])
  assert.deepEqual(pagesOf(found), pagesOf(before))
}

describe('a store that an earlier Reams made', () => {
  it('opens in SQLite, is sound, and goes on', async (t) => {
    const path = join(workDirectory(t), 'earlier.db')
    writeFileSync(path, gunzipSync(read('sqlite.db.gz')))
    const store = await openSqliteStore({ path })
    await checkStore(store, JSON.parse(read('sqlite.json').toString())).finally(() => store.close())
  })

  it('opens in PostgreSQL, is sound, and goes on', async () => {
    const server = await startPostgres()
    after(() => server.stop())
    await runSql(server.url, gunzipSync(read('postgres.sql.gz')).toString(), 'SELECT 1')
    const store = await openPostgresStore({ url: `${server.url}?schema=earlier` })
    await checkStore(store, JSON.parse(read('postgres.json').toString())).finally(() => store.close())
    await runSql(server.url, '', 'DROP SCHEMA earlier CASCADE')
  })
})
