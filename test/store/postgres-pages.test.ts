import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { lastPage } from '../../src/contract/page.ts'
import type { Store } from '../../src/store/store.ts'
import { isError, item, itemsFrom, keyed } from './items.ts'
import { openPostgresForTest, type PostgresUnderTest } from './postgres-engine.ts'
import { describePostgres } from './postgres-server.ts'
import { pagesOf, readAllPages, readPageTexts, textsOf } from './store-reading.ts'

const COUNT = 130_000

describePostgres('pages with holes, where a process remembers what is gone', (startPostgres) => {
  let engine: PostgresUnderTest
  let other: Store
  let texts: string[]

  const remove = async (ids: readonly number[]): Promise<void> => {
    await other.delete('events', ids.map(String))
    const gone = new Set(ids.map((id) => item(id)))
    texts = texts.filter((text) => !gone.has(text))
  }

  before(async () => {
    engine = await openPostgresForTest(await startPostgres())
    other = await engine.openAgain()
    await engine.store.create('events', { keyField: 'id' })
    texts = itemsFrom(1, COUNT)
    // More than one block of each level but the highest.
    const load = await engine.store.load('events')
    for (let start = 0; start < COUNT; start += 500) await load.append(keyed(texts.slice(start, start + 500)))
    await load.commit()
    await remove(Array.from({ length: 550 }, (_, index) => 1 + index * 233))
  })

  after(async () => {
    await other?.close()
    await engine?.remove()
  })

  it('are right, also after others have deleted, replaced and appended', async () => {
    const { store } = engine
    const check = async () => {
      for (const page of [1, 2, 130, 256, 257, lastPage(texts.length) - 1, lastPage(texts.length), 10_000]) {
        const expected = pagesOf(texts)[Math.min(page, lastPage(texts.length)) - 1]
        assert.deepEqual(await readPageTexts(store, 'events', page), expected, `page ${page}`)
      }
    }
    await check()
    await check()
    await remove([2, 65_000, COUNT])
    await check()
    await other.append('events', keyed([item(COUNT + 1), item(COUNT + 2)]))
    texts.push(item(COUNT + 1), item(COUNT + 2))
    await check()
    await other.replace('events', keyed([item(3, ',"new":true')]))
    texts[texts.indexOf(item(3))] = item(3, ',"new":true')
    await check()
    // Whole reams, at the border of two blocks.
    await remove(Array.from({ length: 2_500 }, (_, index) => 126_751 + index).filter((id) => (id - 1) % 233 !== 0))
    await check()
  })

  it('belong to the head that comes along, while another process deletes', async () => {
    const { store } = engine
    const states = new Map<string, string[][]>()
    const note = (commitId = '') => states.set(commitId, pagesOf(texts))
    note((await other.head('events'))?.commitId)
    let isDone = false
    const reads: { commitId: string; page: number; texts: string[] }[] = []
    const reader = async (step: number) => {
      for (let turn = 1; !isDone; turn++) {
        const read = await store.page('events', 1 + ((turn * step) % 260))
        assert.ok(read)
        reads.push({ commitId: read.head.commitId, page: read.page, texts: textsOf(read) })
      }
    }
    const readers = [7, 31, 97].map(reader)
    for (let id = 10; id < COUNT - 10_000; id += 6_000) {
      await remove([(id - 1) % 233 === 0 ? id - 1 : id])
      note((await other.head('events'))?.commitId)
    }
    isDone = true
    await Promise.all(readers)
    assert.ok(new Set(reads.map(({ commitId }) => commitId)).size > 5, `${reads.length} reads of too few states`)
    for (const { commitId, page, texts: found } of reads) assert.deepEqual(found, states.get(commitId)?.[page - 1])
  })

  it('are not answered where a hole count or the count of a ream is wrong', async () => {
    await engine.store.create('damaged', { keyField: 'id' })
    await engine.store.append('damaged', keyed(itemsFrom(1, 2_000)))
    await engine.store.delete('damaged', ['1'])
    await readAllPages(engine.store, 'damaged')
    const own = engine.rowsOf('damaged')
    await engine.execute(`UPDATE ream SET count = 498 WHERE ${own} AND number = 1`)
    await assert.rejects(engine.store.page('damaged', 2), isError('corrupt'))
    await engine.execute(`UPDATE ream SET count = 500 WHERE ${own} AND number = 1`)
    assert.deepEqual(await readPageTexts(engine.store, 'damaged', 2), itemsFrom(502, 500))
    await engine.execute(`UPDATE hole SET gone = 2 WHERE ${own} AND level = 0`)
    const fresh = await engine.openAgain()
    await assert.rejects(fresh.page('damaged', 2), isError('corrupt')).finally(() => fresh.close())
  })
})
