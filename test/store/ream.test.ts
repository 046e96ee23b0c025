import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, describe, it } from 'node:test'
import { deflateRawSync } from 'node:zlib'
import fc from 'fast-check'
import { DeflatePool } from '../../src/store/deflate-pool.ts'
import { countGone, indexOfSlot, isGone, liveSlots, withGone } from '../../src/store/positions.ts'
import {
  countItems,
  cutItems,
  editItems,
  encodeReam,
  inflateReam,
  isSpliceable,
  joinItems,
  joinPieces,
  ReamBuilder,
  splitItems,
} from '../../src/store/ream.ts'

const texts = fc.array(
  fc.object({ maxDepth: 1 }).map((value) => JSON.stringify(value)),
  { minLength: 1, maxLength: 60 },
)

describe('ream', () => {
  describe('deflated on other threads', () => {
    const pool = new DeflatePool()
    after(() => pool.close())

    it('is the same as deflated here, in order of arrival, however many wait', async () => {
      const raws = Array.from({ length: 100 }, (_, turn) =>
        joinItems([`{"turn":${turn},"x":"${'x'.repeat(turn * 900)}"}`]),
      )
      await Promise.all(
        raws.map(async (raw) => {
          const { ream, release } = await pool.encode(raw, 1)
          assert.deepEqual({ ...ream, data: Buffer.from(ream.data) }, encodeReam(raw, 1))
          release()
        }),
      )
    })

    it('finds room for bytes that do not shrink, however many', async () => {
      const noise = randomBytes(20_000_000)
      const { ream, release } = await pool.encode(noise, 1)
      assert.ok(inflateReam(ream).equals(noise))
      release()
      // What was made for the large one serves a small one too.
      assert.equal((await pool.encode(randomBytes(1000), 1)).ream.rawLength, 1000)
    })
  })

  it('is edited as a list of its items would be', () => {
    const edits = fc.array(fc.tuple(fc.nat(), fc.option(fc.constantFrom('{}', '{"new":"ä,\\n"}', ' {"x":[1 ,2]}\t'))))
    fc.assert(
      fc.property(texts, edits, (items, picked) => {
        const changes = new Map(picked.map(([pick, text]) => [pick % items.length, text]))
        const edited = editItems(joinItems(items), changes)
        const expected = items.flatMap((text, index) => changes.get(index) ?? (changes.has(index) ? [] : [text]))
        assert.deepEqual(splitItems(edited), expected)
        assert.equal(countItems(edited), expected.length)
      }),
    )
  })

  it('notices damage: other bytes, a wrong length, a wrong checksum', () => {
    const ream = encodeReam(joinItems(['{"a":1}', '{"b":"text text text text"}']), 2)
    const data = Uint8Array.from(ream.data).with(0, 0xff)
    for (const damage of [{ data }, { rawLength: ream.rawLength - 1 }, { rawLength: 9999 }, { crc: ream.crc ^ 1 }])
      assert.throws(() => inflateReam({ ...ream, ...damage }), { code: 'corrupt' })
  })

  it('can stand in the middle of a stream, unless its bytes end the stream or go on behind it', () => {
    const ream = encodeReam(joinItems(['{"a":1}']), 1)
    assert.ok(isSpliceable(ream))
    const final = deflateRawSync('{"a":1}')
    for (const data of [
      final,
      Buffer.concat([final, ream.data]),
      ream.data.subarray(0, -1),
      Buffer.concat([ream.data, final]),
    ])
      assert.equal(isSpliceable({ ...ream, data }), false)
  })

  it('is cut between items', () => {
    fc.assert(
      fc.property(texts, fc.nat(60), fc.nat(60), (items, a, b) => {
        const from = Math.min(a, b) % items.length
        const to = Math.max(from + 1, Math.min(items.length, Math.max(a, b)))
        assert.deepEqual(splitItems(cutItems(joinItems(items), from, to)), items.slice(from, to))
      }),
    )
  })

  it('is built 500 at a time from runs of any size', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 1300 }), { maxLength: 8 }),
        fc.integer({ min: 1, max: 500 }),
        (sizes, first) => {
          const all = Array.from({ length: sizes.reduce((sum, size) => sum + size, 0) }, (_, id) => `{"id":${id}}`)
          const builder = new ReamBuilder(first)
          const reams: string[][] = []
          let start = 0
          for (const size of sizes) {
            const run = all.slice(start, start + size)
            start += size
            for (const full of builder.add(joinItems(run), run.length)) reams.push(splitItems(full.raw))
          }
          const rest = builder.rest()
          assert.equal(splitItems(rest.raw).length, rest.count)
          for (const [index, ream] of reams.entries()) assert.equal(ream.length, index === 0 ? first : 500)
          assert.deepEqual([...reams.flat(), ...splitItems(rest.raw)], all)
        },
      ),
      { numRuns: 50 },
    )
  })

  it('joins runs, leaving out empty ones', () => {
    const empty = new Uint8Array(0)
    const joined = joinPieces([empty, joinItems(['{"a":1}']), empty, joinItems(['{"b":2}', '{"c":3}'])])
    assert.deepEqual(splitItems(joined), ['{"a":1}', '{"b":2}', '{"c":3}'])
    assert.equal(joinPieces([]).byteLength, 0)
  })
})

describe('gone map', () => {
  it('knows which slots are gone and where the others stand', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 0, max: 499 })), (slots) => {
        const gone = new Set(slots)
        const map = withGone(null, slots)
        const live = Array.from({ length: 500 }, (_, slot) => slot).filter((slot) => !gone.has(slot))
        assert.equal(countGone(map), gone.size)
        assert.deepEqual(liveSlots(map), live)
        for (const [index, slot] of live.entries()) assert.equal(indexOfSlot(map, slot), index)
        for (const slot of slots) assert.ok(isGone(map, slot))
      }),
    )
  })

  it('is null while nothing is gone, and never changed in place', () => {
    assert.equal(withGone(null, []), null)
    const first = withGone(null, [7])
    const second = withGone(first, [8])
    assert.deepEqual([countGone(first), countGone(second)], [1, 2])
  })
})
