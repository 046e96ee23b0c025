import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { lastPage } from '../../src/contract/page.ts'
import { itemRun } from '../../src/items/item-run.ts'
import { createService } from '../../src/service/create-service.ts'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { CollectionSettings, Store } from '../../src/store/store.ts'
import { newSchema, runSql, withParameter } from '../store/postgres-engine.ts'
import { describePostgres, type PostgresServer } from '../store/postgres-server.ts'
import { readItems } from '../store/store-reading.ts'
import { startProxy } from '../store/tcp-proxy.ts'
import { RunningCli, runCli, workDirectory } from './run-cli.ts'

/** What does not shrink much, so that there is something to send. */
const noise = (id: number): string => createHash('sha512').update(String(id)).digest('base64')
const noisy = (count: number): string[] =>
  Array.from({ length: count }, (_, id) => `{"id":"k${(id * 7919) % count}","noise":"${noise(id)}"}`)

const isUrl = (place: string): boolean => place.startsWith('postgres:')
const open = (place: string, create = false): Promise<Store> =>
  isUrl(place) ? openPostgresStore({ url: place, create }) : openSqliteStore({ path: place, create })

async function using<T>(place: string, use: (store: Store) => Promise<T>, create = false): Promise<T> {
  const store = await open(place, create)
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
    for (let start = 0; start < texts.length; start += 2000)
      await store.append(name, itemRun(texts.slice(start, start + 2000), { keyField: settings.keyField ?? null }))
  }
  const plain = (count: number): string[] => Array.from({ length: count }, (_, id) => `{"id":${id},"é":"🦉 \\u0041"}`)
  for (const count of [0, 1, 499, 500, 501]) await make(`of-${count}`, plain(count))
  await make('whole', plain(1300), { isPaginated: false })
  await make('secret', plain(700), { isPrivate: true, keyField: 'id' })
  await make('holes', plain(2300), { keyField: 'id' })
  const empty = Array.from({ length: 500 }, (_, slot) => String(500 + slot))
  await store.delete('holes', ['0', '3', '499', '1999', '2000', '2299', ...empty])
  await make('emptied', plain(500), { keyField: 'id' })
  await store.delete(
    'emptied',
    plain(500).map((_, id) => String(id)),
  )
  const keys = ['a', 'é', '\uffee', '\u{10000}', '😀', ' ', "'", '"', 'ä'.repeat(100)]
  await make(
    'unicode',
    keys.map((id) => JSON.stringify({ id })),
    { keyField: 'id' },
  )
}

/** Every answer of the service, byte for byte; what names the store itself is left out. */
async function answersOf(store: Store): Promise<Map<string, string>> {
  const service = createService({ store, baseUrl: 'http://x' })
  const answers = new Map<string, string>()
  for (const { name, live, isPaginated, isPrivate } of await store.collections()) {
    if (isPrivate) await store.setPrivate(name, false)
    for (let page = 1; page <= (isPaginated ? lastPage(live) : 1); page++) {
      const path = `/${name}?page=${page}`
      const answer = await service.fetch(new Request(`http://x${path}`, { headers: { 'Accept-Encoding': 'identity' } }))
      assert.equal(answer.status, 200)
      answers.set(path, await answer.text())
    }
    if (isPrivate) await store.setPrivate(name, true)
  }
  return answers
}

const settingsOf = async (store: Store) =>
  (await store.collections()).map(({ name, live, next, keyField, isPaginated, isPrivate }) => {
    return { name, live, next, keyField, isPaginated, isPrivate }
  })

async function checkSame(one: string, other: string): Promise<void> {
  await using(one, (from) =>
    using(other, async (to) => {
      assert.deepEqual(await settingsOf(to), await settingsOf(from))
      assert.deepEqual(await answersOf(to), await answersOf(from))
      assert.deepEqual((await to.verify()).findings, [])
    }),
  )
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
  const copy = async (directory: string, from: string, to: string, ...more: string[]) => {
    const variables = { REAMS_FROM: from, REAMS_TO: to }
    const result = await runCli(['copy', ...more], { in: directory, variables })
    for (const output of [result.stdout, result.stderr]) assert.doesNotMatch(output, /secret.password/i)
    return result
  }
  const copied = async (directory: string, from: string, to: string, ...more: string[]): Promise<string> => {
    const { status, stdout, stderr } = await copy(directory, from, to, ...more)
    assert.deepEqual({ status, stderr }, { status: 0, stderr: '' })
    return stdout
  }
  const refused = async (result: ReturnType<typeof copy>, status: number, message: RegExp): Promise<void> => {
    const { status: found, stderr } = await result
    assert.match(stderr, message)
    assert.equal(found, status)
    assert.equal(stderr.trimEnd().split('\n').length, 1)
  }
  const filled = async (t: TestContext, name = 'my.db'): Promise<{ directory: string; path: string }> => {
    const directory = workDirectory(t)
    const path = join(directory, name)
    await using(path, fill, true)
    return { directory, path }
  }
  const noisyStore = async (t: TestContext, count: number) => {
    const directory = workDirectory(t)
    const path = join(directory, 'my.db')
    await using(
      path,
      async (store) => {
        const load = await store.load('events', { settings: { keyField: 'id' } })
        await load.append(itemRun(noisy(count), { keyField: 'id' }))
        await load.commit()
      },
      true,
    )
    return { directory, path }
  }

  it('brings collections of all kinds to a database, to another one, back, and to another file', async (t) => {
    const { directory, path } = await filled(t)
    const places = [path, newUrl(), newUrl(), join(directory, 'back.db'), join(directory, 'other.db')]
    for (const [index, from] of places.slice(0, -1).entries()) {
      const to = places[index + 1] ?? ''
      const stdout = await copied(directory, from, to)
      assert.match(stdout, /^holes: 1,794 items, 4 pages, copied and compared in .*; SHA-256 [0-9a-f]{64}$/m)
      assert.match(stdout, /^\S+ has 10 collections of \S+, with 5,304 items\.$/m)
      await checkSame(path, to)
    }
  })

  it('brings 20,000 items with holes to a database and back, every page byte for byte', async (t) => {
    const { directory, path } = await noisyStore(t, 20_000)
    const gone = Array.from({ length: 300 }, (_, index) => `k${index * 61}`)
    await using(path, (store) => store.delete('events', gone))
    const url = newUrl()
    const back = join(directory, 'back.db')
    const stdout = await copied(directory, path, url)
    await copied(directory, url, back)
    await checkSame(path, url)
    await checkSame(path, back)
    const exported = await runCli(['export', 'events', '--store', 'back.db'], { in: directory })
    const sum = createHash('sha256').update(exported.stdout).digest('hex')
    assert.ok(stdout.includes(`SHA-256 ${sum}`), 'the checksum is that of an export')
  })

  it('copies an empty store', ofFiles, async (t) => {
    const directory = workDirectory(t)
    await using(join(directory, 'my.db'), async () => {}, true)
    const stdout = await copied(directory, 'my.db', 'new.db')
    assert.equal(stdout, 'new.db has 0 collections of my.db, with 0 items.\n')
  })

  it('skips what is there and the same, and copies only what it is asked for', ofFiles, async (t) => {
    const { directory, path } = await filled(t)
    const stdout = await copied(directory, path, 'new.db', '--collection', 'holes', '--collection', 'whole')
    assert.match(stdout, /has 2 collections/)
    const again = await copied(directory, path, 'new.db')
    assert.match(again, /^holes: 1,794 items, 4 pages, there already, compared; SHA-256/m)
    assert.match(again, /^secret: 700 items, 2 pages, copied/m)
    await checkSame(path, join(directory, 'new.db'))
    await refused(copy(directory, path, 'new.db', '--collection', 'nobody'), 2, /no collection "nobody".*There are/)
  })

  it('refuses a name that is taken by other items before it copies anything, and swaps it with --replace', async (t) => {
    const { directory, path } = await filled(t)
    const url = newUrl()
    await using(url, (store) => store.append('of-501', itemRun(['{"a":1}']), { create: true }).then(() => {}), true)
    await refused(copy(directory, path, url), 1, /"of-501" in postgres:.* already, with 1 item .*--replace swaps/)
    await using(url, async (store) => assert.equal((await store.collections()).length, 1))
    await copied(directory, path, url, '--replace')
    await checkSame(path, url)
    // As many, and others.
    await using(url, async (store) => {
      await store.replace('secret', itemRun(['{"id":5}'], { keyField: 'id' }))
    })
    await refused(copy(directory, path, url), 1, /"secret" in postgres/)
    const stdout = await copied(directory, path, url, '--replace')
    assert.match(stdout, /^secret: .* copied/m)
    assert.match(stdout, /^of-501: .* there already/m)
    await checkSame(path, url)
  })

  it('refuses a collection with other settings, also with --replace, and says how to go on', ofFiles, async (t) => {
    const { directory, path } = await filled(t)
    const other = join(directory, 'other.db')
    await using(other, async (store) => void (await store.create('holes', { isPrivate: true })), true)
    const message = /"holes" in .*other\.db is without a key and private, .* reams drop holes --store .*other\.db/
    await refused(copy(directory, path, other, '--replace'), 1, message)
  })

  it('says that tokens stay, or copies them too', ofFiles, async (t) => {
    const directory = workDirectory(t)
    const run = async (...words: string[]) => (await runCli(words, { in: directory })).stdout
    await run('token', 'create', '--name', 'ci', '--scope', 'admin', '--create', '--store', 'my.db')
    await run('token', 'create', '--name', 'old', '--scope', 'admin', '--store', 'my.db')
    await run('token', 'revoke', 'old', '--store', 'my.db')
    assert.match(await copied(directory, 'my.db', 'new.db'), /^2 tokens were not copied; --tokens copies them too\.$/m)
    assert.match(await copied(directory, 'my.db', 'new.db', '--tokens'), /^2 tokens were copied\.$/m)
    assert.equal(await run('token', 'list', '--store', 'new.db'), await run('token', 'list', '--store', 'my.db'))
    assert.doesNotMatch(await copied(directory, 'my.db', 'new.db', '--tokens'), /tokens? w/)
    await run('token', 'create', '--name', 'ci', '--scope', 'admin', '--create', '--store', 'third.db')
    await refused(copy(directory, 'my.db', 'third.db', '--tokens'), 1, /another token "ci" in third\.db/)
  })

  describe('refuses', () => {
    it('to do without a place, with one that is no store, and with one that is not there', ofFiles, async (t) => {
      const directory = workDirectory(t)
      await refused(runCli(['copy', '--to', 'a.db'], { in: directory }), 2, /--from is missing/)
      await using(join(directory, 'my.db'), async () => {}, true)
      await refused(runCli(['copy', '--from', 'my.db'], { in: directory }), 2, /--to is missing/)
      await refused(copy(directory, 'nowhere.db', 'a.db'), 2, /no store at nowhere\.db to copy from. Look at --from/)
      assert.ok(!existsSync(join(directory, 'a.db')))
      await refused(copy(directory, 'my.db', 'no/such/a.db'), 2, /no directory no\/such/)
      await refused(copy(directory, 'my.db', 'mysql://h/d'), 2, /REAMS_TO: A store is a path, or/)
      await refused(copy(directory, 'my.db', 'postgres://me:secret-password@127.0.0.1:1/db'), 3, /ECONNREFUSED/)
    })

    it('one store for both, whatever it is called', async (t) => {
      const { directory } = await filled(t)
      symlinkSync('my.db', join(directory, 'link.db'))
      await refused(copy(directory, 'my.db', './link.db'), 2, /the same store/)
      const url = newUrl()
      await refused(copy(directory, url, url.replace('127.0.0.1', 'localhost')), 2, /the same store/)
    })

    it('a damaged collection, with what verify says, and leaves nothing of it', ofFiles, async (t) => {
      const { directory, path } = await filled(t)
      using database = new DatabaseSync(path)
      const damages = [
        ["UPDATE ream SET data = x'ffff' WHERE number = 2", /Ream 2 does not match its checksum/],
        ['DELETE FROM ream WHERE number = 1', /Ream 1 is missing/],
        ["DELETE FROM key WHERE key = '7'", /There are 1793 keys for 1794 items/],
      ] as const
      const holes = " AND collection_id = (SELECT id FROM head WHERE name = 'holes')"
      for (const [sql, message] of damages) {
        copyFileSync(path, join(directory, 'damaged.db'))
        using damaged = new DatabaseSync(join(directory, 'damaged.db'))
        damaged.exec(sql + holes)
        damaged.close()
        const result = copy(directory, 'damaged.db', 'new.db')
        await refused(result, 3, message)
        await refused(result, 3, /holes: the store damaged\.db is damaged.*reams verify/)
        const verified = await runCli(['verify', '--store', 'damaged.db'], { in: directory })
        assert.match(verified.stdout, message)
        await using(join(directory, 'new.db'), async (store) => {
          assert.equal(await store.head('holes'), undefined)
          assert.deepEqual((await store.verify()).findings, [])
        })
      }
      database.close()
    })
  })

  it('warns of passwords in --from and --to', async (t) => {
    const { directory } = await filled(t)
    const words = ['copy', '--from', 'my.db', '--to', newUrl(), '--collection', 'of-1']
    const { status, stderr, stdout } = await runCli(words, { in: directory })
    assert.equal(status, 0)
    if (new URL(server.url).password !== '')
      assert.match(stderr, /^reams: Others can read the password in --to.*by REAMS_TO, PGPASSWORD/)
    assert.doesNotMatch(stdout + stderr, /secret.password/)
  })

  it('copies one snapshot of a collection that changes meanwhile', async (t) => {
    const { directory, path } = await noisyStore(t, 10_000)
    const url = newUrl()
    const before = await using(path, (store) => readItems(store, 'events'))
    const cli = new RunningCli(['copy'], { in: directory, variables: { REAMS_FROM: path, REAMS_TO: url } })
    t.after(() => cli.child.kill('SIGKILL'))
    const states = [before.join('\n')]
    await using(path, async (store) => {
      const ended = cli.ends()
      let isRunning = true
      void ended.finally(() => {
        isRunning = false
      })
      for (let id = 0; isRunning; id++) {
        const text = `{"id":"new ${id}"}`
        await store.append('events', itemRun([text], { keyField: 'id' }))
        states.push(text)
        await sleep(5)
      }
      assert.equal((await ended).status, 0)
    })
    const found = await using(url, (store) => readItems(store, 'events'))
    assert.equal(found.join('\n'), states.slice(0, found.length - before.length + 1).join('\n'))
  })

  describe('that is stopped', () => {
    /** Starts a copy and stops it when the target holds as many rows. */
    const stopAt = async (t: TestContext, cli: RunningCli, signal: NodeJS.Signals, reached: () => Promise<boolean>) => {
      t.after(() => cli.child.kill('SIGKILL'))
      const ended = cli.ends()
      while (cli.child.exitCode === null && cli.child.signalCode === null && !(await reached())) await sleep(2)
      cli.child.kill(signal)
      return ended
    }
    const rowsIn = (path: string): number => {
      if (!existsSync(path)) return 0
      using database = new DatabaseSync(path, { readOnly: true })
      try {
        const row = database.prepare('SELECT (SELECT count(*) FROM ream) + (SELECT count(*) FROM key) AS rows').get()
        return Number(row?.['rows'])
      } catch {
        return 0
      }
    }

    for (const signal of ['SIGKILL', 'SIGINT'] as const)
      it(`by ${signal} goes on with the same command`, ofFiles, async (t) => {
        const { directory, path } = await noisyStore(t, 30_000)
        const target = join(directory, 'new.db')
        const variables = { REAMS_FROM: path, REAMS_TO: target }
        for (const rows of [1, 40, 10_000]) {
          const cli = new RunningCli(['copy'], { in: directory, variables })
          const { status, stderr } = await stopAt(t, cli, signal, async () => rowsIn(target) >= rows)
          if (status === 0) break
          // With so much there from the round before, it can end before it has even begun.
          if (signal !== 'SIGKILL' && (rows === 1 || status !== null))
            assert.match(stderr, /^reams: interrupted by SIG.*The same command goes on from there\.\n$/)
          await using(target, async (store) => {
            assert.deepEqual(await store.collections(), [])
            assert.deepEqual((await store.verify()).findings, [])
          })
        }
        const stdout = await copied(directory, path, target)
        assert.match(stdout, /60 reams of it by an earlier run|there already/)
        await checkSame(path, target)
      })

    it('by a connection that is cut goes on with the same command', async (t) => {
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
      await refused(copy(directory, path, url), 3, /^reams: events: .*The same command goes on from there\.$/m)
      proxy.judge = () => 'pass'
      assert.match(await copied(directory, path, url), /, \d+ reams of it by an earlier run/)
      await checkSame(path, url)
    })

    it('by SIGKILL on the way to a database goes on when its lease is over', async (t) => {
      const { directory, path } = await noisyStore(t, 30_000)
      const url = newUrl()
      const schema = schemas.at(-1)
      const reamsThere = () =>
        runSql(server.url, '', `SELECT count(*) FROM ${schema}.ream`).then(
          ([row]) => Number(row?.[0]) > 0,
          () => false,
        )
      const cli = new RunningCli(['copy'], { in: directory, variables: { REAMS_FROM: path, REAMS_TO: url } })
      assert.notEqual((await stopAt(t, cli, 'SIGKILL', reamsThere)).status, 0)
      assert.match(await copied(directory, path, url), /, \d+ reams of it by an earlier run/)
      await checkSame(path, url)
    })
  })
})
