import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { checkConformance, type RuleId } from '../../src/check/index.ts'
import { type Asked, CorrectServer, type RunningServer, startServer } from './correct-server.ts'
import { assertKept, complaintsOf, PAGINATED_RULES, RUNS, SIZES, skippedFor } from './kept.ts'
import { grow } from './mutants/mutant.ts'

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

/** The correct server with something that happens to its data at one request, or at every one. */
class ChangingServer extends CorrectServer {
  readonly #change: (server: CorrectServer, request: number) => void
  #requests = 0

  constructor(items: number, change: (server: CorrectServer, request: number) => void) {
    super({ items })
    this.#change = change
  }

  override answer(asked: Asked) {
    this.#change(this, ++this.#requests)
    return super.answer(asked)
  }
}

describe('the correct server is not accused when its data changes during the check:', () => {
  const assertNotAccused = async (t: TestContext, server: CorrectServer) => {
    const { url, requests } = await start(t, server)
    const report = await checkConformance(url, { strict: true })
    assert.deepEqual(complaintsOf(report), [])
    assert.notEqual(report.verdict, 'broken')
    assert.ok(requests() <= 60, `${requests()} requests`)
  }

  for (const size of [0, 400, 500, 1000, 1001])
    for (const moment of [3, 5, 8, 15, 25, 35, 42])
      it(`an item is added to ${size} at request ${moment}`, (t) =>
        assertNotAccused(
          t,
          new ChangingServer(size, (server, request) => {
            if (request === moment) grow(server)
          }),
        ))

  for (const size of [500, 1000, 1200])
    it(`an item is added to ${size} at every request`, (t) => assertNotAccused(t, new ChangingServer(size, grow)))

  for (const moment of [3, 5, 8, 15, 25, 35, 42]) {
    it(`an item is removed from the middle of 1001 at request ${moment}`, (t) =>
      assertNotAccused(
        t,
        new ChangingServer(1001, (server, request) => {
          if (request === moment) server.items = server.items.toSpliced(300, 1)
        }),
      ))

    it(`an item is edited at request ${moment}`, (t) =>
      assertNotAccused(
        t,
        new ChangingServer(1001, (server, request) => {
          if (request === moment) server.items = server.items.with(1000, { id: 1001, title: 'Another title' })
        }),
      ))

    it(`all of 1001 items are removed at request ${moment}`, (t) =>
      assertNotAccused(
        t,
        new ChangingServer(1001, (server, request) => {
          if (request === moment) server.items = []
        }),
      ))
  }

  for (const most of [60, 300])
    it(`items are edited at every request, with ${most} requests`, async (t) => {
      const edit = (server: CorrectServer, views: number) => {
        server.items = server.items.map((item) => ({ ...(item as object), views }))
      }
      const { url } = await start(t, new ChangingServer(1001, edit))
      const report = await checkConformance(url, { strict: true, requests: most })
      assert.deepEqual(complaintsOf(report), [])
    })

  it('a walk through 20,000 items that become more all the time', async (t) => {
    const { url } = await start(t, new ChangingServer(20_000, grow))
    const report = await checkConformance(url, { walk: true, strict: true })
    assert.deepEqual(complaintsOf(report), [])
  })
})
