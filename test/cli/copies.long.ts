import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { hash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { readItems } from '../store/store-reading.ts'
import { waitUntil } from '../wait-until.ts'
import { inStore, succeeds } from './directory.ts'
import { eventLines, putLines } from './items.ts'
import { RunningCli, runCli, workDirectory } from './run-cli.ts'

const WRITER = fileURLToPath(new URL('../store/child-writer.ts', import.meta.url))

it('a backup while processes write is a state that was, with all that was acknowledged before', async (t) => {
  const directory = workDirectory(t)
  await putLines(directory, 'events', eventLines(20_000), { keyField: 'id' })
  const path = join(directory, 'reams.db')
  const writers = [1, 2].map(() => spawn(process.execPath, [WRITER, path, 'append', '1000000', '2']))
  t.after(() => writers.forEach((writer) => void writer.kill('SIGKILL')))
  const count = (file: string) =>
    inStore(join(directory, file), async (store) => (await store.head('events'))?.live ?? 0)
  await waitUntil(async () => (await count('reams.db')) >= 20_050)
  for (let round = 1; round <= 4; round++) {
    const atLeast = await count('reams.db')
    // A checkpoint at any time, as those of writers are.
    const folding = setInterval(() => query(path, 'PRAGMA wal_checkpoint(RESTART)'), 3)
    const { status, stderr } = await runCli(['backup', `${round}.db`], { in: directory }).finally(() =>
      clearInterval(folding),
    )
    assert.deepEqual({ status, stderr }, { status: 0, stderr: '' })
    const items = await count(`${round}.db`)
    assert.ok(items >= atLeast && items <= (await count('reams.db')), `${atLeast} <= ${items}`)
  }
  for (const writer of writers) assert.equal(writer.exitCode, null, 'a writer failed')
})

it('a copy that is killed leaves nothing of the collection, and the same command copies it', async (t) => {
  const directory = workDirectory(t)
  // Does not shrink much, so that there is something to write.
  const lines = Array.from(
    { length: 30_000 },
    (_, id) => `{"id":${id},"noise":"${hash('sha512', String(id), 'base64')}"}`,
  )
  await putLines(directory, 'events', lines.join('\n'), { keyField: 'id' })
  const target = join(directory, 'new.db')
  const { child } = new RunningCli(['copy', '--from', 'reams.db', '--to', 'new.db'], { in: directory })
  const ended = new Promise((resolve) => child.once('close', (...how) => resolve(how)))
  await waitUntil(() => existsSync(target) && query(target, 'SELECT 1 FROM ream') !== undefined)
  child.kill('SIGKILL')
  assert.deepEqual(await ended, [null, 'SIGKILL'])
  await inStore(target, async (store) => assert.deepEqual(await store.collections(), []))
  assert.match(await succeeds(directory, 'copy --from reams.db --to new.db'), /^events: .* copied/)
  await inStore(target, async (store) => {
    assert.deepEqual(await readItems(store, 'events'), lines)
    assert.deepEqual((await store.verify()).findings, [])
  })
})

/** The first row; undefined where there is none, no such table, or a writer at work. */
function query(path: string, sql: string): unknown {
  try {
    using database = new DatabaseSync(path, { timeout: 0 })
    return database.prepare(sql).get()
  } catch {
    return undefined
  }
}
