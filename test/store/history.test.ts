/** What is removed of a history, by what is known of its oldest states, and how much at a time. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newHead } from '../../src/store/collection-rules.ts'
import { BYTES_A_STEP, CHANGES_A_STEP, findExpired, type State, stateRow, takeStep } from '../../src/store/history.ts'

const HOUR = 3_600_000
const NOW = 1_000 * HOUR
const HEAD = {
  ...newHead('events', { keyField: null, isPaginated: true, isPrivate: false }),
  version: 3,
  retentionMs: HOUR,
}

const stateAt = (version: number, at: number): State => stateRow({ ...HEAD, version }, 0, 0, at)

function removed(head: typeof HEAD, oldest: readonly State[]) {
  const { states, kept } = findExpired(head, { oldest, last: oldest.at(-1) }, NOW)
  return { versions: states.map(({ version }) => version), kept: kept?.version }
}

describe('what is not kept any more of a history', () => {
  it('is what was superseded that long ago', () => {
    const states = [stateAt(1, NOW - 3 * HOUR), stateAt(2, NOW - 2 * HOUR), stateAt(3, NOW - HOUR / 2)]
    assert.deepEqual(removed(HEAD, states), { versions: [1], kept: 2 })
  })

  it('is also what was superseded far in the future, by a clock that was wrong', () => {
    const states = [stateAt(1, NOW), stateAt(2, NOW + 1_000 * HOUR), stateAt(3, NOW + HOUR / 2)]
    assert.deepEqual(removed(HEAD, states), { versions: [1], kept: 2 })
  })

  it('is no state that was committed since the head was read', () => {
    const states = [stateAt(1, NOW), stateAt(2, NOW), stateAt(5, NOW)]
    assert.deepEqual(removed({ ...HEAD, retentionMs: 0 }, states), { versions: [1, 2], kept: 5 })
  })
})

describe('a step that removes changes', () => {
  const changes = (count: number, bytes: number) => Array.from({ length: count }, () => ({ bytes }))
  const step = (...all: { bytes: number }[]) => {
    const { taken, isMore } = takeStep(all)
    return [taken.length, isMore]
  }

  it('takes so many', () => {
    assert.deepEqual(step(...changes(CHANGES_A_STEP, 1)), [CHANGES_A_STEP, false])
    assert.deepEqual(step(...changes(CHANGES_A_STEP + 1, 1)), [CHANGES_A_STEP, true])
    assert.deepEqual(step(), [0, false])
  })

  it('takes fewer where their texts are long, but always one', () => {
    assert.deepEqual(step(...changes(5, BYTES_A_STEP / 2)), [2, true])
    assert.deepEqual(step(...changes(2, BYTES_A_STEP / 2)), [2, false])
    assert.deepEqual(step(...changes(2, BYTES_A_STEP + 1)), [1, true])
  })
})
