import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { describe, it } from 'node:test'
import { deflateForResponse, responseFingerprint } from '../../src/items/raw-deflate.ts'

/** Texts of many lengths: about one in eleven shows what a stream compressed before. */
const TEXTS = Array.from({ length: 400 }, (_, k) =>
  Buffer.from(
    Array.from(
      { length: 20 + (k % 90) },
      (_, id) => `{"id":${id},"x":"${hash('md5', `${id} ${k}`).slice(k % 20)}"}`,
    ).join(',\n'),
  ),
)

describe('a piece that is deflated for a response', () => {
  it('has the same bytes, whatever was deflated before', () => {
    const digests = (texts: readonly Buffer[]) => texts.map((text) => hash('md5', deflateForResponse(text)))
    assert.deepEqual(digests(TEXTS.toReversed()).toReversed(), digests(TEXTS))
  })

  it('has a form with a name that can be a part of a tag', () => {
    assert.match(responseFingerprint(), /^[0-9a-z]+$/)
    assert.equal(responseFingerprint(), responseFingerprint())
  })
})
