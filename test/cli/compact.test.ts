import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { eventLines, putLines, storedLines } from './items.ts'
import { RunningCli, runCli, startServer, workDirectory } from './run-cli.ts'

/** A directory with a store of 1,700 items, of which some were deleted. */
async function directoryWithHoles(t: TestContext, deleted: readonly number[]): Promise<string> {
  const directory = workDirectory(t)
  await putLines(directory, 'events', eventLines(1700), { keyField: 'id' })
  const store = await openSqliteStore({ path: join(directory, 'reams.db') })
  await store.delete('events', deleted.map(String))
  await store.close()
  return directory
}

describe('compact', () => {
  it('closes the holes, keeps the items, and says when there are none', async (t) => {
    const directory = await directoryWithHoles(t, [1, 2, 700])
    const before = await storedLines(directory, 'events')
    assert.match((await runCli(['collections'], { in: directory })).stdout, /^events +1,697 +4 +id +3 holes$/m)
    const { status, stdout, stderr } = await runCli(['compact', 'events'], { in: directory })
    assert.match(stdout, /^events: 3 holes closed in .+; the collection has 1,697 items, 4 pages\.\n$/)
    assert.deepEqual([status, stderr], [0, ''])
    assert.equal(await storedLines(directory, 'events'), before)
    assert.equal((await runCli(['verify'], { in: directory })).status, 0)
    assert.match((await runCli(['collections'], { in: directory })).stdout, /^events +1,697 +4 +id$/m)
    assert.deepEqual(await runCli(['compact', 'events'], { in: directory }), {
      status: 0,
      stdout: 'events: 1,697 items, 4 pages, and no holes. There is nothing to gain.\n',
      stderr: '',
    })
  })

  it('changes nothing but the tags of pages for a server that runs', async (t) => {
    const directory = await directoryWithHoles(t, [5])
    const server = await startServer(t, [], { in: directory })
    const read = async () => {
      const answer = await server.get('/events?page=2')
      return { tag: answer.headers.get('etag'), text: await answer.text() }
    }
    const before = await read()
    assert.equal((await runCli(['compact', 'events'], { in: directory })).status, 0)
    const after = await read()
    assert.equal(after.text, before.text)
    assert.notEqual(after.tag, before.tag)
  })

  it('waits for nobody: while an import runs it is refused with 3', async (t) => {
    const directory = await directoryWithHoles(t, [5])
    const running = new RunningCli(['import', 'events', '-'], { in: directory })
    t.after(() => running.child.kill('SIGKILL'))
    await running.writes(eventLines(50_000, 9000))
    const { status, stderr } = await runCli(['compact', 'events'], { in: directory })
    assert.match(stderr, /^reams: An import, a copy or a compaction of "events" has been running since /)
    assert.equal(status, 3)
    await running.stop()
    assert.equal((await runCli(['compact', 'events'], { in: directory })).status, 0)
  })

  it('says which collections there are, and makes no store', async (t) => {
    const directory = await directoryWithHoles(t, [5])
    assert.deepEqual(await runCli(['compact', 'event'], { in: directory }), {
      status: 2,
      stdout: '',
      stderr: 'reams: There is no collection "event". There is events.\n',
    })
    assert.equal((await runCli(['compact', 'events', '--store', 'other.db'], { in: directory })).status, 2)
  })
})
