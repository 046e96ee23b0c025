import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { describeHistory } from './describe-history.ts'
import { describeStore } from './describe-store.ts'
import { changed, itemsFrom, keyed } from './items.ts'
import { openSqliteForTest, rowsOf } from './sqlite-engine.ts'
import { changeRows } from './sqlite-rows.ts'
import { KEYED } from './subject.ts'

describeStore('sqlite', { open: openSqliteForTest })
describeHistory('sqlite', { open: openSqliteForTest })

it('history is removed, though that of a collection before is damaged', async () => {
  const { store, path, rows, openAgain, remove } = await openSqliteForTest()
  try {
    for (const name of ['a', 'b']) {
      await store.create(name, KEYED)
      await store.setRetention(name, { retentionMs: 1 })
      await store.append(name, keyed(itemsFrom(0, 3)))
      await store.put(name, keyed([changed(1, 1)]))
    }
    changeRows(path, `UPDATE state SET at = at + 1 WHERE ${rowsOf('a')}`)
    const remover = await openAgain({ forgetEveryMs: 3 })
    const countStates = () => rows.count('state', 'b')
    for (let tries = 0; tries < 500 && (await countStates()) > 1; tries++) await sleep(10)
    await remover.close()
    assert.equal(await countStates(), 1)
  } finally {
    await remove()
  }
})
