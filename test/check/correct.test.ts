import assert from 'node:assert/strict'
import { it } from 'node:test'
import { checkConformance } from '../../src/check/index.ts'
import { runSample } from '../sample.ts'
import { CORRECT } from './correct-cases.ts'
import { CorrectServer, startServer } from './correct-server.ts'
import { assertKept, skippedFor } from './kept.ts'

runSample(CORRECT, 0.25)

it('the correct server keeps every rule where it is found through its entry point', async (t) => {
  const { url, close } = await startServer(new CorrectServer())
  t.after(close)
  const report = await checkConformance(new URL('/', url).href, { strict: true })
  assert.equal(report.collections[0]?.url, url)
  assertKept(report, skippedFor(1001))
})
