import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { createCrc32Combine } from '../../src/service/read/crc32-combine.ts'

test('the combined CRC is that of the two texts in a row', () => {
  const combine = createCrc32Combine()
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 5000 }), fc.uint8Array({ maxLength: 5000 }), (first, second) => {
      assert.equal(combine(crc32(first), crc32(second), second.length), crc32(Buffer.concat([first, second])))
    }),
  )
})

test('it holds for lengths with many bits', () => {
  const combine = createCrc32Combine()
  const first = Buffer.from('the first text')
  for (const length of [65_535, 65_536, 1_000_003, 16_777_215]) {
    const second = Buffer.alloc(length, 'abcdefg')
    assert.equal(combine(crc32(first), crc32(second), length), crc32(second, crc32(first)))
  }
})
