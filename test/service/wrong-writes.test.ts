import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { fill, numbered } from './open-service.ts'
import { type Content, type Headers, problemInRaw, sharedWriteServer } from './write-server.ts'

type Wrong = readonly [what: string, body: Content, problem: string, detail: string, headers?: Headers]

const NDJSON = { 'Content-Type': 'application/x-ndjson' }
const GZIP = { 'Content-Encoding': 'gzip' }
const LIMITS = { bodyBytes: 4_000_000, itemBytes: 2000, requestItems: 10_000 }

/** Bytes that are no text. */
const bytes = (text: string): Buffer => Buffer.from(text, 'latin1')

/** What the reader of items finds, as a problem: `test/items` has all that it finds. */
const WRONG_ITEMS: readonly Wrong[] = [
  ['no JSON', 'hello', '400 invalid-body', 'The body: unexpected character `h` at column 1.'],
  ['nothing', '', '400 invalid-body', 'The body is empty.'],
  ['nothing but blanks', ' \r\n\t', '400 invalid-body', 'The body is empty.'],
  ['null', 'null', '400 invalid-body', 'The body: it is null, not an object.'],
  ['an object that breaks off', '{"id":7', '400 invalid-item', 'The body: it is truncated: a closing } is missing.'],
  [
    'two objects',
    '{"id":7}\n{"id":8}',
    '400 invalid-body',
    'The body: something follows the object; send several as an array or as NDJSON.',
  ],
  [
    'UTF-16',
    Buffer.from('\ufeff{"id":7}', 'utf16le'),
    '400 invalid-body',
    'The body: byte 0, counted from 0, is not valid UTF-8.',
  ],
  [
    'a wrong byte',
    bytes('{"id":7,"a":"\xff"}'),
    '400 invalid-body',
    'The body: byte 13, counted from 0, is not valid UTF-8.',
  ],
  [
    'a wrong key',
    '{"id":null}',
    '400 invalid-item',
    'The body: the key field "id" is null; a key is a string or an integer.',
  ],
  ['a dot as key', '{"id":"."}', '400 invalid-item', 'The body: the key field "id" is "." or ".."'],
  ['a bad element', '[{"id":7},{"id":8},9]', '400 invalid-body', 'Element 2: it is a number, not an object: '],
  ['a broken element', '[{"id":7},{"id":8,}]', '400 invalid-item', 'Element 1: unexpected character `}` at column 9: '],
  ['an element without key', '[{"id":7},{"a":1}]', '400 invalid-item', 'Element 1: the key field "id" is missing: '],
  [
    'an array without an end',
    '[{"id":7}',
    '400 invalid-body',
    'Element 1: it is truncated: the closing ] of the array is missing.',
  ],
  [
    'a wrong byte in an array',
    bytes('[{"id":7},{"id":"\xff"}]'),
    '400 invalid-body',
    'Line 1: this is not valid UTF-8: ',
  ],
  [
    'a bad line',
    '{"id":7}\n\n{"id":',
    '400 invalid-item',
    'Line 3: it is truncated: a closing } is missing: {"id":.',
    NDJSON,
  ],
  [
    'a wrong byte on a line',
    bytes('{"id":7}\n{"id":"\xff"}'),
    '400 invalid-body',
    'Line 2: this is not valid UTF-8: ',
    NDJSON,
  ],
  ['nothing but blank lines', '\n \n\r\n', '400 invalid-body', 'The body is empty.', NDJSON],
  ['a key that is there', '[{"id":7},{"id":"1"}]', '409 conflict', 'There is already an item with the key "1".'],
  [
    'a key twice in the request',
    '[{"id":7},{"id":8},{"id":"7"}]',
    '409 conflict',
    'The key "7" is in the request twice, in the items 0 and 2, counted from 0.',
  ],
]

const WRONG_HEADERS: readonly Wrong[] = [
  ['no type', '{"id":7}', '415 unsupported-media-type', 'There is no Content-Type.', { 'Content-Type': '' }],
  ...['text/plain', 'application/jsonx', 'application/json; charset=utf-16', 'constructor', '; charset=utf-8'].map(
    (type): Wrong => [
      type,
      '{"id":7}',
      '415 unsupported-media-type',
      `The Content-Type is ${JSON.stringify(type)}.`,
      { 'Content-Type': type },
    ],
  ),
  ...['br', 'gzip, gzip', 'gzip, identity'].map(
    (encoding): Wrong => [
      `encoding ${encoding}`,
      '{"id":7}',
      '415 unsupported-media-type',
      `The Content-Encoding is "${encoding}"; expected gzip.`,
      { 'Content-Encoding': encoding },
    ],
  ),
  ...['a b', 'x'.repeat(256), 'ü', 'a\r\nIdempotency-Key: b', '\t'].map(
    (key): Wrong => [
      `idempotency key ${JSON.stringify(key).slice(0, 30)}`,
      '{"id":7}',
      '400 invalid-idempotency-key',
      'The Idempotency-Key is not 1 to 255 visible ASCII characters.',
      { 'Idempotency-Key': key },
    ],
  ),
]

const PACKED = gzipSync('{"id":7}')
const BAD_SUM = Buffer.concat([PACKED.subarray(0, -8), Buffer.alloc(4), PACKED.subarray(-4)])
const TWO_FILES = Buffer.concat([PACKED, Buffer.alloc(3), gzipSync(' {}')])
const WRONG_GZIP: readonly Wrong[] = [
  ['no gzip', '{"id":7}', '400 invalid-body', 'The body is not gzip.', GZIP],
  ['nothing packed', '', '400 invalid-body', '', GZIP],
  ['gzip without its last byte', PACKED.subarray(0, -1), '400 invalid-body', 'The gzip data is truncated.', GZIP],
  ['a wrong checksum', BAD_SUM, '400 invalid-body', 'The body is not gzip.', GZIP],
  ['garbage behind it', Buffer.concat([PACKED, bytes('garbage')]), '400 invalid-body', 'The body is not gzip.', GZIP],
  ['zeros and more behind it', TWO_FILES, '400 invalid-body', 'Something follows the gzip data.', GZIP],
  [
    'more than 200 times its size',
    gzipSync(Buffer.alloc(3_000_000, ' ')),
    '413 content-too-large',
    'The body decompresses to more than 200 times its ',
    GZIP,
  ],
  [
    'more than the limit, unpacked',
    gzipSync(randomBytes(2_400_000).toString('base64') + ' '.repeat(1_000_000)),
    '413 content-too-large',
    'The decompressed body has more than 4,000,000 bytes.',
    GZIP,
  ],
]

const LARGE = `{"id":8,"a":"${'x'.repeat(2500)}"}`
const SIZES = 'the item has 2,515 bytes, the limit is 2,000; '
const MORE = 'the item has more than 2,000 bytes, the limit is 2,000; '
const ITEMS = 'The request has more than 10,000 items.'
const TOO_LARGE: readonly Wrong[] = [
  [
    'a body above the limit',
    ' '.repeat(4_000_001),
    '413 content-too-large',
    'The body has 4,000,001 bytes; the limit is 4,000,000.',
  ],
  ['a large item', LARGE, '413 content-too-large', `The body: ${SIZES}`],
  ['a large element', `[{"id":7}, ${LARGE},{"id":9}]`, '413 content-too-large', `Element 1: ${MORE}`],
  ['a large line', `{"id":7}\n\n${LARGE}\n{"id":9}`, '413 content-too-large', `Line 3: ${SIZES}`, NDJSON],
  ['an endless item', `[{"id":7},{"a":"${'x'.repeat(3_000_000)}`, '413 content-too-large', `Element 1: ${MORE}`],
  ['10,001 items', `[${numbered(10_001, 100)}]`, '413 content-too-large', ITEMS],
  ['10,001 lines', numbered(10_001, 100).join('\n'), '413 content-too-large', ITEMS, NDJSON],
]

describe('a POST is refused, nothing is written and the connection goes on, for', () => {
  const server = sharedWriteServer(({ store }) => fill(store, 'events', numbered(2)), { limits: LIMITS })
  for (const [what, body, problem, detail, headers] of [...WRONG_ITEMS, ...WRONG_HEADERS, ...WRONG_GZIP, ...TOO_LARGE])
    it(what, async () => {
      const { store, askTwice } = server()
      const before = await store.head('events')
      const [refused, next, ...more] = await askTwice('POST', '/events', body, headers)
      const expected = `${problem}: ${detail}`
      assert.equal(problemInRaw(refused).slice(0, expected.length), expected)
      assert.equal(refused?.headers.get('content-type'), 'application/problem+json')
      assert.deepEqual([next?.body.toString(), more.length], ['{"id":1}', 0])
      assert.deepEqual(await store.head('events'), before)
    })
})
