import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fingerprintOf } from '../../src/check/page/items.ts'
import { FingerprintTable } from '../../src/check/page/repeats.ts'

/** How many of 300,000 texts have the same value as an earlier one. */
function collisionsAmong(textOf: (index: number) => string, partOf: (print: number) => number): number {
  const values = Float64Array.from({ length: 300_000 }, (_, index) => partOf(fingerprintOf(textOf(index)))).sort()
  return values.filter((value, index) => index > 0 && value === values[index - 1]).length
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
    it(`tells 300,000 texts apart: ${name}`, () => {
      assert.equal(
        collisionsAmong(textOf, (print) => print),
        0,
      )
    })

  it('is spread evenly over its lower 32 bits', () => {
    // By chance 10 in 300,000; ten times that would be a poor hash.
    const collisions = collisionsAmong(String, (print) => print % 2 ** 32)
    assert.ok(collisions < 100, `${collisions} collisions`)
  })

  it('depends on the text alone', () => {
    assert.equal(fingerprintOf('{"id":1}'), fingerprintOf(['{"id"', ':1}'].join('')))
    assert.notEqual(fingerprintOf(''), fingerprintOf('\0'))
    assert.notEqual(fingerprintOf('ab'), fingerprintOf('ba'))
  })

  it('is a whole number of at most 53 bits', () => {
    for (let i = 0; i < 10_000; i++) {
      const print = fingerprintOf(String(i))
      assert.ok(Number.isSafeInteger(print) && print >= 0, String(print))
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
    let repeats = 0
    for (let i = 0; i < count; i++) if (addTo(table, i) !== undefined) repeats++
    assert.equal(repeats, 0)
    for (let i = 0; i < count; i += 70) assert.deepEqual(addTo(table, i, count + i), placeOf(i))
    assert.ok(table.byteLength <= 32 * 1024 * 1024, `${table.byteLength} bytes`)
  })

  it('stays within 32 MB beyond that, and still finds the repeats of those that it keeps', () => {
    const table = new FingerprintTable()
    const count = 2_000_000
    for (let i = 0; i < count; i++) addTo(table, i)
    assert.equal(table.byteLength, 32 * 1024 * 1024)
    let found = 0
    const sample = 10_000
    for (let i = 0; i < sample; i++) {
      const place = addTo(table, i * 200, count)
      assert.equal(place !== undefined, table.keeps(printOf(i * 200)))
      if (place === undefined) continue
      assert.deepEqual(place, placeOf(i * 200))
      found++
    }
    // Every second one is kept.
    assert.ok(found > sample / 3 && found < sample / 1.5, `${found} of ${sample}`)
  })

  it('is small as long as there is little to remember', () => {
    const table = new FingerprintTable()
    for (let i = 0; i < 1000; i++) addTo(table, i)
    assert.ok(table.byteLength <= 64 * 1024, `${table.byteLength} bytes`)
  })

  it('takes fingerprints that all begin at the same slot for different ones', () => {
    const table = new FingerprintTable()
    for (let i = 0; i < 5000; i++) assert.equal(table.add(i * 2 ** 32, 1, i), undefined)
    for (let i = 0; i < 5000; i += 13) assert.deepEqual(table.add(i * 2 ** 32, 2, 0), { page: 1, index: i })
  })
})
