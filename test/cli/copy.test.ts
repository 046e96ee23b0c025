import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { lastPage } from '../../src/contract/page.ts'
import { itemRun } from '../../src/items/item-run.ts'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { CollectionSettings, Origin, Store } from '../../src/store/store.ts'
import { newSchema, runSql, withParameter } from '../store/postgres-engine.ts'
import { describePostgres, type PostgresServer } from '../store/postgres-server.ts'
import { readItems } from '../store/store-reading.ts'
import { startProxy } from '../store/tcp-proxy.ts'
import { type CliResult, RunningCli, runInside, workDirectory } from './run-cli.ts'

async function inStore<T>(place: string, use: (store: Store) => Promise<T>, create = false): Promise<T> {
  const isUrl = place.startsWith('postgres:')
  const store = await (isUrl ? openPostgresStore({ url: place, create }) : openSqliteStore({ path: place, create }))
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}

/** A collection of all kinds in one store. */
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

describePostgres('copy', (startPostgres, isCitus) => {
  const ofFiles = { skip: isCitus && 'It copies from file to file' }
  let server: PostgresServer
  const schemas: string[] = []
  before(async () => {
    server = await startPostgres()
  })
  after(async () => {
    for (const schema of schemas) await runSql(server.url, '', `DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    await server?.stop()
  })
  const newUrl = (base = server.url): string => {
    schemas.push(newSchema())
    return withParameter(base, 'schema', schemas.at(-1) ?? '')
  }
  const copy = async (directory: string, from: string, to: string, ...more: string[]): Promise<CliResult> => {
    const result = await runInside(['copy', ...more], { in: directory, variables: { REAMS_FROM: from, REAMS_TO: to } })
    assert.doesNotMatch(result.stdout + result.stderr, /secret.password/i)
    return result
  }
  const copied = async (directory: string, from: string, to: string, ...more: string[]): Promise<string> => {
    const { status, stdout, stderr } = await copy(directory, from, to, ...more)
    assert.deepEqual({ status, stderr }, { status: 0, stderr: '' })
    return stdout
  }
  const refused = async (result: Promise<CliResult>, status: number, message: RegExp): Promise<void> => {
    const { status: found, stderr } = await result
    assert.match(stderr, message)
    assert.equal(found, status)
    assert.equal(stderr.trimEnd().split('\n').length, 1)
  }
  const filled = async (t: TestContext): Promise<{ directory: string; path: string }> => {
    const directory = workDirectory(t)
    const path = join(directory, 'my.db')
    await inStore(path, fill, true)
    return { directory, path }
  }
  const at = (position: number, url = 'https://data.example/events'): Origin => ({ url, position: String(position) })
  /** A mirror with one item, `{"id":0,"n":0}`, at position 0. */
  const mirrorIn = (path: string) =>
    inStore(
      path,
      async (store) => {
        const load = await store.load('events', { settings: { keyField: 'id' }, isMirroring: true })
        await load.append(itemRun(['{"id":0,"n":0}'], { keyField: 'id' }))
        await load.commit(at(0))
      },
      true,
    )
  /** Brings the mirror one version further, which changes its item. */
  const advance = (store: Store, n: number) =>
    store.patch(
      'events',
      { puts: itemRun([`{"id":0,"n":${n + 1}}`], { keyField: 'id' }), steps: [null] },
      { origin: { from: at(n), to: at(n + 1) } },
    )

  it('of a mirror is a mirror, at the position that belongs to its items, while the mirror advances', async (t) => {
    const directory = workDirectory(t)
    const path = join(directory, 'my.db')
    await mirrorIn(path)
    await inStore(path, async (store) => {
      let [n, isEnded] = [0, false]
      const advancing = (async () => {
        while (!isEnded) await advance(store, n++)
      })()
      for (const target of ['1.db', '2.db', newUrl(), newUrl()]) {
        assert.match(await copied(directory, path, target), /^events: 1 item/)
        const place = target.startsWith('postgres:') ? target : join(directory, target)
        const [origin, [item]] = await inStore(place, async (copy) => [
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
    const directory = workDirectory(t)
    const [path, other] = [join(directory, 'my.db'), join(directory, 'other.db')]
    await mirrorIn(path)
    await mirrorIn(other)
    await inStore(path, (store) => advance(store, 0))
    await copied(directory, path, other, '--replace')
    assert.deepEqual((await inStore(other, (store) => store.head('events')))?.origin, at(1))
    await inStore(path, (store) => store.detach('events'))
    await inStore(path, (store) => store.put('events', itemRun(['{"id":0,"n":9}'], { keyField: 'id' })))
    await refused(copy(directory, path, other, '--replace'), 1, /is a mirror of https:.*--detach/)
    await inStore(path, (store) => store.drop('events'))
    await inStore(path, async (store) => {
      const load = await store.load('events', { settings: { keyField: 'id' }, isMirroring: true })
      await load.commit(at(5, 'https://elsewhere.example/events'))
    })
    await refused(copy(directory, path, other, '--replace'), 1, /is a mirror of https:\/\/data\.example/)
    assert.deepEqual((await inStore(other, (store) => store.head('events')))?.origin, at(1))
  })

  /** With items that do not shrink much, so that there is something to send. */
  const noisyStore = async (t: TestContext, count: number) => {
    const directory = workDirectory(t)
    const path = join(directory, 'my.db')
    const noise = (id: number): string => createHash('sha512').update(String(id)).digest('base64')
    const texts = Array.from({ length: count }, (_, id) => `{"id":"k${(id * 7919) % count}","noise":"${noise(id)}"}`)
    const load = async (store: Store) => {
      const load = await store.load('events', { settings: { keyField: 'id' } })
      await load.append(itemRun(texts, { keyField: 'id' }))
      await load.commit()
    }
    await inStore(path, load, true)
    return { directory, path }
  }

  it('brings collections of all kinds to a database, to another one, and back, page by page the same', async (t) => {
    const { directory, path } = await filled(t)
    const places = [path, newUrl(), newUrl(), join(directory, 'back.db')]
    for (const [index, from] of places.slice(0, -1).entries()) {
      const to = places[index + 1] ?? ''
      const stdout = await copied(directory, from, to)
      const [, sum] =
        /^holes: 1,794 items, 4 pages, copied and compared in .*; SHA-256 ([0-9a-f]{64})$/m.exec(stdout) ?? []
      assert.match(stdout, /^\S+ has 10 collections of \S+, with 5,304 items\.$/m)
      const lines = await inStore(to, (store) => readItems(store, 'holes'))
      const exported = lines.map((line) => `${line}\n`).join('')
      assert.equal(createHash('sha256').update(exported).digest('hex'), sum, 'the checksum is that of an export')
    }
    await checkSame(path, join(directory, 'back.db'))
  })

  it('copies one snapshot of a collection that changes meanwhile, with more than one batch', async (t) => {
    const { directory, path } = await noisyStore(t, 20_000)
    const url = newUrl()
    const states = await inStore(path, (store) => readItems(store, 'events'))
    const { length } = states
    await inStore(path, async (store) => {
      let isRunning = true
      const ended = copied(directory, path, url).finally(() => {
        isRunning = false
      })
      for (let id = 0; isRunning; id++) {
        await store.append('events', itemRun([`{"id":"new ${id}"}`], { keyField: 'id' }))
        states.push(`{"id":"new ${id}"}`)
        await sleep(5)
      }
      await ended
    })
    const found = await inStore(url, (store) => readItems(store, 'events'))
    assert.ok(found.length >= length)
    assert.equal(found.join('\n'), states.slice(0, found.length).join('\n'))
  })

  it('skips what is the same, copies only what it is asked for, and refuses other settings', ofFiles, async (t) => {
    const { directory, path } = await filled(t)
    const stdout = await copied(directory, path, 'new.db', '--collection', 'holes', '--collection', 'whole')
    assert.match(stdout, /has 2 collections/)
    const again = await copied(directory, path, 'new.db')
    assert.match(again, /^holes: 1,794 items, 4 pages, the same already, compared in .*; SHA-256/m)
    assert.match(again, /^secret: 700 items, 2 pages, copied/m)
    await checkSame(path, join(directory, 'new.db'))
    await refused(copy(directory, path, 'new.db', '--collection', 'nobody'), 2, /no collection "nobody".*There are/)
    const other = join(directory, 'other.db')
    await inStore(other, (store) => store.create('holes', { isPrivate: true }), true)
    const message = /"holes" in .*other\.db is without a key and private, .* reams drop holes --store .*other\.db/
    await refused(copy(directory, path, other, '--replace'), 1, message)
  })

  it('refuses a name that other items have before it copies anything, and replaces them with --replace', async (t) => {
    const { directory, path } = await filled(t)
    const url = newUrl()
    await inStore(url, (store) => store.append('of-501', itemRun(['{"a":1}']), { create: true }), true)
    const different = /^reams: postgres:.* different collection "of-501", with 1 item\. .*--repl/
    await refused(copy(directory, path, url), 1, different)
    await inStore(url, async (store) => assert.equal((await store.collections()).length, 1))
    await copied(directory, path, url, '--replace')
    // As many, and others.
    await inStore(url, (store) => store.replace('secret', itemRun(['{"id":5}'], { keyField: 'id' })))
    await refused(copy(directory, path, url), 1, /different collection "secret"/)
    const stdout = await copied(directory, path, url, '--replace')
    assert.match(stdout, /^secret: .* copied/m)
    assert.match(stdout, /^of-501: .* the same already/m)
    await checkSame(path, url)
  })

  it('does not call a collection damaged that others write to behind its commit', ofFiles, async (t) => {
    const { directory, path } = await noisyStore(t, 20_000)
    const target = join(directory, 'new.db')
    await inStore(target, (store) => store.create('events', { keyField: 'id' }), true)
    await inStore(target, async (store) => {
      let isRunning = true
      const ended = copied(directory, path, target, '--replace').finally(() => {
        isRunning = false
      })
      let added = 0
      // Refused while the copy is loaded, and taken from its commit on.
      for (let id = 0; isRunning; id++)
        await store.append('events', itemRun([`{"id":"new ${id}"}`], { keyField: 'id' })).then(
          () => added++,
          (error) => assert.equal(error.code, 'busy'),
        )
      assert.match(await ended, /^events: 20,000 items, .* copied/m)
      const live = (await store.head('events'))?.live ?? 0
      assert.ok(live >= 20_000 && live <= 20_000 + added)
    })
  })

  it('says that tokens stay, or copies them too', ofFiles, async (t) => {
    const directory = workDirectory(t)
    const token = async (words: string) => (await runInside(['token', ...words.split(' ')], { in: directory })).stdout
    await token('create --name ci --scope admin --create --store my.db')
    await token('create --name old --scope admin --store my.db')
    await token('revoke old --store my.db')
    const stdout = await copied(directory, 'my.db', 'new.db')
    const nothing = 'new.db has 0 collections of my.db, with 0 items.\n'
    assert.equal(stdout, `${nothing}2 tokens were not copied; --tokens copies them too.\n`)
    assert.match(await copied(directory, 'my.db', 'new.db', '--tokens'), /^2 tokens were copied\.$/m)
    assert.equal(await token('list --store new.db'), await token('list --store my.db'))
    assert.equal(await copied(directory, 'my.db', 'new.db', '--tokens'), nothing)
    await token('create --name ci --scope admin --create --store third.db')
    await refused(copy(directory, 'my.db', 'third.db', '--tokens'), 1, /third\.db already has a different token "ci"/)
  })

  it('refuses a place that is missing, no store, or the same', ofFiles, async (t) => {
    const { directory } = await filled(t)
    await refused(runInside(['copy', '--to', 'a.db'], { in: directory }), 2, /--from is missing/)
    await refused(runInside(['copy', '--from', 'my.db'], { in: directory }), 2, /--to is missing/)
    await refused(copy(directory, 'nowhere.db', 'a.db'), 2, /no store at nowhere\.db to copy from. Check --from/)
    assert.ok(!existsSync(join(directory, 'a.db')))
    await refused(copy(directory, 'my.db', 'no/such/a.db'), 2, /no directory no\/such/)
    await refused(copy(directory, 'my.db', 'mysql://h/d'), 2, /REAMS_TO: A store is a path or/)
    await refused(copy(directory, 'my.db', 'postgres://me:secret-password@127.0.0.1:1/db'), 3, /ECONNREFUSED/)
    symlinkSync('my.db', join(directory, 'link.db'))
    await refused(copy(directory, 'my.db', './link.db'), 2, /the same store/)
    const url = newUrl()
    await refused(copy(directory, url, url.replace('127.0.0.1', 'localhost')), 2, /the same store/)
  })

  it('refuses a damaged collection, with what verify says, and leaves nothing of it', ofFiles, async (t) => {
    const { directory, path } = await filled(t)
    const damages = [
      ["UPDATE ream SET data = x'ffff' WHERE number = 2", /Ream 2 does not match its checksum/],
      ['DELETE FROM ream WHERE number = 1', /Ream 1 is missing/],
    ] as const
    for (const [sql, message] of damages) {
      copyFileSync(path, join(directory, 'damaged.db'))
      using damaged = new DatabaseSync(join(directory, 'damaged.db'))
      damaged.exec(`${sql} AND collection_id = (SELECT id FROM head WHERE name = 'holes')`)
      damaged.close()
      const result = copy(directory, 'damaged.db', 'new.db')
      await refused(result, 3, message)
      await refused(result, 3, /holes: the store damaged\.db is damaged.*reams verify/)
      assert.match((await runInside(['verify', '--store', 'damaged.db'], { in: directory })).stdout, message)
      await inStore(join(directory, 'new.db'), async (store) => {
        assert.equal(await store.head('holes'), undefined)
        assert.deepEqual((await store.verify()).findings, [])
      })
    }
  })

  describe('that is stopped', () => {
    for (const signal of ['SIGKILL', 'SIGINT'] as const)
      it(`by ${signal} leaves nothing of the collection, and the same command copies it`, ofFiles, async (t) => {
        const { directory, path } = await noisyStore(t, 30_000)
        const target = join(directory, 'new.db')
        const cli = new RunningCli(['copy', '--from', path, '--to', target], { in: directory })
        t.after(() => cli.child.kill('SIGKILL'))
        const hasReams = (): boolean => {
          try {
            using database = new DatabaseSync(target, { readOnly: true })
            return database.prepare('SELECT 1 FROM ream').get() !== undefined
          } catch {
            return false
          }
        }
        while (cli.child.exitCode === null && !hasReams()) await sleep(2)
        cli.child.kill(signal)
        const { status, stderr } = await cli.ends()
        assert.equal(status, signal === 'SIGKILL' ? null : 130)
        if (signal === 'SIGINT') {
          assert.match(stderr, /^reams: interrupted by SIGINT\. .*Run the same command again to copy the rest\.\n$/)
          assert.ok(!existsSync(target))
        } else await inStore(target, async (store) => assert.deepEqual(await store.collections(), []))
        assert.match(await copied(directory, path, target), /^events: .* copied/)
        await checkSame(path, target)
      })

    it('by a connection that is cut says so, with the collection, and shows nothing of it', async (t) => {
      const { directory, path } = await noisyStore(t, 30_000)
      const { hostname, port } = new URL(server.url)
      const proxy = await startProxy(hostname, Number(port))
      t.after(() => proxy.close())
      const url = newUrl(server.url.replace(`:${port}/`, `:${proxy.port}/`))
      let passed = 0
      proxy.judge = (data) => {
        passed += data.length
        return passed > 2_500_000 ? 'cut before' : 'pass'
      }
      await refused(copy(directory, path, url), 3, /^reams: events: ./m)
      proxy.judge = () => 'pass'
      await inStore(url, async (store) => assert.deepEqual(await store.collections(), []))
    })
  })
})
