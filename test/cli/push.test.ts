import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { parseTarget } from '../../src/cli/remote-collection.ts'
import { eventLines } from './items.ts'
import {
  addToken,
  between,
  killPushes,
  push,
  pushInput,
  record,
  serveEvents,
  startPush,
  TOKEN,
} from './push-servers.ts'
import { runInside, workDirectory } from './run-cli.ts'

const AGAIN =
  'Run the same command again within 24 hours, with the same file and token, to continue: nothing is appended twice.'

describe('reams push', () => {
  it('appends the items of a file, byte for byte and in order, and says how many the collection has', async (t) => {
    const { directory, url, stored } = await serveEvents(t)
    const lines = `{"n":12345678901234567890,"d":1.10,"e":1E5,"n":"twice","ü":"\\u00fc ☃"}\n${eventLines(2344)}`
    writeFileSync(join(directory, 'events.ndjson.gz'), gzipSync(lines))
    const result = await push(directory, url, 'events.ndjson.gz', '--batch', '500')
    assert.equal(result.status, 0, result.stderr)
    assert.match(result.stdout, /^events: 2,345 items acknowledged in [^;]+; the collection has 2,345 items\.\n$/)
    assert.equal(result.stderr, '')
    assert.equal(await stored(), lines)
  })

  it('reads the format that it is told, and with --create makes the collection as it is told, once', async (t) => {
    const { directory, url, store, stored } = await serveEvents(t)
    const creator = `reams_${'c'.repeat(43)}`
    await addToken(store, creator, ['create:*'])
    writeFileSync(join(directory, 'token.txt'), `${creator}\n`)
    writeFileSync(join(directory, 'venues.log'), 'id,title\n1,A\n2,B\n')
    const words = [url.replace('events', 'venues'), 'venues.log', '--format', 'csv', '--token-file', 'token.txt']
    const missing = await push(directory, ...words)
    assert.equal(missing.status, 2)
    assert.match(
      missing.stderr,
      /There is no collection "venues".* create the collection with --create\. No item is ack/,
    )
    const alone = await push(directory, ...words, '--key', 'id')
    assert.match(alone.stderr, /^reams: --key, --unpaginated and --private are for a new collection: add --create, /)
    assert.equal(await store.head('venues'), undefined)
    const created = [...words, '--create', '--key', 'id', '--private']
    for (const _ of ['first', 'again'])
      assert.match((await push(directory, ...created)).stdout, /^venues: 2 items acknowledged /)
    assert.equal(await stored('venues'), '{"id":"1","title":"A"}\n{"id":"2","title":"B"}\n')
    const { keyField, isPrivate, isPaginated } = (await store.head('venues')) ?? assert.fail()
    assert.deepEqual([keyField, isPrivate, isPaginated], ['id', true, true])
    const other = await push(directory, ...words, '--create')
    assert.equal(other.status, 1)
    assert.match(other.stderr, /^reams: .*409.*was created with the key "id", and this asks for no key/)
  })

  it('creates nothing for a file that cannot be sent, and keeps the key of CSV as import does', async (t) => {
    const { directory, url, store, stored } = await serveEvents(t)
    const creator = `reams_${'c'.repeat(43)}`
    await addToken(store, creator, ['create:*'])
    writeFileSync(join(directory, 'token.txt'), creator)
    writeFileSync(join(directory, 'a.csv'), 'id,n\n1.50,1\n2,2\n')
    const words = [url.replace('events', 'venues'), 'a.csv', '--types', '--token-file', 'token.txt', '--create']
    const wrong = await push(directory, ...words, '--key', 'name')
    assert.equal(wrong.status, 1)
    assert.match(wrong.stderr, /^reams: a\.csv, line 2: the key field "name" is missing/)
    assert.equal(await store.head('venues'), undefined)
    const { status, stderr } = await push(directory, ...words, '--key', 'id')
    assert.equal(status, 0, stderr)
    assert.equal(await stored('venues'), '{"id":"1.50","n":1}\n{"id":"2","n":2}\n')
  })

  it('reads CSV as Excel writes it', async (t) => {
    const { directory, url, stored } = await serveEvents(t)
    writeFileSync(join(directory, 'a.csv'), 'sep=;\r\nReport;\r\nprice;day\r\n1,50;31.12.2025\r\n')
    const flags = ['--skip', '2', '--types', '--decimal', 'comma', '--dates', 'dmy']
    const { stdout } = await push(directory, url, 'a.csv', ...flags)
    assert.match(stdout, /\. Converted: price, day\. Types: number: price; all others text\.\n$/)
    assert.equal(await stored(), '{"price":1.50,"day":"2025-12-31"}\n')
  })

  it('has nothing to do for an empty file', async (t) => {
    const { directory, url } = await serveEvents(t)
    writeFileSync(join(directory, 'events.ndjson'), '\n')
    const result = await push(directory, url, 'events.ndjson')
    assert.deepEqual(result, { status: 0, stdout: 'events: 0 items sent; events.ndjson has none.\n', stderr: '' })
  })

  it('of the same file again appends nothing; of the same items from a pipe, all of them', async (t) => {
    const { directory, url, stored } = await serveEvents(t)
    writeFileSync(join(directory, 'events.ndjson'), eventLines(12))
    for (const file of ['events.ndjson', './events.ndjson'])
      assert.equal((await push(directory, url, file, '--batch', '5')).status, 0)
    assert.equal(await stored(), eventLines(12))
    const again = await push(directory, url, 'events.ndjson', '--batch', '5')
    const known =
      'All were appended by an earlier push in the last 24 hours. Even if they were deleted since, they are not'
    assert.match(again.stdout, new RegExp(`^events: 12 items acknowledged in .*\\. ${known} appended again: .*\\.\n$`))
    for (const count of [24, 36]) {
      const piped = await pushInput(directory, eventLines(12), url, '-')
      assert.match(piped.stdout, new RegExp(`^events: 12 items .* the collection has ${count} items\\.\n$`))
      assert.match(
        piped.stderr,
        /^reams: standard input cannot be read again: if this push ends early, it cannot be re/,
      )
    }
    writeFileSync(join(directory, 'events.ndjson'), eventLines(15))
    const { stdout } = await push(directory, url, 'events.ndjson', '--batch', '5')
    assert.match(
      stdout,
      /^events: 15 items acknowledged in [^;]+; the collection has 41 items\. 10 of them were appended /,
    )
  })

  it('killed at any moment and started again until it is done doubles nothing and loses nothing', (t) =>
    killPushes(t, { items: 600, kills: 1 }))

  for (const [signal, status] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)
    it(`exits with ${status} at ${signal}, and says how far it came`, async (t) => {
      const directory = workDirectory(t)
      writeFileSync(join(directory, 'events.ndjson'), eventLines(30))
      const { url } = await record(t, (_response, acknowledge, number) => {
        if (number <= 2) acknowledge()
        else cli.child.kill(signal)
      })
      const cli = startPush(t, directory, url, 'events.ndjson', '--batch', '10')
      const stderr = `reams: interrupted by ${signal}. The first 20 items are acknowledged. ${AGAIN}\n`
      assert.deepEqual(await cli.ends(), { status, stdout: '', stderr })
    })
})

describe('a push that fails', () => {
  it('names a bad item, after what is before it was sent; mended, the same command goes on', async (t) => {
    const { directory, url, stored } = await serveEvents(t)
    const file = join(directory, 'events.ndjson')
    writeFileSync(file, `${eventLines(1700)}{"id":\n${eventLines(3, 1702)}`)
    const { status, stderr } = await push(directory, url, 'events.ndjson', '--batch', '400')
    assert.equal(status, 1)
    assert.match(
      stderr,
      /^reams: events\.ndjson, line 1701: .*\. The first 1,200 items are acknowledged\. Run the same/,
    )
    assert.equal(await stored(), eventLines(1200))
    writeFileSync(file, eventLines(1705))
    assert.equal((await push(directory, url, 'events.ndjson', '--batch', '400')).status, 0)
    assert.equal(await stored(), eventLines(1705))
  })

  it('names the batch that was refused and the item at fault; mended, the same command goes on', async (t) => {
    const { directory, url, stored } = await serveEvents(t, { keyField: 'id' })
    const file = join(directory, 'events.ndjson')
    const lines = `\n${eventLines(1500)}`
    writeFileSync(file, lines.replace('"id":1208,', ''))
    const { status, stderr } = await push(directory, url, 'events.ndjson')
    assert.equal(status, 1)
    assert.match(
      stderr,
      /^reams: Items 1,001 to 1,500 \(lines 1,002 to 1,501\) not accepted\. Request failed with status 400 Bad Request: POST http\S+ – Item 1,208 \(line 1,209\): .* The first 1,000 items are acknowledged\. Run the same/,
    )
    writeFileSync(file, lines)
    assert.equal((await push(directory, url, 'events.ndjson')).status, 0)
    assert.equal(await stored(), eventLines(1500))
  })

  it('tells a token that may not and a server that is not there by the exit status, and shows no token', async (t) => {
    const { directory, url, store, stored } = await serveEvents(t)
    writeFileSync(join(directory, 'events.ndjson'), eventLines(12))
    const reader = `reams_${'r'.repeat(43)}`
    await addToken(store, reader, ['read:events'])
    const cases: [token: string, to: string, status: number, message: RegExp][] = [
      ['', url, 2, /401 Unauthorized: .* A token comes from --token-file or REAMS_TOKEN\. No item is acknowledged\. /],
      [reader, url, 2, /403 Forbidden: .* The token has no scope "write:events"\. .* No item is acknowledged\. /],
      [TOKEN, url.replace('events', 'nope'), 2, /404 Not Found: .* There is no collection "nope"\. /],
      [TOKEN, 'http://127.0.0.1:1/events', 3, /\(retry 1\)\.\nreams: Items 1 to 12 .* not accepted\. .*ECONNREFUSED/],
    ]
    for (const [token, to, status, message] of cases) {
      const words = ['push', to, 'events.ndjson', '--retries', '1']
      const result = await runInside(words, { in: directory, variables: { REAMS_TOKEN: token } })
      assert.equal(result.status, status, result.stderr)
      assert.match(result.stderr, message)
      assert.doesNotMatch(result.stderr, /reams_\w/)
    }
    assert.equal(await stored(), '')
  })

  it('from a pipe says what to do', async (t) => {
    const { directory, url, stored } = await serveEvents(t)
    const network = await between(t, url, (answer) => answer === 2)
    const words = [network, '-', '--batch', '10', '--retries', '0']
    const { status, stderr } = await pushInput(directory, eventLines(25), ...words)
    assert.equal(status, 3)
    assert.match(
      stderr,
      / The first 10 items are acknowledged\. A pipe cannot be read again: check what the collection has, and send the rest from a file\.\n$/,
    )
    assert.equal(await stored(), eventLines(20))
  })
})

describe('the URL of a push or a pull', () => {
  const example = 'Expected the URL of a collection, such as https://api.example.com/events.'
  const cases: [url: string, message: string][] = [
    ['events.ndjson', `"events.ndjson" is not an absolute URL. ${example}`],
    ['ftp://x.example/events', `"ftp://x.example/events" begins with ftp:, expected http: or https:. ${example}`],
    ['http://127.0.0.1:1/', `http://127.0.0.1:1/ ends with a slash and names no collection. ${example}`],
    ['http://127.0.0.1:1/events?token=hidden', `The URL has a query or a fragment. ${example}`],
    [
      'http://me:hidden@127.0.0.1:1/events',
      `The URL contains a user name or a password: leave them out. ${example} A token comes from --token-file or REAMS_TOKEN.`,
    ],
    ['//me:hidden@127.0.0.1/events', `This is not an absolute URL. ${example}`],
  ]
  for (const [url, message] of cases)
    it(`cannot be ${url}`, () => assert.throws(() => parseTarget(url), { exitStatus: 2, message }))
})
