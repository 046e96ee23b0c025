import assert from 'node:assert/strict'
import { it } from 'node:test'
import { newSeed } from '../faults/command.ts'
import { fuzz } from './fuzz.ts'

const A_MINUTE_MS = 60_000

it('a minute of cases does no harm to the servers', async (t) => {
  const seed = newSeed()
  t.diagnostic(`seed ${seed}`)
  const { findings, lines } = await fuzz({ seed, ms: A_MINUTE_MS })
  for (const line of lines) t.diagnostic(line)
  assert.deepEqual(findings, [], `seed ${seed}`)
})
