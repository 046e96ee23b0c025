import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, get, type Server } from 'node:http'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { before, describe, it, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { greeting } from '../../src/cli/commands/serve/greeting.ts'
import { sampleCollections } from '../../src/cli/commands/serve/sample.ts'
import { checkAddress, listenFailure, localUrl } from '../../src/cli/commands/serve/server.ts'
import { type Flags, SettingValues } from '../../src/cli/setting-values.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { listenOn } from '../check/hostile-servers.ts'
import { freePort } from '../store/free-port.ts'
import { refused, succeeds } from './directory.ts'
import { eventLines, putLines } from './items.ts'
import { runCli, runInside, startCli, startServer, suiteScope, temporaryFilesOf, workDirectory } from './run-cli.ts'

async function putEvents(directory: string): Promise<void> {
  await putLines(directory, 'events', eventLines(1234), { keyField: 'id' })
}

async function countOf(answer: Promise<Response>): Promise<number> {
  return ((await (await answer).json()) as { item_count: number }).item_count
}

/** Of a token that may create collections. */
async function headersFor(directory: string, ...words: string[]): Promise<Record<string, string>> {
  const token = ['token', 'create', '--name', 'app', '--scope', 'create:*', ...words]
  const { stdout } = await runInside(token, { in: directory })
  return { Authorization: `Bearer ${stdout.trim()}`, 'Content-Type': 'application/json' }
}

describe('serve', () => {
  const scope = suiteScope()
  let directory = ''
  let server: Awaited<ReturnType<typeof startServer>>

  before(async () => {
    directory = workDirectory(scope)
    await putEvents(directory)
    server = await startServer(scope, [], { in: directory })
  })

  it('prints what it serves, where, and what to try, and each of these works', async () => {
    const { cli, url } = server
    assert.match(cli.stdout, new RegExp(`^Reams serves reams\\.db at ${url}/\n`))
    assert.match(cli.stdout, new RegExp(`^  events  1,234 items  3 pages  ${url}/events$`, 'm'))
    const tries = [...cli.stdout.matchAll(/^ {2}curl '(.*)'$/gm)].map(([, address = '']) => address)
    assert.deepEqual(tries, [`${url}/`, `${url}/events?page=3`, `${url}/events/1`])
    for (const address of tries) assert.equal((await fetch(address)).status, 200, address)
  })

  it('follows what other processes do to the store, from the next request on', async () => {
    const run = (words: string, input = '') => succeeds(directory, words, { input })
    assert.equal(await countOf(server.get('/events')), 1234)
    await run('import events -', eventLines(600, 2000))
    assert.equal(await countOf(server.get('/events')), 1834)
    await run('set events --private')
    assert.equal((await server.get('/events')).status, 404)
    await run('drop events --yes')
    await run('import events -', '{}\n')
    assert.equal(await countOf(server.get('/events')), 1)
  })

  it('creates no collection for a POST', async () => {
    const request = { method: 'POST', headers: await headersFor(directory), body: '[{"id":1}]' }
    assert.equal((await fetch(`${server.url}/evnets`, request)).status, 404)
  })

  it('goes on when nobody reads its log any more', async () => {
    server.cli.child.stderr?.destroy()
    rmSync(join(directory, 'reams.db'))
    // Each is reported in a line of the log.
    for (let count = 0; count < 3; count++) assert.equal((await server.get('/-/health')).status, 503)
    assert.equal((await server.get('/events')).status, 200)
  })
})

describe('serve in its settings', () => {
  it('starts although a collection is damaged, and serves the others', async (t) => {
    const directory = workDirectory(t)
    await putEvents(directory)
    await putLines(directory, 'venues', eventLines(3))
    using database = new DatabaseSync(join(directory, 'reams.db'))
    database.exec("UPDATE head SET live = live - 1 WHERE name = 'events'")
    const { cli, get: ask } = await startServer(t, [], { in: directory })
    assert.match(cli.stdout, /^ {2}Not all of it can be read: .*"events"/m)
    assert.equal((await ask('/events')).status, 503)
    assert.equal((await ask('/venues')).status, 200)
  })

  it('creates a store with --create, and collections with --create-on-write; all links have the base URL', async (t) => {
    const directory = workDirectory(t)
    const words = ['--create', '--create-on-write', '--host', '0.0.0.0', '--base-url', 'https://example.com/api/']
    const { cli, url, get: ask } = await startServer(t, words, { in: directory })
    assert.match(cli.stdout, /^Reams serves reams\.db at https:\/\/example\.com\/api\/ \(port \d+ of 0\.0\.0\.0\)\n/)
    const headers = await headersFor(directory)
    const write = async (method: string, name: string, body: string) =>
      (await fetch(`${url}/api/${name}`, { method, headers, body })).status
    assert.deepEqual([await write('PUT', 'venues', '{}'), await write('POST', 'venues', '[{"id":1}]')], [201, 201])
    assert.equal(await write('POST', 'events', '[{"id":1}]'), 201)
    for (const name of ['events', 'venues']) {
      const text = await (await ask(`/api/${name}`)).text()
      assert.match(text, new RegExp(`"first":{"href":"https://example.com/api/${name}"}`))
      assert.match(text, /"item_count":1[,}]/)
    }
  })

  it('says what to do if the port is in use, before it loads anything', async (t) => {
    const directory = workDirectory(t)
    await putEvents(directory)
    const { port } = new URL(await listenOn(t, createServer()))
    writeFileSync(join(directory, 'bad.ndjson'), '[1]\n')
    const message = new RegExp(`^reams: Port ${port} on 127\\.0\\.0\\.1 is in use\\. .*--(admin-)?port 0.*\n$`)
    for (const words of [`${port}`, `${port} --workers 2`, `${port} bad.ndjson`, `0 bad.ndjson --admin-port ${port}`]) {
      // Workers are processes: they need the program itself.
      const run = words.includes('--workers') ? runCli : runInside
      const result = await run(['serve', '--port', ...words.split(' ')], { in: directory })
      assert.deepEqual([result.status, result.stdout], [2, ''])
      assert.match(result.stderr, message)
    }
  })
})

describe('the address of a server', () => {
  const check = (flags: Flags) => checkAddress(new SettingValues(['host', 'port', 'baseUrl'], flags, {}))

  it('needs a base URL beyond loopback, and the message says how to give it', () => {
    for (const host of ['127.0.0.1', 'localhost', '::1', '[::1]']) assert.doesNotThrow(() => check({ host }))
    for (const host of ['0.0.0.0', '::', '127.0.0.2', 'example.com', 'localhost.example.com']) {
      assert.throws(() => check({ host }), /^Failure: To listen on .*--base-url https:\/\/api\.example\.com/)
      assert.doesNotThrow(() => check({ host, baseUrl: 'https://example.com' }))
    }
    assert.equal(localUrl('::1', 8080), 'http://[::1]:8080')
    assert.equal(localUrl('127.0.0.1', 80), 'http://127.0.0.1')
  })

  it('that cannot be had is explained', async () => {
    const inUse = /^Port 8080 on 192.0.2.1 is in use\. Stop the program that uses it, or take another: --port 0 /
    const cases: [code: string, port: number, message: RegExp][] = [
      ['EADDRINUSE', 8080, inUse],
      ['EACCES', 80, /^No permission to listen on port 80 of 192.0.2.1\. .*--port 8080/],
      ['EADDRNOTAVAIL', 80, /^This machine has no address "192.0.2.1"\. .*--host/],
      ['ENOTFOUND', 80, /^This machine has no address "192.0.2.1"\. .*--host/],
    ]
    // An address for documentation: it belongs to no machine.
    const failure = (code: string, port: number) => listenFailure(code, '192.0.2.1', port)
    for (const [code, port, message] of cases) assert.match((await failure(code, port)) ?? '', message)
    assert.equal(await failure('ENOMEM', 80), undefined)
    assert.match((await listenFailure('EADDRINUSE', '127.0.0.1', 65_535)) ?? '', /--port 8\d{3}, or --port 0 /)
  })

  it('that is in use is answered with a port that is free, also where the next one is not', async (t) => {
    const taken: Server[] = []
    t.after(() => {
      for (const server of taken) server.close()
    })
    const listenAt = async (port: number) => {
      const server = createServer().listen(port, '127.0.0.1')
      await once(server, 'listening')
      taken.push(server)
    }
    for (;;) {
      const port = await freePort()
      // Another process can take one of the two in between.
      if (await Promise.all([listenAt(port), listenAt(port + 1)]).catch(() => undefined)) {
        const said = /--port (\d+), or --port 0/.exec((await listenFailure('EADDRINUSE', '127.0.0.1', port)) ?? '')?.[1]
        assert.ok(Number(said) > port + 1, said)
        await listenAt(Number(said))
        return
      }
    }
  })
})

describe('the greeting', () => {
  const greet = async (t: TestContext, options: { isTokenRequired?: boolean; isPrivate?: boolean; line?: string }) => {
    const { isTokenRequired = false, isPrivate = false, line = '{"k":"1"}\n' } = options
    const directory = workDirectory(t)
    await putLines(directory, 'x', line, { keyField: 'k', isPrivate })
    const store = await openSqliteStore({ path: join(directory, 'reams.db') })
    t.after(() => store.close())
    return greeting({ store, title: 'my.db', baseUrl: 'http://h', isTokenRequired })
  }

  it('has commands that a shell can run, whatever the key, and shows how to send a token where one is required', async (t) => {
    const text = await greet(t, { line: '{"k":"o\'a $(b) é"}\n' })
    assert.ok(text.includes("curl 'http://h/x/o%27a%20%24(b)%20%C3%A9'\n"), text)
    const guarded = await greet(t, { isTokenRequired: true })
    assert.match(guarded, /^Try, with a token from "reams token create" in REAMS_TOKEN:$/m)
    assert.ok(guarded.includes(`  curl -H "Authorization: Bearer $REAMS_TOKEN" 'http://h/x?page=1'\n`), guarded)
  })

  it('does not suggest a private collection', async (t) => {
    const text = await greet(t, { isPrivate: true })
    assert.match(text, /^ {2}x {2}1 item {2}1 page {2}private$/m)
    assert.doesNotMatch(text, /curl .*x/)
  })
})

describe('serve FILE…', () => {
  function directoryWithFiles(t: TestContext): string {
    const directory = workDirectory(t)
    writeFileSync(join(directory, 'My Events.ndjson.gz'), gzipSync(eventLines(501)))
    writeFileSync(join(directory, 'venues.csv'), 'id,name\n1,Dock\n2,Hall\n')
    return directory
  }

  it('serves each file as a collection, and removes the temporary store at the end', async (t) => {
    const directory = directoryWithFiles(t)
    renameSync(join(directory, 'venues.csv'), join(directory, 'venues.v2.csv'))
    writeFileSync(join(directory, 'lineItems.csv'), 'id\n1\n')
    const words = ['My Events.ndjson.gz', 'venues.v2.csv', 'lineItems.csv', '--key', 'id']
    // The store of a variable does not matter then.
    const variables = { REAMS_STORE: 'my.db', REAMS_BASE_URL: 'http://h/api' }
    const { cli, get: ask } = await startServer(t, words, { in: directory, variables })
    assert.match(cli.stdout, /^Reams serves My Events\.ndjson\.gz, venues\.v2\.csv, lineItems\.csv at /)
    assert.match(cli.stdout, /^ {2}lineItems\.csv is served at \/api\/lineitems$/m)
    assert.doesNotMatch(cli.stdout, /venues.* is served at/)
    assert.equal(await countOf(ask('/api/my-events')), 501)
    assert.equal(await (await ask('/api/venues.v2/2')).text(), '{"id":"2","name":"Hall"}')
    assert.equal(readdirSync(temporaryFilesOf(directory)).length, 1)
    // Files are served for a look: requests that succeed are not logged.
    assert.deepEqual({ ...(await cli.stop('SIGINT')), stdout: '' }, { status: 0, stdout: '', stderr: '' })
    assert.deepEqual(readdirSync(temporaryFilesOf(directory)), [])
    assert.equal(existsSync(join(directory, 'my.db')), false)
  })

  it('removes the temporary store at SIGINT and SIGHUP while a file is loading', async (t) => {
    const signals = ['SIGINT', 'SIGHUP'] as const
    const interrupted = async (signal: (typeof signals)[number]) => {
      const directory = workDirectory(t)
      const pipe = join(directory, 'endless.ndjson')
      execFileSync('mkfifo', [pipe])
      const cli = startCli(t, ['serve', 'endless.ndjson', '--port', '0'], { in: directory })
      const writing = createWriteStream(pipe)
      t.after(() => writing.destroy())
      writing.on('error', () => {})
      // More than a pipe holds: when it has gone through, loading has begun.
      await new Promise((resolve) => writing.write(eventLines(10_000), resolve))
      assert.equal(readdirSync(temporaryFilesOf(directory)).length, 1)
      assert.deepEqual(await cli.stop(signal), { status: 0, stdout: '', stderr: '' })
      assert.deepEqual(readdirSync(temporaryFilesOf(directory)), [])
    }
    await Promise.all(signals.map(interrupted))
  })

  it('refuses a bad file, two files of one name, and --store', async (t) => {
    const directory = directoryWithFiles(t)
    writeFileSync(join(directory, 'bad.ndjson'), '{"a":1}\n[1]\n')
    writeFileSync(join(directory, 'Venues.json'), '[]')
    const wrong: [words: string, status: number, message: RegExp][] = [
      ['venues.csv bad.ndjson', 1, /^reams: bad\.ndjson, line 2: .*\[1\]/],
      ['venues.csv Venues.json', 2, /^reams: venues\.csv and Venues\.json would both be the collection "venues"/],
      ['venues.csv --store my.db', 2, /reams import NAME FILE --store my\.db\n$/],
    ]
    for (const [words, status, message] of wrong) {
      await refused(directory, `serve --port 0 ${words}`, status, message)
      assert.deepEqual(readdirSync(temporaryFilesOf(directory)), [])
    }
  })
})

describe('serve --sample', () => {
  it('creates data/reams.db, whole for two servers that start at once, and serves it again as it is', async (t) => {
    const directory = workDirectory(t)
    const servers = await Promise.all([1, 2].map(() => startServer(t, ['--sample'], { in: directory })))
    for (const { cli, get: ask } of servers) {
      assert.match(cli.stdout, /^Reams serves data\/reams\.db at /)
      assert.equal(await countOf(ask('/events')), 1234)
      assert.equal((await ask('/venues/old-brewery')).status, 200)
      assert.equal((await cli.stop()).stderr, '', 'the sample is served for a look')
    }
    await runInside(['drop', 'venues', '--yes', '--store', 'data/reams.db'], { in: directory })
    const again = await startServer(t, ['--sample'], { in: directory })
    assert.equal((await again.get('/venues')).status, 404)
  })

  it('gives way to a store', async (t) => {
    const variables = { REAMS_STORE: 'my.db' }
    await refused(workDirectory(t), 'serve --sample --port 0', 2, /There is no store at my\.db\./, { variables })
  })
})

describe('a server that is told to stop', () => {
  it('cuts off what is left after the shutdown timeout, says so, and ends with 0', async (t) => {
    const directory = workDirectory(t)
    // An answer that is far too large for the buffers between.
    await putLines(directory, 'large', `{"text":"${'x'.repeat(200_000)}"}\n`.repeat(100))
    const words = ['--log-requests', 'errors', '--shutdown-timeout', '100ms']
    const { cli, url } = await startServer(t, words, { in: directory })
    const request = get(`${url}/large`, { agent: false })
    t.after(() => request.destroy())
    await once(request, 'response')
    cli.child.kill('SIGTERM')
    const { status, stderr } = await cli.ends()
    assert.equal(status, 0)
    assert.match(stderr, /^{"level":"warn",.*"msg":"Cut off after --shutdown-timeout: 1 request\."}$/m)
  })
})

it('the sample has 1,234 events in a dozen venues, each with a key of its own, the same every time', () => {
  const [events, venues] = sampleCollections()
  const itemsOf = (texts: readonly string[] = []) => texts.map((text) => JSON.parse(text))
  const idsOf = (texts?: readonly string[]) => new Set(itemsOf(texts).map(({ id }) => id))
  assert.deepEqual([events?.name, events?.isPaginated, idsOf(events?.items).size], ['events', true, 1234])
  assert.deepEqual([venues?.name, venues?.isPaginated, idsOf(venues?.items).size], ['venues', false, 12])
  assert.deepEqual(new Set(itemsOf(events?.items).map(({ venue }) => venue)), idsOf(venues?.items))
  assert.deepEqual(sampleCollections(), sampleCollections())
})
