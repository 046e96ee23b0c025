import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { countGone, holeCounts, locate, type ReadHoles, withGone } from '../../src/store/positions.ts'

/** Hole counts of a collection in which `gone[ream]` items are missing. */
function holesOf(gone: ReadonlyMap<number, number>): ReadHoles {
  const counts = holeCounts(gone).sort((a, b) => a.block - b.block)
  const levels = [0, 1, 2].map((level) => counts.filter((count) => count.level === level))
  return (level, from, to) => levels[level]?.filter(({ block }) => block >= from && block <= to) ?? []
}

const sum = (gone: ReadonlyMap<number, number>): number => gone.values().reduce((all, count) => all + count, 0)

const find = (rank: number, gone: ReadonlyMap<number, number>) => locate(rank, sum(gone), holesOf(gone))

/** The same answer by walking every ream from the first. */
function walk(rank: number, gone: ReadonlyMap<number, number>): { ream: number; offset: number; gone: number } {
  let before = 0
  for (let ream = 0; ; ream++) {
    const live = 500 - (gone.get(ream) ?? 0)
    if (rank < before + live) return { ream, offset: rank - before, gone: 500 - live }
    before += live
  }
}

describe('rank', () => {
  it('agrees with a walk over every ream, for holes anywhere', () => {
    const gone = fc
      .array(
        fc.tuple(
          fc.oneof(fc.nat(5), fc.integer({ min: 250, max: 260 }), fc.nat(1500)),
          fc.integer({ min: 1, max: 500 }),
        ),
      )
      .map((entries) => new Map(entries))
    fc.assert(
      fc.property(gone, fc.nat(700_000), (holes, rank) => {
        assert.deepEqual(find(rank, holes), walk(rank, holes))
      }),
      { numRuns: 300 },
    )
  })

  it('passes whole stretches of empty reams, across the borders of every level', () => {
    const holes = new Map<number, number>()
    for (let ream = 0; ream < 65_540; ream++) holes.set(ream, 500)
    assert.deepEqual(find(0, holes), { ream: 65_540, offset: 0, gone: 0 })
    holes.set(65_535, 499)
    assert.deepEqual(find(0, holes), { ream: 65_535, offset: 0, gone: 499 })
    assert.deepEqual(find(1, holes), { ream: 65_540, offset: 0, gone: 0 })
  })

  it('reads one block of each level, however deep the item lies', () => {
    const read: [number, number][] = []
    const gone = new Map(Array.from({ length: 1000 }, (_, index) => [index * 70, 3] as const))
    const holes = holesOf(gone)
    locate(30_000_000, sum(gone), (level, from, to) => {
      if (level < 2) read.push([level, to - from + 1])
      return holes(level, from, to)
    })
    assert.deepEqual(read, [
      [1, 256],
      [0, 256],
    ])
  })
})

describe('gone map', () => {
  it('is null while nothing is gone, and never changed in place', () => {
    assert.equal(withGone(null, []), null)
    const first = withGone(null, [7])
    const second = withGone(first, [8])
    assert.deepEqual([countGone(first), countGone(second)], [1, 2])
  })
})
