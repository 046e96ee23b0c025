import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Page, PullResult } from '../../src/client/index.ts'
import { CollectionChanged, openCollection } from '../../src/client/index.ts'
import { CorrectServer, numberedItems } from '../check/correct-server.ts'
import { Copy, EVENTS, type Event, inProcess, pagesAsked } from './hostile-server.ts'

/** Pulls into a list that stays, until `pages` were taken; then it is as if the power went off. */
class Puller extends Copy<Event> {
  readonly server: CorrectServer
  asked: number[] = []

  constructor(items: number) {
    super()
    this.server = new CorrectServer({ items })
  }

  async pull(pages = Number.POSITIVE_INFINITY, restarts?: number): Promise<PullResult | undefined> {
    const { fetch, requests } = inProcess(this.server)
    const powerCut = new Error('the power went off')
    let taken = 0
    const page: Copy<Event>['page'] = (...words) => {
      if (taken++ === pages) throw powerCut
      this.page(...words)
    }
    const result = await openCollection<Event>(EVENTS, { fetch })
      .pull({ page, restart: () => this.restart() }, { from: this.state, restarts })
      .catch((error) => {
        if (error !== powerCut) throw error
      })
    this.asked = pagesAsked(requests)
    return result ?? undefined
  }

  /** Whether exactly what the server has was taken. */
  assertComplete(): void {
    assert.deepEqual(this.items, this.server.items)
  }
}

const change = (puller: Puller, items: (items: readonly unknown[]) => readonly unknown[]) => {
  puller.server.items = items(puller.server.items)
}
const append = (count: number) => (items: readonly unknown[]) => [
  ...items,
  ...numberedItems(count, items.length + 10_000),
]

describe('a pull that goes on with an earlier one', () => {
  it('fetches the pages that are missing, wherever the earlier one ended', async () => {
    for (const items of [501, 1000, 2600])
      for (let pages = 1; pages <= Math.ceil(items / 500); pages++) {
        const puller = new Puller(items)
        await puller.pull(pages)
        assert.equal(puller.items.length, Math.min(items, 500 * pages))
        const result = await puller.pull()
        puller.assertComplete()
        assert.deepEqual([result?.itemCount, result?.restarts, result?.appended], [items, 0, 0])
        const before = puller.asked.filter((page) => page <= pages)
        // Pages that are there already are only looked at as anchors.
        assert.ok(before.length <= 3, `${items} items, ${pages} pages: ${puller.asked}`)
      }
  })

  it('asks once when nothing is missing', async () => {
    for (const items of [0, 1, 500, 501, 1000, 2600]) {
      const puller = new Puller(items)
      await puller.pull()
      const result = await puller.pull()
      assert.deepEqual(puller.asked, [Math.max(1, Math.ceil(items / 500))])
      assert.deepEqual([result?.itemCount, result?.appended, puller.restarts], [items, 0, 0])
      puller.assertComplete()
    }
  })

  it('fetches what was appended since, and hands over nothing twice', async () => {
    for (const items of [0, 499, 500, 1234])
      for (const count of [1, 266, 1500])
        for (const pages of [1, 2, 99]) {
          const puller = new Puller(items)
          await puller.pull(pages)
          change(puller, append(count))
          const result = await puller.pull()
          puller.assertComplete()
          assert.equal(result?.restarts, 0)
          assert.equal(result?.appended, count)
          assert.equal(result?.itemCount, items + count)
        }
  })

  it('says so when it fetches what was appended behind the last page of the earlier one', async () => {
    const { fetch, server } = inProcess(new CorrectServer({ items: 1001 }), (_, number) => {
      // The last page was read, and the one before it is looked at once more.
      if (number === 5) server.items = append(3)(server.items)
    })
    const collection = openCollection(EVENTS, { fetch, concurrency: 1 })
    const sink = { restart: () => assert.fail('nothing was removed'), page: () => {} }
    const { itemCount, appended, state } = await collection.pull(sink)
    assert.deepEqual([itemCount, appended], [1001, 0])
    const later = await collection.pull(sink, { from: state })
    assert.deepEqual([later.itemCount, later.appended], [1004, 3])
  })

  it('begins again when something was removed, or everything is another', async () => {
    const changes = [
      (items: readonly unknown[]) => items.slice(1),
      (items: readonly unknown[]) => append(1)(items.slice(1)),
      (items: readonly unknown[]) => append(700)(items.toSpliced(100, 1)),
      (items: readonly unknown[]) => numberedItems(items.length, 50_000),
      (items: readonly unknown[]) => items.slice(0, 300),
      () => [],
    ]
    for (const pages of [1, 2, 3, 99])
      for (const each of changes) {
        const puller = new Puller(1700)
        await puller.pull(pages)
        change(puller, each)
        const result = await puller.pull()
        puller.assertComplete()
        assert.deepEqual([result?.restarts, puller.restarts], [1, 1])
      }
  })

  it('begins again when items repeat, so that a removal may not show', async () => {
    for (const period of [1, 100, 250]) {
      const repeating = (count: number) => Array.from({ length: count }, (_, index) => ({ v: index % period }))
      const puller = new Puller(0)
      puller.server.items = [...numberedItems(500), ...repeating(500)]
      await puller.pull()
      puller.server.items = [...numberedItems(500).slice(period), ...repeating(550 + period)]
      await puller.pull()
      puller.assertComplete()
      assert.equal(puller.restarts, 1)
    }
  })

  it('does not begin again when it may not', async () => {
    const puller = new Puller(1700)
    await puller.pull(2)
    change(puller, (items) => items.slice(1))
    await assert.rejects(puller.pull(99, 0), CollectionChanged)
    assert.equal(puller.items.length, 1000)
  })

  it('goes on although an item was replaced in the page by which it knows the collection', async () => {
    const puller = new Puller(2600)
    await puller.pull(2)
    change(puller, (items) => items.with(2100, { id: 2101, title: 'another' }))
    const result = await puller.pull()
    puller.assertComplete()
    assert.deepEqual([result?.restarts, result?.replaced], [0, true])
  })

  it('begins again when it is told of something that cannot be', async () => {
    for (const [items, page] of [
      [100_000, 6],
      [500, 6],
      [2600, 3],
      [2600, 7],
    ] as const) {
      const puller = new Puller(2600)
      await puller.pull()
      const { anchor, itemCount } = puller.state ?? assert.fail('there is no state')
      puller.state = { items, itemCount, anchor: { ...anchor, page } }
      await puller.pull()
      puller.assertComplete()
      assert.equal(puller.restarts, 1)
    }
  })

  it('needs little: what it goes on from is a few kilobytes', async () => {
    const puller = new Puller(5000)
    await puller.pull()
    assert.ok(JSON.stringify(puller.state).length < 5000)
  })

  it('knows an unpaginated collection by its items too', async () => {
    const server = new CorrectServer({ items: 700, isPaginated: false })
    const { fetch, requests } = inProcess(server)
    const collection = openCollection<Event>(EVENTS, { fetch })
    const firsts: number[] = []
    const sink = {
      restart: () => void firsts.push(-1),
      page: (_: Page<Event>, { first }: { first: number }) => void firsts.push(first),
    }
    const { state } = await collection.pull(sink)
    await collection.pull(sink, { from: state })
    server.items = server.items.slice(1)
    await collection.pull(sink, { from: state })
    assert.deepEqual(firsts, [0, 700, -1, 0])
    assert.equal(requests.length, 4)
  })
})
