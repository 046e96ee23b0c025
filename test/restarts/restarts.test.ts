import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { workDirectory } from '../cli/run-cli.ts'
import { lackOf, NGINX } from '../faults/needs.ts'
import { restartUnderLoad } from './restart-under-load.ts'

describe('two servers behind nginx that are restarted by turns', () => {
  it('let no read and no write fail', async (t) => {
    const lack = await lackOf([NGINX])
    if (lack !== undefined) return t.skip(lack)
    const { failures, lost, reads, writes } = await restartUnderLoad({ directory: workDirectory(t), restarts: 5 })
    assert.deepEqual({ failures, lost }, { failures: [], lost: 0 })
    assert.ok(reads > 0 && writes > 0)
  })
})
