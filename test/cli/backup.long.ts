import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { waitUntil } from '../wait-until.ts'
import { inStore } from './directory.ts'
import { eventLines, putLines } from './items.ts'
import { runCli, workDirectory } from './run-cli.ts'

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
    const folding = setInterval(() => fold(path), 3)
    const { status, stderr } = await runCli(['backup', `${round}.db`], { in: directory }).finally(() =>
      clearInterval(folding),
    )
    assert.deepEqual({ status, stderr }, { status: 0, stderr: '' })
    const items = await count(`${round}.db`)
    assert.ok(items >= atLeast && items <= (await count('reams.db')), `${atLeast} <= ${items}`)
  }
  for (const writer of writers) assert.equal(writer.exitCode, null, 'a writer failed')
})

function fold(path: string): void {
  using database = new DatabaseSync(path, { timeout: 0 })
  try {
    database.exec('PRAGMA wal_checkpoint(RESTART)')
  } catch {
    // A writer is at work.
  }
}
