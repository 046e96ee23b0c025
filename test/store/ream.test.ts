import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, describe, it } from 'node:test'
import { deflateRawSync } from 'node:zlib'
import fc from 'fast-check'
import { DeflatePool } from '../../src/store/deflate-pool.ts'
import { cutItems, editItems, itemStarts, joinItems, splitItems } from '../../src/store/item-text.ts'
import { encodeReam, inflate, isSpliceable } from '../../src/store/ream.ts'
import { ReamDraft } from '../../src/store/ream-draft.ts'

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
          const { data, quires, ...rest } = encodeReam(raw, 1)
          assert.deepEqual(
            { ...ream, data: Buffer.from(ream.data), quires: Buffer.from(ream.quires) },
            { ...rest, data, quires },
          )
          release()
        }),
      )
    })

    it('finds room for bytes that do not shrink, however many', async () => {
      const megabyte = randomBytes(1_000_000).map((byte) => (byte === 10 ? 0 : byte))
      const noise = Buffer.concat(Array.from({ length: 17 }, () => megabyte))
      const { ream, release } = await pool.encode(noise, 1)
      assert.ok(inflate(ream).equals(noise))
      release()
      // What was made for the large one serves a small one too.
      assert.equal((await pool.encode(noise.subarray(0, 1000), 1)).ream.rawLength, 1000)
    })

    it('reads reams that are changed when it is their turn, so that a commit can change more of them than memory holds', async () => {
      const [pool, item] = [new DeflatePool(), JSON.stringify(randomBytes(1_500_000).toString('base64'))]
      const { data, ...stored } = encodeReam(Buffer.from(`${item},\n${item}`), 2)
      let [read, made, most] = [0, 0, 0]
      const drafts = Array.from({ length: 40 }, (_, number) => {
        const draft = new ReamDraft(number, () => {
          most = Math.max(most, ++read - made)
          return { ...stored, data: Uint8Array.from(data), number, gone: null }
        })
        draft.put(1, '{}')
        return draft
      })
      for await (const ream of pool.seal(drafts)) {
        assert.equal(ream.number, made++)
        if (made === 1) assert.equal(inflate(ream).toString(), `${item},\n{}`)
      }
      await pool.close()
      assert.equal(made, 40)
      assert.ok(most < 20, `${most} at the same time`)
    })

    it('reads a ream again whose thread failed, and says what is wrong with it', async () => {
      const pool = new DeflatePool()
      const { data, ...stored } = encodeReam(Buffer.from('{"a":1},\n{"a":2}'), 2)
      let read = 0
      const drafts = Array.from({ length: 16 }, (_, number) => {
        const draft = new ReamDraft(number, () => {
          read++
          const bytes = Uint8Array.from(data)
          if (number === 9) bytes.fill(0xff)
          return { ...stored, data: bytes, number, gone: null }
        })
        draft.put(1, '{}')
        return draft
      })
      await assert.rejects(
        async () => {
          for await (const ream of pool.seal(drafts)) assert.fail(`ream ${ream.number} was made`)
        },
        { code: 'corrupt' },
      )
      await pool.close()
      assert.ok(read > drafts.length, 'not all were read again')
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
        assert.equal(itemStarts(edited).length, expected.length)
      }),
    )
  })

  it('notices damage: other bytes, a wrong length, a wrong checksum', () => {
    const ream = encodeReam(joinItems(['{"a":1}', '{"b":"text text text text"}']), 2)
    const data = Uint8Array.from(ream.data).with(0, 0xff)
    for (const damage of [{ data }, { rawLength: ream.rawLength - 1 }, { rawLength: 9999 }, { crc: ream.crc ^ 1 }])
      assert.throws(() => inflate({ ...ream, ...damage }), { code: 'corrupt' })
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
})
