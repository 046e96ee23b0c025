import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, it, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { type Batch, cutBatches, nameInFile, placeOf } from '../../src/cli/commands/push/batch.ts'
import { createSender, type SenderOptions } from '../../src/cli/commands/push/sender.ts'
import { parseTarget } from '../../src/cli/remote-collection.ts'
import type { Retry } from '../../src/client/index.ts'
import { readItems } from '../../src/items/read-items.ts'
import { eventLines } from './items.ts'
import {
  type Answering,
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

  it('creates nothing for a file that cannot be sent, and reads CSV as import does', async (t) => {
    const { directory, url, store, stored } = await serveEvents(t)
    const creator = `reams_${'c'.repeat(43)}`
    await addToken(store, creator, ['create:*'])
    writeFileSync(join(directory, 'token.txt'), creator)
    writeFileSync(join(directory, 'a.csv'), 'sep=;\r\nReport;\r\nid;n;day\r\n1.50;1,5;31.12.2025\r\n2;2;1.2.2025\r\n')
    const flags = ['--skip', '2', '--types', '--decimal', 'comma', '--dates', 'dmy', '--token-file', 'token.txt']
    const words = [url.replace('events', 'venues'), 'a.csv', ...flags, '--create']
    const wrong = await push(directory, ...words, '--key', 'name')
    assert.equal(wrong.status, 1)
    assert.match(wrong.stderr, /^reams: a\.csv, line 4: the key field "name" is missing/)
    assert.equal(await store.head('venues'), undefined)
    const { status, stdout, stderr } = await push(directory, ...words, '--key', 'id')
    assert.equal(status, 0, stderr)
    assert.match(stdout, /\. Converted: n, day\. Types: number: n; all others text\.\n$/)
    assert.equal(
      await stored('venues'),
      '{"id":"1.50","n":1.5,"day":"2025-12-31"}\n{"id":"2","n":2,"day":"2025-02-01"}\n',
    )
  })

  it('has nothing to do for an empty file', async (t) => {
    const { directory, url } = await serveEvents(t)
    writeFileSync(join(directory, 'e.ndjson'), '\n')
    const stdout = 'events: 0 items sent; e.ndjson has none.\n'
    assert.deepEqual(await push(directory, url, 'e.ndjson'), { status: 0, stdout, stderr: '' })
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

  it('exits with 143 at SIGTERM, and says how far it came', async (t) => {
    const directory = workDirectory(t)
    writeFileSync(join(directory, 'events.ndjson'), eventLines(30))
    const { url } = await record(t, (_response, acknowledge, number) => {
      if (number <= 2) acknowledge()
      else cli.child.kill('SIGTERM')
    })
    const cli = startPush(t, directory, url, 'events.ndjson', '--batch', '10')
    const stderr = `reams: interrupted by SIGTERM. The first 20 items are acknowledged. ${AGAIN}\n`
    assert.deepEqual(await cli.ends(), { status: 143, stdout: '', stderr })
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
  it('says what is wrong with it', () => {
    for (const [url, message] of cases) assert.throws(() => parseTarget(url), { exitStatus: 2, message })
  })
})

async function batchesOf(lines: string, maxItems = 10): Promise<Batch[]> {
  const items = readItems(Readable.from([Buffer.from(lines)]), { format: 'ndjson', itemBytes: 2 ** 20 })
  return Array.fromAsync(cutBatches(items, maxItems))
}

/** Sends all, and answers what was told of retries. */
async function send(url: string, batches: readonly Batch[], options: Partial<SenderOptions> = {}): Promise<Retry[]> {
  const retries: Retry[] = []
  using sender = createSender({
    url,
    token: TOKEN,
    sourceId: '/data/events.ndjson',
    isPacked: false,
    timeoutMs: 60_000,
    retries: 8,
    signal: new AbortController().signal,
    onRetry: (retry) => retries.push(retry),
    ...options,
  })
  for (const batch of batches) await sender.send(await sender.pack(batch))
  return retries
}

describe('the batches of a push', () => {
  it('hold as many items as they may, as JSON arrays, and know where these stand', async () => {
    const batches = await batchesOf(`\n${eventLines(25)}`)
    const places = batches.map(({ first, count }) => `${first} ${count}`)
    assert.deepEqual(places, ['0 10', '10 10', '20 5'])
    const second = batches[1] ?? assert.fail()
    assert.equal(JSON.parse(String(second.body))[0].id, 11)
    assert.equal(placeOf(second), 'items 11 to 20 (lines 12 to 21)')
    assert.equal(nameInFile('Bad – Element 7: odd.', second), 'Bad – Item 18 (line 19): odd.')
    assert.equal(nameInFile('Bad – Element 10: odd.', second), 'Bad – Element 10: odd.')
    assert.equal(nameInFile('Bad – Elements 0 and 7: x.', second), 'Bad – Items 11 and 18 (lines 12 and 19): x.')
  })

  it('hold about a MiB at most, and always an item', async () => {
    const lines = Array.from({ length: 9 }, (_, index) => JSON.stringify({ index, text: 'x'.repeat(300_000) }))
    const large = JSON.stringify({ text: 'x'.repeat(1_048_000) })
    const batches = await batchesOf([...lines, large, '{"last":1}'].join('\n'), 1000)
    const counts = batches.map(({ count }) => count)
    assert.deepEqual(counts, [3, 3, 3, 2])
  })

  it('go with the token and a key that is the same for the same file, place and items alone', async (t) => {
    const { url, posted } = await record(t)
    const batches = await batchesOf(eventLines(20))
    const moved = batches.slice(1).map((batch) => ({ ...batch, first: 0 }))
    await send(url, batches)
    await send(url, batches)
    await send(url, batches, { sourceId: '/data/other.ndjson' })
    await send(url, moved)
    const keys = posted.map(({ headers }) => headers['idempotency-key'])
    assert.deepEqual(keys.slice(0, 2), keys.slice(2, 4))
    assert.equal(new Set(keys).size, 5)
    assert.match(String(keys[0]), /^[0-9a-f]{64}$/)
    const [{ headers } = assert.fail()] = posted
    assert.equal(headers.authorization, `Bearer ${TOKEN}`)
    assert.equal(headers['content-type'], 'application/json')
    assert.equal(headers['content-encoding'], undefined)
    await send(url, batches, { token: undefined })
    assert.equal(posted.at(-1)?.headers.authorization, undefined)
  })

  it('are packed where that is asked for, but not so tightly that a server takes them for a bomb', async (t) => {
    const { url, posted } = await record(t)
    const tight = `${JSON.stringify({ text: 'x'.repeat(200_000) })}\n`.repeat(5)
    await send(url, [...(await batchesOf(eventLines(1000), 1000)), ...(await batchesOf(tight))], { isPacked: true })
    const sent = posted.map(({ headers, items }) => `${headers['content-encoding']} ${items.length}`)
    assert.deepEqual(sent, ['gzip 1000', 'undefined 5'])
  })
})

describe('a batch that is not answered', () => {
  /** Begins an answer that has more. */
  const begin = (response: ServerResponse, begun?: () => void) => {
    response.writeHead(201, { 'content-length': 100 }).write('{"appended":1', () => begun?.())
  }
  const refuse: Answering = (response) => void response.writeHead(503).end('{"detail":"An import runs."}')
  const failures: [what: string, answer: Answering, why: RegExp][] = [
    ['with 201', refuse, /status 503 Service Unavailable: POST http\S+ – An import runs\.$/],
    ['before the time is up', (response) => begin(response), /^Request timed out: POST/],
    [
      'to its end',
      (response) => begin(response, () => response.destroy()),
      /^The connection failed: POST .*the response was truncated/,
    ],
  ]
  for (const [what, answer, why] of failures)
    it(`${what} is sent again, with the same key and the same bytes`, async (t) => {
      const { url, posted } = await record(t, (response, acknowledge, number, one) =>
        number === 2 ? answer(response, acknowledge, number, one) : acknowledge(),
      )
      const retries = await send(url, await batchesOf(eventLines(20)), { timeoutMs: 300 })
      assert.equal(retries.length, 1)
      assert.match(String(retries[0]?.error instanceof Error && retries[0].error.message), why)
      const [, second, third] = posted
      assert.equal(posted.length, 3)
      assert.equal(third?.headers['idempotency-key'], second?.headers['idempotency-key'])
      assert.deepEqual(third?.body, second?.body)
    })

  it('is appended once, also when every other answer is lost', async (t) => {
    const { url, stored } = await serveEvents(t)
    const network = await between(t, url, (answer) => answer % 2 === 1)
    const retries = await send(network, await batchesOf(eventLines(45)))
    assert.equal(retries.length, 5)
    assert.equal(await stored(), eventLines(45))
  })

  it('is appended once, also when several pushes of the file run at a time', async (t) => {
    const { url, stored } = await serveEvents(t)
    const batches = await batchesOf(eventLines(200))
    await Promise.all([1, 2, 3].map(() => send(url, batches)))
    assert.equal(await stored(), eventLines(200))
  })

  it('is not sent again after a day, when the server may have forgotten it', async (t) => {
    const { url, posted } = await record(t, (response) => void response.writeHead(503).end())
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const onRetry = () => t.mock.timers.setTime(Date.now() + 86_400_000)
    await assert.rejects(send(url, await batchesOf(eventLines(1)), { onRetry, retries: 1 }), {
      name: 'ConnectionLost',
      message: /– after so long the server may have forgotten the idempotency keys\.$/,
    })
    assert.equal(posted.length, 1)
  })
})

describe('an answer that is no acknowledgement', () => {
  const fails = async (t: TestContext, answer: Answering, expected: object) => {
    const { url, posted } = await record(t, answer)
    await assert.rejects(send(url, await batchesOf(eventLines(3))), expected)
    assert.equal(posted.length, 1)
  }

  it('is another success, or a redirect, which is not followed', async (t) => {
    for (const status of [200, 204]) {
      const expected = { name: 'HttpError', method: 'POST', status }
      await fails(t, (response) => void response.writeHead(status).end(), expected)
    }
    await fails(t, (response) => void response.writeHead(308, { location: '/elsewhere' }).end(), {
      name: 'HttpError',
      message: /status 308 Permanent Redirect: POST \S+ – It redirects to \/elsewhere, which is not followed\.$/,
    })
  })

  it('is 201 with another count, a text, or no object', async (t) => {
    const said =
      /answered items 1 to 3 \(lines 1 to 3\) with 201, without saying that 3 items were appended\. .* It said: /
    for (const body of ['{"appended":2,"item_count":2}', 'Welcome!', 'null'])
      await fails(t, (response) => void response.writeHead(201).end(body), { exitStatus: 2, message: said })
  })

  it('is 201 without an end', (t) =>
    fails(
      t,
      (response) => {
        response.writeHead(201)
        const write = () => response.write(' '.repeat(10_000), () => response.destroyed || setImmediate(write))
        write()
      },
      { name: 'PageTooLarge' },
    ))

  it('is a refusal', (t) =>
    fails(t, (response) => void response.writeHead(409).end('{"title":"It is there","hint":"Look."}'), {
      name: 'HttpError',
      status: 409,
      message: /^Request failed with status 409 Conflict: POST \S+ – It is there Look\.$/,
    }))
})
