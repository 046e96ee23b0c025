import assert from 'node:assert/strict'
import { it } from 'node:test'
import { newSeed } from '../faults/command.ts'
import { fuzz } from './fuzz.ts'

const TWO_MINUTES_MS = 120_000

it('two minutes of cases do no harm to the servers', async (t) => {
  const seed = newSeed()
  t.diagnostic(`seed ${seed}`)
  const { findings, lines } = await fuzz({ seed, ms: TWO_MINUTES_MS })
  for (const line of lines) t.diagnostic(line)
  assert.deepEqual(findings, [], `seed ${seed}`)
})
