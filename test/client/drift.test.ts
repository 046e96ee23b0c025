import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  CollectionChanged,
  type Drift,
  openCollection,
  type PullResult,
  type WalkState,
} from '../../src/client/index.ts'
import { itemRun } from '../../src/items/item-run.ts'
import { createService } from '../../src/service/create-service.ts'
import { CorrectServer } from '../check/correct-server.ts'
import { fill, numbered, openService, BASE as SERVICE } from '../service/open-service.ts'
import { Copy, EVENTS, inProcess, NO_COPY } from './hostile-server.ts'

interface Item {
  readonly id: number
  readonly version?: number
}

type Items = readonly Item[]
type Change = (items: Items) => Items
type Named = readonly [string, Change]

/** Items that no other call gives. */
function freshItems(count: number, first: number): Item[] {
  return Array.from({ length: count }, (_, index) => ({ id: first + index }))
}

function append(count: number): Change {
  return (items) => [...items, ...freshItems(count, 1_000_000)]
}
function remove(from: number, count = 1): Change {
  return (items) => items.toSpliced(from < 0 ? items.length + from : from, count)
}
function replace(at: number): Change {
  return (items) => items.with(at, { ...(items.at(at) as Item), version: 2 })
}
function both(first: Change, second: Change): Change {
  return (items) => second(first(items))
}

const CHANGES: Readonly<Record<string, Change>> = {
  'items are appended up to the end of a page': (items) => append(500 - (items.length % 500))(items),
  'the last item of the last page but one is removed': (items) =>
    remove(items.length - (items.length % 500 || 500) - 1)(items),
  'a whole page is removed': remove(500, 500),
  'the last page is removed': (items) => items.slice(0, items.length - (items.length % 500 || 500)),
  'everything is removed': () => [],
  'the first item is removed and one appended': both(remove(0), append(1)),
  'the last item of the last page but one is removed and one appended': (items) =>
    both(remove(items.length - (items.length % 500 || 500) - 1), append(1))(items),
  'a page is removed and as many are appended': both(remove(0, 500), append(500)),
  'an item is removed and two pages are appended': both(remove(3), append(1000)),
  'an item is moved to the end': (items) => [...items.slice(1), items[0] as Item],
  'an item of the first page is replaced': replace(7),
  'an item of the last page but one is replaced': (items) => replace(items.length - 502)(items),
  'the last item of the last page but one is replaced': (items) =>
    replace(items.length - (items.length % 500 || 500) - 1)(items),
  'the last item is replaced': replace(-1),
  'the collection is created anew with as many others': (items) => freshItems(items.length, 5_000_000),
  'the collection is created anew with more': (items) => freshItems(items.length + 700, 5_000_000),
}

interface Options {
  readonly concurrency?: number
  readonly restarts?: number
  readonly from?: WalkState | undefined
  /** How many turns of the event loop a request waits before it is answered. */
  readonly turns?: (number: number) => number
}

/** Pulls from a server that changes before some of its requests; `history` has all that it ever held. */
async function pullFrom(items: Items, changes: (number: number) => Change | undefined, options: Options = {}) {
  const { concurrency = 1, restarts = 0, from, turns = () => 0 } = options
  const history: Items[] = [items]
  const { fetch, requests, server } = inProcess(new CorrectServer({ items }), async (_, number) => {
    for (let turn = 0; turn < turns(number); turn++) await new Promise((resolve) => setImmediate(resolve))
    const change = changes(number)
    if (change !== undefined) history.push(change(server.items as Items))
    server.items = history.at(-1) ?? []
  })
  const copy = new Copy<Item>()
  const outcome = await openCollection<Item>(EVENTS, { fetch, concurrency })
    .pull(copy, { restarts, from })
    .catch((error: unknown) => error)
  if (outcome instanceof Error && !(outcome instanceof CollectionChanged)) throw outcome
  return {
    outcome: outcome as PullResult | CollectionChanged,
    history,
    received: copy.items,
    requests: requests.length,
  }
}

/** Changes once, before the request of this number. */
const at = (moment: number, change: Change) => (number: number) => (number === moment ? change : undefined)

function isAmong(received: Items, history: readonly Items[]): boolean {
  const text = JSON.stringify(received)
  return history.some((items) => JSON.stringify(items) === text)
}

function done(outcome: PullResult | CollectionChanged): PullResult {
  if (outcome instanceof CollectionChanged) throw outcome
  return outcome
}

/** Numbers of items, and of requests at a time. */
const SHAPES = [
  [1001, 1],
  [2600, 4],
] as const

describe('a collection that changes while it is pulled', () => {
  for (const [name, change] of Object.entries(CHANGES))
    it(`is got as it was at some moment, or not at all, when ${name} at any moment`, async () => {
      for (const [size, concurrency] of SHAPES)
        for (let moment = 1, isOver = false; !isOver; moment++) {
          const items = freshItems(size, 1)
          const where = `${size} items, ${concurrency} at a time, before request ${moment}`
          const once = await pullFrom(items, at(moment, change), { concurrency })
          isOver = moment > once.requests
          const isChanged = once.outcome instanceof CollectionChanged
          const { outcome, received, history } = isChanged
            ? await pullFrom(items, at(moment, change), { concurrency, restarts: 1 })
            : once
          assert.ok(isAmong(received, history), where)
          assert.equal(done(outcome).itemCount, received.length, where)
          assert.equal(done(outcome).restarts, isChanged ? 1 : 0, where)
        }
    })

  it('is got as it was at some moment, or not at all, however it changes', async () => {
    const change = fc.oneof(
      fc.integer({ min: 1, max: 1200 }).map((count): Named => [`append ${count}`, append(count)]),
      fc.nat(3000).map((place): Named => [`remove ${place}`, (items) => remove(place % (items.length || 1))(items)]),
    )
    const schedule = fc.array(fc.tuple(fc.integer({ min: 1, max: 14 }), change), { minLength: 1, maxLength: 6 })
    const turns = fc.array(fc.nat(5), { minLength: 40, maxLength: 40 })
    const property = fc.asyncProperty(
      fc.integer({ min: 400, max: 2600 }),
      schedule,
      turns,
      async (size, all, waits) => {
        let next = 1_000_000
        const changes = (number: number): Change | undefined => {
          const due = all.filter(([moment]) => moment === number).map(([, [, change]]) => change)
          if (due.length === 0) return undefined
          // Appended items differ from all that ever were.
          return (items) =>
            due
              .reduce((sum, each) => each(sum), items)
              .map((item) => (item.id < 1e6 || item.version ? item : { id: next++, version: 1 }))
        }
        const { outcome, received, history } = await pullFrom(freshItems(size, 1), changes, {
          concurrency: 4,
          turns: (number) => waits[number % waits.length] ?? 0,
        })
        if (!(outcome instanceof CollectionChanged)) assert.ok(isAmong(received, history))
      },
    )
    await fc.assert(property, { numRuns: 30 })
  })
  it('is got whole when it grows with every request, as long as it grows slower than it is read', async () => {
    const grow: Change = (items) => [...items, ...freshItems(100, items.length + 1)]
    const { outcome, received, history } = await pullFrom(freshItems(2600, 1), () => grow)
    assert.ok(isAmong(received, history))
    assert.equal(done(outcome).appended, received.length - 2700)
    assert.equal(done(outcome).restarts, 0)
  })

  it('is given up when it changes every time', async () => {
    const changes = (number: number) => (number % 3 === 0 ? remove(0) : undefined)
    const { outcome, requests } = await pullFrom(freshItems(1001, 1), changes, { restarts: 3 })
    assert.ok(outcome instanceof CollectionChanged)
    const why =
      /^The collection changed while it was read: GET http:.*\/events – item_count went from \d+ to \d+, so items/
    assert.match(outcome.message, why)
    assert.equal(requests, 12)
  })

  it('is not begun again for one who was given a page already and cannot give it back', async () => {
    const { fetch, server } = inProcess(new CorrectServer({ items: 2600 }), (_, number) => {
      if (number === 5) server.items = remove(0)(server.items as Items)
    })
    const numbers: number[] = []
    const walk = async () => {
      for await (const { number } of openCollection(EVENTS, { fetch, concurrency: 1 }).pages()) numbers.push(number)
    }
    await assert.rejects(walk(), { name: 'CollectionChanged', url: EVENTS })
    assert.deepEqual(numbers, [1, 2])
  })

  it('tells who iterates what was appended', async () => {
    const { fetch, server } = inProcess(new CorrectServer({ items: 1001 }), (_, number) => {
      if (number === 4) server.items = append(3)(server.items as Items)
    })
    const drifts: Drift[] = []
    let count = 0
    for await (const _ of openCollection(EVENTS, { fetch }).items({ onDrift: (drift) => drifts.push(drift) })) count++
    assert.deepEqual([count, drifts], [1004, [{ appended: 3, replaced: false }]])
  })

  it('tells that an item was replaced in its place, where that shows', async () => {
    const replaced = async (change: Change) =>
      done((await pullFrom(freshItems(2600, 1), at(6, change))).outcome).replaced
    assert.equal(await replaced(replace(2007)), true)
    assert.equal(await replaced(append(1)), false)
    // Nobody looks at that page again.
    assert.equal(await replaced(replace(7)), false)
  })

  it('is got whole when it loses its pages meanwhile', async () => {
    for (let moment = 1; moment <= 9; moment++) {
      const { fetch, server } = inProcess(new CorrectServer({ items: 2600 }), (_, number) => {
        if (number === moment) server.isPaginated = () => false
      })
      const copy = new Copy<Item>()
      await openCollection<Item>(EVENTS, { fetch, concurrency: 1 }).pull(copy)
      assert.deepEqual(copy.items, server.items)
    }
  })

  it('is refused when many items changed at once: that may be another collection', async () => {
    const renew: Change = (items) => items.map((item, index) => (index % 500 === 499 ? item : { ...item, version: 2 }))
    assert.ok((await pullFrom(freshItems(2600, 1), at(6, renew))).outcome instanceof CollectionChanged)
  })

  it('is refused when its items are written differently each time: nobody can tell whether they moved', async () => {
    const renew: Change = (items) => items.map((item) => ({ ...item, version: (item.version ?? 0) + 1 }))
    assert.ok((await pullFrom(freshItems(501, 1), () => renew, { restarts: 3 })).outcome instanceof CollectionChanged)
    assert.equal(done((await pullFrom(freshItems(500, 1), () => renew)).outcome).itemCount, 500)
  })

  it('is got as it was at some moment, or not at all, when two items at the border of pages are alike', async () => {
    const items = freshItems(1600, 1).with(1500, { id: 1500 })
    for (const place of [3, 700, 1489, 1498, 1499, 1500])
      for (let moment = 1; moment <= 8; moment++) {
        const { outcome, received, history } = await pullFrom(items, at(moment, both(remove(place), append(1))))
        if (!(outcome instanceof CollectionChanged)) assert.ok(isAmong(received, history), `${place} at ${moment}`)
      }
  })
})

describe('a collection whose items are alike', () => {
  const alike = (count: number): Item[] => Array.from({ length: count }, () => ({ id: 0 }))

  it('is got whole', async () => {
    const { outcome, received, requests } = await pullFrom(alike(2600), () => undefined)
    assert.deepEqual([done(outcome).itemCount, received.length, requests], [2600, 2600, 8])
  })

  it('is got whole, or not at all, when an item before them is removed at any moment', async () => {
    const items = [...freshItems(1000, 1), ...alike(1600)]
    const hidden = both(remove(3), (items) => [...items, ...alike(1)])
    const changes = [remove(3), remove(700), both(hidden, append(1)), both(hidden, replace(2100))]
    for (const change of changes)
      for (let moment = 1; moment <= 9; moment++) {
        const { outcome, received, history } = await pullFrom(items, at(moment, change))
        if (!(outcome instanceof CollectionChanged)) assert.ok(isAmong(received, history), `at ${moment}`)
      }
  })

  it('is read again when it grew, because nobody can tell whether that was all', async () => {
    const grow: Change = (items) => [...items, ...alike(1)]
    const { outcome } = await pullFrom(alike(2600), at(6, grow), { restarts: 1 })
    assert.deepEqual([done(outcome).itemCount, done(outcome).restarts], [2601, 1])
  })
})

describe('a collection of the service that others write to', () => {
  it('tells that something was replaced, wherever it was', async (t) => {
    const { store } = await openService(t)
    await fill(store, 'events', numbered(2600))
    const service = createService({ store })
    let requests = 0
    const fetch = async (request: Request) => {
      if (++requests === 6) await store.replace('events', itemRun(['{"id":7,"title":"another"}'], { keyField: 'id' }))
      return service.fetch(request)
    }
    const { replaced, itemCount } = await openCollection(`${SERVICE}/events`, { fetch }).pull(NO_COPY, { live: true })
    assert.deepEqual([replaced, itemCount], [true, 2600])
  })
})
