import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { BucketSums, differingKeys, hashesIn } from '../../src/follow/compare.ts'
import { type ItemRun, itemRun } from '../../src/items/item-run.ts'

type Items = ReadonlyMap<string, number>

/** The items in runs of a few, in this order. */
async function* runsOf(items: Items, order: (keys: string[]) => string[] = (keys) => keys): AsyncGenerator<ItemRun> {
  const keys = order([...items.keys()])
  for (let from = 0; from < keys.length; from += 3) {
    const texts = keys.slice(from, from + 3).map((key) => JSON.stringify({ id: key, value: items.get(key) }))
    yield itemRun(texts, { keyField: 'id' })
  }
}

/** As the follower does it. */
async function difference(some: Items, others: Items): Promise<string[]> {
  const reversed = (keys: string[]) => keys.reverse()
  const sums = await BucketSums.of(runsOf(some))
  const buckets = sums.differing(await BucketSums.of(runsOf(others, reversed)))
  assert.equal(sums.items, some.size)
  return differingKeys(await hashesIn(buckets, runsOf(some)), await hashesIn(buckets, runsOf(others, reversed)))
}

/** Few, so that many are in both; with whatever a key may hold. */
const key = fc.oneof(
  fc.constantFrom('1', '2', 'a,b', '\\', '/', '"', '\u2028'),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 3 }),
)
const items = fc
  .array(
    fc.tuple(
      key.filter((text) => !['.', '..'].includes(text) && !text.includes('\0')),
      fc.nat(3),
    ),
    { maxLength: 40 },
  )
  .map((entries) => new Map(entries))

describe('a comparison of all rows', () => {
  it('finds the keys that only one side has, or that stand for different items, and no others, in any order', () =>
    fc.assert(
      fc.asyncProperty(items, items, async (some, others) => {
        const expected = [...new Set([...some.keys(), ...others.keys()])].filter(
          (each) => some.get(each) !== others.get(each),
        )
        assert.deepEqual((await difference(some, others)).sort(), expected.sort())
      }),
      { numRuns: 300 },
    ))

  it('finds two items that have changed places, though all texts but their keys are the same', async () => {
    const some = new Map(Array.from({ length: 5_000 }, (_, index) => [`${index}`, index]))
    const others = new Map(some).set('17', 4_711).set('4711', 17)
    assert.deepEqual((await difference(some, others)).sort(), ['17', '4711'])
  })

  it('is of nothing where both are empty, and of all keys where one is', async () => {
    assert.deepEqual(await difference(new Map(), new Map()), [])
    assert.deepEqual(await difference(new Map([['a', 1]]), new Map()), ['a'])
    assert.deepEqual(await difference(new Map(), new Map([['a', 1]])), ['a'])
  })

  it('looks again at the keys of a few buckets only', async () => {
    const some = new Map(Array.from({ length: 20_000 }, (_, index) => [`key ${index}`, index]))
    const others = new Map(some).set('key 5', -1)
    const buckets = (await BucketSums.of(runsOf(some))).differing(await BucketSums.of(runsOf(others)))
    assert.equal(buckets.size, 1)
    assert.ok((await hashesIn(buckets, runsOf(some))).size < 20)
  })
})
