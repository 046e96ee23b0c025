import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { itemRun } from '../../src/items/item-run.ts'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import { splitItems } from '../../src/store/ream.ts'
import type { Store } from '../../src/store/store.ts'
import { itemsFrom, keyed } from './items.ts'
import { newSchema, runSql } from './postgres-engine.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'
import { readAllPages, readItems } from './store-reading.ts'

describe('a store in a database with settings of its own', () => {
  let server: PostgresServer | undefined
  let store: Store
  const database = newSchema()
  const sql = (text: string) => runSql(server?.url ?? '', '', text)

  before(async () => {
    server = await startPostgres()
    await sql(`CREATE DATABASE ${database} ENCODING 'UTF8' TEMPLATE template0`)
    for (const setting of [
      "bytea_output = 'escape'",
      "idle_in_transaction_session_timeout = '100ms'",
      "default_transaction_isolation = 'serializable'",
      'standard_conforming_strings = off',
      "search_path = 'nowhere'",
    ])
      await sql(`ALTER DATABASE ${database} SET ${setting}`)
    const url = new URL(server.url)
    url.pathname = `/${database}`
    store = await openPostgresStore({ url: url.href, create: true })
  })
  after(async () => {
    await store?.close()
    await sql(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`)
    await server?.stop()
  })

  it('gives every item and key back as it was', async () => {
    const odd = ['\\\\x41', '\\\\', "'", 'é😀', '\\u0001'].map((key) => `{"id":"${key}"}`)
    const texts = [...odd, ...itemsFrom(0, 1_100)]
    await store.create('odd', { keyField: 'id' })
    await store.append('odd', keyed(texts))
    await store.delete('odd', ['3', '700'])
    const left = texts.filter((text) => text !== '{"id":3}' && text !== '{"id":700}')
    assert.deepEqual((await readAllPages(store, 'odd')).flat(), left)
    assert.equal(String((await store.item('odd', '\\x41'))?.item?.text), '{"id":"\\\\x41"}')
    assert.deepEqual((await store.verify()).findings, [])
  })

  it('removes what a load leaves behind', async () => {
    await store.create('swept', { keyField: 'id' })
    const load = await store.load('swept')
    await load.append(keyed(itemsFrom(0, 1_500)))
    await load.abort()
    assert.equal((await store.append('swept', keyed(itemsFrom(0, 2)))).live, 2)
    assert.deepEqual((await store.verify()).findings, [])
  })

  it('is read to the end by somebody who takes his time', async () => {
    const texts = itemsFrom(0, 1_600)
    await store.create('slow')
    await store.append('slow', itemRun(texts))
    const read: string[] = []
    for await (const segment of store.items('slow')) {
      await sleep(300)
      read.push(...splitItems(segment.raw()))
    }
    assert.deepEqual(read, texts)
    assert.deepEqual(await readItems(store, 'slow'), texts)
  })
})
