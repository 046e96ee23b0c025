import assert from 'node:assert/strict'
import { test } from 'node:test'
import { constants, crc32, deflateRawSync, gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { ITEM_SEPARATOR } from '../../src/contract/envelope.ts'
import { combineCrc } from '../../src/items/splice.ts'
import { joinDeflated, spliceGzip } from '../../src/service/read/page-body.ts'
import type { Segment } from '../../src/store/store.ts'

function segment(text: string): Segment {
  const raw = Buffer.from(text)
  return {
    count: 1,
    isDeflated: true,
    rawLength: raw.length,
    crc: crc32(raw),
    raw: () => raw,
    deflated: () => deflateRawSync(raw, { finishFlush: constants.Z_SYNC_FLUSH }),
  }
}

function assertSplice(head: string, texts: readonly string[], tail: string): void {
  const spliced = spliceGzip(Buffer.from(head), joinDeflated(texts.map(segment)), Buffer.from(tail))
  // Buffers are compared as such: a difference of megabytes would take minutes to print.
  const isEqual = gunzipSync(spliced).equals(Buffer.from(head + texts.join(ITEM_SEPARATOR) + tail))
  assert.ok(isEqual, `head ${head.length}, segments ${texts.map((text) => text.length)}, tail ${tail.length}`)
}

test('the spliced gzip inflates to head, segments and tail, with any number of segments', () => {
  const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 2000 })
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.array(text, { maxLength: 5 }), fc.string(), (head, texts, tail) => {
      assertSplice(head, texts, tail)
    }),
    { numRuns: 50 },
  )
})

test('a head or tail that needs more than one stored block is split into several', () => {
  const length = fc.oneof(
    fc.constantFrom(65_534, 65_535, 65_536, 131_070, 131_071),
    fc.integer({ min: 65_535, max: 300_000 }),
  )
  fc.assert(
    fc.property(length, length, fc.array(fc.json(), { maxLength: 3 }), (headLength, tailLength, texts) => {
      assertSplice('head '.repeat(60_000).slice(0, headLength), texts, 'tail '.repeat(60_000).slice(0, tailLength))
    }),
    { numRuns: 25 },
  )
})

test('segments larger than a window of deflate are copied whole', () => {
  const big = Array.from({ length: 20_000 }, (_, index) => `{"id":${index * 7919}}`).join(ITEM_SEPARATOR)
  assertSplice('{"items":[\n', [big, big, '{}'], '\n]}')
})

test('the combined CRC is that of the two texts in a row', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 5000 }), fc.uint8Array({ maxLength: 5000 }), (first, second) => {
      assert.equal(combineCrc(crc32(first), crc32(second), second.length), crc32(Buffer.concat([first, second])))
    }),
  )
})

test('it holds for lengths with many bits', () => {
  const first = Buffer.from('the first text')
  for (const length of [65_535, 65_536, 1_000_003, 16_777_215]) {
    const second = Buffer.alloc(length, 'abcdefg')
    assert.equal(combineCrc(crc32(first), crc32(second), length), crc32(second, crc32(first)))
  }
})
