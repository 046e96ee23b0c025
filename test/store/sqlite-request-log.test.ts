import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { describe, it, type TestContext } from 'node:test'
import { itemRun } from '../../src/items/item-run.ts'
import { isError, item, itemsFrom, keyed } from './items.ts'
import { openSqliteForTest } from './sqlite-engine.ts'
import { changeRows, changeSoundRows } from './sqlite-rows.ts'
import { readItems } from './store-reading.ts'

const DAY_MS = 24 * 60 * 60 * 1000

const once = { key: 'the key', digest: 'a' }

async function openStore(t: TestContext) {
  const opened = await openSqliteForTest()
  t.after(() => opened.remove())
  await opened.store.create('events')
  return opened
}

function age(path: string, byMs: number, condition = 'true'): void {
  changeSoundRows(path, 'request_log', `UPDATE request_log SET at = at - ${byMs} WHERE ${condition}`)
}

function rememberedKeys(path: string): unknown[] {
  const database = new DatabaseSync(path, { readOnly: true })
  const rows = database.prepare('SELECT key FROM request_log ORDER BY key').all()
  database.close()
  return rows.map((row) => row['key'])
}

describe('what an SQLite store remembers of requests', () => {
  it('counts for 24 hours', async (t) => {
    const { store, path } = await openStore(t)
    await store.append('events', itemRun([item(1)]), { once })
    age(path, DAY_MS - 60_000)
    await store.append('events', itemRun([item(1)]), { once })
    assert.deepEqual(await readItems(store, 'events'), [item(1)])
    age(path, 60_000)
    await store.append('events', itemRun([item(2)]), { once: { ...once, digest: 'b' } })
    assert.deepEqual(await readItems(store, 'events'), [item(1), item(2)])
    await assert.rejects(store.append('events', itemRun([item(1)]), { once }), isError('request-differs'))
  })

  it('is removed when it no longer counts, some with every write', async (t) => {
    const { store, path } = await openStore(t)
    const keys = Array.from({ length: 250 }, (_, index) => String(1000 + index))
    await Promise.all(keys.map((key) => store.append('events', itemRun([item(1)]), { once: { key, digest: 'a' } })))
    assert.deepEqual(rememberedKeys(path), keys)
    age(path, DAY_MS, "key < '1240'")
    const more = Array.from({ length: 120 }, (_, index) => String(2000 + index))
    await Promise.all(more.map((key) => store.append('events', itemRun([item(1)]), { once: { key, digest: 'a' } })))
    assert.deepEqual(rememberedKeys(path), [...keys.slice(240), ...more])
  })

  it('is removed alone: another collection of that name may have answered the same key since', async (t) => {
    const { store, path } = await openStore(t)
    await store.append('events', itemRun([item(1)]), { once })
    age(path, DAY_MS)
    await store.drop('events')
    await store.create('events')
    await store.append('events', itemRun([item(1)]), { once })
    assert.deepEqual(rememberedKeys(path), [once.key])
    await store.append('events', itemRun([item(1)]), { once })
    assert.deepEqual(await readItems(store, 'events'), [item(1)])
  })

  it('is not removed because one bit of the index by age makes it look old', async (t) => {
    const { store, path, openAgain } = await openStore(t)
    await store.append('events', itemRun([item(1)]), { once })
    await store.close()
    const bytes = readFileSync(path)
    // Only the index has the time right before the key; it takes six bytes.
    let flips = 0
    for (let at = bytes.indexOf(once.key); at !== -1; at = bytes.indexOf(once.key, at + 1))
      if (bytes.readUIntBE(at - 6, 6) > Date.now() - DAY_MS && bytes.readUIntBE(at - 6, 6) <= Date.now()) {
        bytes[at - 6] = 0
        flips++
      }
    assert.equal(flips, 1)
    writeFileSync(path, bytes)
    const flipped = await openAgain()
    await flipped.append('events', itemRun([item(2)]), { once: { key: 'another', digest: 'b' } })
    await flipped.append('events', itemRun([item(1)]), { once })
    assert.deepEqual(await readItems(flipped, 'events'), [item(1), item(2)])
    await flipped.close()
  })

  it('is written together with the write: without the one there is not the other', async (t) => {
    const { store, path } = await openStore(t)
    const before = await store.head('events')
    changeRows(path, "CREATE TRIGGER refuse BEFORE INSERT ON request_log BEGIN SELECT RAISE(ABORT, 'no'); END")
    await assert.rejects(store.append('events', itemRun([item(1)]), { once }), isError('unavailable'))
    assert.deepEqual(await store.head('events'), before)
    // Another in the same commit is not harmed.
    const [refused, done] = await Promise.allSettled([
      store.append('events', itemRun([item(1)]), { once }),
      store.append('events', itemRun([item(2)])),
    ])
    assert.deepEqual([refused.status, done.status], ['rejected', 'fulfilled'])
    assert.deepEqual(await readItems(store, 'events'), [item(2)])
    changeRows(path, 'DROP TRIGGER refuse')
    await store.append('events', itemRun([item(1)]), { once })
    assert.deepEqual(await readItems(store, 'events'), [item(2), item(1)])
    assert.deepEqual(rememberedKeys(path), [once.key])
  })

  it('is written together with a change to a full page, too', async (t) => {
    const { store, path } = await openStore(t)
    await store.create('stock', { keyField: 'id' })
    await store.append('stock', keyed(itemsFrom(0, 600)))
    changeRows(path, "CREATE TRIGGER refuse BEFORE INSERT ON request_log BEGIN SELECT RAISE(ABORT, 'no'); END")
    const outcomes = await Promise.allSettled([
      store.put('stock', keyed([item(2, ',"n":1')])),
      store.put('stock', keyed([item(3, ',"n":1')]), {}, { once }),
      store.remove('stock', '4', {}, { once }),
      store.remove('stock', '5'),
    ])
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'rejected', 'fulfilled'],
    )
    const expected = itemsFrom(0, 600).with(2, item(2, ',"n":1')).toSpliced(5, 1)
    assert.deepEqual(await readItems(store, 'stock'), expected)
    assert.deepEqual((await store.verify()).findings, [])
  })

  it('is nothing for a write without a key, and nothing for one that was refused', async (t) => {
    const { store, path } = await openStore(t)
    await store.append('events', itemRun([item(1)]))
    await assert.rejects(store.append('nope', itemRun([item(1)]), { once }), isError('no-collection'))
    assert.deepEqual(rememberedKeys(path), [])
  })
})
