import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { workDirectory } from '../cli/run-cli.ts'
import { lackOf, NGINX } from '../faults/needs.ts'
import { restartUnderLoad } from './restart-under-load.ts'

describe('two servers behind nginx that are restarted by turns', () => {
  for (const workers of [1, 2])
    it(`let no read and no write fail, with --workers ${workers}`, async (t) => {
      const lack = await lackOf([NGINX])
      if (lack !== undefined) return t.skip(lack)
      const options = { directory: workDirectory(t), restarts: 8, workers }
      const { findings, reads, writes, log } = await restartUnderLoad(options)
      assert.deepEqual(findings.messages, [], [...findings.messages, log].join('\n'))
      assert.ok(reads > 0 && writes > 0)
    })
})
