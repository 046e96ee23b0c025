/** The tests of the mutants, in groups by the rule that is made for them. */

import assert from 'node:assert/strict'
import { expectedRules, judge } from '../../../scripts/mutants.ts'
import type { Case } from '../../sample.ts'
import { MUTANTS } from '../mutants.ts'
import type { Mutant } from './mutant.ts'

/** The rule made for a mutant catches it, and no other than the table names. */
export const CAUGHT: readonly Case[] = MUTANTS.map((mutant) => ({
  group: `a mutant is caught by ${mutant.caughtBy}`,
  name: `${mutant.defect} ${[mutant.caughtBy, ...mutant.also].join(', ')}`,
  run: () => assertCaught(mutant),
}))

async function assertCaught(mutant: Mutant): Promise<void> {
  const { report, caught, requests } = await judge(mutant)
  const complaints = report.rules.filter(({ id }) => caught.includes(id))
  const told = complaints.map(({ id, detail }) => `${id}: ${detail}`).join('\n') || 'no rule complains'
  assert.deepEqual(caught, expectedRules(mutant), told)
  for (const { id, status } of complaints)
    assert.equal(status, id.startsWith('C') && !mutant.isDoubt ? 'fail' : 'warn', `${id} has the wrong status`)
  const isBroken = complaints.some(({ status }) => status === 'fail')
  assert.equal(report.verdict === 'failed', isBroken, `the verdict is ${report.verdict}`)
  assert.ok(mutant.isWalk || requests <= 60, `${requests} requests`)
}
