/** Versions of an origin that are too large to be held, and histories that it leaves. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatTag, stateOf } from '../../src/contract/state-tag.ts'
import { itemRun } from '../../src/items/item-run.ts'
import { fill } from '../service/open-service.ts'
import { change, copies, digestOf, itemsOf, KEYED, Pair, rows, same, URL, Versions } from './origin-and-mirror.ts'

describe('a mirror of a large origin', () => {
  it('takes a version that is larger than memory should be, with what it replaces', async (t) => {
    const pair = await Pair.open(t)
    const long = 'x'.repeat(20_000)
    await fill(pair.store, 'events', rows(0, 1200))
    await pair.run()
    const load = await pair.store.load('events', { onConflict: 'replace' })
    await load.append(itemRun(rows(600, 1800, long), KEYED))
    await load.commit()
    await change(pair.store, rows(2000, 2001), [600])
    await pair.run()
    await same(pair)
    assert.equal(pair.told('loaded'), 1)
    const { version = 0 } = (await pair.mirror.head('events')) ?? {}
    await change(pair.store, rows(0, 700, long), [1700, 1701])
    await pair.run()
    await same(pair)
    assert.equal((await pair.mirror.head('events'))?.version, version + 1)
  })

  it('never mixes two histories, whenever its origin is put back to a backup and goes on in another way', async (t) => {
    const [before, after] = await copies(t, 2, (store) => fill(store, 'events', rows(0, 600)))
    assert.ok(before && after)
    const states = new Versions()
    await states.add(before)
    const tag = formatTag(stateOf((await before.head('events')) ?? assert.fail()))
    for (const [store, text] of [
      [before, 'one way'],
      [after, 'the other way'],
    ] as const)
      for (let n = 0; n < 9; n++) {
        // The same keys and versions in both, and other items.
        await change(store, rows(n * 50, n * 50 + 150, `${text} ${n}`), [n])
        await states.add(store)
      }
    const pair = await Pair.open(t)
    for (let switchAt = 1; switchAt < 20; switchAt++) {
      const name = `switched-at-${switchAt}`
      const isOfOneHistory = async () => states.digests.has(await digestOf(pair.mirror, name))
      // Both histories begin with the state that the mirror shows.
      const load = await pair.mirror.load(name, { settings: KEYED, isMirroring: true })
      await load.append(itemRun(rows(0, 600), KEYED))
      await load.commit({ url: URL, position: tag })
      pair.serving = before
      pair.requests = 0
      pair.onRequest = async (_request, number) => {
        assert.ok(await isOfOneHistory(), `${name}, before request ${number}`)
        if (number >= switchAt) pair.serving = after
        return undefined
      }
      await pair.run({ name })
      assert.ok(await isOfOneHistory(), name)
      pair.serving = after
      await pair.run({ name })
      assert.deepEqual(await itemsOf(pair.mirror, name), await itemsOf(after), name)
    }
  })

  it('is copied anew where a version with deletes is too large to be collected', async (t) => {
    const pair = await Pair.open(t)
    const long = 'x'.repeat(100_000)
    await fill(pair.store, 'events', rows(0, 800))
    await pair.run()
    await change(pair.store, rows(0, 700, long), [790])
    await pair.run()
    await same(pair)
    assert.equal(pair.told('loaded'), 2)
  })
})
