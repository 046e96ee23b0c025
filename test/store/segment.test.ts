import assert from 'node:assert/strict'
import { it } from 'node:test'
import { keptSegment, rawSegment } from '../../src/store/segment.ts'

it('a segment that is kept gives bytes of its own to each reader, who may use its memory', () => {
  const text = '{"id":1},\n{"id":2}'
  const kept = keptSegment(rawSegment(Buffer.from(text), 2))
  const deflated = Buffer.from(kept.deflated())
  for (const read of [kept.raw, kept.deflated]) read().fill(0)
  assert.equal(Buffer.from(kept.raw()).toString(), text)
  assert.deepEqual(Buffer.from(kept.deflated()), deflated)
})
