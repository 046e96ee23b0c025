/** Servers that keep the contract, of every size and with items of every kind: no rule may complain. */

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { checkConformance } from '../../src/check/index.ts'
import { Cases } from '../sample.ts'
import { CorrectServer, type ServerOptions, startServer } from './correct-server.ts'
import { assertKept, PAGINATED_RULES, RUNS, SIZES, skippedFor } from './kept.ts'

/** Every item in a form that has no field by which it could be told from all others. */
const WITHOUT_ID: Readonly<Record<string, (index: number) => unknown>> = {
  'all equal': () => ({ kind: 'tick' }),
  'one of ten values': (index) => ({ v: index % 10 }),
  'a title that repeats every 300 items': (index) => ({ title: `Event ${index % 300}` }),
  'a title each': (index) => ({ title: `Event ${index}` }),
  'numbers from a coarse sensor': (index) => ({ celsius: Math.round(20 * Math.sin(index / 9)), volts: index % 7 }),
  'scattered numbers, some of them equal': (index) => ({ n: (index * 2_654_435_761) % 4093 }),
  'one in a hundred has an equal': (index) => ({ row: index - (index % 100 === 99 ? 1 : 0) }),
  'fields that differ from item to item': (index) => ({ [`field${index % 3}`]: index % 50 }),
  'no fields': () => ({}),
  'one deep inside': (index) => ({ meta: { id: index } }),
  'one that is null now and then': (index) => ({ id: index % 5 === 0 ? null : index, type: 'a' }),
  'names that objects have already': (index) => ({ constructor: index % 3, toString: 'x', __proto__: null }),
}

const { describe, it, list } = new Cases()

export const CORRECT = list

/** Tests it with a sample of the pages, and with all of them. */
function keeps(name: string, options: ServerOptions & { items: number | readonly unknown[] }): void {
  const { items, isPaginated, hasHistory } = options
  const size = typeof items === 'number' ? items : items.length
  const skipped = isPaginated === false ? PAGINATED_RULES : skippedFor(size, hasHistory)
  it(`with ${size} items${name}`, async (t: TestContext) => {
    const { url, requests, close } = await startServer(new CorrectServer(options))
    t.after(close)
    for (const run of RUNS) {
      const before = requests()
      assertKept(await checkConformance(url, run), skipped)
      if (!run.walk) assert.ok(requests() - before <= 60, `${requests() - before} requests`)
    }
  })
}

describe('the correct server keeps every rule, whatever its size', () => {
  for (const items of [...SIZES, 25_000])
    for (const hasHistory of [false, true])
      keeps(hasHistory ? ', and snapshots and changes' : '', { items, hasHistory })

  for (const items of [0, 40, 10_000]) keeps(', without pages', { items, isPaginated: false })
})

describe('the correct server keeps every rule, whatever its items', () => {
  for (const [description, itemOf] of Object.entries(WITHOUT_ID))
    keeps(` without an id: ${description}`, { items: Array.from({ length: 1501 }, (_, index) => itemOf(index)) })

  keeps(', all of them equal', { items: Array.from({ length: 25_000 }, () => ({ kind: 'tick' })) })
})

describe('the correct server keeps every rule, however it writes', () => {
  for (const items of [0, 1, 1001])
    for (const variant of [{ isPretty: true }, { isReversed: true }, { hasExtras: true }])
      keeps(` and ${JSON.stringify(variant)}`, { items, ...variant })
})
