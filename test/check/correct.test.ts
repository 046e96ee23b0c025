import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { checkConformance, type RuleId } from '../../src/check/index.ts'
import { CorrectServer, type RunningServer, startServer } from './correct-server.ts'
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

async function start(t: TestContext, server: CorrectServer): Promise<RunningServer> {
  const running = await startServer(server)
  t.after(() => running.close())
  return running
}

/** With a sample of the pages, and with all of them. */
async function assertAlwaysKept(t: TestContext, server: CorrectServer, skipped: readonly RuleId[]): Promise<void> {
  const { url, requests } = await start(t, server)
  for (const options of RUNS) {
    const before = requests()
    assertKept(await checkConformance(url, options), skipped)
    if (!options.walk) assert.ok(requests() - before <= 60, `${requests() - before} requests`)
  }
}

describe('the correct server keeps every rule', () => {
  for (const size of [...SIZES, 25_000])
    it(`with ${size} items`, (t) => assertAlwaysKept(t, new CorrectServer({ items: size }), skippedFor(size)))

  for (const size of [...SIZES, 25_000])
    it(`with ${size} items, and snapshots and changes`, (t) =>
      assertAlwaysKept(t, new CorrectServer({ items: size, hasHistory: true }), skippedFor(size, true)))

  for (const [description, itemOf] of Object.entries(WITHOUT_ID))
    it(`with 1501 items without an id: ${description}`, (t) => {
      const items = Array.from({ length: 1501 }, (_, index) => itemOf(index))
      return assertAlwaysKept(t, new CorrectServer({ items }), skippedFor(1501))
    })

  it('with 25,000 items of which all are equal', (t) => {
    const items = Array.from({ length: 25_000 }, () => ({ kind: 'tick' }))
    return assertAlwaysKept(t, new CorrectServer({ items }), skippedFor(25_000))
  })

  for (const size of [0, 1, 1001])
    for (const variant of [{ isPretty: true }, { isReversed: true }, { hasExtras: true }])
      it(`with ${size} items and ${JSON.stringify(variant)}`, (t) =>
        assertAlwaysKept(t, new CorrectServer({ items: size, ...variant }), skippedFor(size)))

  for (const size of [0, 40, 10_000])
    it(`without pages, with ${size} items`, (t) =>
      assertAlwaysKept(t, new CorrectServer({ items: size, isPaginated: false }), PAGINATED_RULES))

  it('found through its entry point', async (t) => {
    const { url } = await start(t, new CorrectServer())
    const report = await checkConformance(new URL('/', url).href, { strict: true })
    assert.equal(report.collections[0]?.url, url)
    assertKept(report, skippedFor(1001))
  })
})
