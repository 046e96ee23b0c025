/** Two servers behind nginx: whoever reads and writes does not notice that they are restarted. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { workDirectory } from '../cli/run-cli.ts'
import { lackOf, NGINX } from '../faults/needs.ts'
import { restartUnderLoad } from './restart-under-load.ts'

/** `restarts` of them, by turns, with one process each and with two. */
export function describeRestarts(restarts: number): void {
  describe('two servers behind nginx that are restarted by turns', () => {
    for (const workers of ['1', '2'])
      it(`let no read and no write fail, with --workers ${workers}`, async (t) => {
        const lack = await lackOf([NGINX])
        if (lack !== undefined) return t.skip(lack)
        const options = { directory: workDirectory(t), restarts, words: ['--workers', workers] }
        const { failures, lost, reads, writes } = await restartUnderLoad(options)
        assert.deepEqual({ failures, lost }, { failures: [], lost: 0 })
        assert.ok(reads > 0 && writes > 0)
      })
  })
}
