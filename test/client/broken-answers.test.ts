import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ClientError, InvalidPage, openCollection, PageTooLarge } from '../../src/client/index.ts'
import { CorrectServer, type Links } from '../check/correct-server.ts'
import { serve, serveRaw } from '../check/hostile-servers.ts'
import { distorted, EVENTS, type InProcess, inProcess, relinked } from './hostile-server.ts'

/** Nothing is waited for. */
const retry = { retries: 2, firstDelayMs: 1, maxDelayMs: 2 }

/** Reads all of it, and gives the error. */
async function failureOf({ fetch }: Pick<InProcess, 'fetch'>, url = EVENTS): Promise<ClientError> {
  const walk = async () => {
    for await (const _ of openCollection(url, { fetch, retry }).items());
  }
  const error = await walk().then(
    () => assert.fail('this should have failed'),
    (error) => error,
  )
  assert.ok(error instanceof ClientError, String(error))
  return error
}

type Distort = (envelope: Links, page: number) => unknown

const to = (page: number) => ({ href: `${EVENTS}?page=${page}` })

/** With another count. */
const counting =
  (item_count: unknown): Distort =>
  (envelope) => ({ ...envelope, item_count })

/** With other links, on all pages or on one. */
const linking =
  (links: Links, on?: number): Distort =>
  (envelope, page) =>
    on === undefined || page === on ? relinked(envelope, links) : envelope

/** With something else made of the items. */
const embedding =
  (embeddedOf: (events: unknown, page: number) => Links): Distort =>
  (envelope, page) => ({ ...envelope, _embedded: embeddedOf((envelope['_embedded'] as Links)['events'], page) })

/** As a text in which something is replaced. */
const replacing =
  (text: string, by: string): Distort =>
  (envelope) =>
    JSON.stringify(envelope).replace(text, by)

const toPage = (page: string) => ({ href: `/events?page=${page}` })

/** The findings about a wrong link on one of three pages. */
function wrong(relation: string, what: string, page: number, target?: number): RegExp {
  const should = target === undefined ? 'should be none' : `it should lead to page ${target}`
  return new RegExp(`page=${page} – the link ${relation} ${what}\\. On page ${page} of 3 .*${should}\\.$`)
}

/** What is done to the envelopes of a collection of 1001 items, and what is said about it. */
const ENVELOPES: Readonly<Record<string, readonly [Distort, RegExp]>> = {
  'no links': [({ _links, ...rest }) => rest, /page=1 – _links is missing, not an object\.$/],
  'links in a list': [(envelope) => ({ ...envelope, _links: [] }), /_links is \[\], not an object\.$/],
  'no items': [({ _embedded, ...rest }) => rest, /_embedded should hold the items as an array\. It holds none\.$/],
  'items in no array': [(envelope) => ({ ...envelope, _embedded: { events: {} } }), /It holds none\.$/],
  'two arrays, and none as long as it should be': [
    embedding(() => ({ rooms: [], venues: [1] })),
    /_embedded has the arrays rooms, venues, and none has the name of the collection, or alone the right length\.$/,
  ],
  'two arrays as long as it should be': [
    embedding((events) => ({ rooms: events, venues: events })),
    /^The items were not found: .*_embedded has the arrays rooms, venues, and none has/,
  ],
  'two arrays, and the one with the name of the collection too short': [
    embedding((events) => ({ events: [], venues: events })),
    /it holds 0 items\. By its item_count of 1001, page 1 of 3 should hold 500\.$/,
  ],
  'one of two arrays missing on the next page': [
    embedding((events, page) => (page === 1 ? { rooms: events, venues: [] } : { venues: events })),
    /_embedded has the arrays venues, and earlier pages had them in rooms\.$/,
  ],
  'a count in quotes': [counting('1001'), /item_count is "1001", not a whole number\.$/],
  'half a count': [counting(1000.5), /item_count is 1000\.5, not a whole number\.$/],
  'a negative count': [counting(-1), /item_count is -1, not a whole number\.$/],
  'null for a count': [counting(null), /item_count is null, not a whole number\.$/],
  'no count': [({ item_count, ...rest }) => rest, /item_count is missing, though there is a link first\.$/],
  'a count of the page': [counting(500), /the link last leads to page 3\. On page 1 of 1 it should lead to page 1\.$/],
  'a count too high': [counting(1600), /the link last leads to page 3\. On page 1 of 4 it should lead to page 4\.$/],
  'a count too low': [counting(400), /it holds 500 items\. By its item_count of 400, page 1 of 1 should hold 400\.$/],
  'a count too high by one': [counting(1002), /page=3 – it holds 1 items\. By its item_count of 1002, page 3 of 3 sho/],
  'no next': [linking({ next: undefined }), wrong('next', 'is missing', 1, 2)],
  'null for next': [linking({ next: null }, 2), wrong('next', 'is missing', 2, 3)],
  'no last': [linking({ last: undefined }), wrong('last', 'is missing', 1, 3)],
  'no first': [linking({ first: undefined }), /the link first is missing/],
  'no prev': [linking({ prev: undefined }), wrong('prev', 'is missing', 2, 1)],
  'next in a circle': [linking({ next: to(1) }), wrong('next', 'leads to page 1', 1, 2)],
  'next of the last page to the one before': [linking({ next: to(2) }, 3), wrong('next', 'leads to page 2', 3)],
  'next of the last page to no number': [linking({ next: toPage('1e9') }, 3), wrong('next', 'leads to page 1e9', 3)],
  'next as a text': [linking({ next: EVENTS }), /the link next is "http.*, not an object with/],
  'next as a list': [linking({ next: [to(2)] }), /the link next is \[.*, not an object with/],
  'next without href': [linking({ next: {} }), /the link next is \{\}, not an object with a URL/],
  'next to nowhere': [linking({ next: { href: 'http://' } }), /next is \{"href":"http:\/\/"\}, not an object with a/],
  'next to no page': [linking({ next: toPage('two') }), wrong('next', 'leads to page two', 1, 2)],
  'next to a page in other digits': [linking({ next: toPage('2e0') }), wrong('next', 'leads to page 2e0', 1, 2)],
  'next to two pages': [linking({ next: toPage('2&page=3') }), wrong('next', 'leads to page 2,3', 1, 2)],
  'the wrong page': [linking({ prev: to(2), next: to(4) }), wrong('prev', 'leads to page 2', 1)],
  'a number': [() => '17', /it is 17, not an object\.$/],
  'an array': [() => '[{"id":1}]', /it is \[\{"id":1\}\], not an object\.$/],
  'an item nested too deep': [replacing('"id":1,', `"id":${nested(2000)},`), /it is nested deeper than 1024\.$/],
  'an item nested far too deep': [replacing('"id":1,', `"id":${nested(500_000)},`), /it is nested deeper than 1024\.$/],
  'arrays nested far too deep': [() => nested(500_000), /it is \[{100}, not an object\.$/],
  'two envelopes': [(envelope) => `${JSON.stringify(envelope)}{}`, /it is not JSON in UTF-8: /],
  'a page of HTML': [() => '<!DOCTYPE html><title>Welcome</title>', /it is not JSON in UTF-8: .*<!DOCTYPE/],
  'NaN in an item': [replacing('"id":700', '"id":NaN'), /page=2 – it is not JSON in UTF-8: .*NaN/],
}

function nested(depth: number): string {
  return '['.repeat(depth) + ']'.repeat(depth)
}

describe('an answer that breaks the contract', () => {
  for (const [name, [distort, message]] of Object.entries(ENVELOPES))
    it(`fails at once, and says what is wrong with it: ${name}`, async () => {
      const server = distorted(distort)
      const error = await failureOf(server)
      assert.ok(error instanceof InvalidPage, String(error))
      assert.match(
        error.message,
        /^The (response breaks the contract|items were not found): GET http:\/\/events\.example\/events\?page=\d – /,
      )
      assert.match(error.message, message)
      assert.equal(error.status, 200)
      assert.ok(server.requests.length <= 5)
    })

  it('is one with pages of 499', async () => {
    const error = await failureOf(inProcess(Object.assign(new CorrectServer(), { pageSize: () => 499 })))
    assert.match(error.message, /it holds 499 items\. By its item_count of 1001, page 1 of 3 should hold 500\.$/)
  })

  it('is one that gives the same page for every number', async () => {
    const error = await failureOf(inProcess(Object.assign(new CorrectServer(), { requestedPage: () => 1n })))
    assert.match(error.message, /page=2 – the link prev is missing\. On page 2 of 3 it should lead to page 1\.$/)
  })

  it('is one that is not UTF-8', async () => {
    const text = (title: number[]) => {
      const [before, after] = JSON.stringify({
        item_count: 1,
        _links: { first: { href: EVENTS }, last: to(1) },
        _embedded: { events: [{ title: '?' }] },
      }).split('?"}')
      return Buffer.concat([Buffer.from(before ?? ''), Buffer.from(title), Buffer.from(`"}${after}`)])
    }
    const answer = (title: number[]) => ({ fetch: async () => new Response(text(title)) })
    assert.match((await failureOf(answer([0xff]))).message, /it is not JSON in UTF-8/)
    const { items } = await openCollection(EVENTS, answer([0xc3, 0xa9])).page(1)
    assert.deepEqual(items, [{ title: 'é' }])
  })

  it('shows nothing that a terminal would act upon', async () => {
    const { message } = await failureOf(distorted(() => '"\\u001b[2J"'))
    assert.match(message, /it is "\\u001b\[2J", not an object/)
    assert.doesNotMatch(message, /[^\x20-\x7e–]/)
    const fetch = async () => Response.json({ detail: `${'\u001b[2J'.repeat(200)}\n\u202e` }, { status: 500 })
    const refused = await failureOf({ fetch })
    assert.match(refused.message, /– \\u001b\[2J/)
    assert.doesNotMatch(refused.message, /[^\x20-\x7e–]/)
  })

  it('shows nothing of that in its status either', async (t) => {
    const url = await serveRaw(t, (socket) => void socket.end('HTTP/1.1 500 \u001b[2J\r\nContent-Length: 0\r\n\r\n'))
    const { message } = await failureOf({ fetch: globalThis.fetch }, url)
    assert.match(message, /^Request failed with status 500 \\u001b\[2J: GET http/)
  })
})

describe('an answer that another server might give', () => {
  const nulls: Distort = (envelope, page) =>
    relinked(envelope, { ...(page === 1 && { prev: null }), ...(page === 3 && { next: null }) })
  const noObjects: Distort = (envelope, page) => ({
    ...envelope,
    _embedded: { all: Array(page < 3 ? 500 : 1).fill(null) },
  })
  const readable: Readonly<Record<string, Distort>> = {
    'null for the links that are not there': nulls,
    'no self': linking({ self: undefined }),
    'the collection for self': linking({ self: { href: EVENTS } }),
    'another address for self': linking({ self: { href: 'https://www.example/events' } }),
    'a list for self': linking({ self: [{ href: EVENTS }] }),
    'first with a page': linking({ first: to(1) }),
    'relative links': (envelope) => JSON.stringify(envelope).replaceAll('http://events.example', ''),
    'links with another path': (envelope) => JSON.stringify(envelope).replaceAll('/events?', '/v1/events?'),
    'links with fields of their own': linking({ last: { ...to(3), title: 'Last' } }),
    'a byte-order mark': (envelope) => `\ufeff${JSON.stringify(envelope)}`,
    'names with escapes': replacing('_embedded', '\\u005fembedded'),
    'items nested as deep as Reams takes them': replacing('"id":1,', `"id":${nested(511)},`),
    'items that are no objects': noObjects,
  }
  for (const [name, distort] of Object.entries(readable))
    it(`is read: ${name}`, async () => {
      let count = 0
      for await (const _ of openCollection(EVENTS, distorted(distort)).items()) count++
      assert.equal(count, 1001)
    })
})

describe('an answer that is too large', () => {
  it('is not read to its end, however long it goes on', async (t) => {
    let sent = 0
    const server = await serve(t, (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' }).write('{"item_count":')
      const chunk = Buffer.alloc(2 ** 20, 0x20)
      const send = () => {
        while (!response.destroyed && sent < 10 * 2 ** 30) {
          sent += chunk.length
          if (!response.write(chunk)) return void response.once('drain', send)
        }
      }
      send()
    })
    const pageBytes = 3_000_000
    const error = await openCollection(server.url, { pageBytes, retry })
      .page(1)
      .catch((error) => error)
    assert.ok(error instanceof PageTooLarge, String(error))
    assert.match(error.message, /it has more than 3000000 bytes, decompressed\. The option pageBytes sets the limit\.$/)
    assert.equal(error.status, 200)
    assert.ok(sent < 100 * 2 ** 20)
    assert.equal(server.seen.length, 1)
  })

  it('is not read at all when it says so itself', async (t) => {
    const url = await serveRaw(t, (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 10737418240\r\n\r\n{')
    })
    await assert.rejects(openCollection(url, { retry }).page(1), PageTooLarge)
  })

  it('is one that swells when it is unpacked', async () => {
    const zeros = new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(2 ** 22)) })
    const headers = { 'content-encoding': 'gzip', 'content-length': '1000' }
    const fetch = async () => new Response(zeros, { headers })
    await assert.rejects(openCollection(EVENTS, { fetch, retry, pageBytes: 2 ** 21 }).page(1), PageTooLarge)
  })

  it('is taken whole at the limit itself', async () => {
    const { fetch } = inProcess(new CorrectServer({ items: 3 }))
    const { body } = await openCollection(EVENTS, { fetch }).page(1)
    assert.equal((await openCollection(EVENTS, { fetch, pageBytes: body.length }).page(1)).length, 3)
    await assert.rejects(openCollection(EVENTS, { fetch, pageBytes: body.length - 1 }).page(1), PageTooLarge)
  })
})
