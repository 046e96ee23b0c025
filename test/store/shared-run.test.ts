import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { SharedRun } from '../../src/store/postgres/read/shared-reads.ts'

describe('something that runs once for all who ask', () => {
  it('runs once at a time, and answers with what was found after one has asked', async () => {
    let running = 0
    let most = 0
    let runs = 0
    const run = new SharedRun(async () => {
      const number = ++runs
      most = Math.max(most, ++running)
      await turn()
      await turn()
      running--
      return number
    })
    const first = run.ask()
    const [second, third] = [run.ask(), run.ask()]
    assert.equal(await first, 1)
    const late = run.ask()
    assert.deepEqual(await Promise.all([second, third]), [2, 2])
    assert.ok((await late) >= 2)
    assert.ok((await run.ask()) > 2)
    assert.equal(most, 1)
  })

  it('goes on after a run that failed', async () => {
    let isBroken = true
    const run = new SharedRun(async () => {
      if (isBroken) throw new Error('broken')
      return 'well'
    })
    const asked = [run.ask(), run.ask()]
    for (const { status } of await Promise.allSettled(asked)) assert.equal(status, 'rejected')
    isBroken = false
    assert.equal(await run.ask(), 'well')
  })
})
