import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { fill, numbered } from './open-service.ts'
import { type Content, GZIP, type Headers, NDJSON, problemIn, problemInRaw, sharedWriteServer } from './write-server.ts'

/** `problem` is the beginning of what is said. */
type Wrong = readonly [what: string, body: Content, problem: string, headers?: Headers]

const LIMITS = { bodyBytes: 4_000_000, itemBytes: 2000, requestItems: 10_000 }

/** Bytes that are no text. */
const bytes = (text: string): Buffer => Buffer.from(text, 'latin1')

/** One for each way in which a finding of the readers becomes a problem: `test/items` has all that they find. */
const WRONG_ITEMS: readonly Wrong[] = [
  ['no JSON', 'hello', '400 invalid-body: The body: unexpected character `h` at column 1.'],
  ['nothing but blanks', ' \r\n\t', '400 invalid-body: The body is empty.'],
  ['an object that breaks off', '{"id":7', '400 invalid-item: The body: it is truncated: a closing } is missing.'],
  ['two objects', '{"id":7}\n{"id":8}', '400 invalid-body: The body: something follows the object; send several as '],
  ['a wrong byte', bytes('{"id":7,"a":"\xff"}'), '400 invalid-body: The body: byte 13, '],
  ['a wrong key', '{"id":null}', '400 invalid-item: The body: the key field "id" is null; a key is a string or an '],
  ['a bad element', '[{"id":7},{"id":8},9]', '400 invalid-body: Element 2: it is a number, not an object: '],
  ['a broken element', '[{"id":7},{"id":8,}]', '400 invalid-item: Element 1: unexpected character `}` at column 9: '],
  ['an array without an end', '[{"id":7}', '400 invalid-body: Element 1: it is truncated: '],
  ['a bad line', '{"id":7}\n\n{"id":', '400 invalid-item: Line 3: it is truncated: a closing } is ', NDJSON],
  ['a wrong byte on a line', bytes('{"id":7}\n"\xff"'), '400 invalid-body: Line 2: this is not valid UTF-8: ', NDJSON],
  ['nothing but blank lines', '\n \n\r\n', '400 invalid-body: The body is empty.', NDJSON],
  ['a key that is there', '{"id":"1"}', '409 conflict: There is already an item with the key "1".'],
  ['an element whose key is there', '[{"id":7},{"id":"1"}]', '409 conflict: Element 1: There is already an item with '],
  [
    'a line whose key is there',
    '{"id":7}\n\n{"id":"2"}',
    '409 conflict: Item 2 of 2: There is already an item with the key "2".',
    NDJSON,
  ],
  ['a key twice', '[{"id":7},{"id":"7"}]', '409 conflict: Elements 0 and 1: the key "7" is in the request twice.'],
  [
    'a key in two lines',
    '{"id":7}\n{"id":8}\n\n{"id":"7"}',
    '409 conflict: Items 1 and 3 of 3: the key "7" is in the request twice.',
    NDJSON,
  ],
]

const NO_TYPE = '415 unsupported-media-type'
const NO_KEY = '400 invalid-idempotency-key: The Idempotency-Key is not 1 to 255 visible ASCII characters.'
const types = ['text/plain', 'application/jsonx', 'application/json; charset=utf-16', 'constructor', '; charset=utf-8']
const encodings = ['br', 'gzip, gzip', 'gzip, identity']
const keys = ['a b', 'x'.repeat(256), 'ü', 'a\r\nIdempotency-Key: b', '\t']

/** A body that is right, with a header that is not. */
function wrongHeader(name: string, value: string, problem: string): Wrong {
  return [`${name}: ${JSON.stringify(value).slice(0, 30)}`, '{"id":7}', problem, { [name]: value }]
}

const WRONG_HEADERS: readonly Wrong[] = [
  wrongHeader('Content-Type', '', `${NO_TYPE}: There is no Content-Type.`),
  ...types.map((type) => wrongHeader('Content-Type', type, `${NO_TYPE}: The Content-Type is ${JSON.stringify(type)}.`)),
  ...encodings.map((encoding) =>
    wrongHeader('Content-Encoding', encoding, `${NO_TYPE}: The Content-Encoding is "${encoding}"; expected gzip.`),
  ),
  ...keys.map((key) => wrongHeader('Idempotency-Key', key, NO_KEY)),
]

const PACKED = gzipSync('{"id":7}')
const TWO_FILES = Buffer.concat([PACKED, Buffer.alloc(3), gzipSync(' {}')])
const LONG = gzipSync(randomBytes(2_400_000).toString('base64') + ' '.repeat(1_000_000))
const BLANKS = gzipSync(Buffer.alloc(3_000_000, ' '))
const TOO_MUCH = '413 content-too-large'
const WRONG_GZIP: readonly Wrong[] = [
  ['no gzip', '{"id":7}', '400 invalid-body: The body is not gzip.', GZIP],
  ['nothing packed', '', '400 invalid-body: ', GZIP],
  ['gzip without its last byte', PACKED.subarray(0, -1), '400 invalid-body: The gzip data is truncated.', GZIP],
  ['zeros and more behind it', TWO_FILES, '400 invalid-body: Something follows the gzip data.', GZIP],
  ['more than 200 times its size', BLANKS, `${TOO_MUCH}: The body decompresses to more than 200 times its `, GZIP],
  ['more than the limit, unpacked', LONG, `${TOO_MUCH}: The decompressed body has more than 4,000,000 bytes`, GZIP],
]

const LARGE = `{"id":8,"a":"${'x'.repeat(2500)}"}`
const SIZES = 'the item has 2,515 bytes, the limit is 2,000; '
const MORE = `${TOO_MUCH}: Element 1: the item has more than 2,000 bytes, the limit is 2,000; `
const ITEMS = `${TOO_MUCH}: The request has more than 10,000 items (--request-items).`
const ABOVE = `${TOO_MUCH}: The body has 4,000,001 bytes; the limit is 4,000,000 (--body-bytes).`
const TOO_LARGE: readonly Wrong[] = [
  ['a body above the limit', ' '.repeat(4_000_001), ABOVE],
  ['a large item', LARGE, `${TOO_MUCH}: The body: ${SIZES}`],
  ['a large element', `[{"id":7}, ${LARGE},{"id":9}]`, MORE],
  ['a large line', `{"id":7}\n\n${LARGE}\n{"id":9}`, `${TOO_MUCH}: Line 3: ${SIZES}`, NDJSON],
  ['an endless item', `[{"id":7},{"a":"${'x'.repeat(3_000_000)}`, MORE],
  ['10,001 items', `[${numbered(10_001, 100)}]`, ITEMS],
  ['10,001 lines', numbered(10_001, 100).join('\n'), ITEMS, NDJSON],
]

describe('a POST is refused, nothing is written and the connection goes on, for', () => {
  const server = sharedWriteServer(({ store }) => fill(store, 'events', numbered(2)), { limits: LIMITS })
  for (const [what, body, problem, headers] of [...WRONG_ITEMS, ...WRONG_HEADERS, ...WRONG_GZIP, ...TOO_LARGE])
    it(what, async () => {
      const { store, askTwice } = server()
      const before = await store.head('events')
      const [refused, next, ...more] = await askTwice('POST', '/events', body, headers)
      assert.equal(problemInRaw(refused).slice(0, problem.length), problem)
      assert.equal(refused?.headers.get('content-type'), 'application/problem+json')
      assert.deepEqual([next?.body.toString(), more.length], ['{"id":1}', 0])
      assert.deepEqual(await store.head('events'), before)
    })
})

describe('a refused write says what to do', () => {
  const server = sharedWriteServer(async ({ store }) => {
    await fill(store, 'events', numbered(2))
    await fill(store, 'hidden', numbered(2))
    await store.setPrivate('hidden', true)
  })

  async function hintOf(method: string, path: string, body: string, headers: Headers = {}): Promise<string> {
    return JSON.parse((await server().ask(method, path, body, headers)).text).hint
  }

  it('names the scope that creates a collection, in the same words where there is a private one', async () => {
    const token = await server().tokenOf(['write:events'])
    for (const method of ['PUT', 'POST'])
      for (const name of ['fresh', 'hidden'])
        assert.equal(
          await hintOf(method, `/${name}`, '{}', token),
          `A token with the scope "create:${name}" could create it with PUT.`,
        )
  })

  it('points to PUT where a collection does not exist, and creates none', async () => {
    const bodies = { POST: '{"a":1}', PATCH: '{"op":"put","item":{"a":1}}' }
    for (const [method, body] of Object.entries(bodies)) {
      const answer = await server().ask(method, '/evnets', body, method === 'PATCH' ? NDJSON : {})
      assert.equal(problemIn(answer), '404 collection-not-found: There is no collection "evnets".')
      assert.match(JSON.parse(answer.text).hint, /PUT settings .*\/evnets$/)
    }
    assert.match(await hintOf('PUT', '/evnets/1', '{"id":1}'), /PUT settings .*\/evnets$/)
    assert.equal(await server().store.head('evnets'), undefined)
  })

  it('names the types that are taken', async () => {
    const hint = await hintOf('POST', '/events', '{"id":7}', { 'Content-Type': 'application/x-www-form-urlencoded' })
    assert.match(hint, /application\/json or application\/x-ndjson.*With curl: -H "Content-Type: application\/json"/)
  })

  it('names PUT, and where to, for a key that exists', async () => {
    assert.match(await hintOf('POST', '/events', '{"id":1}'), /^To replace the item, PUT it to http:.*\/events\/1$/)
    assert.doesNotMatch(await hintOf('POST', '/events', '[{"id":8},{"id":8}]'), /PUT/)
  })
})
