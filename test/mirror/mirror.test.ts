import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { describe, it } from 'node:test'
import { itemRun } from '../../src/items/item-run.ts'
import type { Store } from '../../src/store/store.ts'
import { fill, tokenFor } from '../service/open-service.ts'
import { waitUntil } from '../wait-until.ts'
import { keyed, type Pair, rows, sharedStores } from './origin-and-mirror.ts'

const open = sharedStores()

/** One whose origin has three items. */
async function openSmall(...[t]: Parameters<typeof open>): Promise<Pair> {
  const pair = open(t)
  await pair.fill(rows(0, 3))
  return pair
}

const unavailable = () => new Response('', { status: 503 })

/** A server, or a proxy, that has nothing but the collection. */
const hasNoEntryPoint = (status: number) => (request: Request) =>
  request.url.includes('/events') ? undefined : new Response('', { status })

describe('a mirror', () => {
  it('has the items of its origin in their order, byte for byte, then its changes, a version at a time', async (t) => {
    const pair = open(t)
    await pair.fill(['{ "id" : 7 , "a":1.0e1}', '{"id":"\\u00e9"}', ...rows(10, 1210)])
    await pair.run()
    await pair.same()
    const { version = 0, origin } = (await pair.head()) ?? {}
    assert.match(origin?.position ?? '', /^\S+$/)
    await pair.change(['{"id":7,"a":2}', ...rows(5000, 5003)], [11, 12])
    await pair.change(rows(11, 12, 'again'), ['é'])
    await pair.store.append(pair.name, keyed(rows(6000, 7300)))
    await pair.run()
    await pair.same()
    assert.equal((await pair.head())?.version, version + 3)
    const behind = pair.events.find((event) => event.kind === 'behind')
    assert.equal(behind?.versions, 3)
    assert.equal(pair.count('loaded'), 1)
    assert.deepEqual((await pair.mirror.verify()).findings, [])
  })

  it('needs one request if nothing has changed, and goes on to a state with the same items', async (t) => {
    const pair = await openSmall(t)
    await pair.run()
    const head = await pair.head()
    pair.requests = 0
    await pair.run()
    assert.equal(pair.requests, 1)
    assert.deepEqual(await pair.head(), head)
    await pair.store.setRetention(pair.name, { retentionMs: 1000 * 60 * 60 })
    await pair.run()
    assert.notEqual((await pair.head())?.origin?.position, head?.origin?.position)
    assert.equal(pair.count('loaded'), 1)
  })

  for (const count of [3, 1210])
    it(`walks ${count} items of an origin that links to missing states`, async (t) => {
      const pair = open(t)
      pair.onRequest = ({ url }) => (url.includes('@') ? new Response('{}', { status: 404 }) : undefined)
      await pair.fill(rows(0, count))
      await pair.keepUp({}, () => pair.count('walked') === 1 && pair.count('current') > 1)
      const loads = pair.count('loaded')
      await pair.change(rows(1, 2, 'changed'))
      await waitUntil(() => pair.count('loaded') === loads + 1)
      await pair.same()
    })

  it('waits for changes, and applies them without a pause', async (t) => {
    const pair = await openSmall(t)
    await pair.keepUp({ everyMs: 30_000 })
    for (const n of [1, 2, 3]) {
      await pair.change(rows(n, n + 1, `changed ${n}`))
      await pair.catchesUp()
    }
  })

  for (const [what, settings] of [
    ['a collection without a key', { keyField: null }],
    ['an unpaginated one', { keyField: 'id', isPaginated: false }],
    ['one with a key of two fields', { keyField: 'id,text', isPrivate: false }],
  ] as const)
    it(`reads ${what}`, async (t) => {
      const pair = open(t)
      await pair.fill(rows(0, 700), settings)
      await pair.run()
      const { keyField, isPaginated = true } = { isPaginated: true, ...settings }
      await pair.store.append(pair.name, itemRun(rows(700, 800), { keyField }))
      await pair.run()
      await pair.same()
      const head = await pair.head()
      assert.deepEqual([head?.isPaginated, head?.keyField], [isPaginated, keyField])
    })

  it('is emptied and filled again as one state if all of its origin is replaced', async (t) => {
    const pair = open(t)
    await pair.fill(rows(0, 1200))
    await pair.run()
    await pair.remember()
    await pair.change(rows(0, 2, 'before'))
    await pair.remember()
    await pair.load(rows(2000, 2600), { isReplacement: true })
    await pair.remember()
    await pair.change(rows(2000, 2001, 'after'))
    await pair.remember()
    const seen: Promise<boolean>[] = []
    await pair.run({ onEvent: () => void seen.push(pair.showsState()) })
    assert.ok((await Promise.all(seen)).every(Boolean))
    await pair.same()
    assert.equal((await pair.head())?.live, 600)
  })

  it('goes on where it was, wherever it was cut off, and never shows half a version, or two as one', async (t) => {
    const pair = open(t)
    await pair.fill(rows(0, 10))
    await pair.run()
    const { version = 0 } = (await pair.head()) ?? {}
    await pair.remember()
    for (let n = 0; n < 12; n++) {
      await pair.change(rows(n * 100, n * 100 + 150, `version ${n}`), n > 0 ? [n - 1] : [])
      await pair.remember()
    }
    for (let most = 0; most < 12; most++) {
      pair.requests = 0
      pair.onRequest = (_request, number) => {
        if (number > most) throw new Error('The connection was cut.')
        return undefined
      }
      await pair.run().catch((error) => assert.match(error.message, /The connection was cut/))
      assert.ok(await pair.showsState())
    }
    pair.onRequest = () => undefined
    await pair.run()
    await pair.same()
    assert.equal((await pair.head())?.version, version + 12)
  })

  it('is copied again if its origin was made again, or does not keep the state that it shows', async (t) => {
    const pair = open(t)
    await pair.fill(rows(0, 600))
    await pair.run()
    await pair.fillAgain(rows(300, 900))
    await pair.run()
    await pair.same()
    await pair.change(rows(0, 1), [300])
    await pair.store.forget(pair.name)
    await pair.run()
    await pair.same()
    assert.deepEqual(pair.reasons, [
      'for the first time',
      'its origin has another history',
      'its origin does not keep the state that it shows any more',
    ])
  })

  it('is copied again if somebody else changed it', async (t) => {
    const pair = await openSmall(t)
    await pair.run()
    const { origin } = (await pair.head()) ?? {}
    assert.ok(origin)
    await pair.mirror.patch(pair.name, { puts: keyed([]), steps: ['1'] }, { origin: { from: origin, to: origin } })
    await pair.change([], [1])
    await pair.run()
    await pair.same()
    assert.equal(pair.count('loaded'), 2)
  })

  it('is given up with a message if its origin never keeps the state that it names', async (t) => {
    const pair = open(t)
    await pair.fill(rows(0, 600))
    pair.onRequest = ({ url }) => (url.includes('@') ? new Response('', { status: 410 }) : undefined)
    for (const isOnce of [true, false])
      await assert.rejects(pair.run({ isOnce }), /could not be copied, 3 times in a row: its origin does not keep/)
    assert.ok(pair.requests < 20, `${pair.requests} requests`)
    assert.equal(await pair.head(), undefined)
  })

  it('refuses a snapshot whose count changes from page to page', async (t) => {
    const pair = open(t)
    await pair.fill(rows(0, 1200))
    pair.onRequest = async ({ url }) => {
      if (!url.endsWith('page=2')) return undefined
      const response = await pair.serve(url)
      return new Response((await response.text()).replace('"item_count":1200', '"item_count":1199'), response)
    }
    await assert.rejects(pair.run(), /is no snapshot: its item_count is 1200 items on page 1, 1199 on page 2/)
    assert.equal(await pair.head(), undefined)
  })

  it('does not flood an origin that never says that nothing has changed', async (t) => {
    const pair = await openSmall(t)
    await pair.run()
    pair.onRequest = async ({ url }, number) => {
      const { status, body } = await pair.serve(url)
      return new Response(body, { status, headers: { ETag: `"${number}"` } })
    }
    pair.requests = 0
    await pair.keepUp({ everyMs: 60_000 }, () => pair.count('current') > 2)
    // A mirror that does not wait would send many more requests meanwhile.
    await new Promise((resolve) => setTimeout(resolve, 200))
    assert.equal(pair.requests, 2)
  })

  it('that exists also waits for its origin when it starts, and is as old as it was before', async (t) => {
    const pair = await openSmall(t)
    await pair.run()
    const before = await pair.following()
    assert.ok(before && Date.now() - before.asOf < 60_000)
    pair.onRequest = unavailable
    await assert.rejects(pair.run(), /503/)
    await pair.keepUp({}, () => pair.count('retry') > 0)
    assert.equal((await pair.following())?.asOf, before.asOf)
    await pair.change(rows(9, 10))
    pair.onRequest = () => undefined
    await waitUntil(async () => (await pair.head())?.live === 4)
    assert.equal(pair.count('back'), 1)
  })

  it('is kept by one process at a time, and by the next one as soon as that has ended', async (t) => {
    const pair = await openSmall(t)
    const end = await pair.keepUp()
    const events: string[] = []
    const second = pair.run({ onEvent: ({ kind }) => void events.push(kind) })
    await waitUntil(() => events.includes('claimed-by-other'))
    await end()
    await second
    assert.deepEqual(events, ['claimed-by-other', 'claimed', 'current'])
  })

  it('says that it is kept while it waits, and is left to another process that has taken it over', async (t) => {
    const pair = await openSmall(t)
    await pair.keepUp({ everyMs: 30_000 })
    const first = await pair.following()
    assert.ok(first?.holder)
    await waitUntil(async () => ((await pair.following())?.seenAt ?? 0) > first.seenAt)
    // This process runs, but it is not that one.
    const other = { ...first, holder: JSON.stringify({ ...JSON.parse(first.holder), id: 'other' }) }
    const takeOver = async () => pair.mirror.noteFollowing(pair.name, { ...other, seenAt: Date.now() })
    await takeOver()
    await waitUntil(async () => {
      await pair.change(rows(3, 4, `${Date.now()}`))
      return pair.count('claimed-by-other') > 0
    })
    assert.equal((await pair.following())?.holder, other.holder)
    const before = await pair.items()
    await pair.change(rows(4, 5))
    await takeOver()
    assert.deepEqual(await pair.items(), before)
    const { holder: _, ...left } = other
    await pair.mirror.noteFollowing(pair.name, left)
    await waitUntil(async () => (await pair.items()).length === 5)
  })

  for (const [what, spoil, message, hasChange] of [
    ['is detached', 'detach', /is no mirror any more: somebody detached it/, true],
    ['is dropped', 'drop', /was dropped/, true],
    ['is detached while nothing changes', 'detach', /somebody detached it/, false],
  ] as const)
    it(`ends with a message when it ${what}`, async (t) => {
      const pair = await openSmall(t)
      const running = pair.run({ isOnce: false })
      await waitUntil(() => pair.count('current') > 0)
      await pair.mirror[spoil](pair.name)
      if (hasChange) await pair.change(rows(5, 6))
      await assert.rejects(running, message)
      assert.equal((await pair.head())?.origin ?? null, null)
    })

  describe('is refused, and nothing changes,', () => {
    const cases: [what: string, prepare: (pair: Pair) => Promise<unknown>, message: RegExp][] = [
      ['in a collection that is none', ({ mirror, name }) => fill(mirror, name, rows(5, 9)), /exists and is no mirror/],
      [
        'in a mirror of something else',
        async ({ mirror, name }) => {
          const load = await mirror.load(name, { isMirroring: true })
          await load.commit({ url: 'http://elsewhere.example/events', position: 'x' })
        },
        /is a mirror of http:\/\/elsewhere\.example\/events/,
      ],
      ['of a missing collection', ({ store, name }) => store.drop(name), /404.*There is no collection "events-/],
      [
        'of a private one without a token',
        ({ store, name }) => store.setPrivate(name, true),
        /404.*There is no collection "events-/,
      ],
    ]
    for (const [what, prepare, message] of cases)
      it(what, async (t) => {
        const pair = await openSmall(t)
        await prepare(pair)
        const before = await pair.head()
        await assert.rejects(pair.run({ isOnce: false }), message)
        assert.deepEqual(await pair.head(), before)
      })

    it('with another key than its origin has', async (t) => {
      const pair = await openSmall(t)
      await assert.rejects(pair.run({ keyField: 'text' }), /has the key "id", not "text"\. Leave out --key/)
      await pair.fillAgain(rows(0, 3), { keyField: null })
      await assert.rejects(pair.run({ keyField: 'id' }), /has no key, not "id"/)
      assert.equal(await pair.head(), undefined)
    })

    it('if the items of an origin that does not say its key have no such field', async (t) => {
      const pair = await openSmall(t)
      pair.onRequest = hasNoEntryPoint(404)
      await assert.rejects(pair.run({ keyField: 'number' }), /Item 1 of .*events-\d+: .*"number"/)
      assert.equal(await pair.head(), undefined)
      await pair.run()
      await pair.change(rows(1, 2, 'changed'))
      await assert.rejects(pair.run(), /has a key.*--key/)
      await pair.mirror.drop(pair.name)
      await pair.run({ keyField: 'id' })
      await pair.same()
    })
  })
})

describe('a mirror whose origin is not what it was', () => {
  const tokenOf = async (store: Store) => (await tokenFor(store, ['read:*'])).Authorization.replace('Bearer ', '')

  it('stays as it is if that has another key or no pages by now, and says what to do', async (t) => {
    const pair = open(t)
    await pair.fill(['{"id":"1","text":"2"}', '{"id":"2","text":"1"}'])
    await pair.run()
    const before = await pair.items()
    await pair.fillAgain(rows(0, 1), { keyField: 'text' })
    await assert.rejects(
      pair.run({ isOnce: false }),
      /the key "text" by now, and the mirror the key "id".*reams drop events/,
    )
    await pair.fillAgain(rows(0, 3), { isPaginated: false })
    await assert.rejects(pair.run({ isOnce: false }), /has no pages by now.*reams drop events/)
    assert.deepEqual(await pair.items(), before)
    await pair.fillAgain(rows(0, 3))
    await assert.rejects(pair.run({ keyField: 'text' }), /has the key "id", not "text"\. Leave out --key/)
    await pair.run()
  })

  it('becomes private with it, at once or when it is copied again, and stays private', async (t) => {
    const pair = await openSmall(t)
    pair.token = await tokenOf(pair.store)
    const isPrivate = async () => (await pair.head())?.isPrivate === true
    const end = await pair.keepUp({ everyMs: 30_000 })
    assert.equal(await isPrivate(), false)
    await pair.store.setPrivate(pair.name, true)
    await waitUntil(isPrivate)
    await pair.change(rows(3, 4))
    await waitUntil(async () => (await pair.items()).length === 4)
    await end()
    await pair.mirror.setPrivate(pair.name, false)
    await pair.fillAgain(rows(0, 3), { isPrivate: true })
    await pair.run()
    assert.equal(await isPrivate(), true)
  })

  it('is private if its server does not say whether it is, and a token was needed', async (t) => {
    const pair = open(t)
    pair.token = await tokenOf(pair.store)
    await pair.fill(rows(0, 3), { keyField: null })
    pair.onRequest = hasNoEntryPoint(404)
    await pair.run()
    assert.equal((await pair.head())?.isPrivate, true)
  })

  it('is not made while its server cannot say what it is', async (t) => {
    const pair = await openSmall(t)
    pair.onRequest = hasNoEntryPoint(503)
    await assert.rejects(pair.run(), /503/)
    assert.equal(await pair.head(), undefined)
  })

  it('goes on after a page of another server, and reports a dropped one the same way each time', async (t) => {
    const pair = await openSmall(t)
    await pair.keepUp()
    for (const respond of [
      () => new Response('<html>', { status: 200, headers: { 'content-type': 'text/html' } }),
      () => new Response('', { status: 302, headers: { location: '/login' } }),
      () => new Response('', { status: 400 }),
    ]) {
      const before = pair.count('retry')
      pair.onRequest = respond
      await waitUntil(() => pair.count('retry') > before)
    }
    await pair.store.drop(pair.name)
    pair.onRequest = () => undefined
    const before = pair.count('retry')
    // One may still be about the last of those pages.
    await waitUntil(() => pair.count('retry') > before + 1)
    pair.events.splice(0)
    await waitUntil(() => pair.count('retry') > 4)
    const messages = pair.events.flatMap((event) => (event.kind === 'retry' ? [String(event.error)] : []))
    assert.equal(new Set(messages).size, 1, messages.join('\n'))
    await pair.fill(rows(5, 9))
    await waitUntil(async () => (await pair.items()).length === 4)
  })

  it('goes on with the token that it has while the file of the token is missing', async (t) => {
    const pair = await openSmall(t)
    await pair.keepUp({ open: () => Promise.reject(new Error('There is no token file.')) })
    pair.onRequest = unavailable
    await waitUntil(() => pair.count('retry') > 0)
    pair.onRequest = () => undefined
    await waitUntil(() => pair.count('back') > 0)
  })

  it('is as old as its copy until it has caught up for the first time', async (t) => {
    const pair = open(t)
    await pair.fill(rows(0, 600))
    const started = Date.now()
    pair.onRequest = ({ url }) => (url.includes('..') ? unavailable() : undefined)
    const end = await pair.keepUp({}, () => pair.count('retry') > 0)
    await end()
    const noted = await pair.following()
    assert.ok(noted !== undefined && noted.asOf >= started && noted.asOf <= Date.now())
  })
})

describe('a mirror of an origin without snapshots', () => {
  const openWithoutSnapshots = async (...[t]: Parameters<typeof open>) => {
    const pair = open(t)
    await pair.fill(rows(0, 1700))
    await pair.store.setRetention(pair.name, { retentionMs: 0 })
    return pair
  }

  it('is walked again if items are removed meanwhile, and copied when the origin names its states', async (t) => {
    const pair = await openWithoutSnapshots(t)
    let removed = 0
    pair.onRequest = async ({ url }) => {
      if (removed < 2 && url.endsWith('page=3')) await pair.change([], [removed++])
      return undefined
    }
    await pair.keepUp()
    assert.equal((await pair.items()).length, 1698)
    await pair.store.setRetention(pair.name, { retentionMs: 1000 * 60 * 60 })
    await waitUntil(() => pair.count('loaded') > 1)
    await pair.change(rows(900, 901, 'changed'))
    await pair.catchesUp()
    await waitUntil(() => pair.count('applied') === 1)
    assert.deepEqual(pair.reasons, ['for the first time', 'its origin names its states by now'])
  })

  it('is read as a whole when something has changed, and only then, and swapped in at once', async (t) => {
    const pair = await openWithoutSnapshots(t)
    const end = await pair.keepUp({}, () => pair.count('current') > 5)
    assert.equal(pair.count('walked'), 1)
    assert.equal(pair.count('loaded'), 1)
    for (const n of [3, 900, 1699]) {
      await pair.change(rows(n, n + 1, 'changed'))
      await pair.catchesUp()
    }
    await pair.change([], [0])
    await pair.catchesUp()
    await end()
    const { version } = (await pair.head()) ?? {}
    await pair.run()
    assert.equal((await pair.head())?.version, version)
  })

  for (const hasTags of [true, false])
    it(`shows a change on any page, also if ${hasTags ? 'each page has its own tag' : 'no page has a tag'}`, async (t) => {
      const pair = await openWithoutSnapshots(t)
      pair.onRequest = async ({ url, headers }) => {
        const { status, body } = await pair.serve(url)
        const text = await new Response(body).text()
        const tag = `"${hash('sha256', text)}"`
        if (hasTags && headers.get('if-none-match') === tag) return new Response(null, { status: 304 })
        return new Response(text, { status, headers: hasTags ? { ETag: tag } : {} })
      }
      await pair.keepUp()
      await pair.change(rows(900, 901, 'changed'))
      await pair.catchesUp()
      await waitUntil(() => pair.count('loaded') === 2)
    })
})
