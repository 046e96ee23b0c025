import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { describe, it } from 'node:test'
import { Deflater, deflateForResponse, Inflater, responseFingerprint, roomFor } from '../../src/items/raw-deflate.ts'

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

describe('pieces of raw deflate', () => {
  const deflated = (deflater: Deflater, text: Buffer): Buffer => {
    const room = Buffer.alloc(roomFor(text.length) + 7)
    return room.subarray(7, deflater.deflate(text, room, 7))
  }
  const inflated = (inflater: Inflater, data: Uint8Array, length: number): Buffer | undefined => {
    const room = Buffer.alloc(length)
    const end = inflater.inflate(data, room)
    return end === undefined ? undefined : room.subarray(0, end)
  }

  for (const isReusing of [true, false])
    describe(`with ${isReusing ? 'one stream for all' : 'the documented functions of Node'}`, () => {
      const [deflater, inflater] = [new Deflater(2, isReusing), new Inflater(isReusing)]
      const other = new Inflater(!isReusing)

      it('are the texts again, whichever way they are inflated', () => {
        for (const text of TEXTS) {
          const data = deflated(deflater, text)
          assert.deepEqual(inflated(inflater, data, text.length + 1), text)
          assert.deepEqual(inflated(other, data, text.length + 1), text)
        }
      })

      it('end with a full flush, so that they can stand one behind the other', () => {
        const data = TEXTS.map((text) => deflated(deflater, text))
        for (const piece of data) assert.deepEqual([...piece.subarray(-4)], [0, 0, 0xff, 0xff])
        const all = Buffer.concat(TEXTS)
        assert.deepEqual(inflated(inflater, Buffer.concat(data), all.length + 1), all)
      })

      it('are refused where they are damaged, or larger than expected, and the next one is read', () => {
        const [text = Buffer.alloc(0)] = TEXTS
        const data = deflated(deflater, text)
        for (const [wrong, length] of [
          [data.map((byte, at) => (at === 3 ? byte ^ 0xff : byte)), text.length + 1],
          [Buffer.alloc(9, 0xff), text.length + 1],
          [data, text.length - 1],
        ] as const) {
          assert.notDeepEqual(inflated(inflater, wrong, length), text)
          assert.deepEqual(inflated(inflater, data, text.length + 1), text)
        }
      })
    })
})
