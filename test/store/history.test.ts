/** What one step removes of a history. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newHead } from '../../src/store/collection-rules.ts'
import { BYTES_A_STEP, CHANGES_A_STEP, findExpired, forgetAllOf, stateRow, takeStep } from '../../src/store/history.ts'

it('no state is removed that was committed since the head was read', () => {
  const settings = { keyField: null, isPaginated: true, isPrivate: false }
  const head = { ...newHead('events', settings), version: 3, retentionMs: 0 }
  const oldest = [1, 2, 5].map((version) => stateRow({ ...head, version }, 0, 0, 0))
  const { states, kept } = findExpired(head, { oldest, last: oldest.at(-1) }, 0)
  assert.deepEqual([states, kept], [oldest.slice(0, 2), oldest[2]])
})

it('a history is shortened until it takes no more than its limit, and no further', () => {
  const settings = { keyField: null, isPaginated: true, isPrivate: false }
  const head = { ...newHead('events', settings), version: 4, retentionMs: 60_000, retentionBytes: 1_000 }
  // Bytes are those of all changes before the state.
  const expired = (...bytes: number[]) => {
    const oldest = bytes.map((sum, index) => stateRow({ ...head, version: index + 1 }, sum, 0, 0))
    const { states, isForSize } = findExpired(head, { oldest, last: oldest.at(-1) }, 0)
    return [states.length, isForSize]
  }
  assert.deepEqual(expired(0, 500, 1_000), [0, false])
  assert.deepEqual(expired(0, 500, 1_001), [1, true])
  assert.deepEqual(expired(0, 500, 1_500), [1, true])
  assert.deepEqual(expired(0, 500, 1_501), [2, true])
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

describe('the removal of a history in steps', () => {
  const steps = [{ isMore: true, notice: 'too much' }, { isMore: true, notice: 'too much' }, { isMore: true }]

  it('tells once what somebody should know of', async () => {
    const notices: string[] = []
    const left = [...steps, { isMore: false }]
    await forgetAllOf(async () => left.shift() ?? assert.fail('it goes on'), { onNotice: (text) => notices.push(text) })
    assert.deepEqual([left, notices], [[], ['too much']])
  })

  it('tells it also when a step fails', async () => {
    const notices: string[] = []
    const left = [...steps]
    const forgetting = forgetAllOf(async () => left.shift() ?? assert.fail('full'), {
      onNotice: (text) => notices.push(text),
    })
    await assert.rejects(forgetting, /full/)
    assert.deepEqual(notices, ['too much'])
  })
})
