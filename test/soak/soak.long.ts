import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, it } from 'node:test'

const RUN = join(import.meta.dirname, 'run.ts')

describe('the soak', () => {
  it('of a minute finds nothing wrong, and leaves memory to longer ones', () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [RUN, '--minutes', '1'], { encoding: 'utf8' })
    assert.equal(status, 0, stdout + stderr)
    assert.match(stdout, /^memory, .*: not judged$/m)
    assert.match(stdout, /^wrong counts: 0 of 4: reached$/m)
  })

  it('refuses a time that is none', () => {
    for (const minutes of ['0', '-1', 'long', '']) {
      const { status, stderr } = spawnSync(process.execPath, [RUN, `--minutes=${minutes}`], { encoding: 'utf8' })
      assert.ok(stderr.startsWith(`--minutes is "${minutes}"; give a number of at least 1.`), stderr)
      assert.equal(status, 2)
    }
  })
})
