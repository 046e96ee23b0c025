import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FULL_MEMORY_BYTES, FULL_PLAN, limitMemory, planMemory } from '../../src/memory/memory-plan.ts'

const MIB = 2 ** 20
const GIB = 2 ** 30

/** Memory in MiB and workers; then of the plan body, items, bodies at once, unsent, cache and SQLite's cache, and threads. */
const TABLE: readonly (readonly number[])[] = [
  [64, 1, 2, 3_000, 1, 8, 2, 1, 1],
  [128, 1, 2, 3_000, 1, 8, 2, 1, 1],
  [256, 1, 4, 7_000, 1, 17, 4, 2, 1],
  [256, 2, 2, 3_000, 1, 8, 1, 1, 1],
  [512, 1, 13, 21_000, 1, 53, 13, 6, 1],
  [512, 2, 2, 3_000, 1, 8, 1, 1, 1],
  [1_024, 1, 31, 49_000, 1, 125, 31, 15, 2],
  [2_048, 1, 64, 100_000, 1, 256, 64, 32, 4],
  [2_048, 4, 12, 19_000, 1, 12.25, 3, 6, 1],
  [4_096, 1, 64, 100_000, 2, 256, 64, 32, 4],
  [4_096, 2, 64, 100_000, 1, 128, 32, 32, 4],
  [16_384, 8, 64, 100_000, 1, 32, 8, 32, 4],
  [1_048_576, 1, 64, 100_000, 4, 256, 64, 32, 4],
]

describe('the plan for the memory', () => {
  it('is a share of the memory for each worker, and full where there is enough', () => {
    const rows = TABLE.map(([mib = 0, workers = 1]) => {
      const plan = planMemory(mib * MIB, workers)
      const { bodyBytes, requestItems, bodiesAtOnce, unsentBytes, cacheBytes, writerCacheBytes, deflateThreads } = plan
      const [unsent, cache, writerCache] = [unsentBytes / MIB, cacheBytes / MIB, writerCacheBytes / MIB]
      return [mib, workers, bodyBytes / MIB, requestItems, bodiesAtOnce, unsent, cache, writerCache, deflateThreads]
    })
    assert.deepEqual(rows, TABLE)
    assert.deepEqual(planMemory(FULL_MEMORY_BYTES), { ...FULL_PLAN, bodiesAtOnce: 1 })
  })

  it('never grows with the number of workers, nor shrinks with memory', () => {
    for (const workers of [1, 2, 3, 16, 256])
      for (let bytes = 64 * MIB; bytes < 64 * GIB; bytes *= 2)
        for (const [name, value] of Object.entries(planMemory(bytes, workers))) {
          const key = name as keyof typeof FULL_PLAN
          assert.ok(value > 0, `${key} with ${bytes} bytes and ${workers} workers`)
          assert.ok(value <= planMemory(bytes * 2, workers)[key])
          assert.ok(value >= planMemory(bytes, workers + 1)[key])
        }
  })
})

it('the available memory is the limit of the control group, unless it has none that matters', () => {
  for (const none of [0, undefined, 2 ** 63 - 4096, 2 ** 64, 8 * GIB]) assert.equal(limitMemory(none, 8 * GIB), 8 * GIB)
  assert.equal(limitMemory(512 * MIB, 8 * GIB), 512 * MIB)
})
