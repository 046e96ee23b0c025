/** Versions of an origin that are too large to be held, and histories that it leaves. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatTag, stateOf } from '../../src/contract/state-tag.ts'
import { fill } from '../service/open-service.ts'
import { copies, keyed, rows, sharedStores } from './origin-and-mirror.ts'

const open = sharedStores()

describe('a mirror of a large origin', () => {
  it('takes a version that is larger than memory should be, with what it replaces', async (t) => {
    const pair = open(t)
    const long = 'x'.repeat(20_000)
    await pair.fill(rows(0, 1200))
    await pair.run()
    await pair.load(rows(600, 1800, long), { onConflict: 'replace' })
    await pair.change(rows(2000, 2001), [600])
    await pair.run()
    await pair.same()
    assert.equal(pair.count('loaded'), 1)
    const { version = 0 } = (await pair.head()) ?? {}
    await pair.change(rows(0, 700, long), [1700, 1701])
    await pair.run()
    await pair.same()
    assert.equal((await pair.head())?.version, version + 1)
  })

  it('never mixes two histories, whenever its origin is restored from a backup and goes on in another way', async (t) => {
    const pair = open(t)
    const [before, after] = await copies(t, 2, (store) => fill(store, pair.name, rows(0, 600)))
    assert.ok(before && after)
    await pair.remember(before)
    const tag = formatTag(stateOf((await before.head(pair.name)) ?? assert.fail()))
    for (const [store, text] of [
      [before, 'one way'],
      [after, 'the other way'],
    ] as const)
      for (let n = 0; n < 9; n++) {
        // The same keys and versions in both, and other items.
        await pair.change(rows(n * 50, n * 50 + 150, `${text} ${n}`), [n], store)
        await pair.remember(store)
      }
    for (let switchAt = 1; switchAt < 20; switchAt++) {
      const name = `switched-at-${switchAt}`
      // Both histories begin with the state that the mirror shows.
      const load = await pair.mirror.load(name, { settings: { keyField: 'id' }, isMirroring: true })
      await load.append(keyed(rows(0, 600)))
      await load.commit({ url: pair.url, position: tag })
      pair.serving = before
      pair.requests = 0
      pair.onRequest = async (_request, number) => {
        assert.ok(await pair.showsState(name), `${name}, before request ${number}`)
        if (number >= switchAt) pair.serving = after
        return undefined
      }
      await pair.run({ name })
      assert.ok(await pair.showsState(name), name)
      pair.serving = after
      await pair.run({ name })
      await pair.same(name)
    }
  })

  it('is copied again if a version with deletes is too large to be collected', async (t) => {
    const pair = open(t)
    await pair.fill(rows(0, 800))
    await pair.run()
    await pair.change(rows(0, 700, 'x'.repeat(100_000)), [790])
    await pair.run()
    await pair.same()
    assert.equal(pair.count('loaded'), 2)
  })
})
