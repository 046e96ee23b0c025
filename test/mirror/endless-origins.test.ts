import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { limited, rows, sharedStores } from './origin-and-mirror.ts'

/** More than enough for a mirror that ends. */
const MAX_REQUESTS = 60

const open = sharedStores()

describe('a mirror that ends when it has caught up', () => {
  it('ends with a state of its origin, not before the one at the start, though the origin never stops changing', async (t) => {
    const pair = open(t)
    await pair.fill(rows(0, 3))
    await pair.run()
    for (let n = 0; n < 4; n++) await pair.change(rows(n * 400, (n + 1) * 400, `version ${n}`))
    await pair.remember()
    let next = 10_000
    pair.onRequest = async ({ url }, number) => {
      assert.ok(number < MAX_REQUESTS, 'The mirror does not end.')
      if (!url.includes('..')) return undefined
      await pair.change(rows(next, next + 300))
      next += 300
      await pair.remember()
      return undefined
    }
    await pair.run()
    assert.ok(await pair.showsState())
    assert.ok(((await pair.head())?.live ?? 0) >= 1600)
    pair.onRequest = () => undefined
    await pair.run()
    await pair.same()
    assert.equal(pair.count('loaded'), 1)
  })

  it('ends with its first copy, though its origin has changed since', async (t) => {
    const pair = open(t)
    await pair.fill(rows(0, 1200))
    await pair.remember()
    pair.onRequest = async ({ url }) => void (url.endsWith('page=3') && (await pair.change(rows(0, 1, 'changed'))))
    await pair.run()
    assert.ok(await pair.showsState())
  })

  it('gives up an origin whose changes never have a last page', async (t) => {
    const pair = open(t)
    await pair.fill(rows(0, 3))
    await pair.run()
    await pair.change(rows(10, 1200))
    pair.requests = 0
    pair.onRequest = async ({ url }, number) => {
      assert.ok(number < 1000, 'The mirror does not end.')
      return url.includes('..') ? pageBeforeLast(url, pair.name) : undefined
    }
    await assert.rejects(pair.run(), /has no last page: it was not found in 100 requests/)
    assert.equal((await pair.head())?.live, 3)
  })
})

/** A full page of changes, whose last page is always two pages further. */
function pageBeforeLast(url: string, name: string): Response {
  const [base = '', page = '1'] = url.split('?page=')
  const number = Number(page)
  const link = (to: number) => ({ href: `${base}?page=${to}` })
  const links = { self: link(number), first: { href: base }, next: link(number + 1), last: link(number + 2) }
  const put = { op: 'put', key: '7', version: 3, item: { id: 7 } }
  return Response.json({
    item_count: 500 * (number + 2),
    _links: number > 1 ? { ...links, prev: link(number - 1) } : links,
    _embedded: { [name]: Array.from({ length: 500 }, () => put) },
  })
}

describe('a mirror with limits', () => {
  it('refuses an origin that says it has too many items before it copies any, also one without snapshots', async (t) => {
    for (const retentionMs of [1_000_000, 0]) {
      const pair = open(t)
      await pair.fill(rows(0, 1200))
      await pair.store.setRetention(pair.name, { retentionMs })
      await assert.rejects(
        pair.run(limited({ maxItems: 1000 })),
        /events-\d+ has 1,200 items, and a mirror may have 1,000\. .*--max-items raises the limit/,
      )
      assert.equal(pair.requests, 1)
      assert.equal(await pair.head(), undefined)
    }
  })

  it('stops a copy that has too many bytes, or leaves too little space, and keeps what it showed before', async (t) => {
    for (const [limits, message] of [
      [{ maxBytes: 20_000 }, /more bytes than that\. The limit is 20,000 bytes\. .*--max-bytes raises the limit/],
      [{ checkSpace: async () => 'Little is free.' }, /Little is free\. The mirror of .*events-\d+ stops here/],
    ] as const) {
      const pair = open(t)
      await pair.fill(rows(0, 1200))
      await assert.rejects(pair.run(limited(limits)), message)
      assert.equal(await pair.head(), undefined)
      await pair.run()
      const before = await pair.items()
      await pair.fillAgain(rows(0, 1300, 'again'))
      await assert.rejects(pair.run(limited(limits)), message)
      assert.deepEqual(await pair.items(), before)
      assert.deepEqual((await pair.mirror.verify()).findings, [])
    }
  })

  it('stops at a state of its origin when changes make it too large, and takes no more after a restart', async (t) => {
    for (const [limits, message] of [
      [{ maxItems: 800 }, /The mirror "events-\d+" has [\d,]+ items, and a mirror may have 800/],
      [{ maxBytes: 800 * 24 }, /The items of the mirror "events-\d+" have more bytes than that/],
    ] as const) {
      const pair = open(t)
      await pair.fill(rows(0, 100))
      await pair.run(limited(limits))
      for (let n = 2; n < 17; n++) {
        await pair.change(rows(n * 50, (n + 1) * 50))
        await pair.remember()
      }
      for (const isOnce of [true, false]) await assert.rejects(pair.run({ ...limited(limits), isOnce }), message)
      const head = await pair.head()
      assert.ok(await pair.showsState())
      await pair.change(rows(5000, 5001))
      await assert.rejects(pair.run(limited(limits)), message)
      assert.deepEqual(await pair.head(), head)
      await pair.run()
      await pair.same()
    }
  })

  it('counts what is there, not what was ever put', async (t) => {
    const pair = open(t)
    await pair.fill(rows(0, 100))
    await pair.run()
    const maxBytes = 100 * 40
    for (let n = 0; n < 5; n++) await pair.change(rows(0, 100, `round ${n}`))
    await pair.run(limited({ maxItems: 500, maxBytes }))
    await pair.same()
    for (let n = 0; n < 3; n++) await pair.change(rows(0, 100, `again ${n}`))
    // More changes than a mirror may have items: a copy is smaller.
    await pair.run(limited({ maxItems: 100, maxBytes }))
    await pair.same()
    assert.equal(pair.count('loaded'), 2)
  })

  it('stops a version that replaces everything with too many items, and keeps what it showed before', async (t) => {
    const pair = open(t)
    await pair.fill(rows(0, 100))
    await pair.run()
    const before = await pair.items()
    await pair.load(rows(0, 900), { isReplacement: true })
    await assert.rejects(pair.run(limited({ maxBytes: 20_000 })), /--max-bytes raises the limit/)
    await assert.rejects(pair.run(limited({ maxItems: 800 })), /--max-items raises the limit/)
    assert.deepEqual(await pair.items(), before)
  })
})
