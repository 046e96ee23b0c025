import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { mutantsPage } from '../../scripts/mutants.ts'
import { RULES } from '../../src/check/index.ts'
import { runSample } from '../sample.ts'
import { CAUGHT } from './mutants/caught.ts'
import { MUTANTS } from './mutants.ts'

runSample(CAUGHT, 0.12)

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
