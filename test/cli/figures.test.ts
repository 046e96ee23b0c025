import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatDuration } from '../../src/cli/output.ts'
import { counted } from '../../src/contract/message-text.ts'

describe('figures', () => {
  const durations: [number, string][] = [
    [0, '0 ms'],
    [999, '999 ms'],
    [2_949, '2.9 s'],
    [59_940, '59.9 s'],
    [59_960, '1 min 0 s'],
    [3_599_400, '59 min 59 s'],
    [3_600_000, '1 h 0 min'],
  ]
  for (const [durationMs, text] of durations)
    it(`${durationMs} ms is written ${text}`, () => assert.equal(formatDuration(durationMs), text))

  it('one item is no plural', () => assert.equal(counted(1, 'item'), '1 item'))
  it('thousands are set apart', () => assert.equal(counted(1_234_567, 'item'), '1,234,567 items'))
})
