import assert from 'node:assert/strict'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { explainFailure } from '../../src/cli/client-failure.ts'
import {
  type ClientError,
  CollectionChanged,
  ConnectionLost,
  ForbiddenOrigin,
  HttpError,
  InvalidPage,
  PageTooLarge,
  TimeoutError,
} from '../../src/client/index.ts'
import type { Answered } from '../check/correct-server.ts'
import { mountTmpfs } from '../faults/mounts.ts'
import { lackOf, STRACE, TMPFS } from '../faults/needs.ts'
import { ReamsProcess } from '../faults/reams-process.ts'
import { linesOf, pageOf, serve } from './pull-servers.ts'
import { TOKEN } from './push-servers.ts'
import { runInside, workDirectory } from './run-cli.ts'

function plain(status: number, body = '', headers: Record<string, string> = {}): Answered {
  return { status, headers, body: Buffer.from(body) }
}

describe('the failure of a client, in words for the command line', () => {
  const url = 'http://x.example/events'
  const http = (status: number, method = 'GET') =>
    new HttpError({ url, method }, new Response(null, { status, statusText: 'Text' }))
  const cases: [error: ClientError, exitStatus: number, message: RegExp][] = [
    [http(401), 2, /^Request failed with status 401 Text: GET .*\. A token comes from --token-file or REAMS_TOKEN\.$/],
    [http(403), 2, /status 403 Text/],
    [http(404), 2, /\. Check the URL\. A private collection is found only with a token for it\.$/],
    [http(400), 1, /status 400 Text/],
    [http(413, 'POST'), 1, /: POST .* A smaller --batch sends less at a time\.$/],
    [http(200, 'POST'), 2, / Check the URL: this does not look like a Reams server\.$/],
    [http(308, 'POST'), 2, /status 308/],
    [http(304), 1, /status 304/],
    [http(429), 3, /status 429/],
    [http(500), 3, /status 500/],
    [
      new ConnectionLost({ url }, 'gone'),
      3,
      /^The connection failed: GET http:\/\/x\.example\/events – gone\. Check the URL, and that the server is running\.$/,
    ],
    [new TimeoutError({ url }, 1000), 3, /The option --timeout sets the limit\.$/],
    [new InvalidPage({ url }, 'odd'), 1, /^The response breaks the contract: .* "reams check" shows what/],
    [new PageTooLarge({ url }, 7), 1, /The option --answer-bytes sets the limit\.$/],
    [new ForbiddenOrigin({ url }, 'a link', 200, 'http://y.example'), 1, /--allow-origin allows it\. The token, if/],
    [new CollectionChanged({ url }, 'less'), 1, /^The collection changed while it was read/],
  ]
  for (const [error, exitStatus, message] of cases)
    it(`${error.name} ${error.status ?? ''}: exit status ${exitStatus}`, () => {
      const explained = explainFailure(error)
      assert.equal(explained?.exitStatus, exitStatus)
      assert.match(explained?.message ?? '', message)
    })

  it('leaves open what nobody expected', () => assert.equal(explainFailure(new TypeError('?')), undefined))
})

describe('reams pull of a server that fails', () => {
  it('says so with its exit status, shows no token that comes back, and leaves nothing behind', async (t) => {
    const { directory, url, server, names } = await serve(t)
    server.hook = ({ headers }) =>
      plain(403, JSON.stringify({ title: 'No', detail: `You sent ${headers.authorization}.` }))
    const variables = { REAMS_TOKEN: TOKEN }
    const { status, stdout, stderr } = await runInside(['pull', url, '-o', 'e.ndjson'], { in: directory, variables })
    assert.match(stderr, /^reams: Request failed with status 403 Forbidden: .* You sent Bearer …\.\n$/)
    assert.deepEqual([status, stdout, names()], [2, '', []])
  })

  it('tries as often and waits as long as it is told, and says where nobody listens', async (t) => {
    const { pull, server } = await serve(t)
    server.delayMs = 20_000
    const late = await pull('--timeout', '1', '--retries', '0')
    assert.match(late.stderr, /Request timed out: .* The option --timeout sets the limit\.\n$/)
    assert.equal(late.status, 3)
    const nobody = await runInside(['pull', 'http://127.0.0.1:1/events', '--retries', '1'], { in: workDirectory(t) })
    assert.match(nobody.stderr, /The connection failed: GET http:\/\/127\.0\.0\.1:1\/events\?page=1 – .*ECONNREFUSED/)
    assert.equal(nobody.status, 3)
  })
})

describe('a collection that changes while it is pulled', () => {
  it('by losing an item, is pulled again from its beginning into a file, and fails to standard output', async (t) => {
    const { pull, server, read } = await serve(t, { items: 3000 })
    server.hook = (asked) => {
      if (pageOf(asked) === 4 && server.items.length === 3000) server.items = server.items.slice(1)
      return undefined
    }
    const toFile = await pull('-o', 'e.ndjson')
    assert.equal(toFile.status, 0, toFile.stderr)
    assert.equal(read('e.ndjson').toString(), linesOf(server.items))
    assert.match(toFile.stderr, /^reams: the collection changed; it is pulled again from its beginning\.\nevents: /)
    assert.match(toFile.stderr, / It changed during the pull and was read again, once\.\n$/)
    server.items = [...server.items, { id: 'last' }]
    const toStdout = await pull()
    assert.match(toStdout.stderr, /^reams: The collection changed while it was read, .* by itself: -o FILE\n$/)
    assert.equal(toStdout.status, 1)
  })
})

describe('a disk', () => {
  it('that is full ends a pull, with what is certain kept', async (t) => {
    const lack = await lackOf([TMPFS])
    if (lack !== undefined) return t.skip(lack)
    const { directory, url, server, read } = await serve(t, { items: 100_000 })
    using disk = mountTmpfs(directory, 2)
    server.delayMs = 60
    const { status, stderr } = await runInside(['pull', url, '-o', 'tmpfs/e.ndjson'], { in: directory })
    assert.match(
      stderr,
      /^reams: tmpfs\/e\.ndjson cannot be written: the disk is full\. [\d,]+ of 100,000 items are in tmp/,
    )
    assert.equal(status, 3)
    for (const name of ['e.ndjson.part', 'e.ndjson.part.json'])
      copyFileSync(join(disk.path, name), join(directory, name))
    server.delayMs = 0
    const resumed = await runInside(['pull', url, '-o', 'e.ndjson', '--resume'], { in: directory })
    assert.match(resumed.stderr, /^events: complete with 100,000 items in e\.ndjson, [\d,]+ of them new/)
    assert.equal(read('e.ndjson').toString(), linesOf(server.items))
  })

  it('that fails at the very end leaves nothing to which a second end could be added', async (t) => {
    const lack = await lackOf([STRACE])
    if (lack !== undefined) return t.skip(lack)
    const { pull, directory, url, server, read } = await serve(t, { items: 700 })
    const path = join(directory, 'e.json')
    const failing = ['strace', '-f', '-qq', '-P', `${path}.part`, '-e', 'inject=fsync:error=EIO', '-o', '/dev/null']
    await using cli = new ReamsProcess(['pull', url, '-o', path], { wrapper: failing })
    const { status, stderr } = await cli.ends()
    assert.equal(stderr, `reams: ${path} cannot be written: EIO: i/o error, fsync.\n`)
    assert.equal(status, 3)
    assert.equal((await pull('-o', 'e.json', '--resume')).status, 0)
    assert.deepEqual(JSON.parse(read('e.json').toString()), server.items)
  })

  it('has all of a pulled file before the file gets its name', async (t) => {
    const lack = await lackOf([STRACE])
    if (lack !== undefined) return t.skip(lack)
    const { directory, url, read } = await serve(t, { items: 700 })
    const [path, trace] = [join(directory, 'e.ndjson'), join(directory, 'trace')]
    const calls = 'trace=fsync,fdatasync,rename,renameat,renameat2,link,linkat'
    await using cli = new ReamsProcess(['pull', url, '-o', path], {
      wrapper: ['strace', '-f', '-y', '-qq', '-e', calls, '-o', trace],
    })
    assert.equal((await cli.ends()).status, 0)
    const events = read('trace')
      .toString()
      .split('\n')
      .flatMap((line) =>
        /sync\(.*e\.ndjson\.part>/.test(line) ? ['synced'] : line.includes(`"${path}"`) ? ['named'] : [],
      )
    assert.equal(events.indexOf('named') - events.lastIndexOf('synced', events.indexOf('named')), 1, events.join())
    assert.ok(events.indexOf('synced') >= 0)
  })
})
