import assert from 'node:assert/strict'
import { once } from 'node:events'
import { linkSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'
import { putLines } from '../cli/items.ts'
import { runInside, startServer, workDirectory } from '../cli/run-cli.ts'
import { item, itemsFrom, keyed } from './items.ts'
import { readItems } from './store-reading.ts'

/** A store with three items, and a hard link to it. */
async function makeStore(t: TestContext): Promise<{ directory: string; path: string; link: string }> {
  const directory = workDirectory(t)
  const [path, link] = [join(directory, 'reams.db'), join(directory, 'link.db')]
  await putLines(directory, 'events', itemsFrom(0, 3).join('\n'), { keyField: 'id' })
  linkSync(path, link)
  return { directory, path, link }
}

async function open(t: TestContext, path: string): Promise<Store> {
  const store = await openSqliteStore({ path })
  t.after(() => store.close())
  return store
}

/** The refusal to open `path`. */
const refusal = (path: string) => ({
  code: 'unavailable',
  message: new RegExp(`^The store ${path} is a file that a process has open under another name, `),
})

describe('a store under another name', () => {
  it('is refused while another process has it open, which goes on and loses nothing, and after that has crashed', async (t) => {
    const { directory, path, link } = await makeStore(t)
    const words = ['token', 'create', '--name', 'a', '--scope', 'write:events', '--store', path]
    const token = (await runInside(words, { in: directory })).stdout.trim()
    const { cli, url } = await startServer(t, ['--store', path], { in: directory })
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
    const post = async (id: number) => {
      const answer = await fetch(`${url}/events`, { method: 'POST', headers, body: item(id) })
      assert.equal(answer.status, 201)
    }
    await post(3)
    await assert.rejects(openSqliteStore({ path: link }), refusal(link))
    const refused = await runInside(['import', 'events', '-', '--format', 'ndjson', '--store', link], { in: directory })
    assert.equal(refused.status, 3)
    assert.match(refused.stderr, /^reams: The store .*link\.db is a file that a process has open under another name, /)
    await post(4)
    const ended = once(cli.child, 'exit')
    cli.child.kill('SIGKILL')
    await ended
    await assert.rejects(openSqliteStore({ path: link }), {
      code: 'unavailable',
      message: new RegExp(
        `^The store ${link} is the same file as ${path}, .* still in ${path}-wal, .* Open ${path} once`,
      ),
    })
    await (await openSqliteStore({ path })).close()
    const store = await open(t, link)
    assert.deepEqual(await readItems(store, 'events'), itemsFrom(0, 5))
    assert.deepEqual((await store.verify()).findings, [])
  })

  it('is refused within one process too', async (t) => {
    const { path, link } = await makeStore(t)
    const store = await openSqliteStore({ path })
    await store.append('events', keyed([item(3)]))
    for (let time = 0; time < 3; time++) {
      await assert.rejects(openSqliteStore({ path: link }), refusal(link))
      assert.equal((await (await open(t, path)).head('events'))?.live, 4)
    }
    await store.append('events', keyed([item(4)]))
    assert.deepEqual(await readItems(store, 'events'), itemsFrom(0, 5))
    await store.close()
  })

  it('is free when the first name was closed', async (t) => {
    const { path, link } = await makeStore(t)
    for (const [turn, name] of [path, link, path, link].entries()) {
      const store = await openSqliteStore({ path: name })
      await store.append('events', keyed([item(3 + turn)]))
      assert.deepEqual(await readItems(store, 'events'), itemsFrom(0, 4 + turn))
      await store.close()
    }
  })
})

describe('a store under one name', () => {
  it('is opened as often as one likes, while there is a link that nobody uses', async (t) => {
    const { path, link } = await makeStore(t)
    const [one, other] = [await open(t, path), await open(t, relative(process.cwd(), path))]
    await one.append('events', keyed([item(3)]))
    await other.append('events', keyed([item(4)]))
    for (const store of [one, other]) assert.deepEqual(await readItems(store, 'events'), itemsFrom(0, 5))
    assert.deepEqual(
      readdirSync(join(link, '..')).filter((name) => name.startsWith('link')),
      ['link.db'],
    )
  })

  it('may be reached by symbolic links', async (t) => {
    const { directory, path } = await makeStore(t)
    const inner = join(directory, 'inner')
    mkdirSync(inner)
    symlinkSync(path, join(inner, 'symbolic.db'))
    symlinkSync(directory, join(inner, 'folder'))
    const paths = [path, join(inner, 'symbolic.db'), join(inner, 'folder', 'reams.db')]
    const stores = await Promise.all(paths.map((each) => open(t, each)))
    for (const [index, store] of stores.entries()) await store.append('events', keyed([item(3 + index)]))
    for (const store of stores) assert.deepEqual(await readItems(store, 'events'), itemsFrom(0, 6))
    const { cli } = await startServer(t, ['--store', join(inner, 'symbolic.db')], { in: directory })
    assert.equal((await cli.stop()).status, 0)
  })
})
