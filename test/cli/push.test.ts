import assert from 'node:assert/strict'
import { appendFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { eventLines } from './items.ts'
import { addToken, noteIn, notesIn, push, pushInput, record, serveEvents, TOKEN } from './push-servers.ts'
import { runCli, workDirectory } from './run-cli.ts'

const THREE = '{"id":"1","title":"A"}\n{"id":"2","title":"B"}\n{"id":"3","title":"C"}\n'

describe('reams push', () => {
  it('appends the items of a file, in order, and says how many the collection has', async (t) => {
    const { directory, url, stored } = await serveEvents(t)
    writeFileSync(join(directory, 'events.ndjson'), eventLines(2345))
    const result = await push(directory, url, 'events.ndjson', '--batch', '500')
    assert.equal(result.status, 0, result.stderr)
    const [note = ''] = notesIn(directory)
    assert.match(note, /^events\.ndjson\.push-[0-9a-f]{8}\.json$/)
    assert.match(result.stdout, /^events: 2,345 items appended in [^;]+; the collection now has 2,345 items\. (.*)\n$/)
    assert.ok(result.stdout.endsWith(` ${note} notes that, so that nothing is sent twice.\n`))
    assert.equal(result.stderr, '')
    assert.equal(await stored(), eventLines(2345))
  })

  const formats: [file: string, content: string | Uint8Array, words: string[]][] = [
    ['events.jsonl', THREE, []],
    ['events.ndjson.gz', gzipSync(THREE), []],
    ['events.json', `[${THREE.trimEnd().replaceAll('\n', ',\n\n')}]`, []],
    ['events.csv', 'id,title\n1,A\n2,B\n3,C\n', []],
    ['events.csv.gz', gzipSync('id,title\n1,A\n2,B\n3,C\n'), []],
    ['events.log', THREE, ['--format', 'ndjson']],
  ]
  for (const [file, content, words] of formats)
    it(`reads ${file} as an import does`, async (t) => {
      const { directory, url, stored } = await serveEvents(t)
      writeFileSync(join(directory, file), content)
      const result = await push(directory, url, file, ...words)
      assert.match(result.stdout, /^events: 3 items appended /)
      assert.equal(await stored(), THREE)
    })

  it('sends every byte of an item as it was written', async (t) => {
    const { directory, url, stored } = await serveEvents(t)
    const line = '{"n":12345678901234567890,"d":1.10,"e":1E5,"z":-0,"n":"twice","__proto__":{"ü":"\\u00fc ☃"}}\n'
    writeFileSync(join(directory, 'events.ndjson'), line)
    assert.equal((await push(directory, url, 'events.ndjson')).status, 0)
    assert.equal(await stored(), line)
  })

  it('makes the collection if the token may', async (t) => {
    const { directory, url, store, stored } = await serveEvents(t)
    const creator = `reams_${'c'.repeat(43)}`
    await addToken(store, creator, ['create:*'])
    writeFileSync(join(directory, 'token.txt'), `${creator}\n`)
    writeFileSync(join(directory, 'venues.ndjson'), THREE)
    const venues = url.replace('events', 'venues')
    const result = await push(directory, venues, 'venues.ndjson', '--token-file', 'token.txt')
    assert.match(result.stdout, /^venues: 3 items appended /)
    assert.equal(await stored('venues'), THREE)
  })

  it('has nothing to do for an empty file, and leaves nothing behind', async (t) => {
    const { directory, url } = await serveEvents(t)
    writeFileSync(join(directory, 'events.ndjson'), '\n')
    const result = await push(directory, url, 'events.ndjson')
    assert.deepEqual(result, { status: 0, stdout: 'events: 0 items appended; events.ndjson has none.\n', stderr: '' })
    assert.deepEqual(notesIn(directory), [])
  })
})

describe('a second push of the same file', () => {
  it('sends nothing, and says how it could', async (t) => {
    const { directory, url, stored } = await serveEvents(t)
    writeFileSync(join(directory, 'events.ndjson'), eventLines(12))
    await push(directory, url, 'events.ndjson')
    const again = await push(directory, url, 'events.ndjson')
    assert.equal(again.status, 0)
    const [note = ''] = notesIn(directory)
    assert.match(
      again.stdout,
      /^events: all 12 items of events\.ndjson are already there \(acknowledged by [\d-]+ [\d:]+ UTC; delete (\S+) to send them again\)\.\n$/,
    )
    assert.ok(again.stdout.includes(`delete ${note} to`))
    assert.equal(await stored(), eventLines(12))

    rmSync(join(directory, note))
    assert.match((await push(directory, url, 'events.ndjson')).stdout, /now has 24 items/)
  })

  it('sends what is new at its end', async (t) => {
    const { directory, url, stored } = await serveEvents(t)
    const file = join(directory, 'events.ndjson')
    writeFileSync(file, eventLines(12))
    await push(directory, url, 'events.ndjson')
    appendFileSync(file, eventLines(3, 13))
    const grown = await push(directory, url, 'events.ndjson', '--batch', '2')
    assert.match(
      grown.stdout,
      /^events: 3 items appended in \d+ ms, behind 12 sent before; the collection now has 15 items\./,
    )
    assert.equal(await stored(), eventLines(15))
  })

  it('knows the items in another format too', async (t) => {
    const { directory, url } = await serveEvents(t)
    writeFileSync(join(directory, 'events.ndjson'), THREE)
    await push(directory, url, 'events.ndjson')
    writeFileSync(join(directory, 'events.ndjson'), gzipSync('id,title\n1,A\n2,B\n3,C\n'))
    assert.match((await push(directory, url, 'events.ndjson', '--format', 'csv')).stdout, /all 3 items/)
  })

  for (const [how, content] of [
    ['differs now', eventLines(12).replace('Event 5', 'Event five') + eventLines(1, 13)],
    ['is shorter now', eventLines(11)],
  ] as const)
    it(`is refused when what was sent ${how}, and nothing is sent`, async (t) => {
      const { directory, url, stored } = await serveEvents(t)
      writeFileSync(join(directory, 'events.ndjson'), eventLines(12))
      await push(directory, url, 'events.ndjson')
      const [note = ''] = notesIn(directory)
      const before = readFileSync(join(directory, note), 'utf8')
      writeFileSync(join(directory, 'events.ndjson'), content)
      const again = await push(directory, url, 'events.ndjson')
      assert.deepEqual(again, {
        status: 1,
        stdout: '',
        stderr: `reams: The first 12 items of events.ndjson were sent before, and this part of the file ${how}. Nothing was sent. Push new items from a file of their own; or delete ${note} to send all of this one, those that were sent before too.\n`,
      })
      assert.equal(await stored(), eventLines(12))
      assert.equal(readFileSync(join(directory, note), 'utf8'), before)
    })

  it('to another URL is another push', async (t) => {
    const one = await serveEvents(t)
    const two = await serveEvents(t)
    writeFileSync(join(one.directory, 'events.ndjson'), eventLines(12))
    assert.equal((await push(one.directory, one.url, 'events.ndjson')).status, 0)
    assert.equal((await push(one.directory, two.url, 'events.ndjson')).status, 0)
    assert.equal(notesIn(one.directory).length, 2)
    assert.equal(await two.stored(), eventLines(12))
  })

  it('by a link is the same push, with its note beside the file itself', async (t) => {
    const { directory, url, stored } = await serveEvents(t)
    mkdirSync(join(directory, 'data'))
    writeFileSync(join(directory, 'data/today.ndjson'), eventLines(12))
    symlinkSync('data/today.ndjson', join(directory, 'events.ndjson'))
    assert.match((await push(directory, url, 'events.ndjson')).stdout, /data\/today\.ndjson\.push-/)
    assert.match((await push(directory, url, 'data/today.ndjson')).stdout, /all 12 items/)
    assert.deepEqual([notesIn(directory), notesIn(join(directory, 'data')).length], [[], 1])
    assert.equal(await stored(), eventLines(12))
  })

  it('is refused with a note that cannot be understood', async (t) => {
    const { directory, url, stored } = await serveEvents(t)
    writeFileSync(join(directory, 'events.ndjson'), eventLines(12))
    await push(directory, url, 'events.ndjson')
    const [note = ''] = notesIn(directory)
    const right = readFileSync(join(directory, note), 'utf8')
    const wrong = [right.replace('/events"', '/venues"'), right.replace(': 12', ': -1'), right.replace('"at"', '"ta"')]
    for (const content of ['', '{', '[]', 'null', '{"format":2}', ...wrong]) {
      writeFileSync(join(directory, note), content)
      const { status, stderr } = await push(directory, url, 'events.ndjson')
      assert.equal(status, 3)
      assert.equal(
        stderr,
        `reams: ${note} should say how much was sent to ${url} before, and cannot be understood. Nothing was sent. Look what the collection has; when you delete ${note}, all items are sent.\n`,
      )
      assert.equal(readFileSync(join(directory, note), 'utf8'), content)
    }
    assert.equal(await stored(), eventLines(12))
  })
})

describe('the batches of a push', () => {
  it('hold as many items as --batch says, as JSON arrays, each with a key that tells where it begins', async (t) => {
    const directory = workDirectory(t)
    const { url, posted } = await record(t)
    writeFileSync(join(directory, 'events.ndjson'), eventLines(2500))
    assert.equal((await push(directory, url, 'events.ndjson')).status, 0)
    assert.deepEqual(
      posted.map(({ items }) => items.length),
      [1000, 1000, 500],
    )
    const { id } = noteIn(directory)
    for (const [index, { headers }] of posted.entries()) {
      assert.equal(headers['content-type'], 'application/json')
      assert.equal(headers['content-encoding'], undefined)
      assert.equal(headers.authorization, `Bearer ${TOKEN}`)
      assert.equal(headers['idempotency-key'], `${id}:${index * 1000 + 1}`)
    }
    assert.deepEqual(posted[1]?.items[0], { id: 1001, title: 'Event 1001' })
  })

  it('hold about a MiB at most, and always an item', async (t) => {
    const directory = workDirectory(t)
    const { url, posted } = await record(t)
    const lines = Array.from({ length: 9 }, (_, index) => JSON.stringify({ index, text: 'x'.repeat(300_000) }))
    const large = JSON.stringify({ text: 'x'.repeat(1_048_000) })
    writeFileSync(join(directory, 'events.ndjson'), [...lines, large, '{"last":1}'].join('\n'))
    const result = await push(directory, url, 'events.ndjson', '--item-bytes', '1048576')
    assert.equal(result.status, 0, result.stderr)
    assert.deepEqual(
      posted.map(({ items }) => items.length),
      [3, 3, 3, 2],
    )
    assert.ok(posted.every(({ body }) => body.length < 1_100_000))
  })

  it('are packed for another machine', async (t) => {
    const directory = workDirectory(t)
    // An address that is not known to be this machine, though it leads here.
    const { url, posted } = await record(t, undefined, '0.0.0.0')
    writeFileSync(join(directory, 'events.ndjson'), eventLines(1000))
    assert.equal((await push(directory, url, 'events.ndjson')).status, 0)
    assert.equal(posted[0]?.headers['content-encoding'], 'gzip')
    assert.equal(posted[0]?.items.length, 1000)
  })

  it('are not packed so tightly that a server takes them for an attack', async (t) => {
    const directory = workDirectory(t)
    const { url, posted } = await record(t, undefined, '0.0.0.0')
    writeFileSync(join(directory, 'events.ndjson'), `${JSON.stringify({ text: 'x'.repeat(200_000) })}\n`.repeat(5))
    assert.equal((await push(directory, url, 'events.ndjson')).status, 0)
    assert.equal(posted[0]?.headers['content-encoding'], undefined)
  })

  it('go without a token where there is none', async (t) => {
    const directory = workDirectory(t)
    const { url, posted } = await record(t)
    writeFileSync(join(directory, 'events.ndjson'), eventLines(1))
    assert.equal((await runCli(['push', url, 'events.ndjson'], { in: directory })).status, 0)
    assert.equal(posted[0]?.headers.authorization, undefined)
  })
})

describe('a push from a pipe', () => {
  it('appends, says that it cannot be resumed, and keeps no note', async (t) => {
    const { directory, url, stored } = await serveEvents(t)
    const result = await pushInput(directory, eventLines(1200), url, '-')
    assert.equal(result.status, 0)
    assert.match(result.stdout, /^events: 1,200 items appended in [^;]+; the collection now has 1,200 items\.\n$/)
    assert.equal(
      result.stderr,
      'reams: standard input cannot be read again: if this push ends early, it cannot be resumed. A file can.\n',
    )
    assert.deepEqual(notesIn(directory), [])
    assert.equal(await stored(), eventLines(1200))
  })

  it('that holds a bad item says what was sent before it', async (t) => {
    const { directory, url, stored } = await serveEvents(t)
    const result = await pushInput(directory, `${eventLines(700)}nonsense\n`, url, '-', '--batch', '300')
    assert.equal(result.status, 1)
    assert.match(
      result.stderr,
      /^reams: standard input, line 701: .*: `nonsense`\. 300 items are acknowledged\. A pipe cannot be read again: go on behind them with a file\.$/m,
    )
    assert.equal(await stored(), eventLines(300))
  })
})
