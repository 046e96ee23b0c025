import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { eventLines } from './items.ts'
import {
  addToken,
  between,
  changeNote,
  noteIn,
  notesIn,
  push,
  pushInput,
  record,
  serveEvents,
  startPush,
} from './push-servers.ts'
import { runCli, workDirectory } from './run-cli.ts'

const DAY_MS = 86_400_000
const HELD = 'the same command goes on from there, and doubles nothing.'

function directoryWith(t: TestContext, items: number): string {
  const directory = workDirectory(t)
  writeFileSync(join(directory, 'events.ndjson'), eventLines(items))
  return directory
}

/** A port on which nobody listens. */
async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

describe('a push that is not answered at once', () => {
  for (const status of [429, 502, 503, 504])
    it(`sends again after ${status}, with the same key and the same bytes, and says so`, async (t) => {
      const directory = directoryWith(t, 20)
      const { url, posted } = await record(t, (response, acknowledge, number) => {
        if (number === 2) response.writeHead(status).end()
        else acknowledge()
      })
      const result = await push(directory, url, 'events.ndjson', '--batch', '10')
      assert.equal(result.status, 0, result.stderr)
      assert.match(
        result.stderr,
        new RegExp(`^reams: the server answered ${status} .*; sending again in \\d+ ms \\(retry 1 of 8\\)\\.\\n$`),
      )
      const [, second, third] = posted
      assert.equal(posted.length, 3)
      assert.equal(third?.headers['idempotency-key'], second?.headers['idempotency-key'])
      assert.deepEqual(third?.body, second?.body)
    })

  it('says why the server does not take it, where it tells', async (t) => {
    const directory = directoryWith(t, 1)
    const { url } = await record(t, (response, acknowledge, number) => {
      if (number === 1) response.writeHead(503).end('{"title":"Busy","detail":"An import runs."}')
      else acknowledge()
    })
    const result = await push(directory, url, 'events.ndjson')
    assert.match(
      result.stderr,
      /^reams: the server answered 503 Service Unavailable: An import runs; sending again in /,
    )
  })

  it('waits as long as Retry-After says', async (t) => {
    const directory = directoryWith(t, 1)
    const { url } = await record(t, (response, acknowledge, number) => {
      if (number === 1) response.writeHead(429, { 'retry-after': '1' }).end()
      else acknowledge()
    })
    const result = await push(directory, url, 'events.ndjson')
    assert.equal(result.status, 0)
    assert.match(result.stderr, /answered 429 Too Many Requests; sending again in 1\.0 s \(retry 1 of 8\)/)
  })

  it('does not wait for hours', async (t) => {
    const directory = directoryWith(t, 1)
    const { url, posted } = await record(t, (response) => void response.writeHead(503, { 'retry-after': '7200' }).end())
    const result = await push(directory, url, 'events.ndjson')
    assert.equal(result.status, 3)
    assert.match(
      result.stderr,
      /has not taken item 1 \(line 1\): the server answered 503 Service Unavailable\. It asks to wait 2 h 0 min\. 0 items/,
    )
    assert.equal(posted.length, 1)
  })

  it('gives up after some retries, says how much is acknowledged, and goes on when it is started again', async (t) => {
    const directory = directoryWith(t, 30)
    let isUp = false
    const { url, posted } = await record(t, (response, acknowledge, number) => {
      if (isUp || number <= 2) acknowledge()
      else response.writeHead(503).end()
    })
    const result = await push(directory, url, 'events.ndjson', '--batch', '10', '--retries', '2')
    assert.equal(result.status, 3)
    assert.ok(
      result.stderr.endsWith(
        `reams: ${url} has not taken items 21 to 30 (lines 21 to 30): the server answered 503 Service Unavailable. It was tried 3 times. 20 items are acknowledged; ${HELD}\n`,
      ),
      result.stderr,
    )
    assert.equal(posted.length, 5)
    isUp = true
    const again = await push(directory, url, 'events.ndjson', '--batch', '3')
    assert.match(again.stdout, /^events: 10 items appended in \d+ ms, behind 20 sent before/)
    assert.deepEqual(posted.at(-1)?.body, posted.at(-2)?.body)
  })

  it('sends again when the server says nothing in time', async (t) => {
    const directory = directoryWith(t, 1)
    const { url } = await record(t, (_response, acknowledge, number) => {
      if (number > 1) acknowledge()
    })
    const result = await push(directory, url, 'events.ndjson', '--timeout', '1')
    assert.equal(result.status, 0)
    assert.match(result.stderr, /^reams: no answer within 1 s; sending again in /)
  })

  it('sends again when the server says only half of it in time', async (t) => {
    const directory = directoryWith(t, 1)
    const { url } = await record(t, (response, acknowledge, number) => {
      if (number > 1) return acknowledge()
      response.writeHead(201, { 'content-length': 100 })
      response.write('{"appended":1')
    })
    const result = await push(directory, url, 'events.ndjson', '--timeout', '1')
    assert.equal(result.status, 0)
    assert.match(result.stderr, /^reams: no answer within 1 s; sending again in /)
  })

  it('sends again when the server ends in the middle of its answer', async (t) => {
    const directory = directoryWith(t, 1)
    const { url } = await record(t, (response, acknowledge, number) => {
      if (number > 1) return acknowledge()
      response.writeHead(201, { 'content-length': 100 })
      response.write('{"appended":1', () => response.destroy())
    })
    const result = await push(directory, url, 'events.ndjson')
    assert.equal(result.status, 0)
    assert.match(result.stderr, /^reams: the connection was lost \(ECONNRESET\); sending again in /)
  })

  it('tells of a server that is not there, and leaves nothing behind', async (t) => {
    const directory = directoryWith(t, 1)
    const url = `http://127.0.0.1:${await freePort()}/events`
    const result = await push(directory, url, 'events.ndjson', '--retries', '1')
    assert.equal(result.status, 3)
    assert.match(result.stderr, /^reams: no connection \(ECONNREFUSED\); sending again in \d+ ms \(retry 1 of 1\)\.$/m)
    assert.ok(
      result.stderr.endsWith(
        `${url} has not taken item 1 (line 1): no connection (ECONNREFUSED). It was tried 2 times. Nothing was appended.\n`,
      ),
    )
    assert.deepEqual(notesIn(directory), [])
  })

  it('does not go on trying where that is no use', async (t) => {
    const directory = directoryWith(t, 1)
    const { url } = await record(t)
    // Too long for a name, which is known without asking anybody.
    const noHost = `${'x'.repeat(64)}.invalid`
    const port = await freePort()
    const babble = createServer((socket) => socket.end('What do you want?\r\n'))
    await new Promise<void>((resolve) => babble.listen(port, '127.0.0.1', resolve))
    t.after(() => babble.close())
    for (const [wrong, reason] of [
      [`http://${noHost}/events`, /there is no host x{64}\.invalid\. Check the URL\. Nothing was appended\.\n$/],
      [
        url.replace('http:', 'https:'),
        /no connection: .*\. Check the URL and the certificate\. Nothing was appended\.\n$/,
      ],
      [
        `http://127.0.0.1:${port}/events`,
        /what answers is not HTTP \(HPE_\w+\)\. Check the URL\. 0 items are acknowledged;/,
      ],
    ] as const) {
      const result = await push(directory, wrong, 'events.ndjson')
      assert.equal(result.status, 3)
      assert.match(result.stderr, reason)
      assert.doesNotMatch(result.stderr, /sending again/)
    }
  })
})

describe('a push over a bad network', () => {
  it('doubles nothing when the server has appended and its answer is lost, again and again', async (t) => {
    const { directory, url, stored } = await serveEvents(t)
    writeFileSync(join(directory, 'events.ndjson'), eventLines(95))
    const network = await between(t, url, (answer) => (answer % 2 === 1 ? 'cut' : 'pass'))
    const result = await push(directory, network, 'events.ndjson', '--batch', '10')
    assert.equal(result.status, 0, result.stderr)
    assert.equal(result.stderr.match(/the connection was lost \(ECONNRESET\)/g)?.length, 10)
    assert.match(result.stdout, /95 items appended .* now has 95 items/)
    assert.equal(await stored(), eventLines(95))
  })

  it('from a pipe doubles nothing either', async (t) => {
    const { directory, url, stored } = await serveEvents(t)
    const network = await between(t, url, (answer) => (answer % 2 === 1 ? 'cut' : 'pass'))
    const result = await pushInput(directory, eventLines(25), network, '-', '--batch', '10')
    assert.equal(result.status, 0, result.stderr)
    assert.equal(await stored(), eventLines(25))
  })

  it('from a pipe says what is not known when it gives up', async (t) => {
    const { directory, url, stored } = await serveEvents(t)
    const network = await between(t, url, (answer) => (answer === 2 ? 'cut' : 'pass'))
    const words = [network, '-', '--batch', '10', '--retries', '0']
    const { status, stderr } = await pushInput(directory, eventLines(25), ...words)
    assert.equal(status, 3)
    assert.match(
      stderr,
      /It was tried once\. 10 items are acknowledged, and whether the next 10 items are there is not known\. A pipe cannot be read again: go on behind them with a file\.\n$/,
    )
    assert.equal(await stored(), eventLines(20))
  })
})

/** A push of 30 items whose second batch of 10 was appended, and whose answer to it was lost. */
async function leaveUnanswered(t: TestContext) {
  const served = await serveEvents(t)
  const { directory, url, stored } = served
  writeFileSync(join(directory, 'events.ndjson'), eventLines(30))
  const network = await between(t, url, (answer) => (answer === 2 ? 'cut' : 'pass'))
  const result = await push(directory, network, 'events.ndjson', '--batch', '10', '--retries', '0')
  assert.equal(result.status, 3)
  assert.equal(noteIn(directory).acknowledged, 10)
  assert.equal(noteIn(directory).unanswered?.items, 10)
  assert.equal(await stored(), eventLines(20))
  return { ...served, url: network }
}

function setBack(directory: string, ms: number): void {
  changeNote(directory, (note) => {
    const since = new Date(Date.now() - ms).toISOString()
    return { ...note, unanswered: note.unanswered && { ...note.unanswered, since } }
  })
}

describe('a batch that was left unanswered', () => {
  it('is sent again as it was, whatever --batch says now', async (t) => {
    const { directory, url, stored } = await leaveUnanswered(t)
    const result = await push(directory, url, 'events.ndjson', '--batch', '3')
    assert.equal(result.status, 0, result.stderr)
    assert.equal(await stored(), eventLines(30))
    assert.deepEqual(noteIn(directory).unanswered, null)
  })

  it('is not sent again in another form: the server knows it', async (t) => {
    const { directory, url, stored } = await leaveUnanswered(t)
    writeFileSync(join(directory, 'events.ndjson'), eventLines(30).replace('Event 15', 'Event fifteen'))
    const result = await push(directory, url, 'events.ndjson')
    assert.equal(result.status, 1)
    assert.match(
      result.stderr,
      /refused items 11 to 20 .* \(422\)\. .* If the collection has these items, --unanswered skip:11 goes on behind them\. 10 items are acknowledged/,
    )
    const skipped = await push(directory, url, 'events.ndjson', '--unanswered', 'skip:11')
    assert.equal(skipped.status, 0, skipped.stderr)
    assert.equal(await stored(), eventLines(30))
  })

  it('is asked about when the server need not remember it', async (t) => {
    const { directory, url, stored } = await leaveUnanswered(t)
    setBack(directory, DAY_MS)
    const result = await push(directory, url, 'events.ndjson')
    assert.equal(result.status, 3)
    assert.match(
      result.stderr,
      /^reams: No answer came to items 11 to 20 of events\.ndjson, sent at \d{4}-\d\d-\d\d \d\d:\d\d UTC\. Sending this batch again could double it: a server remembers a request for 24 hours\. Look at the last items of http\S+\/events\. If they are these, add --unanswered skip:11; if not, --unanswered again:11, which is safe anyway where the collection has a key\.\n$/,
    )
    assert.equal(await stored(), eventLines(20))

    // A command that is given once more decides nothing anew.
    for (const expected of [/^events: 10 items appended .*, behind 20 sent before/, /^events: all 30 items/]) {
      const skipped = await push(directory, url, 'events.ndjson', '--unanswered', 'skip:11')
      assert.match(skipped.stdout, expected)
    }
    assert.equal(await stored(), eventLines(30))
  })

  it('is sent again when the user says so', async (t) => {
    const { directory, url, stored } = await leaveUnanswered(t)
    // As if the server had never had it.
    changeNote(directory, (note) => ({ ...note, id: 'another' }))
    setBack(directory, 2 * DAY_MS)
    const result = await push(directory, url, 'events.ndjson', '--unanswered', 'again:11')
    assert.equal(result.status, 0, result.stderr)
    assert.equal(await stored(), eventLines(20) + eventLines(20, 11))
  })

  it('is asked about when the token is another one, which the server takes for another sender', async (t) => {
    const { directory, url, store, stored } = await leaveUnanswered(t)
    const other = `reams_${'o'.repeat(43)}`
    await addToken(store, other, ['write:events'])
    const variables = { REAMS_TOKEN: other }
    const result = await runCli(['push', url, 'events.ndjson'], { in: directory, variables })
    assert.equal(result.status, 3)
    assert.match(
      result.stderr,
      /No answer came to items 11 to 20 .* could double it: it was sent with another token, .* --unanswered skip:11; /,
    )
    assert.equal((await push(directory, url, 'events.ndjson')).status, 0)
    assert.equal(await stored(), eventLines(30))
  })

  it('has to be the one that the user means', async (t) => {
    const { directory, url, stored } = await leaveUnanswered(t)
    for (const choice of ['skip:12', 'again:21']) {
      const result = await push(directory, url, 'events.ndjson', '--unanswered', choice)
      assert.equal(result.status, 2)
      assert.match(result.stderr, /^reams: No batch from item (12|21) on is unanswered\. Leave --unanswered out\.\n$/)
    }
    for (const choice of ['skip', 'skip:', 'keep:11', 'skip:-1'])
      assert.match(
        (await push(directory, url, 'events.ndjson', '--unanswered', choice)).stderr,
        /expected again:N or skip:N/,
      )
    assert.match((await pushInput(directory, '', url, '-', '--unanswered', 'skip:1')).stderr, /No batch from item 1 on/)
    assert.equal(await stored(), eventLines(20))
  })

  it('stays open when the server refuses it for another reason', async (t) => {
    const { directory, url, store, stored } = await leaveUnanswered(t)
    await store.revokeToken('token-0', Date.now())
    assert.equal((await push(directory, url, 'events.ndjson')).status, 2)
    assert.equal(noteIn(directory).unanswered?.items, 10)
    assert.equal(await stored(), eventLines(20))
  })
})

describe('a push that is interrupted', () => {
  for (const [signal, status] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)
    it(`by ${signal} exits with ${status}, says how far it came, and goes on when it is started again`, async (t) => {
      const directory = directoryWith(t, 30)
      let isUp = false
      const { url, posted } = await record(t, (response, acknowledge, number) => {
        if (isUp || number <= 2) acknowledge()
        else {
          cli.child.kill(signal)
          response.on('close', () => {})
        }
      })
      const cli = startPush(t, directory, url, 'events.ndjson', '--batch', '10')
      const result = await cli.ends()
      assert.equal(result.status, status)
      assert.equal(result.stderr, `reams: interrupted by ${signal}. 20 items are acknowledged; ${HELD}\n`)
      assert.equal(result.stdout, '')
      isUp = true
      assert.equal((await push(directory, url, 'events.ndjson')).status, 0)
      assert.deepEqual(posted[3]?.body, posted[2]?.body)
      assert.equal(posted.length, 4)
    })

  it('while it waits before a retry ends at once', async (t) => {
    const directory = directoryWith(t, 1)
    const { url } = await record(t, (response) => {
      response.writeHead(503, { 'retry-after': '100' }).end()
      response.on('close', () => setTimeout(() => cli.child.kill('SIGINT'), 200))
    })
    const cli = startPush(t, directory, url, 'events.ndjson')
    assert.equal((await cli.ends()).status, 130)
  })

  it('before anybody was there to take a batch leaves nothing behind', async (t) => {
    const directory = directoryWith(t, 1)
    const cli = startPush(t, directory, `http://127.0.0.1:${await freePort()}/events`, 'events.ndjson')
    while (!cli.stderr.includes('retry 2 of')) await once(cli.child.stderr ?? cli.child, 'data')
    assert.match((await cli.stop('SIGINT')).stderr, /^reams: interrupted by SIGINT\. Nothing was appended\.$/m)
    assert.deepEqual(notesIn(directory), [])
  })
})
