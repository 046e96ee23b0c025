import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, it, type TestContext } from 'node:test'
import { type Batch, cutBatches, nameInFile, placeOf } from '../../src/cli/commands/push/batch.ts'
import { createSender, type SenderOptions } from '../../src/cli/commands/push/sender.ts'
import type { Retry } from '../../src/client/index.ts'
import { readItems } from '../../src/items/read-items.ts'
import { eventLines } from './items.ts'
import { type Answering, between, record, serveEvents, TOKEN } from './push-servers.ts'

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
    assert.deepEqual(
      batches.map(({ first, count }) => [first, count]),
      [
        [0, 10],
        [10, 10],
        [20, 5],
      ],
    )
    const [, second] = batches
    assert.equal(JSON.parse(String(second?.body))[0].id, 11)
    assert.equal(second && placeOf(second), 'items 11 to 20 (lines 12 to 21)')
    assert.equal(second && nameInFile('Bad – Element 7: odd.', second), 'Bad – Item 18 (line 19): odd.')
    assert.equal(second && nameInFile('Bad – Element 10: odd.', second), 'Bad – Element 10: odd.')
    assert.equal(
      second && nameInFile('Bad – Elements 0 and 7: x.', second),
      'Bad – Items 11 and 18 (lines 12 and 19): x.',
    )
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
    assert.deepEqual(
      posted.map(({ headers, items }) => [headers['content-encoding'], items.length]),
      [
        ['gzip', 1000],
        [undefined, 5],
      ],
    )
  })
})

describe('a batch that is not answered', () => {
  const failures: [what: string, answer: Answering, why: RegExp][] = [
    [
      'with 201',
      (response) => void response.writeHead(503).end('{"detail":"An import runs."}'),
      /status 503 Service Unavailable: POST http\S+ – An import runs\.$/,
    ],
    [
      'before the time is up',
      (response) => {
        response.writeHead(201, { 'content-length': 100 })
        response.write('{"appended":1')
      },
      /^Request timed out: POST/,
    ],
    [
      'to its end',
      (response) => {
        response.writeHead(201, { 'content-length': 100 })
        response.write('{"appended":1', () => response.destroy())
      },
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

  const others = { 'another count': '{"appended":2,"item_count":2}', 'a text': 'Welcome!', 'no object': 'null' }
  for (const [what, body] of Object.entries(others))
    it(`is 201 with ${what}`, (t) =>
      fails(t, (response) => void response.writeHead(201).end(body), {
        exitStatus: 2,
        message:
          /answered items 1 to 3 \(lines 1 to 3\) with 201, without saying that 3 items were appended\. .* It said: /,
      }))

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
