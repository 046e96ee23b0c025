import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { itemRun } from '../../src/items/item-run.ts'
import type { ServiceOptions } from '../../src/service/create-service.ts'
import { listenOn } from '../check/hostile-servers.ts'
import { mountTmpfs } from '../faults/mounts.ts'
import { lackOf, TMPFS } from '../faults/needs.ts'
import { startProxy } from '../store/tcp-proxy.ts'
import { waitUntil } from '../wait-until.ts'
import { eventLines, linesIn, putLines, storedLines } from './items.ts'
import { addToken, TOKEN } from './push-servers.ts'
import { runCli, runInside, type Scope, startCli, suiteScope, workDirectory } from './run-cli.ts'
import { serveInside } from './serve-inside.ts'

const COPY_TOKEN = `reams_${'c'.repeat(43)}`

/** An origin that is served, with a token that may do everything, and a directory for a mirror. */
async function origin(scope: Scope, count = 10, options: Partial<ServiceOptions> = {}) {
  const [home, away] = [workDirectory(scope), workDirectory(scope)]
  await putLines(home, 'events', eventLines(count), { keyField: 'id' })
  const { store, url } = await serveInside(scope, home, options)
  const run = (...words: string[]) => runInside(words, { in: away })
  return {
    away,
    url,
    store,
    run,
    append: (line: string) => store.append('events', itemRun([line], { keyField: 'id' })),
    mirror: (...words: string[]) => run('mirror', `${url}/events`, ...words),
    /** A mirror logs to the descriptor of its process, so it cannot run inside this one. */
    mirrorOnce: (...words: string[]) => runCli(['mirror', `${url}/events`, '--once', ...words], { in: away }),
    start: (...words: string[]) => startCli(scope, ['mirror', `${url}/events`, ...words], { in: away, input: '' }),
    isSame: async (name = 'events') => {
      const here = await storedLines(away, name).catch(() => undefined)
      return here === (await linesIn(store, 'events'))
    },
  }
}

describe('reams mirror', () => {
  it('copies a collection, says so, and with --once ends', async (t) => {
    const { url, store, run, mirrorOnce, isSame } = await origin(t, 1200)
    const first = await mirrorOnce()
    assert.equal(first.status, 0, first.stderr)
    assert.match(first.stderr, /events: 1,200 items of http:.*\/events copied in .*, for the first time/)
    assert.ok(await isSame())
    await store.delete('events', ['3'])
    const second = await mirrorOnce()
    assert.match(second.stderr, /events: 1 version with 1 change applied; 0 versions behind/)
    assert.ok(await isSame())
    const listed = `events +1,199 +3 +id .*${url}/events, 0 versions behind, as of .* ago`
    assert.match((await run('collections')).stdout, new RegExp(listed))
    const [json] = JSON.parse((await run('collections', '--json')).stdout)
    assert.deepEqual([json.mirrors, json.follows.waiting], [`${url}/events`, 0])
  })

  it('keeps it the same until a signal comes, under a name of its own, also after kill -9', async (t) => {
    const { append, mirrorOnce, start, isSame } = await origin(t)
    const first = start('--name', 'copy')
    await waitUntil(() => isSame('copy'))
    await append('{"id":100}')
    await waitUntil(() => isSame('copy'))
    const waiting = start('--name', 'copy')
    await waitUntil(() => /another process keeps this mirror/.test(waiting.stderr))
    const stopped = start('--name', 'copy')
    await waitUntil(() => /another process keeps this mirror/.test(stopped.stderr))
    assert.deepEqual((await stopped.stop('SIGTERM')).status, 0, stopped.stderr)
    first.child.kill('SIGKILL')
    await append('{"id":101}')
    await waitUntil(() => isSame('copy'))
    const { status } = await waiting.stop('SIGINT')
    assert.equal(status, 0)
    assert.equal((await mirrorOnce('--name', 'copy')).status, 0)
  })

  it('refuses other writes to a mirror with 409, until it is detached', async (t) => {
    const { away, url, store, mirror, mirrorOnce, run } = await origin(t)
    await mirrorOnce()
    const { store: mirrored, url: served } = await serveInside(t, away)
    await addToken(mirrored, TOKEN, ['admin'])
    const tag = (await fetch(`${served}/events`)).headers.get('etag') ?? ''
    const write = (method: string, path: string, body: string | null = null) => {
      const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/x-ndjson', 'If-Match': tag }
      return fetch(`${served}${path}`, { method, headers, body })
    }
    const writes: [string, string, string?][] = [
      ['POST', '/events', '{"id":100}'],
      ['PATCH', '/events', '{"op":"delete","key":"3"}'],
      ['DELETE', '/events'],
    ]
    for (const [method, path, body] of writes) {
      const response = await write(method, path, body ?? null)
      const problem = (await response.json()) as { type: string; detail: string; hint: string }
      assert.equal(response.status, 409, `${method} ${path}: ${JSON.stringify(problem)}`)
      assert.match(problem.type, /collection-mirrored$/)
      assert.ok(problem.detail.includes(`is a mirror of ${url}/events`))
      assert.match(problem.hint, /--detach/)
    }
    const imported = await runInside(['import', 'events', '-', '--key', 'id'], { in: away, input: '{"id":100}' })
    assert.equal(imported.status, 1)
    assert.match(imported.stderr, /is a mirror of .*`reams set events --detach`/)
    for (const message of [/no mirror any more/, /already no mirror/])
      assert.match((await run('set', 'events', '--detach')).stdout, message)
    assert.equal((await write('POST', '/events', '{"id":100}')).status, 201)
    assert.match((await mirror('--once')).stderr, /exists and is no mirror; it stays as it is/)
    assert.equal((await store.head('events'))?.live, 10)
    assert.doesNotMatch((await run('collections')).stdout, /behind/)
  })

  it('stops with status 2 at its limits on items and bytes, and with little space on the disk', async (t) => {
    const { away, mirror } = await origin(t, 1200)
    const [items, bytes] = [await mirror('--once', '--max-items', '1000'), await mirror('--max-bytes', '10KiB')]
    assert.equal(items.status, 2, items.stderr)
    assert.match(items.stderr, /has 1,200 items, and a mirror may have 1,000\. .*--max-items raises the limit/)
    assert.equal(bytes.status, 2, bytes.stderr)
    assert.match(bytes.stderr, /The limit is 10,240 bytes\. .*--max-bytes raises the limit/)
    assert.ok(!existsSync(join(away, 'reams.db')))
    const lack = await lackOf([TMPFS])
    if (lack !== undefined) return t.skip(lack)
    using disk = mountTmpfs(away, 10)
    writeFileSync(join(disk.path, 'filler'), Buffer.alloc(9.5 * 1024 * 1024))
    const full = await mirror('--store', 'tmpfs/reams.db')
    assert.equal(full.status, 2, full.stderr)
    assert.match(full.stderr, /Only [\d,]+ bytes are free on the disk of tmpfs, and a mirror leaves 1,048,576 free\./)
    assert.deepEqual(readdirSync(disk.path), ['filler'])
  })

  it('reads a private collection with a token, and keeps it private; ends when the token is revoked', async (t) => {
    const { away, store, append, run, mirror, start, isSame } = await origin(t)
    await store.setPrivate('events', true)
    const refused = await mirror('--once')
    assert.equal(refused.status, 2)
    assert.match(refused.stderr, /404.*A private collection is found only with a token for it/)
    await addToken(store, TOKEN, ['read:events'])
    await addToken(store, COPY_TOKEN, ['admin'])
    const [{ name: first = '' } = {}, { name: second = '' } = {}] = await store.tokens()
    writeFileSync(join(away, 'token'), `${TOKEN}\n`)
    const cli = start('--token-file', 'token', '--every', '1s')
    await waitUntil(isSame)
    const [json] = JSON.parse((await run('collections', '--json')).stdout)
    assert.equal(json.private, true)
    // Another token in the file is taken from there.
    writeFileSync(join(away, 'token'), COPY_TOKEN)
    await store.revokeToken(first, Date.now())
    await append('{"id":100}')
    await waitUntil(isSame)
    await store.revokeToken(second, Date.now())
    const { status, stderr } = await cli.ends()
    assert.equal(status, 2)
    assert.match(stderr, /401.*A token comes from --token-file or REAMS_TOKEN/)
    assert.ok(!stderr.includes(TOKEN) && !stderr.includes(COPY_TOKEN))
    assert.ok(await isSame())
  })

  it('serves on while its origin is away, and says since when', async (t) => {
    const network = await startProxy('127.0.0.1', 1)
    t.after(() => network.close())
    const baseUrl = `http://127.0.0.1:${network.port}`
    const { away, url, append, isSame } = await origin(t, 10, { baseUrl })
    network.targetPort = Number(new URL(url).port)
    const words = ['mirror', `${baseUrl}/events`, '--every', '1s']
    const cli = startCli(t, words, { in: away, input: '' })
    await waitUntil(() => /copied in/.test(cli.stderr))
    network.isOpen = false
    network.cutAll()
    const stays = /The mirror stays as it was at \d{4}-\d\d-\d\dT\S*\. It is tried again every second/
    await waitUntil(() => stays.test(cli.stderr))
    await append('{"id":100}')
    network.isOpen = true
    await waitUntil(isSame)
    await waitUntil(() => /answers again, after/.test(cli.stderr))
  })

  it('says that there is nothing yet where it is interrupted before the first copy is whole', async (t) => {
    const silent = createServer(() => {})
    const url = await listenOn(t, silent)
    const cli = startCli(t, ['mirror', `${url}/events`], { in: workDirectory(t), input: '' })
    await once(silent, 'request')
    const { status, stderr } = await cli.stop('SIGINT')
    assert.equal(status, 130)
    assert.match(stderr, /There is no mirror yet; the same command begins again\.$/m)
  })

  describe('says what is wrong', () => {
    const cases: [what: string, words: string, status: number, message: RegExp][] = [
      ['with a URL that is none', 'events', 2, /Expected the URL of a collection/],
      ['with a URL of no collection', 'URL/', 2, /names no collection/],
      ['with a collection that is not there', 'URL/nothing', 2, /404.*no collection "nothing"/],
      ['with a server that is not there', 'http://127.0.0.1:1/events', 3, /The connection failed/],
      ['with what is not under the contract', 'URL/-/health --name x', 1, /contract/],
      ['with a last part that is no name', 'URL/-/Health', 2, /no name.*--name/s],
      ['with a state of a collection', 'URL/events@x --name x', 2, /Mirror the collection, .*\/events;/],
      ['with an interval that is none', 'URL/events --every 5', 2, /--every/],
      ['with a token file that is not there', 'URL/events --token-file x', 2, /no token file/],
      ['with a directory that is missing', 'URL/events --store x/y.db', 2, /no directory/],
    ]
    const scope = suiteScope()
    let served: Awaited<ReturnType<typeof origin>>
    before(async () => {
      served = await origin(scope, 3)
    })
    for (const [what, words, status, message] of cases)
      it(what, async () => {
        const result = await served.run('mirror', ...words.replace('URL', served.url).split(' '))
        assert.match(result.stderr, message)
        assert.equal(result.status, status)
        assert.equal(existsSync(join(served.away, 'reams.db')), false)
      })
  })
})
