import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { itemRun } from '../../src/items/item-run.ts'
import { createService } from '../../src/service/create-service.ts'
import type { CollectionSettings, Store } from '../../src/store/store.ts'
import { fill, tokenFor } from '../service/open-service.ts'
import { waitUntil } from '../wait-until.ts'
import { change, digestOf, itemsOf, KEYED, otherTags, Pair, rows, same, Versions } from './origin-and-mirror.ts'

describe('a mirror', () => {
  it('has the items of its origin in their order, byte for byte, then its changes, a version at a time', async (t) => {
    const pair = await Pair.open(t)
    await fill(pair.store, 'events', ['{ "id" : 7 , "a":1.0e1}', '{"id":"\\u00e9"}', ...rows(10, 1210)])
    await pair.run()
    await same(pair)
    const { version = 0, origin } = (await pair.mirror.head('events')) ?? {}
    assert.match(origin?.position ?? '', /^\S+$/)
    await change(pair.store, ['{"id":7,"a":2}', ...rows(5000, 5003)], [11, 12])
    await change(pair.store, rows(11, 12, 'again'), ['é'])
    await pair.store.append('events', itemRun(rows(6000, 7300), KEYED))
    await pair.run()
    await same(pair)
    assert.equal((await pair.mirror.head('events'))?.version, version + 3)
    const behind = pair.events.find((event) => event.kind === 'behind')
    assert.equal(behind?.versions, 3)
    assert.equal(pair.told('loaded'), 1)
    assert.deepEqual((await pair.mirror.verify()).findings, [])
  })

  it('asks for little where nothing has changed, and goes on to a state with the same items', async (t) => {
    const pair = await Pair.open(t)
    await fill(pair.store, 'events', rows(0, 3))
    await pair.run()
    const head = await pair.mirror.head('events')
    pair.requests = 0
    await pair.run()
    assert.equal(pair.requests, 1)
    assert.deepEqual(await pair.mirror.head('events'), head)
    await pair.store.setRetention('events', { retentionMs: 1000 * 60 * 60 })
    await pair.run()
    assert.notEqual((await pair.mirror.head('events'))?.origin?.position, head?.origin?.position)
    assert.equal(pair.told('loaded'), 1)
  })

  for (const count of [3, 1210])
    it(`walks ${count} items of an origin that links states which are not there`, async (t) => {
      const pair = await Pair.open(t)
      pair.onRequest = ({ url }) => (url.includes('@') ? new Response('{}', { status: 404 }) : undefined)
      await fill(pair.store, 'events', rows(0, count))
      const end = new AbortController()
      const running = pair.run({ isOnce: false }, end.signal)
      await waitUntil(() => pair.told('walked') === 1 && pair.told('current') > 1)
      const copies = pair.told('loaded')
      await change(pair.store, rows(1, 2, 'changed'))
      await waitUntil(() => pair.told('loaded') === copies + 1)
      await same(pair)
      end.abort(new Error('enough'))
      await assert.rejects(running, /enough|abort/i)
    })

  it('waits for changes, and is as its origin soon', async (t) => {
    const pair = await Pair.open(t)
    await fill(pair.store, 'events', rows(0, 3))
    const end = new AbortController()
    const running = pair.run({ isOnce: false, everyMs: 30_000 }, end.signal)
    await waitUntil(() => pair.told('current') > 0)
    for (const n of [1, 2, 3]) {
      await change(pair.store, rows(n, n + 1, `changed ${n}`))
      await waitUntil(async () => (await digestOf(pair.mirror)) === (await digestOf(pair.store)))
    }
    end.abort(new Error('enough'))
    await assert.rejects(running, /enough|abort/i)
  })

  it('reads a collection without a key, an unpaginated one, a private one, and one with a key of two fields', async (t) => {
    for (const settings of [
      { keyField: null },
      { keyField: 'id', isPaginated: false },
      { keyField: 'id,text', isPrivate: false },
    ]) {
      const pair = await Pair.open(t)
      await fill(pair.store, 'events', rows(0, 700), settings)
      await pair.run()
      const { keyField = null } = settings
      await pair.store.append('events', itemRun(rows(700, 800), { keyField }))
      await pair.run()
      await same(pair)
      const [{ isPaginated, keyField: key } = {}] = await pair.mirror.collections()
      assert.deepEqual([isPaginated, key], [settings.isPaginated ?? true, keyField])
    }
  })

  it('is emptied and filled again as one state where all of its origin is replaced', async (t) => {
    const pair = await Pair.open(t)
    await fill(pair.store, 'events', rows(0, 1200))
    await pair.run()
    await change(pair.store, rows(0, 2, 'before'))
    const load = await pair.store.load('events', { isReplacement: true })
    await load.append(itemRun(rows(2000, 2600), KEYED))
    await load.commit()
    await change(pair.store, rows(2000, 2001, 'after'))
    const seen = new Versions()
    await pair.run({ onEvent: () => void seen.add(pair.mirror) })
    await same(pair)
    assert.equal((await pair.mirror.head('events'))?.live, 600)
  })

  it('goes on where it was, wherever it was cut off, and never shows half a version', async (t) => {
    const pair = await Pair.open(t)
    await fill(pair.store, 'events', rows(0, 10))
    await pair.run()
    const versions = new Versions()
    await versions.add(pair.store)
    for (let n = 0; n < 12; n++) {
      await change(pair.store, rows(n * 100, n * 100 + 150, `version ${n}`), n > 0 ? [n - 1] : [])
      await versions.add(pair.store)
    }
    for (let most = 0; most < 12; most++) {
      pair.requests = 0
      pair.onRequest = (_request, number) => {
        if (number > most) throw new Error('The connection was cut.')
        return undefined
      }
      await pair.run().catch((error) => assert.match(error.message, /The connection was cut/))
      assert.ok(versions.digests.has(await digestOf(pair.mirror)))
    }
    pair.onRequest = () => undefined
    await pair.run()
    await same(pair)
  })

  it('is copied anew where its origin was made anew, or does not keep the state that it shows', async (t) => {
    const pair = await Pair.open(t)
    await fill(pair.store, 'events', rows(0, 600))
    await pair.run()
    await pair.store.drop('events')
    await fill(pair.store, 'events', rows(300, 900))
    await pair.run()
    await same(pair)
    await change(pair.store, rows(0, 1), [300])
    await pair.store.forget('events')
    await pair.run()
    await same(pair)
    const reasons = pair.events.flatMap((event) => (event.kind === 'loaded' ? [event.reason] : []))
    assert.deepEqual(reasons, [
      'for the first time',
      'its origin has another history',
      'its origin does not keep the state that it shows any more',
    ])
  })

  it('is copied anew where somebody changed it behind its back', async (t) => {
    const pair = await Pair.open(t)
    await fill(pair.store, 'events', rows(0, 3))
    await pair.run()
    const { origin } = (await pair.mirror.head('events')) ?? {}
    assert.ok(origin)
    const nothing = { puts: itemRun([], KEYED), steps: ['1'] }
    await pair.mirror.patch('events', nothing, { origin: { from: origin, to: origin } })
    await change(pair.store, [], [1])
    await pair.run()
    await same(pair)
    assert.equal(pair.told('loaded'), 2)
  })

  it('is given up with a message where its origin never keeps the state that it names', async (t) => {
    const pair = await Pair.open(t)
    await fill(pair.store, 'events', rows(0, 600))
    pair.onRequest = ({ url }) => (url.includes('@') ? new Response('', { status: 410 }) : undefined)
    for (const isOnce of [true, false])
      await assert.rejects(pair.run({ isOnce }), /could not be copied, 3 times in a row: its origin does not keep/)
    assert.ok(pair.requests < 20, `${pair.requests} requests`)
    assert.deepEqual(await pair.mirror.collections(), [])
  })

  it('refuses a snapshot whose count changes from page to page', async (t) => {
    const pair = await Pair.open(t)
    await fill(pair.store, 'events', rows(0, 1200))
    pair.onRequest = async (request) => {
      if (!request.url.endsWith('page=2')) return undefined
      const answer = await createService({ store: pair.store }).fetch(request)
      return new Response((await answer.text()).replace('"item_count":1200', '"item_count":1199'), answer)
    }
    await assert.rejects(pair.run(), /is no snapshot: its item_count is 1200 items on page 1, 1199 on page 2/)
    assert.deepEqual(await pair.mirror.collections(), [])
  })

  it('does not flood an origin that never says that nothing has changed', async (t) => {
    const pair = await Pair.open(t)
    await fill(pair.store, 'events', rows(0, 3))
    await pair.run()
    pair.onRequest = async (request, number) => {
      const { status, body } = await createService({ store: pair.store }).fetch(new Request(request.url))
      return new Response(body, { status, headers: { ETag: `"${number}"` } })
    }
    pair.requests = 0
    const end = new AbortController()
    const running = pair.run({ isOnce: false, everyMs: 60_000 }, end.signal)
    await waitUntil(() => pair.told('current') > 2)
    await new Promise((resolve) => setTimeout(resolve, 200))
    assert.equal(pair.requests, 2)
    end.abort(new Error('enough'))
    await assert.rejects(running)
  })

  it('goes on when its origin is back', async (t) => {
    const pair = await Pair.open(t)
    await fill(pair.store, 'events', rows(0, 3))
    const end = new AbortController()
    const running = pair.run({ isOnce: false }, end.signal)
    await waitUntil(() => pair.told('current') > 0)
    pair.onRequest = () => new Response('', { status: 503 })
    await waitUntil(() => pair.told('retry') > 0)
    await change(pair.store, rows(9, 10))
    pair.onRequest = () => undefined
    await waitUntil(async () => (await pair.mirror.head('events'))?.live === 4)
    assert.equal(pair.told('back'), 1)
    end.abort(new Error('enough'))
    await assert.rejects(running)
  })

  it('that is there waits for its origin also when it starts, and is as of when it was before', async (t) => {
    const pair = await Pair.open(t)
    await fill(pair.store, 'events', rows(0, 3))
    await pair.run()
    const [before] = await pair.mirror.followings()
    assert.ok(before && Date.now() - before.asOf < 60_000)
    pair.onRequest = () => new Response('', { status: 503 })
    await assert.rejects(pair.run(), /503/)
    const end = new AbortController()
    const running = pair.run({ isOnce: false }, end.signal)
    await waitUntil(() => pair.told('retry') > 0)
    assert.equal((await pair.mirror.followings())[0]?.asOf, before.asOf)
    await change(pair.store, rows(9, 10))
    pair.onRequest = () => undefined
    await waitUntil(async () => (await pair.mirror.head('events'))?.live === 4)
    end.abort(new Error('enough'))
    await assert.rejects(running)
  })

  it('is kept by one at a time, and by the next one as soon as that has ended', async (t) => {
    const pair = await Pair.open(t)
    await fill(pair.store, 'events', rows(0, 3))
    const end = new AbortController()
    const first = pair.run({ isOnce: false }, end.signal)
    await waitUntil(() => pair.told('current') > 0)
    const events: string[] = []
    const second = pair.run({ onEvent: ({ kind }) => void events.push(kind) })
    await waitUntil(() => events.includes('claimed-by-other'))
    end.abort(new Error('enough'))
    await assert.rejects(first)
    await second
    assert.deepEqual(events, ['claimed-by-other', 'claimed', 'current'])
  })

  it('says that it is kept while it waits, and is left to another one that has taken it over', async (t) => {
    const pair = await Pair.open(t)
    await fill(pair.store, 'events', rows(0, 3))
    const end = new AbortController()
    const running = pair.run({ isOnce: false, everyMs: 30_000 }, end.signal)
    await waitUntil(() => pair.told('current') > 0)
    const noted = async () => (await pair.mirror.followings()).find(({ name }) => name === 'events')
    const first = await noted()
    assert.ok(first?.holder)
    await waitUntil(async () => ((await noted())?.seenAt ?? 0) > first.seenAt)
    // This process runs, but it is not that one.
    const other = { ...first, holder: JSON.stringify({ ...JSON.parse(first.holder), id: 'other' }) }
    const takeOver = async () => pair.mirror.noteFollowing('events', { ...other, seenAt: Date.now() })
    await takeOver()
    await change(pair.store, rows(3, 4))
    await waitUntil(async () => {
      await change(pair.store, rows(3, 4, `${Date.now()}`))
      return pair.told('claimed-by-other') > 0
    })
    assert.equal((await noted())?.holder, other.holder)
    const before = await itemsOf(pair.mirror)
    await change(pair.store, rows(4, 5))
    await takeOver()
    assert.deepEqual(await itemsOf(pair.mirror), before)
    const { holder: _, ...left } = other
    await pair.mirror.noteFollowing('events', left)
    await waitUntil(async () => (await itemsOf(pair.mirror)).length === 5)
    end.abort(new Error('enough'))
    await assert.rejects(running)
  })

  for (const [what, spoil, message, hasChange] of [
    ['is detached', (store: Store) => store.detach('events'), /is no mirror any more: somebody detached it/, true],
    ['is dropped', (store: Store) => store.drop('events'), /was dropped/, true],
    ['is detached while nothing changes', (store: Store) => store.detach('events'), /somebody detached it/, false],
  ] as const)
    it(`ends with a message when it ${what}`, async (t) => {
      const pair = await Pair.open(t)
      await fill(pair.store, 'events', rows(0, 3))
      const running = pair.run({ isOnce: false })
      await waitUntil(() => pair.told('current') > 0)
      await spoil(pair.mirror)
      if (hasChange) await change(pair.store, rows(5, 6))
      await assert.rejects(running, message)
      assert.equal((await pair.mirror.head('events'))?.origin ?? null, null)
    })

  describe('is refused, and nothing is touched,', () => {
    const cases: [what: string, prepare: (pair: Pair) => Promise<unknown>, message: RegExp][] = [
      ['in a collection that is none', (pair) => fill(pair.mirror, 'events', rows(5, 9)), /exists and is no mirror/],
      [
        'in a mirror of something else',
        async (pair) => {
          const load = await pair.mirror.load('events', { isMirroring: true })
          await load.commit({ url: 'http://elsewhere.example/events', position: 'x' })
        },
        /is a mirror of http:\/\/elsewhere\.example\/events/,
      ],
      [
        'of a collection that is not there',
        (pair) => pair.store.drop('events'),
        /404.*There is no collection "events"/,
      ],
      [
        'of a private one without a token',
        (pair) => pair.store.setPrivate('events', true),
        /404.*There is no collection "events"/,
      ],
    ]
    for (const [what, prepare, message] of cases)
      it(what, async (t) => {
        const pair = await Pair.open(t)
        await fill(pair.store, 'events', rows(0, 3))
        await prepare(pair)
        const before = await pair.mirror.collections()
        await assert.rejects(pair.run({ isOnce: false }), message)
        assert.deepEqual(await pair.mirror.collections(), before)
      })

    it('with another key than its origin has', async (t) => {
      const pair = await Pair.open(t)
      await fill(pair.store, 'events', rows(0, 3))
      await assert.rejects(pair.run({ keyField: 'text' }), /has the key "id", not "text"\. Leave out --key/)
      await pair.store.drop('events')
      await fill(pair.store, 'events', rows(0, 3), { keyField: null })
      await assert.rejects(pair.run({ keyField: 'id' }), /has no key, not "id"/)
      assert.deepEqual(await pair.mirror.collections(), [])
    })

    it('where the items of an origin that does not say its key have no such field', async (t) => {
      const pair = await Pair.open(t)
      await fill(pair.store, 'events', rows(0, 3))
      // A proxy that lets through nothing but the collection.
      pair.onRequest = ({ url }) => (url.includes('/events') ? undefined : new Response('', { status: 404 }))
      await assert.rejects(pair.run({ keyField: 'number' }), /Item 1 of .*events: .*"number"/)
      assert.deepEqual(await pair.mirror.collections(), [])
      await pair.run()
      await change(pair.store, rows(1, 2, 'changed'))
      await assert.rejects(pair.run(), /has a key.*--key/)
      await pair.mirror.drop('events')
      await pair.run({ keyField: 'id' })
      await same(pair)
    })
  })
})

describe('a mirror whose origin is not what it was', () => {
  const tokenOf = async (store: Store) => (await tokenFor(store, ['read:*'])).Authorization.replace('Bearer ', '')
  const remade = async (pair: Pair, settings: Partial<CollectionSettings>, texts = rows(0, 3)) => {
    await pair.store.drop('events')
    await fill(pair.store, 'events', texts, settings)
  }

  it('stays as it is where that has another key or no pages by now, and says what to do', async (t) => {
    const pair = await Pair.open(t)
    await fill(pair.store, 'events', ['{"id":"1","text":"2"}', '{"id":"2","text":"1"}'])
    await pair.run()
    const before = await itemsOf(pair.mirror)
    await remade(pair, { keyField: 'text' }, rows(0, 1))
    await assert.rejects(
      pair.run({ isOnce: false }),
      /the key "text" by now, and the mirror the key "id".*reams drop events/,
    )
    await remade(pair, { keyField: 'id', isPaginated: false })
    await assert.rejects(pair.run({ isOnce: false }), /has no pages by now.*reams drop events/)
    assert.deepEqual(await itemsOf(pair.mirror), before)
    await remade(pair, KEYED)
    await assert.rejects(pair.run({ keyField: 'text' }), /has the key "id", not "text"\. Leave out --key/)
    await pair.run()
  })

  it('becomes private with it, at once or when it is copied anew, and stays so', async (t) => {
    const pair = await Pair.open(t)
    pair.token = await tokenOf(pair.store)
    const isPrivate = async () => (await pair.mirror.head('events'))?.isPrivate === true
    await fill(pair.store, 'events', rows(0, 3))
    const end = new AbortController()
    const running = pair.run({ isOnce: false, everyMs: 30_000 }, end.signal)
    await waitUntil(() => pair.told('current') > 0)
    assert.equal(await isPrivate(), false)
    await pair.store.setPrivate('events', true)
    await waitUntil(isPrivate)
    await change(pair.store, rows(3, 4))
    await waitUntil(async () => (await itemsOf(pair.mirror)).length === 4)
    end.abort(new Error('enough'))
    await assert.rejects(running)
    await pair.mirror.setPrivate('events', false)
    await remade(pair, { keyField: 'id', isPrivate: true })
    await pair.run()
    assert.equal(await isPrivate(), true)
  })

  it('is private where its server does not say whether it is, and a token was needed', async (t) => {
    const pair = await Pair.open(t)
    pair.token = await tokenOf(pair.store)
    await fill(pair.store, 'events', rows(0, 3), { keyField: null })
    pair.onRequest = ({ url }) => (url.includes('/events') ? undefined : new Response('', { status: 404 }))
    await pair.run()
    assert.equal((await pair.mirror.head('events'))?.isPrivate, true)
  })

  it('is not made while its server cannot say what it is', async (t) => {
    const pair = await Pair.open(t)
    await fill(pair.store, 'events', rows(0, 3))
    pair.onRequest = ({ url }) => (url.includes('/events') ? undefined : new Response('', { status: 503 }))
    await assert.rejects(pair.run(), /503/)
    assert.deepEqual(await pair.mirror.collections(), [])
  })

  it('goes on after a page of somebody else, and asks a dropped one without a word each time', async (t) => {
    const pair = await Pair.open(t)
    await fill(pair.store, 'events', rows(0, 3))
    const end = new AbortController()
    const running = pair.run({ isOnce: false }, end.signal)
    await waitUntil(() => pair.told('current') > 0)
    for (const answer of [
      () => new Response('<html>', { status: 200, headers: { 'content-type': 'text/html' } }),
      () => new Response('', { status: 302, headers: { location: '/login' } }),
      () => new Response('', { status: 400 }),
    ]) {
      const before = pair.told('retry')
      pair.onRequest = answer
      await waitUntil(() => pair.told('retry') > before)
    }
    await pair.store.drop('events')
    pair.events.splice(0)
    pair.onRequest = () => undefined
    await waitUntil(() => pair.told('retry') > 4)
    const messages = pair.events.flatMap((event) => (event.kind === 'retry' ? [String(event.error)] : []))
    assert.equal(new Set(messages).size, 1, messages.join('\n'))
    await fill(pair.store, 'events', rows(5, 9))
    await waitUntil(async () => (await itemsOf(pair.mirror)).length === 4)
    end.abort(new Error('enough'))
    await assert.rejects(running)
  })

  it('goes on with the token that it has while the file of the token is missing', async (t) => {
    const pair = await Pair.open(t)
    await fill(pair.store, 'events', rows(0, 3))
    const end = new AbortController()
    const open = () => Promise.reject(new Error('There is no token file.'))
    const running = pair.run({ isOnce: false, open }, end.signal)
    await waitUntil(() => pair.told('current') > 0)
    pair.onRequest = () => new Response('', { status: 503 })
    await waitUntil(() => pair.told('retry') > 0)
    pair.onRequest = () => undefined
    await waitUntil(() => pair.told('back') > 0)
    end.abort(new Error('enough'))
    await assert.rejects(running, /enough|abort/i)
  })

  it('is as of its copy until it is as its origin for the first time', async (t) => {
    const pair = await Pair.open(t)
    await fill(pair.store, 'events', rows(0, 600))
    const started = Date.now()
    pair.onRequest = ({ url }) => (url.includes('..') ? new Response('', { status: 503 }) : undefined)
    const end = new AbortController()
    const running = pair.run({ isOnce: false }, end.signal)
    await waitUntil(() => pair.told('retry') > 0)
    end.abort(new Error('enough'))
    await assert.rejects(running, /enough|abort/i)
    const [noted] = await pair.mirror.followings()
    assert.ok(noted !== undefined && noted.asOf >= started && noted.asOf <= Date.now())
  })
})

describe('a mirror of an origin without snapshots', () => {
  it('is walked again where items are removed meanwhile, and copied when the origin names its states', async (t) => {
    const pair = await Pair.open(t)
    await fill(pair.store, 'events', rows(0, 1700))
    await pair.store.setRetention('events', { retentionMs: 0 })
    let removed = 0
    pair.onRequest = async ({ url }) => {
      if (removed < 2 && url.endsWith('page=3')) await change(pair.store, [], [removed++])
      return undefined
    }
    const end = new AbortController()
    const running = pair.run({ isOnce: false }, end.signal)
    await waitUntil(() => pair.told('current') > 0)
    assert.equal((await itemsOf(pair.mirror)).length, 1698)
    await pair.store.setRetention('events', { retentionMs: 1000 * 60 * 60 })
    await waitUntil(() => pair.told('loaded') > 1)
    await change(pair.store, rows(900, 901, 'changed'))
    await waitUntil(async () => (await digestOf(pair.mirror)) === (await digestOf(pair.store)))
    assert.equal(pair.told('applied'), 1)
    end.abort(new Error('enough'))
    await assert.rejects(running)
    const reasons = pair.events.flatMap((event) => (event.kind === 'loaded' ? [event.reason] : []))
    assert.deepEqual(reasons, ['for the first time', 'its origin names its states by now'])
  })

  it('is read as a whole when something has changed, and only then, and swapped in at once', async (t) => {
    const pair = await Pair.open(t)
    await fill(pair.store, 'events', rows(0, 1700))
    await pair.store.setRetention('events', { retentionMs: 0 })
    const end = new AbortController()
    const running = pair.run({ isOnce: false }, end.signal)
    await waitUntil(() => pair.told('current') > 5)
    assert.equal(pair.told('walked'), 1)
    assert.equal(pair.told('loaded'), 1)
    for (const n of [3, 900, 1699]) {
      await change(pair.store, rows(n, n + 1, 'changed'))
      await waitUntil(async () => (await digestOf(pair.mirror)) === (await digestOf(pair.store)))
    }
    await change(pair.store, [], [0])
    await waitUntil(async () => (await digestOf(pair.mirror)) === (await digestOf(pair.store)))
    end.abort(new Error('enough'))
    await assert.rejects(running)
    const { version } = (await pair.mirror.head('events')) ?? {}
    await pair.run()
    assert.equal((await pair.mirror.head('events'))?.version, version)
  })

  it('shows a change on any page, also where each page has a tag of its own or none at all', async (t) => {
    for (const hasTags of [true, false]) {
      const pair = await Pair.open(t)
      await fill(pair.store, 'events', rows(0, 1700))
      await pair.store.setRetention('events', { retentionMs: 0 })
      pair.onRequest = (request) => otherTags(pair.store, request, hasTags)
      const end = new AbortController()
      const running = pair.run({ isOnce: false }, end.signal)
      await waitUntil(() => pair.told('current') > 0)
      await change(pair.store, rows(900, 901, 'changed'))
      await waitUntil(async () => (await digestOf(pair.mirror)) === (await digestOf(pair.store)))
      end.abort(new Error('enough'))
      await assert.rejects(running)
      assert.equal(pair.told('loaded'), 2)
    }
  })
})
