import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { copyFileSync, existsSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { it } from 'node:test'
import { lastPage } from '../../src/contract/page.ts'
import { itemRun } from '../../src/items/item-run.ts'
import type { CollectionSettings, Origin, Store } from '../../src/store/store.ts'
import { describePostgres } from '../store/postgres-server.ts'
import { changeRows } from '../store/sqlite-rows.ts'
import { readItems } from '../store/store-reading.ts'
import { inStore, interrupt, refused, run, runWatched, storeMaker, storesInPostgres, succeeds } from './directory.ts'
import { putLines } from './items.ts'
import { workDirectory } from './run-cli.ts'

/** Collections of all kinds. */
async function fill(store: Store): Promise<void> {
  const make = async (name: string, texts: readonly string[], settings: Partial<CollectionSettings> = {}) => {
    await store.create(name, settings)
    await store.append(name, itemRun(texts, { keyField: settings.keyField ?? null }))
  }
  const plain = (count: number): string[] => Array.from({ length: count }, (_, id) => `{"id":${id},"é":"🦉 \\u0041"}`)
  for (const count of [0, 1, 499, 500, 501]) await make(`of-${count}`, plain(count))
  await make('whole', plain(1300), { isPaginated: false })
  await make('secret', plain(700), { isPrivate: true, keyField: 'id' })
  await make('holes', plain(2300), { keyField: 'id' })
  const ids = (first: number, count: number) => Array.from({ length: count }, (_, index) => String(first + index))
  await store.delete('holes', ['0', '3', '499', '1999', '2000', '2299', ...ids(500, 500)])
  await make('emptied', plain(500), { keyField: 'id' })
  await store.delete('emptied', ids(0, 500))
  const keys = ['a', 'é', '\uffee', '\u{10000}', '😀', ' ', "'", '"', 'ä'.repeat(100)]
  const unicode = keys.map((id) => JSON.stringify({ id }))
  await make('unicode', unicode, { keyField: 'id' })
  await store.setRetention('of-500', { retentionMs: 0 })
  await store.setRetention('secret', { retentionMs: 3_600_000, retentionBytes: 123_456_789 })
}

/** All that a reader can see of a store, page by page, and what its own check finds. */
async function contentOf(store: Store) {
  const collections = []
  for (const { name, live, keyField, isPaginated, isPrivate, ...head } of await store.collections()) {
    const { retentionMs, retentionBytes } = head
    const pages: string[] = []
    for (let page = 1; page <= (isPaginated ? lastPage(live) : 1); page++) {
      const read = await store.page(name, page)
      pages.push((read?.segments ?? []).map((segment) => Buffer.from(segment.raw()).toString()).join(',\n'))
    }
    collections.push({ name, live, keyField, isPaginated, isPrivate, retentionMs, retentionBytes, pages })
  }
  return { collections, findings: (await store.verify()).findings }
}

async function checkSame(one: string, other: string): Promise<void> {
  const expected = await inStore(one, contentOf)
  assert.deepEqual(await inStore(other, contentOf), { ...expected, findings: [] })
}

const filled = storeMaker((directory) => inStore(join(directory, 'reams.db'), fill, true))

const NOISY_ITEMS = 6000

/** `reams.db` with a collection that does not shrink much, so that there is something to send. */
const filledWithNoise = storeMaker((directory) => {
  const noise = (id: number): string => hash('sha512', String(id), 'base64')
  const ids = Array.from({ length: NOISY_ITEMS }, (_, index) => (index * 7919) % NOISY_ITEMS)
  const lines = ids.map((id) => `{"id":"k${id}","noise":"${noise(id)}"}`)
  return putLines(directory, 'events', lines.join('\n'), { keyField: 'id' })
})

describePostgres('copy', (startPostgres, isCitus) => {
  const ofFiles = { skip: isCitus && 'It copies from file to file' }
  const { newUrl, newUrlWithProxy } = storesInPostgres(startPostgres)

  const between = (from: string, to: string) => ({ variables: { REAMS_FROM: from, REAMS_TO: to } })
  const copied = (directory: string, from: string, to: string, flags = ''): Promise<string> =>
    succeeds(directory, `copy${flags}`, between(from, to))

  const at = (position: number, url = 'https://data.example/events'): Origin => ({ url, position: String(position) })
  /** Brings the mirror one version further, which changes its item. */
  const advance = (store: Store, n: number) =>
    store.patch(
      'events',
      { puts: itemRun([`{"id":0,"n":${n + 1}}`], { keyField: 'id' }), steps: [null] },
      { origin: { from: at(n), to: at(n + 1) } },
    )
  const loadMirror = async (store: Store, origin: Origin, items: readonly string[]) => {
    const load = await store.load('events', { settings: { keyField: 'id' }, isMirroring: true })
    await load.append(itemRun(items, { keyField: 'id' }))
    await load.commit(origin)
  }
  /** A store with a mirror of one item, `{"id":0,"n":0}`, at position 0. */
  const withMirror = storeMaker((directory) =>
    inStore(join(directory, 'reams.db'), (store) => loadMirror(store, at(0), ['{"id":0,"n":0}']), true),
  )

  it('of a mirror is a mirror, at the position that belongs to its items, while the mirror advances', async (t) => {
    const directory = await withMirror(t)
    await inStore(join(directory, 'reams.db'), async (store) => {
      let [n, isEnded] = [0, false]
      const advancing = (async () => {
        while (!isEnded) await advance(store, n++)
      })()
      for (const target of [join(directory, 'new.db'), newUrl()]) {
        assert.match(await copied(directory, 'reams.db', target), /^events: 1 item/)
        const [origin, [item]] = await inStore(target, async (copy) => [
          (await copy.head('events'))?.origin,
          await readItems(copy, 'events'),
        ])
        assert.equal(item, `{"id":0,"n":${origin?.position}}`)
      }
      isEnded = true
      await advancing
    })
  })

  it('replaces a mirror only by a copy of the same mirror', ofFiles, async (t) => {
    const directory = await withMirror(t)
    const [path, other] = [join(directory, 'reams.db'), join(directory, 'other.db')]
    copyFileSync(path, other)
    await inStore(path, (store) => advance(store, 0))
    await copied(directory, path, other, ' --replace')
    const originOfOther = async () => (await inStore(other, (store) => store.head('events')))?.origin
    assert.deepEqual(await originOfOther(), at(1))
    await inStore(path, async (store) => {
      await store.detach('events')
      await store.put('events', itemRun(['{"id":0,"n":9}'], { keyField: 'id' }))
    })
    await refused(directory, 'copy --replace', 1, /is a mirror of https:.*--detach/, between(path, other))
    await inStore(path, async (store) => {
      await store.drop('events')
      await loadMirror(store, at(5, 'https://elsewhere.example/events'), [])
    })
    const message = /is a mirror of https:\/\/data\.example/
    await refused(directory, 'copy --replace', 1, message, between(path, other))
    assert.deepEqual(await originOfOther(), at(1))
  })

  it('brings collections of all kinds to a database, to another one, and back, page by page the same', async (t) => {
    const directory = await filled(t)
    const places = [join(directory, 'reams.db'), newUrl(), newUrl(), join(directory, 'back.db')]
    for (const [index, from] of places.slice(0, -1).entries()) {
      const to = places[index + 1] ?? ''
      const stdout = await copied(directory, from, to)
      const [, sum] =
        /^holes: 1,794 items, 4 pages, copied and compared in .*; SHA-256 ([0-9a-f]{64})$/m.exec(stdout) ?? []
      assert.match(stdout, /^\S+ has 10 collections of \S+, with 5,304 items\.$/m)
      const lines = await inStore(to, (store) => readItems(store, 'holes'))
      const exported = lines.map((line) => `${line}\n`).join('')
      assert.equal(hash('sha256', exported), sum, 'the checksum is that of an export')
    }
    await checkSame(places[0] ?? '', join(directory, 'back.db'))
  })

  it('copies one snapshot of a collection that changes meanwhile, with more than one batch', async (t) => {
    const directory = await filledWithNoise(t)
    const url = newUrl()
    await inStore(join(directory, 'reams.db'), async (store) => {
      const states = await readItems(store, 'events')
      let isRunning = true
      const ended = copied(directory, 'reams.db', url).finally(() => {
        isRunning = false
      })
      for (let id = 0; isRunning; id++) {
        await store.append('events', itemRun([`{"id":"new ${id}"}`], { keyField: 'id' }))
        states.push(`{"id":"new ${id}"}`)
      }
      await ended
      const found = await inStore(url, (copy) => readItems(copy, 'events'))
      assert.ok(found.length >= NOISY_ITEMS)
      assert.equal(found.join('\n'), states.slice(0, found.length).join('\n'))
    })
  })

  it('skips what is the same, copies what it is asked for, and replaces only with --replace', ofFiles, async (t) => {
    const directory = await filled(t)
    const target = join(directory, 'new.db')
    await inStore(target, (store) => store.append('of-501', itemRun(['{"a":1}']), { create: true }), true)
    const different = /^reams: new\.db already has a different collection "of-501", with 1 item\. .*--repl/
    await refused(directory, 'copy', 1, different, between('reams.db', 'new.db'))
    await inStore(target, async (store) => assert.equal((await store.collections()).length, 1, 'nothing was copied'))
    const unknown = /no collection "nobody".*There are/
    await refused(directory, 'copy --collection nobody', 2, unknown, between('reams.db', 'new.db'))
    await inStore(join(directory, 'other.db'), (store) => store.create('holes', { isPrivate: true }), true)
    const settings = /"holes" in other\.db is without a key and private, .* reams drop holes --store other\.db/
    await refused(directory, 'copy --replace', 1, settings, between('reams.db', 'other.db'))
    const chosen = await copied(directory, 'reams.db', 'new.db', ' --collection holes --collection secret')
    assert.match(chosen, /has 2 collections/)
    // As many, and others.
    await inStore(target, (store) => store.replace('secret', itemRun(['{"id":5}'], { keyField: 'id' })))
    const { status, stderr } = await run(directory, 'copy --collection secret', between('reams.db', 'new.db'))
    assert.match(stderr, /^reams: .* different collection "secret".*\n$/)
    assert.equal(status, 1)
    const stdout = await copied(directory, 'reams.db', 'new.db', ' --replace')
    assert.match(stdout, /^holes: 1,794 items, 4 pages, the same already, compared in .*; SHA-256/m)
    assert.match(stdout, /^secret: 700 items, 2 pages, copied/m)
    await checkSame(join(directory, 'reams.db'), target)
  })

  it('does not call a collection damaged that others write to behind its commit', ofFiles, async (t) => {
    const directory = await filledWithNoise(t)
    const target = join(directory, 'new.db')
    const create = (store: Store) => store.create('events', { keyField: 'id' })
    await inStore(target, create, true)
    await inStore(target, async (store) => {
      let isRunning = true
      const ended = copied(directory, 'reams.db', target, ' --replace').finally(() => {
        isRunning = false
      })
      let added = 0
      // Refused while the copy is loaded, and taken from its commit on.
      for (let id = 0; isRunning; id++)
        await store.append('events', itemRun([`{"id":"new ${id}"}`], { keyField: 'id' })).then(
          () => added++,
          (error) => assert.equal(error.code, 'busy'),
        )
      assert.match(await ended, /^events: 6,000 items, .* copied/m)
      const live = (await store.head('events'))?.live ?? 0
      assert.ok(live >= NOISY_ITEMS && live <= NOISY_ITEMS + added)
    })
  })

  it('says that tokens stay, or copies them too', ofFiles, async (t) => {
    const directory = workDirectory(t)
    const token = async (words: string) => (await run(directory, `token ${words}`)).stdout
    await token('create --name ci --scope admin --create --store my.db')
    await token('create --name old --scope admin --store my.db')
    await token('revoke old --store my.db')
    const stdout = await copied(directory, 'my.db', 'new.db')
    const nothing = 'new.db has 0 collections of my.db, with 0 items.\n'
    assert.equal(stdout, `${nothing}2 tokens were not copied; --tokens copies them too.\n`)
    assert.match(await copied(directory, 'my.db', 'new.db', ' --tokens'), /^2 tokens were copied\.$/m)
    assert.equal(await token('list --store new.db'), await token('list --store my.db'))
    assert.equal(await copied(directory, 'my.db', 'new.db', ' --tokens'), nothing)
    await token('create --name ci --scope admin --create --store third.db')
    const message = /third\.db already has a different token "ci"/
    await refused(directory, 'copy --tokens', 1, message, between('my.db', 'third.db'))
  })

  it('refuses a place that is missing, no store, or the same', ofFiles, async (t) => {
    const directory = await filled(t)
    symlinkSync('reams.db', join(directory, 'link.db'))
    const url = newUrl()
    const wrong: [from: string, to: string, status: number, message: RegExp][] = [
      ['', 'a.db', 2, /--from is missing/],
      ['reams.db', '', 2, /--to is missing/],
      ['nowhere.db', 'a.db', 2, /no store at nowhere\.db to copy from. Check --from/],
      ['reams.db', 'no/such/a.db', 2, /no directory no\/such/],
      ['reams.db', 'mysql://h/d', 2, /REAMS_TO: A store is a path or/],
      ['reams.db', 'postgres://me:secret-password@127.0.0.1:1/db', 3, /^(?!.*secret).*ECONNREFUSED(?!.*secret)/],
      ['reams.db', './link.db', 2, /the same store/],
      [url, url.replace('127.0.0.1', 'localhost'), 2, /the same store/],
    ]
    for (const [from, to, status, message] of wrong)
      await refused(directory, 'copy', status, message, between(from, to))
  })

  it('refuses a damaged collection, with what verify says, and leaves nothing of it', ofFiles, async (t) => {
    const directory = await filled(t)
    const damages = [
      ["UPDATE ream SET data = x'ffff' WHERE number = 2", /Ream 2 does not match its checksum/],
      ['DELETE FROM ream WHERE number = 1', /Ream 1 is missing/],
    ] as const
    for (const [sql, message] of damages) {
      const path = join(directory, 'damaged.db')
      copyFileSync(join(directory, 'reams.db'), path)
      changeRows(path, `${sql} AND collection_id = (SELECT id FROM head WHERE name = 'holes')`)
      const { status, stderr } = await run(directory, 'copy', between('damaged.db', 'new.db'))
      assert.equal(status, 3)
      assert.match(stderr, message)
      assert.match(stderr, /^.*holes: the store damaged\.db is damaged.*reams verify.*\n$/)
      assert.match((await run(directory, 'verify --store damaged.db')).stdout, message)
      await inStore(join(directory, 'new.db'), async (store) => {
        assert.equal(await store.head('holes'), undefined)
        assert.deepEqual((await store.verify()).findings, [])
      })
    }
  })

  it('that is interrupted leaves nothing of the collection, and the same command copies it', ofFiles, async (t) => {
    const directory = await filledWithNoise(t)
    const target = join(directory, 'new.db')
    const look = () => hasRows(target, 'lease') && interrupt('SIGINT')
    const { status, stderr } = await runWatched(directory, 'copy --from reams.db --to new.db', look)
    assert.match(stderr, /^reams: interrupted by SIGINT\. .*Run the same command again to copy the rest\.\n$/)
    assert.equal(status, 130)
    assert.ok(!existsSync(target))
    assert.match(await copied(directory, 'reams.db', 'new.db'), /^events: .* copied/)
    await checkSame(join(directory, 'reams.db'), target)
  })

  it('whose connection is cut says so, with the collection, and shows nothing of it', async (t) => {
    const directory = await filledWithNoise(t)
    const { proxy, url } = await newUrlWithProxy(t)
    let passed = 0
    proxy.judge = (data) => {
      passed += data.length
      return passed > 200_000 ? 'cut before' : 'pass'
    }
    const { status, stderr } = await run(directory, 'copy', between('reams.db', url))
    assert.match(stderr, /^reams: events: .*\n$/)
    assert.equal(status, 3)
    proxy.judge = () => 'pass'
    await inStore(url, async (store) => assert.deepEqual(await store.collections(), []))
  })
})

/** Also false where there is no such table yet. */
function hasRows(path: string, table: string): boolean {
  try {
    using database = new DatabaseSync(path, { readOnly: true })
    return database.prepare(`SELECT 1 FROM ${table}`).get() !== undefined
  } catch {
    return false
  }
}
