/** A few rounds of faults, as tests. */

import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Fault } from './fault.ts'
import { lackOf } from './needs.ts'
import { newSeed } from './options.ts'
import { type RunOptions, runFault } from './run-fault.ts'

/** `optionsOf` is asked when a fault is about to be done. */
export function describeFaults(
  faults: readonly Fault[],
  optionsOf: () => Pick<RunOptions, 'postgres'> = () => ({}),
): void {
  for (const fault of faults)
    it(`after: ${fault.description}`, async (t) => {
      const lack = await lackOf(fault.needs)
      if (lack !== undefined) return t.skip(lack)
      const seed = newSeed()
      const { findings, checked } = await runFault(fault, { seed, rounds: fault.fewRounds, ...optionsOf() })
      assert.deepEqual(findings.messages, [], `seed ${seed}`)
      assert.ok(checked > 0, `there was nothing to check (seed ${seed})`)
    })
}
