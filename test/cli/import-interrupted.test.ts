import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventLines, putLines, storedLines } from './items.ts'
import { RunningCli, runCli, workDirectory } from './run-cli.ts'

describe('an import that is interrupted', () => {
  for (const [signal, status] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)
    it(`by ${signal} exits with ${status} and leaves the collection as it was, free for the next import`, async (t) => {
      const directory = workDirectory(t)
      await putLines(directory, 'events', eventLines(3), { keyField: 'id' })
      const cli = new RunningCli(['import', 'events', '-'], { in: directory })
      t.after(() => cli.child.kill('SIGKILL'))
      await cli.writes(eventLines(50_000, 4))
      const result = await cli.stop(signal)
      assert.equal(result.status, status)
      assert.equal(result.stderr, `reams: interrupted by ${signal}; nothing was changed.\n`)
      assert.equal(result.stdout, '')
      assert.equal(await storedLines(directory, 'events'), eventLines(3))
      const again = await runCli(['import', 'events', '-'], { in: directory, input: eventLines(2, 4) })
      assert.match(again.stdout, /now has 5 items/)
      assert.equal((await runCli(['verify'], { in: directory })).status, 0)
    })

  it('while it waits for a pipe that nobody writes to ends as well', async (t) => {
    const directory = workDirectory(t)
    execFileSync('mkfifo', [join(directory, 'silent.ndjson')])
    const cli = new RunningCli(['import', 'events', 'silent.ndjson'], { in: directory })
    t.after(() => cli.child.kill('SIGKILL'))
    while (!existsSync(join(directory, 'reams.db'))) await sleep(20)
    assert.equal((await cli.stop('SIGINT')).status, 130)
  })
})
