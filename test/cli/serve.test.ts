import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, get, type IncomingMessage, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { greeting } from '../../src/cli/commands/serve/greeting.ts'
import { checkAddress, listenFailure, localUrl } from '../../src/cli/commands/serve/server.ts'
import { type Flags, SettingValues } from '../../src/cli/setting-values.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { freePort } from '../store/free-port.ts'
import { eventLines, putLines } from './items.ts'
import { RunningCli, runCli, runInside, startServer, temporaryFilesOf, workDirectory } from './run-cli.ts'

async function directoryWithEvents(t: TestContext): Promise<string> {
  const directory = workDirectory(t)
  await putLines(directory, 'events', eventLines(1234), { keyField: 'id' })
  return directory
}

function directoryWithFiles(t: TestContext): string {
  const directory = workDirectory(t)
  writeFileSync(join(directory, 'My Events.ndjson.gz'), gzipSync(eventLines(501)))
  writeFileSync(join(directory, 'venues.csv'), 'id,name\n1,Dock\n2,Hall\n')
  return directory
}

async function countOf(answer: Promise<Response>): Promise<number> {
  return ((await (await answer).json()) as { item_count: number }).item_count
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

  it('follows what other processes do to the store, from the next request on', async (t) => {
    const directory = await directoryWithEvents(t)
    const { get: ask } = await startServer(t, [], { in: directory })
    const run = async (words: string, input = '') =>
      assert.equal((await runInside(words.split(' '), { in: directory, input })).status, 0)
    assert.equal(await countOf(ask('/events')), 1234)
    await run('import events -', eventLines(600, 2000))
    assert.equal(await countOf(ask('/events')), 1834)
    await run('set events --private')
    assert.equal((await ask('/events')).status, 404)
    await run('drop events --yes')
    await run('import events -', '{}\n')
    assert.equal(await countOf(ask('/events')), 1)
  })

  it('starts although a collection is damaged, and serves the others', async (t) => {
    const directory = await directoryWithEvents(t)
    await putLines(directory, 'venues', eventLines(3))
    using database = new DatabaseSync(join(directory, 'reams.db'))
    database.exec("UPDATE head SET live = live - 1 WHERE name = 'events'")
    const { cli, get: ask } = await startServer(t, [], { in: directory })
    assert.match(cli.stdout, /^ {2}Not all of it can be read: .*"events"/m)
    assert.equal((await ask('/events')).status, 503)
    assert.equal((await ask('/venues')).status, 200)
  })

  it('creates an empty store if told to, which can then be filled over HTTP', async (t) => {
    const directory = workDirectory(t)
    const words = ['token', 'create', '--name', 'app', '--scope', 'create:*', '--create']
    const { stdout } = await runInside(words, { in: directory })
    const { url, get: ask } = await startServer(t, ['--create'], { in: directory })
    const headers = { Authorization: `Bearer ${stdout.trim()}`, 'Content-Type': 'application/json' }
    assert.equal((await fetch(`${url}/events`, { method: 'PUT', headers, body: '{}' })).status, 201)
    assert.equal((await fetch(`${url}/events`, { method: 'POST', headers, body: '[{"id":1}]' })).status, 201)
    assert.equal((await fetch(`${url}/evnets`, { method: 'POST', headers, body: '[{"id":1}]' })).status, 404)
    assert.equal(await countOf(ask('/events')), 1)
  })

  it('lets a POST create a collection with --create-on-write', async (t) => {
    const directory = workDirectory(t)
    const words = ['token', 'create', '--name', 'app', '--scope', 'create:*', '--create']
    const { stdout } = await runInside(words, { in: directory })
    const { url, get: ask } = await startServer(t, ['--create-on-write'], { in: directory })
    const headers = { Authorization: `Bearer ${stdout.trim()}`, 'Content-Type': 'application/json' }
    assert.equal((await fetch(`${url}/events`, { method: 'POST', headers, body: '[{"id":1}]' })).status, 201)
    assert.equal(await countOf(ask('/events')), 1)
  })

  it('puts the base URL, and nothing else, into links and into what it prints', async (t) => {
    const words = ['serve', '--port', '0', '--host', '0.0.0.0', '--base-url', 'https://example.com/api/']
    const cli = new RunningCli(words, { in: await directoryWithEvents(t) })
    t.after(() => cli.child.kill('SIGKILL'))
    await cli.prints('Ctrl-C stops it.')
    assert.match(cli.stdout, /^Reams serves reams\.db at https:\/\/example\.com\/api\/ \(port \d+ of 0\.0\.0\.0\)\n/)
    const port = /port (\d+)/.exec(cli.stdout)?.[1]
    const text = await (await fetch(`http://127.0.0.1:${port}/api/events`)).text()
    assert.match(text, /"first":\{"href":"https:\/\/example\.com\/api\/events"\}/)
  })

  it('says what to do if the port is in use, before it loads anything', async (t) => {
    const directory = await directoryWithEvents(t)
    const other = createServer().listen(0, '127.0.0.1')
    t.after(() => other.close())
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    writeFileSync(join(directory, 'bad.ndjson'), '[1]\n')
    for (const words of [[], ['--workers', '2'], ['bad.ndjson']]) {
      // Workers are processes: they need the program itself.
      const run = words.includes('--workers') ? runCli : runInside
      const result = await run(['serve', '--port', String(port), ...words], { in: directory })
      assert.deepEqual([result.status, result.stdout], [2, ''])
      assert.match(result.stderr, new RegExp(`^reams: Port ${port} on 127\\.0\\.0\\.1 is in use\\. .*--port 0.*\n$`))
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
    const cases: [code: string, port: number, message: RegExp][] = [
      ['EADDRINUSE', 8080, /^Port 8080 on h is in use\. Stop the program that uses it, or take another: --port 0 /],
      ['EACCES', 80, /^No permission to listen on port 80 of h\. .*--port 8080/],
      ['EADDRNOTAVAIL', 80, /^This machine has no address "h"\. .*--host/],
      ['ENOTFOUND', 80, /^This machine has no address "h"\. .*--host/],
    ]
    for (const [code, port, message] of cases) assert.match((await listenFailure(code, 'h', port)) ?? '', message)
    assert.equal(await listenFailure('ENOMEM', 'h', 80), undefined)
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
  it('serves each file as a collection, and removes the temporary store at the end', async (t) => {
    const directory = directoryWithFiles(t)
    // The store of a variable does not matter then.
    const options = { in: directory, variables: { REAMS_STORE: 'my.db' } }
    const { cli, get: ask } = await startServer(t, ['My Events.ndjson.gz', 'venues.csv', '--key', 'id'], options)
    assert.match(cli.stdout, /^Reams serves My Events\.ndjson\.gz, venues\.csv at /)
    assert.equal(await countOf(ask('/my-events')), 501)
    assert.equal(await (await ask('/venues/2')).text(), '{"id":"2","name":"Hall"}')
    assert.equal(readdirSync(temporaryFilesOf(directory)).length, 1)
    assert.equal((await cli.stop('SIGINT')).status, 0)
    assert.deepEqual(readdirSync(temporaryFilesOf(directory)), [])
    assert.equal(existsSync(join(directory, 'my.db')), false)
  })

  for (const signal of ['SIGINT', 'SIGHUP'] as const)
    it(`${signal} while a file is loading removes the temporary store`, async (t) => {
      const directory = workDirectory(t)
      const pipe = join(directory, 'endless.ndjson')
      execFileSync('mkfifo', [pipe])
      const cli = new RunningCli(['serve', 'endless.ndjson', '--port', '0'], { in: directory })
      t.after(() => cli.child.kill('SIGKILL'))
      const writing = createWriteStream(pipe)
      t.after(() => writing.destroy())
      writing.on('error', () => {})
      // More than a pipe holds: when it has gone through, loading has begun.
      await new Promise((resolve) => writing.write(eventLines(50_000), resolve))
      assert.equal(readdirSync(temporaryFilesOf(directory)).length, 1)
      assert.deepEqual(await cli.stop(signal), { status: 0, stdout: '', stderr: '' })
      assert.deepEqual(readdirSync(temporaryFilesOf(directory)), [])
    })

  it('prints the path of a collection whose name is not that of its file', async (t) => {
    const directory = workDirectory(t)
    for (const file of ['lineItems.csv', 'venues.v2.csv']) writeFileSync(join(directory, file), 'id\n1\n')
    const words = ['lineItems.csv', 'venues.v2.csv', '--base-url', 'http://h/api']
    const { cli } = await startServer(t, words, { in: directory })
    assert.match(cli.stdout, /^ {2}lineItems\.csv is served at \/api\/lineitems$/m)
    assert.doesNotMatch(cli.stdout, /venues.* is served at/)
  })

  it('refuses a bad file, two files of one name, and --store', async (t) => {
    const directory = directoryWithFiles(t)
    writeFileSync(join(directory, 'bad.ndjson'), '{"a":1}\n[1]\n')
    writeFileSync(join(directory, 'Venues.json'), '[]')
    const wrong: [words: string[], status: number, message: RegExp][] = [
      [['venues.csv', 'bad.ndjson'], 1, /^reams: bad\.ndjson, line 2: .*\[1\]/],
      [['venues.csv', 'Venues.json'], 2, /^reams: venues\.csv and Venues\.json would both be the collection "venues"/],
      [['venues.csv', '--store', 'my.db'], 2, /reams import NAME FILE --store my\.db\n$/],
    ]
    for (const [words, status, message] of wrong) {
      const result = await runInside(['serve', '--port', '0', ...words], { in: directory })
      assert.equal(result.status, status)
      assert.match(result.stderr, message)
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
      await cli.stop()
    }
    await runInside(['drop', 'venues', '--yes', '--store', 'data/reams.db'], { in: directory })
    const again = await startServer(t, ['--sample'], { in: directory })
    assert.equal((await again.get('/venues')).status, 404)
  })

  it('gives way to a store', async (t) => {
    const options = { in: await directoryWithEvents(t), variables: { REAMS_STORE: 'reams.db' } }
    const { cli } = await startServer(t, ['--sample'], options)
    assert.match(cli.stdout, /^Reams serves reams\.db at /)
  })
})

describe('a server that is told to stop', () => {
  const itemCount = 100

  /** A server in the middle of an answer that is far too large for the buffers between. */
  async function serverInTheMiddle(t: TestContext, words: readonly string[] = []) {
    const directory = workDirectory(t)
    await putLines(directory, 'large', `{"text":"${'x'.repeat(200_000)}"}\n`.repeat(itemCount))
    const server = await startServer(t, ['--log-requests', 'errors', ...words], { in: directory })
    const request = get(`${server.url}/large`, { agent: false })
    t.after(() => request.destroy())
    const [answer] = (await once(request, 'response')) as [IncomingMessage]
    server.cli.child.kill('SIGTERM')
    await stopsListening(server.url)
    return { ...server, answer }
  }

  /** Resolves when nobody listens there any more. */
  async function stopsListening(url: string): Promise<void> {
    for (const { hostname, port } = new URL(url); ; await sleep(10)) {
      const socket = connect(Number(port), hostname)
      const isOpen = await once(socket, 'connect').then(
        () => true,
        () => false,
      )
      socket.destroy()
      if (!isOpen) return
    }
  }

  it('finishes the answer that is under way, and takes no new request meanwhile', async (t) => {
    const { cli, answer } = await serverInTheMiddle(t)
    const chunks: Buffer[] = await answer.toArray()
    const { _embedded } = JSON.parse(Buffer.concat(chunks).toString())
    assert.equal(_embedded.large.length, itemCount)
    assert.deepEqual({ ...(await cli.ends()), stdout: '' }, { status: 0, stdout: '', stderr: '' })
  })

  it('goes on as usual for the drain delay', async (t) => {
    const options = { in: await directoryWithEvents(t) }
    const { cli, url } = await startServer(t, ['--drain-delay', '2s'], options)
    cli.child.kill('SIGTERM')
    // A new connection each time, as long as the port is open.
    let answered = 0
    await assert.rejects(async () => {
      for (;;) {
        const answer = await fetch(`${url}/-/health`, { headers: { connection: 'close' } })
        assert.equal(answer.status, 200)
        answered++
      }
    }, TypeError)
    assert.ok(answered > 0)
    assert.equal((await cli.ends()).status, 0)
  })

  it('cuts off what is left after the shutdown timeout, says so, and ends with 0', async (t) => {
    const { cli } = await serverInTheMiddle(t, ['--shutdown-timeout', '100ms'])
    const { status, stderr } = await cli.ends()
    assert.equal(status, 0)
    assert.match(stderr, /^{"level":"warn",.*"msg":"Cut off after --shutdown-timeout: 1 request\."}$/m)
  })

  it('ends at once when it is told a second time', async (t) => {
    const { cli } = await serverInTheMiddle(t)
    assert.equal((await cli.stop('SIGINT')).status, 130)
  })
})

it('a server goes on when nobody reads its log any more', async (t) => {
  const directory = await directoryWithEvents(t)
  const { cli, get: ask } = await startServer(t, [], { in: directory })
  cli.child.stderr?.destroy()
  rmSync(join(directory, 'reams.db'))
  // Each is reported in a line of the log.
  for (let count = 0; count < 3; count++) assert.equal((await ask('/-/health')).status, 503)
  assert.equal((await ask('/events')).status, 200)
})
