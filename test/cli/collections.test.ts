import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { StateTag } from '../../src/contract/state-tag.ts'
import { itemRun } from '../../src/items/item-run.ts'
import type { Store } from '../../src/store/store.ts'
import { inStore, refused, storeMaker, succeeds } from './directory.ts'
import { eventLines } from './items.ts'

/** A store with `events`, with a key, and the private and unpaginated `venues`. */
const withTwo = storeMaker((directory) => {
  const runOf = (count: number, keyField: string | null) => itemRun(eventLines(count).trim().split('\n'), { keyField })
  const fill = async (store: Store) => {
    await store.create('events', { keyField: 'id' })
    await store.append('events', runOf(1234, 'id'))
    await store.create('venues', { isPaginated: false, isPrivate: true })
    await store.append('venues', runOf(12, null))
  }
  return inStore(join(directory, 'reams.db'), fill, true)
})

describe('collections', () => {
  it('lists names, items, pages, key and flags, also as JSON', async (t) => {
    const directory = await withTwo(t)
    assert.deepEqual((await succeeds(directory, 'collections')).split('\n'), [
      'NAME    ITEMS  PAGES  KEY  FLAGS',
      'events  1,234      3  id',
      'venues     12      -  -    unpaginated, private',
      '',
    ])
    const rest = { retention_ms: 86_400_000, retention_bytes: 1_073_741_824, follows: null, mirrors: null }
    assert.deepEqual(JSON.parse(await succeeds(directory, 'collections --json')), [
      { name: 'events', items: 1234, deleted: 0, pages: 3, key: 'id', paginated: true, private: false, ...rest },
      { name: 'venues', items: 12, deleted: 0, pages: null, key: null, paginated: false, private: true, ...rest },
    ])
  })

  it('says how many items were deleted', async (t) => {
    const directory = await withTwo(t)
    await inStore(join(directory, 'reams.db'), (store) => store.delete('events', ['1', '2']))
    assert.match(await succeeds(directory, 'collections'), /^events +1,232 +3 +id +2 deleted$/m)
    assert.equal(JSON.parse(await succeeds(directory, 'collections --json'))[0].deleted, 2)
  })

  it('shows what a collection follows, and how far behind it is', async (t) => {
    const directory = await withTwo(t)
    const note = (waiting: number, secondsAgo: number) =>
      inStore(join(directory, 'reams.db'), async (store) => {
        const seenAt = Date.now()
        const asOf = seenAt - secondsAgo * 1000
        await store.noteFollowing('venues', { source: 'public.v\u0007 in postgres://db/shop', waiting, asOf, seenAt })
        return asOf
      })
    const list = (flag = '') => succeeds(directory, `collections${flag}`)
    await note(1_200, 7_260)
    const [titles, events, venues, ...rest] = (await list()).split('\n')
    assert.equal(titles, 'NAME    ITEMS  PAGES  KEY  FLAGS                 FOLLOWS')
    assert.equal(events, 'events  1,234      3  id')
    const told =
      /unpaginated, private {2}public\.v\\u0007 in postgres:\/\/db\/shop, 1,200 rows waiting, as of 2 h 1 min ago$/
    assert.match(venues ?? '', told)
    assert.deepEqual(rest, [''])
    const asOf = await note(1, 60)
    assert.match(await list(), /, 1 row waiting, as of 1 min \d+ s ago$/m)
    const [first, { follows }] = JSON.parse(await list(' --json'))
    assert.equal(first.follows, null)
    const { seconds_behind, ...others } = follows
    const as_of = new Date(asOf).toISOString()
    assert.deepEqual(others, { source: 'public.v\u0007 in postgres://db/shop', waiting: 1, as_of })
    assert.ok(seconds_behind >= 60 && seconds_behind <= (Date.now() - asOf) / 1000)
    // The clock of the source may be ahead.
    await note(0, -3_600)
    assert.match(await list(), /, 0 rows waiting, as of 0 ms ago$/m)
  })
})

describe('drop', () => {
  it('removes a collection by its exact name, and says with how many items', async (t) => {
    const directory = await withTwo(t)
    await refused(directory, 'drop event', 2, 'There is no collection "event". There are events, venues.')
    assert.equal(await succeeds(directory, 'drop events --yes'), 'events: dropped, with 1,234 items.\n')
    await succeeds(directory, 'drop venues --yes')
    const listed = 'reams.db has no collections. Create one: reams import NAME FILE --store reams.db\n'
    assert.equal(await succeeds(directory, 'collections'), listed)
  })
})

describe('set', () => {
  it('makes a collection private or public, and wants something to set', async (t) => {
    const directory = await withTwo(t)
    assert.equal(await succeeds(directory, 'set events --private'), 'events: now private.\n')
    assert.equal(await succeeds(directory, 'set events --private'), 'events: already private.\n')
    const variables = { REAMS_PRIVATE: '1' }
    assert.equal(await succeeds(directory, 'set venues --public', { variables }), 'venues: now public.\n')
    const what = '--private or --public, --retention or --retention-bytes, or --detach'
    await refused(directory, 'set events', 2, `Expected what to set: ${what}.`)
    await refused(directory, 'set events --private --public', 2, 'Expected only one of --private and --public.')
  })

  it('sets how long history is kept and how much of it, and says what is set now', async (t) => {
    const directory = await withTwo(t)
    const cases: [words: string, said: string][] = [
      ['--retention 7d', 'history is kept for 7 days, up to 1 GiB'],
      ['--retention-bytes 512MiB', 'history is kept for 7 days, up to 512 MiB'],
      ['--retention 1s --retention-bytes 1', 'history is kept for 1 second, up to 1 byte'],
      ['--retention 90s --retention-bytes 1000', 'history is kept for 90 seconds, up to 1,000 bytes'],
      ['--retention 1h --private', 'now private; history is kept for 1 hour, up to 1,000 bytes'],
      ['--retention 0', 'no history is kept'],
    ]
    // Meant for imports.
    const variables = { REAMS_PRIVATE: '0', REAMS_PUBLIC: '1' }
    for (const [words, said] of cases)
      assert.equal(await succeeds(directory, `set events ${words}`, { variables }), `events: ${said}.\n`)
    assert.match(await succeeds(directory, 'collections'), /^events .* private, no history$/m)
    const inVariable = await succeeds(directory, 'set events', { variables: { REAMS_RETENTION: '2m' } })
    assert.equal(inVariable, 'events: history is kept for 2 minutes, up to 1,000 bytes.\n')
    const reason = 'venues is unpaginated, and has no history: it is read as a whole. Nothing was set.'
    await refused(directory, 'set venues --retention 7d --public', 1, reason)
    assert.equal(await succeeds(directory, 'set venues --private'), 'venues: already private.\n')
  })
})

describe('forget', () => {
  it('drops all history of a collection, and nothing else', async (t) => {
    const directory = await withTwo(t)
    const tagOf = async (store: Store): Promise<StateTag> => {
      const { id, version, changes, commitId } = (await store.head('events')) ?? assert.fail('it is there')
      return { collectionId: id, version, changes, commitId }
    }
    const path = join(directory, 'reams.db')
    const before = await inStore(path, async (store) => {
      const tag = await tagOf(store)
      await store.delete('events', ['7'])
      assert.equal((await store.pageAt('events', tag, 1))?.itemCount, 1234)
      return tag
    })
    const said = 'events: its history was dropped. It has 1,233 items, as before.\n'
    assert.equal(await succeeds(directory, 'forget events'), said)
    await inStore(path, async (store) => {
      await assert.rejects(store.pageAt('events', before, 1), { code: 'state-expired' })
      assert.equal((await store.pageAt('events', await tagOf(store), 1))?.itemCount, 1233)
    })
    await refused(directory, 'forget event', 2, 'There is no collection "event". There are events, venues.')
  })
})
