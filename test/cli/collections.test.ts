import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { StateTag } from '../../src/contract/state-tag.ts'
import type { Store } from '../../src/store/store.ts'
import { eventLines, putLines, withStore } from './items.ts'
import { runInside, workDirectory } from './run-cli.ts'

async function directoryWithTwo(t: TestContext): Promise<string> {
  const directory = workDirectory(t)
  await putLines(directory, 'events', eventLines(1234), { keyField: 'id' })
  await putLines(directory, 'venues', eventLines(12), { isPaginated: false, isPrivate: true })
  return directory
}

describe('collections', () => {
  it('lists names, items, pages, key and flags, also as JSON', async (t) => {
    const directory = await directoryWithTwo(t)
    assert.deepEqual((await runInside(['collections'], { in: directory })).stdout.split('\n'), [
      'NAME    ITEMS  PAGES  KEY  FLAGS',
      'events  1,234      3  id',
      'venues     12      -  -    unpaginated, private',
      '',
    ])
    const { stdout } = await runInside(['collections', '--json'], { in: directory })
    const rest = { retention_ms: 86_400_000, retention_bytes: 1_073_741_824, follows: null, mirrors: null }
    assert.deepEqual(JSON.parse(stdout), [
      { name: 'events', items: 1234, deleted: 0, pages: 3, key: 'id', paginated: true, private: false, ...rest },
      { name: 'venues', items: 12, deleted: 0, pages: null, key: null, paginated: false, private: true, ...rest },
    ])
  })

  it('says how many items were deleted', async (t) => {
    const directory = workDirectory(t)
    await putLines(directory, 'events', eventLines(3), { keyField: 'id' })
    await withStore(directory, false, (store) => store.delete('events', ['1', '2']))
    const { stdout } = await runInside(['collections'], { in: directory })
    assert.match(stdout, /^events +1 +1 +id +2 deleted$/m)
    const json = JSON.parse((await runInside(['collections', '--json'], { in: directory })).stdout)
    assert.equal(json[0].deleted, 2)
  })

  it('shows what a collection follows, and how far behind it is', async (t) => {
    const directory = await directoryWithTwo(t)
    const note = (waiting: number, secondsAgo: number) =>
      withStore(directory, false, async (store) => {
        const seenAt = Date.now()
        const asOf = seenAt - secondsAgo * 1000
        await store.noteFollowing('venues', { source: 'public.v\u0007 in postgres://db/shop', waiting, asOf, seenAt })
        return asOf
      })
    const list = async (...words: string[]) => (await runInside(['collections', ...words], { in: directory })).stdout
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
    const [first, { follows }] = JSON.parse(await list('--json'))
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
    const directory = await directoryWithTwo(t)
    const run = (...words: string[]) => runInside(words, { in: directory })
    assert.deepEqual(await run('drop', 'event'), {
      status: 2,
      stdout: '',
      stderr: 'reams: There is no collection "event". There are events, venues.\n',
    })
    const stdout = 'events: dropped, with 1,234 items.\n'
    assert.deepEqual(await run('drop', 'events', '--yes'), { status: 0, stdout, stderr: '' })
    assert.equal((await run('drop', 'venues', '--yes')).status, 0)
    const listed = 'reams.db has no collections. Create one: reams import NAME FILE --store reams.db\n'
    assert.equal((await run('collections')).stdout, listed)
  })
})

describe('set', () => {
  const setIn =
    (directory: string) =>
    (words: string[], variables = {}) =>
      runInside(['set', ...words], { in: directory, variables })

  it('makes a collection private or public, and wants something to set', async (t) => {
    const set = setIn(await directoryWithTwo(t))
    assert.equal((await set(['events', '--private'])).stdout, 'events: now private.\n')
    assert.equal((await set(['events', '--private'])).stdout, 'events: already private.\n')
    assert.equal((await set(['venues', '--public'], { REAMS_PRIVATE: '1' })).stdout, 'venues: now public.\n')
    const wrong: [words: string[], message: string][] = [
      [[], 'Expected what to set: --private or --public, --retention or --retention-bytes, or --detach.'],
      [['--private', '--public'], 'Expected only one of --private and --public.'],
    ]
    for (const [words, message] of wrong)
      assert.deepEqual(await set(['events', ...words]), { status: 2, stdout: '', stderr: `reams: ${message}\n` })
  })

  it('sets how long history is kept and how much of it, and says what is set now', async (t) => {
    const directory = await directoryWithTwo(t)
    const set = setIn(directory)
    const cases: [words: string, said: string][] = [
      ['--retention 7d', 'history is kept for 7 days, up to 1 GiB'],
      ['--retention-bytes 512MiB', 'history is kept for 7 days, up to 512 MiB'],
      ['--retention 1s --retention-bytes 1', 'history is kept for 1 second, up to 1 byte'],
      ['--retention 90s --retention-bytes 1000', 'history is kept for 90 seconds, up to 1,000 bytes'],
      ['--retention 1h --private', 'now private; history is kept for 1 hour, up to 1,000 bytes'],
      ['--retention 0', 'no history is kept'],
    ]
    for (const [words, said] of cases) {
      // Meant for imports.
      const { stdout, stderr } = await set(['events', ...words.split(' ')], { REAMS_PRIVATE: '0', REAMS_PUBLIC: '1' })
      assert.equal(stdout, `events: ${said}.\n`, stderr)
    }
    assert.match((await runInside(['collections'], { in: directory })).stdout, /^events .* private, no history$/m)
    assert.equal(
      (await set(['events'], { REAMS_RETENTION: '2m' })).stdout,
      `events: ${cases[3]?.[1]}.\n`.replace('90 seconds', '2 minutes'),
    )
    assert.deepEqual(await set(['venues', '--retention', '7d', '--public']), {
      status: 1,
      stdout: '',
      stderr: 'reams: venues is unpaginated, and has no history: it is read as a whole. Nothing was set.\n',
    })
    assert.equal((await set(['venues', '--private'])).stdout, 'venues: already private.\n')
  })
})

describe('forget', () => {
  it('drops all history of a collection, and nothing else', async (t) => {
    const directory = await directoryWithTwo(t)
    const tagOf = async (store: Store): Promise<StateTag> => {
      const { id, version, changes, commitId } = (await store.head('events')) ?? assert.fail('it is there')
      return { collectionId: id, version, changes, commitId }
    }
    const before = await withStore(directory, false, async (store) => {
      const tag = await tagOf(store)
      await store.delete('events', ['7'])
      assert.equal((await store.pageAt('events', tag, 1))?.itemCount, 1234)
      return tag
    })
    const run = (...words: string[]) => runInside(words, { in: directory })
    const stdout = 'events: its history was dropped. It has 1,233 items, as before.\n'
    assert.deepEqual(await run('forget', 'events'), { status: 0, stdout, stderr: '' })
    await withStore(directory, false, async (store) => {
      await assert.rejects(store.pageAt('events', before, 1), { code: 'state-expired' })
      assert.equal((await store.pageAt('events', await tagOf(store), 1))?.itemCount, 1233)
    })
    const { status, stderr } = await run('forget', 'event')
    assert.deepEqual([status, stderr], [2, 'reams: There is no collection "event". There are events, venues.\n'])
  })
})
