import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { eventLines, putLines } from './items.ts'
import { runCli, startServer, workDirectory } from './run-cli.ts'

async function directoryWithTwo(t: TestContext): Promise<string> {
  const directory = workDirectory(t)
  await putLines(directory, 'events', eventLines(1234), { keyField: 'id' })
  await putLines(directory, 'venues', eventLines(12), { isPaginated: false, isPrivate: true })
  return directory
}

describe('collections', () => {
  it('lists names, items, pages, key and flags', async (t) => {
    const result = await runCli(['collections'], { in: await directoryWithTwo(t) })
    assert.equal(
      result.stdout,
      [
        'NAME    ITEMS  PAGES  KEY  FLAGS',
        'events  1,234      3  id',
        'venues     12      -  -    unpaginated, private',
        '',
      ].join('\n'),
    )
  })

  it('gives the same as JSON', async (t) => {
    const result = await runCli(['collections', '--json'], { in: await directoryWithTwo(t) })
    assert.deepEqual(JSON.parse(result.stdout), [
      { name: 'events', items: 1234, holes: 0, pages: 3, key: 'id', paginated: true, private: false },
      { name: 'venues', items: 12, holes: 0, pages: null, key: null, paginated: false, private: true },
    ])
  })
})

describe('drop', () => {
  it('removes a collection and says with how many items', async (t) => {
    const directory = await directoryWithTwo(t)
    const result = await runCli(['drop', 'events'], { in: directory })
    assert.deepEqual(result, { status: 0, stdout: 'events: dropped, with 1,234 items.\n', stderr: '' })
    assert.equal((await runCli(['drop', 'venues'], { in: directory })).status, 0)
    const listed = await runCli(['collections'], { in: directory })
    assert.equal(listed.stdout, 'reams.db has no collections. Make one: reams import NAME FILE --store reams.db\n')
  })

  it('wants the exact name', async (t) => {
    const directory = await directoryWithTwo(t)
    const result = await runCli(['drop', 'event'], { in: directory })
    assert.equal(result.status, 2)
    assert.equal(result.stderr, 'reams: There is no collection "event". There are events, venues.\n')
  })
})

describe('set', () => {
  it('hides a collection from a running server, and shows it again', async (t) => {
    const directory = await directoryWithTwo(t)
    const server = await startServer(t, [], { in: directory })
    assert.equal((await server.get('/events')).status, 200)
    const hidden = await runCli(['set', 'events', '--private'], { in: directory })
    assert.equal(hidden.stdout, 'events: is private now.\n')
    assert.equal((await server.get('/events')).status, 404)
    assert.equal((await runCli(['set', 'events', '--public'], { in: directory })).status, 0)
    assert.equal((await server.get('/events')).status, 200)
    const again = await runCli(['set', 'events', '--public'], { in: directory })
    assert.equal(again.stdout, 'events: is public already.\n')
  })

  for (const words of [[], ['--private', '--public']])
    it(`wants exactly one of the two, not "${words.join(' ')}"`, async (t) => {
      const result = await runCli(['set', 'events', ...words], { in: workDirectory(t) })
      assert.equal(result.status, 2)
      assert.equal(result.stderr, 'reams: Give exactly one of --private and --public.\n')
    })

  it('--public wins over REAMS_PRIVATE', async (t) => {
    const directory = await directoryWithTwo(t)
    const variables = { REAMS_PRIVATE: '1' }
    const result = await runCli(['set', 'venues', '--public'], { in: directory, variables })
    assert.equal(result.stdout, 'venues: is public now.\n')
  })
})
