import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { effectivePage, lastPage, PAGE_SIZE, pageRange, parsePage } from '../../src/contract/page.ts'

describe('the page parameter', () => {
  test('is page 1 when absent or empty (D1)', () => {
    assert.equal(parsePage([]), 1)
    assert.equal(parsePage(['']), 1)
  })

  test('takes any whole number from 1, also with leading zeros (D2)', () => {
    assert.equal(parsePage(['1']), 1)
    assert.equal(parsePage(['0042']), 42)
    assert.equal(parsePage(['2147483648']), 2_147_483_648)
    assert.equal(parsePage(['999999999999999']), 999_999_999_999_999)
  })

  test('takes numbers of any length as beyond every last page (D2)', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[1-9][0-9]{15,60}$/), (digits) => {
        const page = parsePage([digits])
        assert.ok(page !== undefined && page >= 999_999_999_999_999)
        assert.equal(effectivePage(page, 1_000_000_000), 2_000_000)
      }),
    )
  })

  for (const value of ['0', '00', '-1', '+1', '1.5', '1e3', 'abc', ' 1', '1 ', '١', '１', '0x1', 'NaN', '1\n', 'null'])
    test(`refuses ${JSON.stringify(value)} (D3)`, () => {
      assert.equal(parsePage([value]), undefined)
    })

  test('is refused when given twice, also with the same value (D3)', () => {
    assert.equal(parsePage(['1', '1']), undefined)
    assert.equal(parsePage(['', '']), undefined)
  })
})

describe('page arithmetic', () => {
  test('the last page by size (C3, D5)', () => {
    const sizes = [0, 1, 499, 500, 501, 999, 1000, 1001]
    assert.deepEqual(sizes.map(lastPage), [1, 1, 1, 1, 2, 2, 2, 3])
  })

  test('every page but the last holds 500 items, and the pages hold every item once, in order (C3)', () => {
    fc.assert(
      fc.property(fc.nat(5000), (itemCount) => {
        let expectedStart = 0
        for (let page = 1; page <= lastPage(itemCount); page++) {
          const { start, end } = pageRange(page, itemCount)
          assert.equal(start, expectedStart)
          if (page < lastPage(itemCount)) assert.equal(end - start, PAGE_SIZE)
          expectedStart = end
        }
        assert.equal(expectedStart, itemCount)
      }),
    )
  })

  test('a page beyond the last is the last (C7)', () => {
    assert.equal(effectivePage(3, 1000), 2)
    assert.equal(effectivePage(2, 1000), 2)
    assert.equal(effectivePage(Number.MAX_SAFE_INTEGER, 0), 1)
  })
})
