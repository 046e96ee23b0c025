import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it, type TestContext } from 'node:test'
import { eventLines, putLines } from './items.ts'
import { RunningCli, runCli, startServer, workDirectory } from './run-cli.ts'

async function directoryWithEvents(t: TestContext): Promise<string> {
  const directory = workDirectory(t)
  await putLines(directory, 'events', eventLines(1234), { keyField: 'id' })
  return directory
}

interface Envelope {
  readonly item_count: number
  readonly _links: { readonly first: { readonly href: string } }
}

describe('serve', () => {
  it('prints what it serves, where, and what to try, and each of these works', async (t) => {
    const { cli, url } = await startServer(t, [], { in: await directoryWithEvents(t) })
    assert.match(cli.stdout, new RegExp(`^Reams serves reams\\.db at ${url}/\n`))
    assert.match(cli.stdout, new RegExp(`^  events  1,234 items  3 pages  ${url}/events$`, 'm'))
    const tries = [...cli.stdout.matchAll(/^ {2}curl '(.*)'$/gm)].map(([, address = '']) => address)
    assert.deepEqual(tries, [`${url}/`, `${url}/events?page=3`, `${url}/events/1`])
    for (const address of tries) assert.equal((await fetch(address)).status, 200, address)
  })

  it('starts although a collection is damaged, and serves the others', async (t) => {
    const directory = await directoryWithEvents(t)
    await putLines(directory, 'venues', eventLines(3))
    using database = new DatabaseSync(join(directory, 'reams.db'))
    database.exec("UPDATE head SET live = live - 1 WHERE name = 'events'")
    const { cli, url } = await startServer(t, [], { in: directory })
    assert.match(cli.stdout, /^ {2}Not all of it can be read: .*"events"/m)
    assert.equal((await fetch(`${url}/events`)).status, 503)
    assert.equal((await fetch(`${url}/venues`)).status, 200)
  })

  it('says what to try with a token, where one is required', async (t) => {
    const directory = await directoryWithEvents(t)
    const words = ['token', 'create', '--name', 'reader', '--scope', 'read:*']
    const token = (await runCli(words, { in: directory })).stdout.trim()
    const { cli, url } = await startServer(t, ['--require-token'], { in: directory })
    const tries = [...cli.stdout.matchAll(/^ {2}curl -H "Authorization: Bearer \$REAMS_TOKEN" '(.*)'$/gm)]
    assert.deepEqual(
      tries.map(([, address = '']) => address),
      [`${url}/`, `${url}/events?page=3`, `${url}/events/1`],
    )
    for (const [, address = ''] of tries)
      assert.equal((await fetch(address, { headers: { Authorization: `Bearer ${token}` } })).status, 200, address)
  })

  it('makes an empty store only when told to, and can then be filled over HTTP', async (t) => {
    const directory = workDirectory(t)
    const refused = await runCli(['serve', '--port', '0'], { in: directory })
    assert.equal(refused.status, 2)
    assert.match(refused.stderr, /^reams: There is no store at reams\.db\. .*`reams serve --create --store reams\.db`/)
    assert.ok(!existsSync(join(directory, 'reams.db')))
    const made = await runCli(['token', 'create', '--name', 'app', '--scope', 'create:*', '--create'], {
      in: directory,
    })
    assert.equal(made.status, 0, made.stderr)
    const { url } = await startServer(t, ['--create'], { in: directory })
    const headers = { Authorization: `Bearer ${made.stdout.trim()}`, 'Content-Type': 'application/json' }
    assert.equal((await fetch(`${url}/events`, { method: 'POST', headers, body: '[{"id":1}]' })).status, 201)
    assert.equal(((await (await fetch(`${url}/events`)).json()) as Envelope).item_count, 1)
  })

  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    it(`ends with status 0 on ${signal}, with a connection still open, and frees the port`, async (t) => {
      const directory = await directoryWithEvents(t)
      const { cli, url, get } = await startServer(t, [], { in: directory })
      await (await get('/events')).text()
      const { status, stderr } = await cli.stop(signal)
      assert.deepEqual([status, stderr], [0, ''])
      const { port } = new URL(url)
      const again = new RunningCli(['serve', '--port', port], { in: directory })
      t.after(() => again.child.kill('SIGKILL'))
      await again.prints('Ctrl-C stops it.')
      assert.equal((await again.stop()).status, 0)
    })

  it('says of a port in use what to do', async (t) => {
    const other = createServer().listen(0, '127.0.0.1')
    t.after(() => other.close())
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const result = await runCli(['serve', '--port', String(port)], { in: await directoryWithEvents(t) })
    assert.equal(result.status, 2)
    assert.match(result.stderr, new RegExp(`^reams: Port ${port} on 127\\.0\\.0\\.1 is in use\\. .*--port 0.*\n$`))
    assert.equal(result.stdout, '')
  })

  it('says of an address that is not of this machine what to do', async (t) => {
    const words = ['serve', '--host', '192.0.2.1', '--base-url', 'https://example.com', '--port', '0']
    const result = await runCli(words, { in: await directoryWithEvents(t) })
    assert.equal(result.status, 2)
    assert.match(result.stderr, /^reams: This machine has no address "192\.0\.2\.1"\. .*--host.*\n$/)
  })

  it('wants a base URL when it listens for others', async (t) => {
    const result = await runCli(['serve', '--host', '0.0.0.0', '--port', '0'], { in: await directoryWithEvents(t) })
    assert.equal(result.status, 2)
    assert.match(result.stderr, /^reams: To listen on 0\.0\.0\.0 .*--base-url https:\/\/api\.example\.com.*\n$/)
  })

  it('puts the base URL, and nothing else, into links and into what it prints', async (t) => {
    const directory = await directoryWithEvents(t)
    const cli = new RunningCli(
      ['serve', '--port', '0', '--host', '0.0.0.0', '--base-url', 'https://example.com/api/'],
      { in: directory },
    )
    t.after(() => cli.child.kill('SIGKILL'))
    await cli.prints('Ctrl-C stops it.')
    assert.match(cli.stdout, /^Reams serves reams\.db at https:\/\/example\.com\/api\/ \(port \d+ of 0\.0\.0\.0\)\n/)
    const port = /port (\d+)/.exec(cli.stdout)?.[1]
    const answer = await fetch(`http://127.0.0.1:${port}/api/events`)
    const { _links } = (await answer.json()) as Envelope
    assert.equal(_links.first.href, 'https://example.com/api/events')
  })

  it('on loopback, names itself as the request does', async (t) => {
    const { url } = await startServer(t, ['--host', 'localhost'], { in: await directoryWithEvents(t) })
    assert.match(url, /^http:\/\/localhost:/)
    const { _links } = (await (await fetch(`${url}/events`)).json()) as Envelope
    assert.equal(_links.first.href, `${url}/events`)
  })

  it('takes its settings from variables too', async (t) => {
    const directory = await directoryWithEvents(t)
    const variables = { REAMS_PORT: 'x' }
    const result = await runCli(['serve'], { in: directory, variables })
    assert.equal(result.status, 2)
    assert.match(result.stderr, /"REAMS_PORT=x" is not possible\. Give a whole number from 0 to 65535\./)
  })

  it('prints a command that a shell can run, whatever the key', async (t) => {
    const directory = workDirectory(t)
    await putLines(directory, 'x', '{"k":"o\'a $(b) é"}\n', { keyField: 'k' })
    const { cli, url } = await startServer(t, [], { in: directory })
    assert.ok(cli.stdout.includes(`curl '${url}/x/o%27a%20%24(b)%20%C3%A9'\n`), cli.stdout)
    assert.equal((await fetch(`${url}/x/o%27a%20%24(b)%20%C3%A9`)).status, 200)
  })

  it('does not list a private collection among what to try', async (t) => {
    const directory = workDirectory(t)
    await putLines(directory, 'events', eventLines(1234), { isPrivate: true })
    const { cli } = await startServer(t, [], { in: directory })
    assert.match(cli.stdout, /^ {2}events {2}1,234 items {2}3 pages {2}private$/m)
    assert.doesNotMatch(cli.stdout, /curl .*events/)
  })
})

describe('serve --sample', () => {
  it('makes data/reams.db with both collections, once', async (t) => {
    const directory = workDirectory(t)
    const first = await startServer(t, ['--sample'], { in: directory })
    assert.match(first.cli.stdout, /^Reams serves data\/reams\.db at /)
    const events = (await (await first.get('/events')).json()) as Envelope
    assert.equal(events.item_count, 1234)
    const venues = (await (await first.get('/venues')).json()) as { _embedded: { venues: object[] } }
    assert.equal(venues._embedded.venues.length, 12)
    assert.equal('item_count' in venues, false)
    assert.equal((await first.get('/events/1234')).status, 200)
    await first.cli.stop()
    assert.equal((await runCli(['drop', 'venues', '--store', 'data/reams.db'], { in: directory })).status, 0)
    const second = await startServer(t, ['--sample'], { in: directory })
    assert.equal((await second.get('/venues')).status, 404, 'a sample that is there is served as it is')
  })

  it('is whole for two servers that start at once', async (t) => {
    const directory = workDirectory(t)
    const servers = await Promise.all([1, 2].map(() => startServer(t, ['--sample'], { in: directory })))
    for (const { get } of servers) {
      assert.equal((await get('/events')).status, 200)
      assert.equal((await get('/venues')).status, 200)
    }
    const result = await runCli(['verify', '--store', 'data/reams.db'], { in: directory })
    assert.match(result.stdout, /2 collections with 1,246 items checked, all sound/)
  })

  it('gives way to files and to a store', async (t) => {
    const directory = await directoryWithEvents(t)
    writeFileSync(join(directory, 'mine.ndjson'), eventLines(2))
    const withFile = await startServer(t, ['--sample', 'mine.ndjson'], { in: directory })
    assert.equal((await withFile.get('/mine')).status, 200)
    const withStore = await startServer(t, ['--sample'], { in: directory, variables: { REAMS_STORE: 'reams.db' } })
    assert.match(withStore.cli.stdout, /^Reams serves reams\.db at /)
  })
})
