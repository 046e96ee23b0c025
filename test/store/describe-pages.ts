/** The part of the specification about reading: pages, segments, snapshots and single items. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { crc32, inflateRawSync } from 'node:zlib'
import { ITEM_SEPARATOR } from '../../src/contract/envelope.ts'
import { itemRun } from '../../src/items/item-run.ts'
import { QUIRE_SIZE } from '../../src/store/positions.ts'
import type { Head, Segment } from '../../src/store/store.ts'
import { isError, item, itemsFrom, keyed, keysFrom } from './items.ts'
import { pagesOf, readPageTexts, textsOf } from './store-reading.ts'
import type { Subject } from './subject.ts'

export function describePages({ store, newName, filled, headOf, check, textOf, elsewhere }: Subject): void {
  describe('pages', () => {
    it('beyond the last answer the last, and those before the first are refused', async () => {
      const name = await filled(1001, {})
      for (const page of [3, 4, 1000, 2 ** 31, Number.MAX_SAFE_INTEGER]) {
        assert.equal((await store.page(name, page))?.page, 3)
        assert.deepEqual(await readPageTexts(store, name, page), [item(1000)])
      }
      for (const page of [0, -1, Number.NaN]) await assert.rejects(store.page(name, page), RangeError)
    })

    it('have together about as many bytes as their items', async () => {
      assert.equal(await store.textBytes(newName()), 0)
      for (const count of [0, 3, 125, 1001]) {
        const name = await filled(count)
        const bytes = itemsFrom(0, count).join(ITEM_SEPARATOR).length
        const found = await store.textBytes(name)
        assert.ok(found <= bytes && found >= bytes - 1000, `${found} bytes of ${bytes}`)
      }
    })

    it('come to many callers at once as to one, in the form that each will ask for', async () => {
      const holey = await filled(2600)
      await store.delete(holey, ['1', '3', '700', '2550'])
      const wanted = [1, 2, 3, 4, 5, 6, 7].map((page) => ({ name: holey, page }))
      const [short, whole, hidden] = [
        await filled(2, {}),
        await filled(700, { isPaginated: false }),
        await filled(0, { isPrivate: true }),
      ]
      for (const name of [short, whole, hidden, newName()]) wanted.push({ name, page: 1 })
      const room = { before: 100, after: 10 }
      // An engine may need a while until it reads elsewhere.
      for (let round = 0; round < 6; round++) {
        for (const form of ['raw', 'deflated'] as const) {
          const options = { form, room, isPublicOnly: true }
          const reads = await Promise.all(wanted.map(({ name, page }) => store.page(name, page, options)))
          for (const [index, read] of reads.entries()) {
            const { name, page } = wanted[index] ?? assert.fail()
            const alone = await store.page(name, page, { isPublicOnly: true })
            assert.deepEqual([read?.head, read?.page], [alone?.head, alone?.page])
            for (const segment of read?.segments ?? []) checkSegment(segment, form)
            assert.deepEqual(read && textsOf(read), alone && textsOf(alone))
          }
        }
        await sleep(20)
      }
    })

    it('that are full are not changed by an append, and keep their id until it fills another', async () => {
      const name = newName()
      const ids = [(await store.create(name)).fullPagesId]
      const bytesOfFirst = async () =>
        Buffer.concat((await store.page(name, 1))?.segments.map((each) => each.deflated()) ?? [])
      let bytes = Buffer.alloc(0)
      for (const [turn, count] of [1, 498, 1, 1, 498, 700].entries()) {
        ids.push((await store.append(name, itemRun(itemsFrom(0, count)))).fullPagesId)
        if (turn === 2) bytes = await bytesOfFirst()
        if (turn > 2) assert.deepEqual(await bytesOfFirst(), bytes)
      }
      const [none, , , one, , , more] = ids
      assert.deepEqual(ids, [none, none, none, one, one, one, more])
      assert.equal(new Set([none, one, more]).size, 3)
      assert.equal((await store.setPrivate(name, true)).fullPagesId, more)
    })

    it('come from a snapshot that is younger than the question, also for many callers at once', async () => {
      const name = await filled(499, {})
      for (let count = 499; count < 520; count++) {
        const reads = Array.from({ length: 9 }, () => store.page(name, 1, { form: 'deflated' }))
        for (const read of await Promise.all(reads)) assert.equal(read?.head.live, count)
        await store.append(name, itemRun([item(count)]))
        await sleep(5)
      }
    })

    it('have head and items from one snapshot while another process writes', async () => {
      const name = await filled(990)
      const { version } = (await store.head(name)) ?? assert.fail()
      await elsewhere(async (other) => {
        let isWriting = true
        const writing = (async () => {
          for (let id = 990; id < 1015; id++) await other.append(name, keyed([item(id)]))
          for (let id = 0; id < 25; id++) await other.delete(name, [String(id)])
        })().finally(() => {
          isWriting = false
        })
        for (let page = 1; isWriting; page = 1 + (page % 3)) {
          const read = (await store.page(name, page)) ?? assert.fail()
          const writes = read.head.version - version
          const gone = Math.max(0, writes - 25)
          assert.deepEqual(textsOf(read), pagesOf(itemsFrom(gone, 990 + writes - 2 * gone))[read.page - 1])
          await new Promise(setImmediate)
        }
        await writing
      })
      await check(name, itemsFrom(25, 990))
    })

    it('take quires as they lie, and join the rest, to be deflated once', async () => {
      const name = await filled(2000)
      const pieces = async (page: number) =>
        (await store.page(name, page))?.segments.map(({ count, isDeflated }) => (isDeflated ? count : -count))
      assert.deepEqual(await pieces(2), [500])
      await store.delete(name, ['7'])
      assert.deepEqual(await pieces(1), [499, -1], 'a ream with a hole is whole all the same')
      assert.deepEqual(await pieces(2), [-(QUIRE_SIZE - 1), 500 - QUIRE_SIZE, -1])
      // Of the third ream one quire is left; page 2 begins in the third quire of the second ream.
      await store.delete(name, [...keysFrom(1000, 500 - QUIRE_SIZE), ...keysFrom(8, 2 * QUIRE_SIZE + 20)])
      const whole = [500 - 3 * QUIRE_SIZE, QUIRE_SIZE, QUIRE_SIZE]
      assert.deepEqual(await pieces(2), [-(QUIRE_SIZE - 21), ...whole, -21])
      const next = 2030 + 2 * QUIRE_SIZE
      await store.append(name, keyed(itemsFrom(2000, next - 2000)))
      assert.deepEqual(await pieces(4), [-(QUIRE_SIZE + 9)], 'the end of a quire, with the tail')
      await store.append(name, keyed(itemsFrom(next, QUIRE_SIZE)))
      assert.deepEqual(await pieces(4), [-(QUIRE_SIZE - 21), QUIRE_SIZE, -30])
    })
  })

  describe('items', () => {
    it('are read from one snapshot while others write, also by somebody who takes his time', async () => {
      const name = await filled(1600)
      const before = await headOf(name)
      let count = 0
      let head: Head | undefined
      const onHead = (each: Head) => {
        head = each
      }
      for await (const segment of store.items(name, onHead)) {
        if (count === 0) {
          await store.delete(name, ['1400', '1599'])
          await store.append(name, keyed(itemsFrom(5000, 900)))
          // Longer than the database of this suite lets a transaction idle.
          await sleep(300)
        }
        count += segment.count
      }
      assert.equal(count, 1600)
      assert.deepEqual(head, before)
    })

    it('survive byte for byte, in the tail and in reams', async () => {
      const odd = [
        '{"n":12345678901234567890,"m":1.10,"e":1E5,"z":-0}',
        '{"a":1,"a":2,"__proto__":{"x":1},"constructor":null}',
        '{"u":"ä€😀","e":"\\u00e4\\ud83d\\ude00\\/\\b","lone":"\\ud800","nul":"\\u0000","sep":"\\u2028,\\n"}',
        '{ "spaced" : [ 1 , 2 ] }',
        '  {"kept":"around"}\t',
        '{}',
        `{"long":"${'x'.repeat(70_000)}"}`,
      ]
      const name = await filled(0, {})
      await store.append(name, itemRun(odd))
      await check(name, odd)
      const many = Array.from({ length: 75 }, () => odd).flat()
      await store.append(name, itemRun(many))
      await check(name, [...odd, ...many])
    })

    it('are found by keys as they were written, and by no others', async () => {
      const name = await filled(0)
      const keys = "12345678901234567890|12345678901234567891|-0|a/b|ä|x y|it's|%2F|😀|\ufffd|\\x41|\\|'|\u0001".split(
        '|',
      )
      keys.push('k'.repeat(1024))
      const texts = keys.map((key) => (/^-?\d+$/.test(key) ? `{"id":${key}}` : JSON.stringify({ id: key })))
      await store.append(name, keyed(texts))
      for (const [index, key] of keys.entries()) assert.equal(await textOf(name, key), texts[index])
      for (const key of ['12345678901234567892', '', 'A/B', '0', 'a/b\0', 'a\u0308', '\ud800', '😀'.charAt(0)]) {
        assert.equal(await textOf(name, key), undefined)
        await assert.rejects(store.remove(name, key), isError('no-item'))
      }
    })

    it('come in memory of their own, not with all that was stored beside them', async () => {
      const name = await filled(0)
      await store.append(
        name,
        keyed(Array.from({ length: 777 }, (_, id) => item(id, `,"text":"${'x'.repeat(1_000)}"`))),
      )
      for (const key of ['0', '499', '776']) {
        const bytes = (await store.item(name, key))?.item?.text.buffer.byteLength ?? 0
        assert.ok(bytes < 100_000, `${bytes} bytes`)
      }
    })
  })
}

/** Both forms are the same bytes, with the stated length, count and checksum, whatever is written into the room around them. */
function checkSegment(segment: Segment, form: 'raw' | 'deflated'): void {
  const { before, after } = segment.room ?? { before: 0, after: 0 }
  const bytes = segment[form]()
  const copy = Uint8Array.from(bytes)
  if (before > 0) new Uint8Array(bytes.buffer, bytes.byteOffset - before, before).fill(7)
  if (after > 0) new Uint8Array(bytes.buffer, bytes.byteOffset + bytes.length, after).fill(7)
  assert.deepEqual(Uint8Array.from(bytes), copy)
  const raw = form === 'raw' ? copy : inflateInMiddle(copy)
  assert.equal(raw.length, segment.rawLength)
  assert.equal(crc32(raw), segment.crc)
  assert.equal(JSON.parse(`[${Buffer.from(raw)}]`).length, segment.count)
}

/** An empty stored block, the last of its stream. */
const END = Uint8Array.of(1, 0, 0, 0xff, 0xff)

/** Whatever follows can be joined on: there is no final block before, and the bits end with a byte. */
function inflateInMiddle(deflated: Uint8Array): Buffer {
  const stream = Buffer.concat([deflated, END])
  // With `info` the types of Node do not tell what comes.
  const { buffer, engine } = inflateRawSync(stream, { info: true }) as unknown as {
    buffer: Buffer
    engine: { bytesWritten: number }
  }
  assert.equal(engine.bytesWritten, stream.length)
  return buffer
}
