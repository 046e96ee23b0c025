import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { mountTmpfs } from '../faults/mounts.ts'
import { lackOf, TMPFS } from '../faults/needs.ts'
import { waitUntil } from '../wait-until.ts'
import { eventLines } from './items.ts'
import { RunningCli, runCli, runInside, startServer, workDirectory } from './run-cli.ts'

/** An origin that is served, with a token that may do everything, and a directory for a mirror. */
async function origin(t: TestContext, count = 1200) {
  const [home, away] = [workDirectory(t), workDirectory(t)]
  writeFileSync(join(home, 'events.ndjson'), eventLines(count))
  await runInside(['import', 'events', 'events.ndjson', '--key', 'id'], { in: home })
  const token = (await runInside(['token', 'create', '--name', 'all', '--scope', 'admin'], { in: home })).stdout.trim()
  const { url } = await startServer(t, [], { in: home })
  const send = (method: string, path: string, body?: string, base = url) =>
    fetch(`${base}${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/x-ndjson' },
      ...(body !== undefined && { body }),
    })
  const mirror = (...words: string[]) => runCli(['mirror', `${url}/events`, ...words], { in: away })
  const running = (...words: string[]): RunningCli => {
    const cli = new RunningCli(['mirror', `${url}/events`, ...words], { in: away, input: '' })
    t.after(() => cli.child.kill('SIGKILL'))
    return cli
  }
  const isSame = async (name = 'events') => {
    const [there, here] = [
      await runInside(['export', 'events'], { in: home }),
      await runInside(['export', name], { in: away }),
    ]
    return here.status === 0 && there.stdout === here.stdout
  }
  return { home, away, url, token, send, mirror, running, isSame }
}

describe('reams mirror', () => {
  it('copies a collection, says so, and with --once ends', async (t) => {
    const { away, url, mirror, isSame, send } = await origin(t)
    const first = await mirror('--once')
    assert.equal(first.status, 0, first.stderr)
    assert.match(first.stderr, /events: 1,200 items of http:.*\/events copied in .*, for the first time/)
    assert.ok(await isSame())
    await send('PATCH', '/events', '{"op":"delete","key":"3"}\n')
    const second = await mirror('--once')
    assert.match(second.stderr, /events: 1 version with 1 change applied; 0 versions behind/)
    assert.ok(await isSame())
    const listed = await runInside(['collections'], { in: away })
    assert.match(listed.stdout, new RegExp(`events +1,199 +3 +id .*${url}/events, 0 versions behind, as of .* ago`))
    const [json] = JSON.parse((await runInside(['collections', '--json'], { in: away })).stdout)
    assert.equal(json.mirrors, `${url}/events`)
    assert.equal(json.follows.waiting, 0)
  })

  it('keeps it the same until a signal comes, under a name of its own, also after kill -9', async (t) => {
    const { mirror, running, isSame, send } = await origin(t, 10)
    const first = running('--name', 'copy')
    await waitUntil(() => isSame('copy'))
    await send('POST', '/events', '{"id":100}\n')
    await waitUntil(() => isSame('copy'))
    const waiting = running('--name', 'copy')
    await waitUntil(() => /another process keeps this mirror/.test(waiting.stderr))
    const stopped = running('--name', 'copy')
    await waitUntil(() => /another process keeps this mirror/.test(stopped.stderr))
    assert.deepEqual((await stopped.stop('SIGTERM')).status, 0, stopped.stderr)
    first.child.kill('SIGKILL')
    await send('POST', '/events', '{"id":101}\n')
    await waitUntil(() => isSame('copy'))
    const { status } = await waiting.stop('SIGINT')
    assert.equal(status, 0)
    assert.equal((await mirror('--once', '--name', 'copy')).status, 0)
  })

  it('refuses other writes to a mirror with 409, until it is detached', async (t) => {
    const { home, away, url, mirror, send } = await origin(t, 10)
    await mirror('--once')
    await runInside(['copy', '--from', 'reams.db', '--to', join(away, 'reams.db'), '--tokens'], { in: home })
    const { url: served } = await startServer(t, [], { in: away })
    const tag = (await fetch(`${served}/events`)).headers.get('etag') ?? ''
    const token = await runInside(['token', 'create', '--name', 'here', '--scope', 'admin'], { in: away })
    const write = async (method: string, path: string, body: string | null = null) => {
      const headers = { Authorization: `Bearer ${token.stdout.trim()}`, 'Content-Type': 'application/x-ndjson' }
      return fetch(`${served}${path}`, { method, headers: { ...headers, 'If-Match': tag }, body })
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
    assert.match((await runInside(['set', 'events', '--detach'], { in: away })).stdout, /no mirror any more/)
    assert.match((await runInside(['set', 'events', '--detach'], { in: away })).stdout, /already no mirror/)
    assert.equal((await write('POST', '/events', '{"id":100}')).status, 201)
    assert.match((await mirror('--once')).stderr, /exists and is no mirror; it stays as it is/)
    assert.equal((await send('GET', '/events/100')).status, 404)
    assert.doesNotMatch((await runInside(['collections'], { in: away })).stdout, /behind/)
  })

  it('stops with status 2 at its limits on items and bytes, and with little space on the disk', async (t) => {
    const { away, mirror } = await origin(t)
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
    const { home, away, token, mirror, running, isSame, send } = await origin(t, 10)
    await runInside(['set', 'events', '--private'], { in: home })
    const refused = await mirror('--once')
    assert.equal(refused.status, 2)
    assert.match(refused.stderr, /404.*A private collection is found only with a token for it/)
    const made = await runInside(['token', 'create', '--name', 'reader', '--scope', 'read:events'], { in: home })
    writeFileSync(join(away, 'token'), made.stdout)
    const cli = running('--token-file', 'token', '--every', '1s')
    await waitUntil(isSame)
    const [json] = JSON.parse((await runInside(['collections', '--json'], { in: away })).stdout)
    assert.equal(json.private, true)
    // Another token in the file is taken from there.
    writeFileSync(join(away, 'token'), token)
    await runInside(['token', 'revoke', 'reader'], { in: home })
    await send('POST', '/events', '{"id":100}\n')
    await waitUntil(isSame)
    await runInside(['token', 'revoke', 'all'], { in: home })
    const { status, stderr } = await cli.ends()
    assert.equal(status, 2)
    assert.match(stderr, /401.*A token comes from --token-file or REAMS_TOKEN/)
    assert.ok(!stderr.includes(token) && !stderr.includes(made.stdout.trim()))
    assert.ok(await isSame())
  })

  it('serves on while its origin is away, and says since when', async (t) => {
    const [home, away] = [workDirectory(t), workDirectory(t)]
    writeFileSync(join(home, 'events.ndjson'), eventLines(10))
    await runInside(['import', 'events', 'events.ndjson', '--key', 'id'], { in: home })
    const first = await startServer(t, [], { in: home })
    const cli = new RunningCli(['mirror', `${first.url}/events`, '--every', '1s'], { in: away, input: '' })
    t.after(() => cli.child.kill('SIGKILL'))
    await waitUntil(() => /copied in/.test(cli.stderr))
    await first.cli.stop()
    await waitUntil(() =>
      /The mirror stays as it was at \d{4}-\d\d-\d\dT\S*\. It is tried again every second/.test(cli.stderr),
    )
    await runInside(['import', 'events', '-', '--key', 'id'], { in: home, input: '{"id":100}' })
    await startServer(t, ['--port', new URL(first.url).port], { in: home })
    await waitUntil(async () => /"id":100/.test((await runInside(['export', 'events'], { in: away })).stdout))
    await waitUntil(() => /answers again, after/.test(cli.stderr))
  })

  it('says that there is nothing yet where it is interrupted before the first copy is whole', async (t) => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1')
    t.after(() => silent.closeAllConnections())
    t.after(() => silent.close())
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo
    const cli = new RunningCli(['mirror', `http://127.0.0.1:${port}/events`], { in: workDirectory(t), input: '' })
    await once(silent, 'request')
    const { status, stderr } = await cli.stop('SIGINT')
    assert.equal(status, 130)
    assert.match(stderr, /There is no mirror yet; the same command begins again\.$/m)
  })

  it('is shown with its origin also in a store that was restored', async (t) => {
    const [home, away] = [workDirectory(t), workDirectory(t)]
    writeFileSync(join(home, 'events.ndjson'), eventLines(10))
    const { url } = await startServer(t, ['events.ndjson'], { in: home })
    for (const words of [
      ['mirror', `${url}/events`, '--once'],
      ['backup', 'copy.db'],
      ['restore', 'copy.db', '--store', 'restored.db'],
    ])
      assert.equal((await runInside(words, { in: away })).status, 0)
    const { stdout } = await runInside(['collections', '--store', 'restored.db'], { in: away })
    assert.match(stdout, new RegExp(`FOLLOWS\nevents .* ${url}/events, 0 versions behind, as of .* ago\n$`))
  })

  describe('says what is wrong', () => {
    const cases: [what: string, words: (url: string) => string[], status: number, message: RegExp][] = [
      ['with a URL that is none', () => ['mirror', 'events'], 2, /Expected the URL of a collection/],
      ['with a URL of no collection', (url) => ['mirror', `${url}/`], 2, /names no collection/],
      ['with a collection that is not there', (url) => ['mirror', `${url}/nothing`], 2, /404.*no collection "nothing"/],
      ['with a server that is not there', () => ['mirror', 'http://127.0.0.1:1/events'], 3, /The connection failed/],
      ['with what is not under the contract', (url) => ['mirror', `${url}/-/health`, '--name', 'x'], 1, /contract/],
      ['with a last part that is no name', (url) => ['mirror', `${url}/-/Health`], 2, /no name.*--name/s],
      [
        'with a state of a collection',
        (url) => ['mirror', `${url}/events@x`, '--name', 'x'],
        2,
        /Mirror the collection, .*\/events;/,
      ],
      ['with an interval that is none', (url) => ['mirror', `${url}/events`, '--every', '5'], 2, /--every/],
      [
        'with a token file that is not there',
        (url) => ['mirror', `${url}/events`, '--token-file', 'x'],
        2,
        /no token file/,
      ],
      [
        'with a directory that is missing',
        (url) => ['mirror', `${url}/events`, '--store', 'x/y.db'],
        2,
        /no directory/,
      ],
    ]
    for (const [what, words, status, message] of cases)
      it(what, async (t) => {
        const { away, url } = await origin(t, 3)
        const result = await runInside(words(url), { in: away })
        assert.match(result.stderr, message)
        assert.equal(result.status, status)
        assert.equal((await runInside(['export', 'events'], { in: away })).status, 2)
      })
  })
})
