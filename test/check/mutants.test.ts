import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { expectedRules, judge, mutantsPage } from '../../scripts/mutants.ts'
import { RULES } from '../../src/check/index.ts'
import { MUTANTS } from './mutants.ts'

describe('a mutant is caught by the rule made for it, and by no other than the table names', () => {
  for (const mutant of MUTANTS) {
    const { defect, caughtBy, also, isWalk = false, isDoubt = false } = mutant
    it(`${defect} ${[caughtBy, ...also].join(', ')}`, async () => {
      const { report, caught, requests } = await judge(mutant)
      const complaints = report.rules.filter(({ id }) => caught.includes(id))
      assert.deepEqual(
        caught,
        expectedRules(mutant),
        complaints.map(({ id, detail }) => `${id}: ${detail}`).join('\n') || 'no rule complains',
      )
      for (const { id, status } of complaints)
        assert.equal(status, id.startsWith('C') && !isDoubt ? 'fail' : 'warn', `${id} has the wrong status`)
      const isBroken = complaints.some(({ status }) => status === 'fail')
      assert.equal(report.verdict === 'failed', isBroken, `the verdict is ${report.verdict}`)
      assert.ok(isWalk || requests <= 60, `${requests} requests`)
    })
  }
})

describe('the table of mutants', () => {
  it('has a mutant for every rule', () => {
    const caught = new Set(MUTANTS.map(({ caughtBy }) => caughtBy))
    const missing = RULES.map(({ id }) => id).filter((id) => !caught.has(id))
    assert.deepEqual(missing, [])
  })

  it('names each mutant once', () => {
    assert.equal(new Set(MUTANTS.map(({ defect }) => defect)).size, MUTANTS.length)
  })

  it('gives a page for the documentation with a row for each', () => {
    const rows =
      mutantsPage()
        .blocks.join('\n')
        .match(/^\| .* \|$/gm) ?? []
    assert.equal(rows.length, MUTANTS.length + 2)
  })
})
