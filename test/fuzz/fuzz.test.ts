import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Dice } from './dice.ts'
import { fuzz } from './fuzz.ts'
import { KINDS } from './grammar/kinds.ts'
import { planOf } from './plan.ts'
import { parseOptions } from './run.ts'
import { SITES } from './site.ts'

const RUN = fileURLToPath(new URL('./run.ts', import.meta.url))

it('a few hundred cases do no harm to the servers', async () => {
  const { findings } = await fuzz({ seed: 1, cases: 300, without: [] })
  assert.deepEqual(findings, [])
})

it('a case is the same whenever it is made', () => {
  for (const kind of Object.values(KINDS))
    for (const site of SITES)
      for (let number = 0; number < 20; number++) {
        const plan = () => planOf(new Dice(7, number), kind, { site, port: 8080, nextId: () => 'id' })
        assert.deepEqual(plan(), plan())
      }
})

describe('the command', () => {
  it('repeats a case alone, and shows what is sent and answered', () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [RUN, '--seed', '1', '--case', '9'], {
      encoding: 'utf8',
    })
    assert.match(
      stdout,
      /^seed 1\ncase 9, delivery: .*\nsent: ".*"\n(answer .*\n)+the connection was closed\nNothing was wrong\.\n$/,
    )
    assert.equal(status, 0, stderr)
  })

  it('refuses what it does not know', () => {
    for (const [words, message] of [
      [['--minutes', 'x'], /^--minutes is "x"; give a number\.$/],
      [['--case', '0'], /^--case is "0"; give a whole number of at least 1\.$/],
      [['--without', 'luck'], /^There is no kind "luck"\. Choose of: read, write, /],
      [['--second', '5'], /^Unknown option '--second'/],
    ] as const)
      assert.throws(() => parseOptions(words), { name: 'WrongUse', message })
  })
})
