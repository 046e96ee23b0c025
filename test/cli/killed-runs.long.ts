import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { eventLines, putLines } from './items.ts'
import { killAtRandom, killBetweenRuns, partsIn } from './killed-runs.ts'
import { runCli, workDirectory } from './run-cli.ts'

describe('after kill -9 at random moments', () => {
  for (const words of [
    ['backup', 'to/b.db', '--force'],
    ['export', 'events', '-o', 'to/e.ndjson.gz', '--force'],
  ])
    it(`the next ${words[0]} leaves its file and nothing else, and one that is stopped meanwhile still ends well`, (t) =>
      killBetweenRuns(t, words, 5))

  it('the next restore leaves its file and nothing else', async (t) => {
    const directory = workDirectory(t)
    await putLines(directory, 'events', eventLines(10_000), { keyField: 'id' })
    await killAtRandom((round) => ['restore', 'reams.db', '--store', `${round}.db`], directory, directory, 5)
    assert.equal((await runCli(['restore', 'reams.db', '--store', 'new.db'], { in: directory })).status, 0)
    assert.deepEqual(partsIn(directory), [])
  })
})
