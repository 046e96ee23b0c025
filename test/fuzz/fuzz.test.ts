import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Dice } from './dice.ts'
import { fuzz } from './fuzz.ts'
import { KINDS } from './grammar/kinds.ts'
import { planOf } from './plan.ts'
import { parseOptions } from './run.ts'
import { SITES } from './site.ts'

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

it('the command refuses what it does not know', () => {
  for (const [words, message] of [
    [['--minutes', 'x'], /^--minutes is "x"; give a number\.$/],
    [['--case', '0'], /^--case is "0"; give a whole number of at least 1\.$/],
    [['--second', '5'], /^Unknown option '--second'/],
  ] as const)
    assert.throws(() => parseOptions(words), { name: 'WrongUse', message })
})
