import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { newSeed } from '../faults/command.ts'
import { fuzz } from './fuzz.ts'

const RUN = fileURLToPath(new URL('./run.ts', import.meta.url))
const A_MINUTE_MS = 60_000

it('a minute of cases does no harm to the servers', async (t) => {
  const seed = newSeed()
  t.diagnostic(`seed ${seed}`)
  const { findings, lines } = await fuzz({ seed, ms: A_MINUTE_MS })
  for (const line of lines) t.diagnostic(line)
  assert.deepEqual(findings, [], `seed ${seed}`)
})

it('the command repeats a case alone, and shows what is sent and answered', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [RUN, '--seed', '1', '--case', '5'], {
    encoding: 'utf8',
  })
  const shown =
    /^seed 1\ncase 5\ndelivery: .*\nsent: ".*"\n(answer .*\n)+the connection was closed\nNothing was wrong\.\n$/
  assert.match(stdout, shown)
  assert.equal(status, 0, stderr)
})
