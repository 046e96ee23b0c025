import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Fingerprint, fingerprintOf } from '../../src/check/fingerprint.ts'
import { FingerprintTable } from '../../src/check/fingerprint-table.ts'

/** How many of these texts have the fingerprint of an earlier one. Compares all 64 bits, in the memory of two numbers each. */
function collisionsAmong(count: number, textOf: (index: number) => string): number {
  const prints = new BigUint64Array(count)
  for (let i = 0; i < count; i++) {
    const { high, low } = fingerprintOf(textOf(i))
    prints[i] = (BigInt(high) << 32n) | BigInt(low)
  }
  prints.sort()
  let collisions = 0
  for (let i = 1; i < count; i++) if (prints[i] === prints[i - 1]) collisions++
  return collisions
}

/** How many differ in one half alone: about count² / 2³³ do by chance. */
function halfCollisions(
  count: number,
  half: (print: Fingerprint) => number,
  textOf: (index: number) => string,
): number {
  const prints = new Uint32Array(count)
  for (let i = 0; i < count; i++) prints[i] = half(fingerprintOf(textOf(i)))
  prints.sort()
  let collisions = 0
  for (let i = 1; i < count; i++) if (prints[i] === prints[i - 1]) collisions++
  return collisions
}

describe('a fingerprint', () => {
  const texts: Record<string, (index: number) => string> = {
    'numbers inside JSON': (index) => `{"id":${index},"title":"Event","active":true}`,
    'padded numbers at the end': (index) => `{"title":"Event","key":"event-${String(index).padStart(9, '0')}"}`,
    'bare numbers': (index) => String(index),
    'texts that differ in one character far from the end': (index) =>
      `${String.fromCharCode(index & 0xffff, 32 + (index >>> 16))}${'x'.repeat(60)}`,
  }
  for (const [name, textOf] of Object.entries(texts))
    it(`tells a million texts apart: ${name}`, () => {
      assert.equal(collisionsAmong(1_000_000, textOf), 0)
    })

  it('is spread evenly in each half', () => {
    const textOf = texts['numbers inside JSON'] ?? String
    for (const half of [({ high }: Fingerprint) => high, ({ low }: Fingerprint) => low]) {
      // By chance 116 in a million; ten times that would be a poor hash.
      const collisions = halfCollisions(1_000_000, half, textOf)
      assert.ok(collisions < 1160, `${collisions} collisions`)
    }
  })

  it('depends on the text alone', () => {
    assert.deepEqual(fingerprintOf('{"id":1}'), fingerprintOf(['{"id"', ':1}'].join('')))
    assert.notDeepEqual(fingerprintOf(''), fingerprintOf('\0'))
    assert.notDeepEqual(fingerprintOf('ab'), fingerprintOf('ba'))
  })

  it('has two halves of 32 bits without a sign', () => {
    for (let i = 0; i < 10_000; i++) {
      const { high, low } = fingerprintOf(String(i))
      for (const half of [high, low]) assert.ok(Number.isInteger(half) && half >= 0 && half < 2 ** 32, String(half))
    }
  })
})

describe('a table of fingerprints', () => {
  const printOf = (index: number) => fingerprintOf(`{"id":${index}}`)
  const placeOf = (index: number) => ({ page: Math.floor(index / 500) + 1, index: index % 500 })
  const addTo = (table: FingerprintTable, index: number, at = index) => {
    const place = placeOf(at)
    return table.add(printOf(index), place.page, place.index)
  }

  it('remembers where each was seen first, up to 1.4 million of them', () => {
    const table = new FingerprintTable()
    const count = 1_400_000
    for (let i = 0; i < count; i++) assert.equal(addTo(table, i), undefined)
    for (let i = 0; i < count; i += 7) assert.deepEqual(addTo(table, i, count + i), placeOf(i))
    assert.ok(table.byteLength <= 32 * 1024 * 1024, `${table.byteLength} bytes`)
  })

  it('stays within 32 MB beyond that, and still finds the repeats of those that it keeps', () => {
    const table = new FingerprintTable()
    const count = 4_000_000
    for (let i = 0; i < count; i++) addTo(table, i)
    assert.equal(table.byteLength, 32 * 1024 * 1024)
    let found = 0
    const sample = 10_000
    for (let i = 0; i < sample; i++) {
      const place = addTo(table, i * 400, count)
      assert.equal(place !== undefined, table.keeps(printOf(i * 400)))
      if (place === undefined) continue
      assert.deepEqual(place, placeOf(i * 400))
      found++
    }
    // Every fourth is kept.
    assert.ok(found > sample / 5 && found < sample / 3, `${found} of ${sample}`)
  })

  it('is small as long as there is little to remember', () => {
    const table = new FingerprintTable()
    for (let i = 0; i < 1000; i++) addTo(table, i)
    assert.ok(table.byteLength <= 64 * 1024, `${table.byteLength} bytes`)
  })

  it('takes two that share one half for two', () => {
    const table = new FingerprintTable()
    table.add({ high: 1, low: 1 }, 1, 0)
    assert.equal(table.add({ high: 1, low: 2 }, 1, 1), undefined)
    assert.equal(table.add({ high: 2, low: 1 }, 1, 2), undefined)
    assert.deepEqual(table.add({ high: 1, low: 1 }, 9, 9), { page: 1, index: 0 })
  })

  it('takes fingerprints that all begin at the same slot', () => {
    const table = new FingerprintTable()
    for (let i = 0; i < 5000; i++) assert.equal(table.add({ high: i, low: 0 }, 1, i), undefined)
    for (let i = 0; i < 5000; i += 13) assert.deepEqual(table.add({ high: i, low: 0 }, 2, 0), { page: 1, index: i })
  })
})
