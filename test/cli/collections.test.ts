import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { eventLines, putLines } from './items.ts'
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
    assert.deepEqual(JSON.parse(stdout), [
      { name: 'events', items: 1234, holes: 0, pages: 3, key: 'id', paginated: true, private: false },
      { name: 'venues', items: 12, holes: 0, pages: null, key: null, paginated: false, private: true },
    ])
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
    assert.deepEqual(await run('drop', 'events'), { status: 0, stdout, stderr: '' })
    assert.equal((await run('drop', 'venues')).status, 0)
    const listed = 'reams.db has no collections. Create one: reams import NAME FILE --store reams.db\n'
    assert.equal((await run('collections')).stdout, listed)
  })
})

describe('set', () => {
  it('makes a collection private or public, and wants exactly one of the two', async (t) => {
    const directory = await directoryWithTwo(t)
    const set = (words: string[], variables = {}) => runInside(['set', ...words], { in: directory, variables })
    assert.equal((await set(['events', '--private'])).stdout, 'events: now private.\n')
    assert.equal((await set(['events', '--private'])).stdout, 'events: already private.\n')
    assert.equal((await set(['venues', '--public'], { REAMS_PRIVATE: '1' })).stdout, 'venues: now public.\n')
    for (const words of [[], ['--private', '--public']]) {
      const { status, stderr } = await set(['events', ...words])
      assert.deepEqual([status, stderr], [2, 'reams: Expected exactly one of --private and --public.\n'])
    }
  })
})
