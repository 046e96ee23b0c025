import assert from 'node:assert/strict'
import { chmodSync, chownSync, readdirSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { lackOfOtherUser, withoutRights } from '../other-user.ts'
import { eventLines } from './items.ts'
import { addToken, noteIn, notesIn, push, record, serveEvents, TOKEN } from './push-servers.ts'
import { runCli, workDirectory } from './run-cli.ts'

describe('wrong use of reams push', () => {
  const example = 'Give the URL of a collection, such as https://api.example.com/events.'
  const urls: [url: string, message: string][] = [
    ['events.ndjson', `"events.ndjson" is not an absolute URL. ${example}`],
    ['ftp://example.com/events', `"ftp://example.com/events" begins with ftp:, not with http: or https:. ${example}`],
    ['http://127.0.0.1:1', `http://127.0.0.1:1/ ends with a slash and names no collection. ${example}`],
    ['http://127.0.0.1:1/events/', `http://127.0.0.1:1/events/ ends with a slash and names no collection. ${example}`],
    ['http://127.0.0.1:1/events?token=hidden', `The URL has a query or a fragment. ${example}`],
    ['http://127.0.0.1:1/events#hidden', `The URL has a query or a fragment. ${example}`],
    [
      'http://me:hidden@127.0.0.1:1/events',
      'The URL holds a user name or a password. Leave them out: a token comes from --token-file or REAMS_TOKEN.',
    ],
    ['me:hidden@127.0.0.1/events', `This begins with me:, not with http: or https:. ${example}`],
    ['//me:hidden@127.0.0.1/events', `This is not an absolute URL. ${example}`],
  ]
  for (const [url, message] of urls)
    it(`refuses ${url}`, async (t) => {
      const directory = workDirectory(t)
      writeFileSync(join(directory, 'events.ndjson'), eventLines(1))
      const result = await push(directory, url, 'events.ndjson')
      assert.deepEqual(result, { status: 2, stdout: '', stderr: `reams: ${message}\n` })
      assert.deepEqual(notesIn(directory), [])
    })

  it('names a file that is not there, a name that tells no format, and a directory', async (t) => {
    const directory = workDirectory(t)
    const url = 'http://127.0.0.1:1/events'
    assert.deepEqual(await push(directory, url, 'nope.ndjson'), {
      status: 2,
      stdout: '',
      stderr: 'reams: There is no file nope.ndjson. Check the path.\n',
    })
    assert.match(
      (await push(directory, url, 'nope.xml')).stderr,
      /^reams: The name of nope\.xml does not tell its format/,
    )
    assert.match((await push(directory, url, '.', '--format', 'json')).stderr, /^reams: \. is a directory/)
    assert.match((await push(directory, url, '-', '--token-file', 'no')).stderr, /^reams: There is no token file no\./)
    assert.match((await push(directory, url, '-', '--batch', '0')).stderr, /from 1 to 100000/)
  })

  it('does not begin where it cannot keep its note', async (t) => {
    const lack = lackOfOtherUser()
    if (lack !== undefined) return t.skip(lack)
    const directory = workDirectory(t)
    const { url, posted } = await record(t)
    writeFileSync(join(directory, 'events.ndjson'), eventLines(1))
    const { uid } = withoutRights()
    if (uid !== undefined) chownSync(join(directory, 'events.ndjson'), uid, uid)
    chmodSync(directory, 0o555)
    const result = await runCli(['push', url, 'events.ndjson'], { in: directory, ...withoutRights() })
    chmodSync(directory, 0o755)
    assert.equal(result.status, 3)
    assert.match(
      result.stderr,
      /^reams: events\.ndjson\.push-\w+\.json cannot be read or written: no permission\. It notes what was sent, so that nothing is sent twice\. Put the file where you may write; or push from a pipe, which keeps no note: reams push URL -\n$/,
    )
    assert.equal(posted.length, 0)
  })
})

describe('a bad item', () => {
  it('is named, after what is before it was sent; mended, the same command goes on', async (t) => {
    const { directory, url, stored } = await serveEvents(t)
    const file = join(directory, 'events.ndjson')
    writeFileSync(file, `${eventLines(1700)}{"id":\n${eventLines(300, 1702)}`)
    const result = await push(directory, url, 'events.ndjson', '--batch', '400')
    assert.equal(result.status, 1)
    assert.equal(result.stdout, '')
    assert.match(
      result.stderr,
      /^reams: events\.ndjson, line 1701: .*\. 1,200 items are acknowledged; the same command goes on from there, and doubles nothing\.\n$/,
    )
    assert.equal(await stored(), eventLines(1200))
    writeFileSync(file, eventLines(2001))
    assert.equal((await push(directory, url, 'events.ndjson', '--batch', '400')).status, 0)
    assert.equal(await stored(), eventLines(2001))
  })

  it('in the first batch leaves nothing behind', async (t) => {
    const { directory, url, stored } = await serveEvents(t)
    writeFileSync(join(directory, 'events.json'), '[{"id":1},2]')
    const { status, stderr } = await push(directory, url, 'events.json')
    assert.equal(status, 1)
    assert.equal(stderr, 'reams: events.json, line 1: it is a number, not an object: `2]`. Nothing was appended.\n')
    assert.deepEqual(notesIn(directory), [])
    assert.equal(await stored(), '')
  })
})

describe('a batch that the server refuses', () => {
  it('names the item at fault by its place in the file; mended, the same command goes on', async (t) => {
    const { directory, url, stored } = await serveEvents(t, { keyField: 'id' })
    const file = join(directory, 'events.ndjson')
    const lines = `\n${eventLines(1500)}`
    writeFileSync(file, lines.replace('"id":1208,', ''))
    const result = await push(directory, url, 'events.ndjson')
    assert.equal(result.status, 1)
    assert.ok(
      result.stderr.startsWith(
        `reams: ${url} refused items 1,001 to 1,500 (lines 1,002 to 1,501): An item is not valid (400). Item 1,208 (line 1,209): `,
      ),
    )
    assert.match(
      result.stderr,
      / 1,000 items are acknowledged; the same command goes on from there, and doubles nothing\.\n$/,
    )
    assert.equal(noteIn(directory).unanswered, null)
    writeFileSync(file, lines)
    assert.equal((await push(directory, url, 'events.ndjson', '--batch', '7')).status, 0)
    assert.equal(await stored(), eventLines(1500))
  })

  it('holds a key that is there already', async (t) => {
    const { directory, url, stored } = await serveEvents(t, { keyField: 'id' })
    writeFileSync(join(directory, 'one.ndjson'), eventLines(1, 7))
    await push(directory, url, 'one.ndjson')
    writeFileSync(join(directory, 'events.ndjson'), eventLines(12))
    const { status, stderr } = await push(directory, url, 'events.ndjson', '--batch', '5')
    assert.equal(status, 1)
    assert.match(stderr, / refused items 6 to 10 \(lines 6 to 10\): .* \(409\)\. .*"7".* 5 items are acknowledged;/)
    assert.equal(await stored(), eventLines(1, 7) + eventLines(5))
  })

  it('is too large: a smaller one is sent with --batch', async (t) => {
    const { directory, url, stored } = await serveEvents(t, {}, { requestItems: 10 })
    writeFileSync(join(directory, 'events.ndjson'), eventLines(25))
    const { status, stderr } = await push(directory, url, 'events.ndjson')
    assert.equal(status, 1)
    assert.match(
      stderr,
      / refused items 1 to 25 .* \(413\)\. .* A smaller --batch sends less at a time\. Nothing was appended\.\n$/,
    )
    assert.equal((await push(directory, url, 'events.ndjson', '--batch', '10')).status, 0)
    assert.equal(await stored(), eventLines(25))
  })

  it('comes without a token that may: 401, 403 and 404 are wrong use, and leave nothing behind', async (t) => {
    const { directory, url, store, stored } = await serveEvents(t)
    writeFileSync(join(directory, 'events.ndjson'), eventLines(12))
    const reader = `reams_${'r'.repeat(43)}`
    await addToken(store, reader, ['read:events'])
    const tried = (token: string, to = url) =>
      runCli(['push', to, 'events.ndjson'], { in: directory, variables: { REAMS_TOKEN: token } })
    for (const [result, expected] of [
      [await tried(''), /\(401\)\. .* A token comes from --token-file or REAMS_TOKEN\. Nothing was appended\.\n$/],
      [await tried(`reams_${'n'.repeat(43)}`), /\(401\)\. .* Nothing was appended\.\n$/],
      [await tried(reader), /\(403\)\. The token has no scope "write:events"\. .* Nothing was appended\.\n$/],
      [
        await tried(TOKEN, url.replace('events', 'nope')),
        /\(404\)\. There is no collection "nope"\. .* Nothing was appended\.\n$/,
      ],
    ] as const) {
      assert.equal(result.status, 2, result.stderr)
      assert.match(result.stderr, expected)
      assert.doesNotMatch(result.stderr, /reams_\w/)
    }
    assert.deepEqual(notesIn(directory), [])
    assert.equal(await stored(), '')
  })
})

describe('an answer that is no acknowledgement', () => {
  type Case = [what: string, answer: (response: ServerResponse, url: string) => void, status: number, message: RegExp]
  const json = (response: ServerResponse, status: number, body: unknown) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  const cases: Case[] = [
    [
      'a redirect is not followed, and its target named',
      (response, url) => response.writeHead(308, { location: `${url}/elsewhere` }).end(),
      2,
      /redirects to http:\/\/127\.0\.0\.1:\d+\/events\/elsewhere \(308 Permanent Redirect\)\. Redirects are not followed, because of the token: if you trust that address, push to it\. Nothing was appended\.\n$/,
    ],
    [
      'a web page is not from a Reams server',
      (response) => response.writeHead(200).end('<html>\u001b[2J'),
      2,
      /answered items 1 to 3 \(lines 1 to 3\) with 200 OK, not with 201\. This does not look like a Reams server\. It said: <html>\\u001b\[2J /,
    ],
    [
      'nor is 204',
      (response) => response.writeHead(204).end(),
      2,
      /answered items 1 to 3 \(lines 1 to 3\) with 204 No Content, not with 201\. /,
    ],
    [
      'nor 201 with another count',
      (response) => json(response, 201, { appended: 2, item_count: 2 }),
      2,
      /answered items 1 to 3 .* with 201, without saying that 3 items were appended\. .* Reams server\. It said: \{"appended":2,/,
    ],
    ['nor 201 with nothing', (response) => response.writeHead(201).end(), 2, /Reams server\. 0 items are acknowledged/],
    [
      'nor 201 without an end',
      (response) => {
        response.writeHead(201)
        const write = () => response.write(' '.repeat(10_000), () => response.destroyed || setImmediate(write))
        write()
      },
      2,
      /does not look like a Reams server/,
    ],
    [
      'a page about an error is shown in short, and steers no terminal',
      (response) => response.writeHead(418, 'Tea\tpot').end(`<h1>No\u001b[31m</h1>${'x'.repeat(5000)}`),
      1,
      /refused items 1 to 3 \(lines 1 to 3\): 418 Tea\\tpot: <h1>No\\u001b\[31m<\/h1>x{70,90}… Nothing was appended\.\n$/,
    ],
    [
      'an error without a body',
      (response) => response.writeHead(400).end(),
      1,
      /: 400 Bad Request\. Nothing was appended\.\n$/,
    ],
    [
      'a server that failed could have appended',
      (response) => json(response, 500, { title: 'It failed', status: 500 }),
      3,
      /: It failed \(500\)\. 0 items are acknowledged; the same command goes on from there, and doubles nothing\.\n$/,
    ],
    [
      'a full disk is told',
      (response) => json(response, 507, { title: 'The disk is full', status: 507, hint: 'Free some space.' }),
      1,
      /: The disk is full \(507\)\. Free some space\. Nothing was appended\.\n$/,
    ],
    [
      'an element that the batch does not have is left as it is',
      (response) => json(response, 400, { title: 'Bad', detail: 'Element 3: odd.' }),
      1,
      /: Bad\. Element 3: odd\. Nothing/,
    ],
    [
      'a token that comes back is not shown, whole or in part',
      (response) =>
        json(response, 400, { title: `No ${TOKEN}`, detail: `${TOKEN.slice(0, 20)}!`, hint: TOKEN.slice(0, 9) }),
      1,
      /: No …\. …! … Nothing/,
    ],
    [
      'nor in the address of a redirect',
      (response) => response.writeHead(302, { location: `/x?t=${encodeURIComponent(TOKEN)}` }).end(),
      2,
      /redirects to \/x\?t=… \(302 Found\)/,
    ],
  ]
  for (const [what, answer, status, message] of cases)
    it(what, async (t) => {
      const directory = workDirectory(t)
      const { url, posted } = await record(t, (response) => answer(response, url))
      writeFileSync(join(directory, 'events.ndjson'), eventLines(3))
      const result = await runCli(['push', url, 'events.ndjson'], {
        in: directory,
        variables: { REAMS_TOKEN: TOKEN, REAMS_DEBUG: '1' },
      })
      assert.equal(result.status, status, result.stderr)
      assert.match(result.stderr.replace(/\nFailure:[\s\S]*/, '\n'), message)
      assert.doesNotMatch(result.stderr, /Secret/)
      assert.equal(posted.length, 1)
      // Only where the items may be there something is left to remember.
      const isOpen = [2, 3].includes(status) && !/redirects/.test(result.stderr)
      assert.equal(notesIn(directory).length, isOpen ? 1 : 0, readdirSync(directory).join())
    })
})
