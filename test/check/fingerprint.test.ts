import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fingerprintOf } from '../../src/check/page/items.ts'
import { FingerprintTable } from '../../src/check/page/repeats.ts'

/** How many of 200,000 texts have the same value as an earlier one. */
function collisionsAmong(textOf: (index: number) => string, partOf: (print: number) => number): number {
  const values = Float64Array.from({ length: 200_000 }, (_, index) => partOf(fingerprintOf(textOf(index)))).sort()
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
    it(`tells 200,000 texts apart: ${name}`, () => {
      assert.equal(
        collisionsAmong(textOf, (print) => print),
        0,
      )
    })

  it('is spread evenly over its lower 32 bits', () => {
    // By chance 5 in 200,000; ten times that would be a poor hash.
    const collisions = collisionsAmong(String, (print) => print % 2 ** 32)
    assert.ok(collisions < 50, `${collisions} collisions`)
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

  /** 70 % of the slots are filled, then only every second fingerprint is kept. */
  const slots = 2 ** 15
  const remembered = Math.floor(0.7 * slots)

  it('remembers where each was seen first, up to as many as it has room for', () => {
    const table = new FingerprintTable(slots)
    for (let i = 0; i < remembered; i++) assert.equal(addTo(table, i), undefined)
    for (let i = 0; i < remembered; i++) assert.deepEqual(addTo(table, i, remembered + i), placeOf(i))
    assert.ok(table.byteLength <= 16 * slots, `${table.byteLength} bytes`)
  })

  it('takes no more memory beyond that, and still finds the repeats of those that it keeps', () => {
    const table = new FingerprintTable(slots)
    const count = slots
    for (let i = 0; i < count; i++) addTo(table, i)
    assert.equal(table.byteLength, 16 * slots)
    let found = 0
    for (let i = 0; i < count; i++) {
      const place = addTo(table, i, count)
      assert.equal(place !== undefined, table.keeps(printOf(i)))
      if (place === undefined) continue
      assert.deepEqual(place, placeOf(i))
      found++
    }
    // Every second one is kept.
    assert.ok(found > count / 3 && found < count / 1.5, `${found} of ${count}`)
  })

  it('is small as long as there is little to remember', () => {
    const table = new FingerprintTable()
    for (let i = 0; i < 1000; i++) addTo(table, i)
    assert.ok(table.byteLength <= 64 * 1024, `${table.byteLength} bytes`)
  })

  it('takes fingerprints that all begin at the same slot for different ones', () => {
    const table = new FingerprintTable()
    for (let i = 0; i < 1500; i++) assert.equal(table.add(i * 2 ** 32, 1, i), undefined)
    for (let i = 0; i < 1500; i += 13) assert.deepEqual(table.add(i * 2 ** 32, 2, 0), { page: 1, index: i })
  })
})
