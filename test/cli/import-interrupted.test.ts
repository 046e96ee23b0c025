import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { eventLines } from './items.ts'
import { RunningCli, runCli, workDirectory } from './run-cli.ts'

describe('an import that is interrupted', () => {
  for (const [signal, status] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)
    it(`by ${signal} exits with ${status} and leaves the collection as it was, free for the next import`, async (t) => {
      const directory = workDirectory(t)
      await runCli(['import', 'events', '-', '--key', 'id'], { in: directory, input: eventLines(3) })
      const cli = new RunningCli(['import', 'events', '-'], { in: directory })
      t.after(() => cli.child.kill('SIGKILL'))
      await cli.writes(eventLines(50_000, 4))
      const result = await cli.stop(signal)
      assert.equal(result.status, status)
      assert.equal(result.stderr, `reams: interrupted by ${signal}; nothing was changed.\n`)
      assert.equal(result.stdout, '')
      assert.equal((await runCli(['export', 'events'], { in: directory })).stdout, eventLines(3))
      const again = await runCli(['import', 'events', '-'], { in: directory, input: eventLines(2, 4) })
      assert.match(again.stdout, /now has 5 items/)
      assert.equal((await runCli(['verify'], { in: directory })).status, 0)
    })
})
