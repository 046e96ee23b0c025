import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Dice } from './dice.ts'
import { fuzz } from './fuzz.ts'
import { KINDS } from './grammar/kinds.ts'
import { planOf } from './plan.ts'
import { parseOptions } from './run.ts'
import { SITES } from './site.ts'

const RUN = fileURLToPath(new URL('./run.ts', import.meta.url))

it('a few dozen cases do no harm to the servers', async () => {
  const { findings } = await fuzz({ seed: 1, cases: 40 })
  assert.deepEqual(findings, [])
})

it('a case is the same whenever it is made', () => {
  for (const kind of Object.values(KINDS))
    for (const site of SITES)
      for (let number = 0; number < 5; number++) {
        const plan = () => planOf(new Dice(7, number), kind, { site, port: 8080, nextId: () => 'id' })
        assert.deepEqual(plan(), plan())
      }
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

it('the command refuses what it does not know', () => {
  for (const [words, message] of [
    [['--minutes', 'x'], /^--minutes is "x"; give a number\.$/],
    [['--case', '0'], /^--case is "0"; give a whole number of at least 1\.$/],
    [['--second', '5'], /^Unknown option '--second'/],
  ] as const)
    assert.throws(() => parseOptions(words), { name: 'WrongUse', message })
})
