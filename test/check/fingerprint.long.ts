import assert from 'node:assert/strict'
import { it } from 'node:test'
import { fingerprintOf } from '../../src/check/page/items.ts'
import { FingerprintTable } from '../../src/check/page/repeats.ts'

it('a table of fingerprints remembers 1.4 million, and takes at most 32 MB', () => {
  const table = new FingerprintTable()
  const add = (index: number) => table.add(fingerprintOf(`{"id":${index}}`), 1 + Math.floor(index / 500), index % 500)
  for (let i = 0; i < 1_400_000; i++) if (add(i) !== undefined) assert.fail(`${i} is taken for an earlier one`)
  assert.deepEqual(add(123_456), { page: 247, index: 456 })
  for (let i = 1_400_000; i < 2_000_000; i++) add(i)
  assert.equal(table.byteLength, 32 * 1024 * 1024)
})
