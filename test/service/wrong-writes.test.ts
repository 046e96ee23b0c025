import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { fill, numbered } from './open-service.ts'
import { type Content, type Headers, problemIn, problemInRaw, sharedWriteServer } from './write-server.ts'

type Wrong = readonly [what: string, body: Content, expected: RegExp, headers?: Headers]

const NDJSON = { 'Content-Type': 'application/x-ndjson' }
const GZIP = { 'Content-Encoding': 'gzip' }
const CHUNKED = { 'Transfer-Encoding': 'chunked' }
const LIMITS = { bodyBytes: 4_000_000, itemBytes: 2000, requestItems: 10_000 }

/** Bytes that are no text. */
const bytes = (text: string): Buffer => Buffer.from(text, 'latin1')
const nested = (depth: number): string => `{"id":7,"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`

const WRONG_JSON: readonly Wrong[] = [
  ['no JSON', 'hello', /^400 invalid-body: The body: unexpected character `h` at column 1\.$/],
  ['nothing', '', /^400 invalid-body: The body is empty\.$/],
  ['nothing but blanks', ' \r\n\t', /^400 invalid-body: The body is empty\.$/],
  ['a number', '17', /^400 invalid-body: The body: it is a number, not an object\.$/],
  ['null', 'null', /^400 invalid-body: The body: it is null, not an object\.$/],
  ['a string', '"a"', /^400 invalid-body: The body: it is a string, not an object\.$/],
  ['an object that breaks off', '{"id":7', /^400 invalid-item: The body: it breaks off: a closing } is missing\.$/],
  ['a bracket too much', '{"id":7}}', /^400 invalid-body: The body: something follows the object; several are sent as/],
  ['two objects', '{"id":7}\n{"id":8}', /^400 invalid-body: .* several are sent as an array or as NDJSON\.$/],
  ['a control character behind', '{"id":7}\x01', /^400 invalid-body: The body: something follows the object/],
  ['a control character in a string', '{"id":"a\x01"}', /^400 invalid-item: The body: the control character `\\u0001`/],
  ['an unknown escape', '{"id":"\\x41"}', /^400 invalid-item: The body: unknown escape in a string at column 9\.$/],
  ['a number with a leading zero', '{"id":7,"a":01}', /^400 invalid-item: The body: unexpected character `1`/],
  ['NaN', '{"id":7,"a":NaN}', /^400 invalid-item: The body: unexpected character `N` at column 13\.$/],
  ['single quotes', "{'id':7}", /^400 invalid-item: The body: unexpected character `'`/],
  ['nesting of 513', nested(513), /^400 invalid-item: The body: nested deeper than 512 at column \d+\.$/],
  ['nesting without an end', `{"a":${'['.repeat(1900)}`, /^400 invalid-item: The body: nested deeper than 512/],
  ['UTF-16', Buffer.from('\ufeff{"id":7}', 'utf16le'), /^400 invalid-body: The body: byte 0, counted from 0, is not/],
  [
    'a wrong byte',
    bytes('{"id":7,"a":"\xff"}'),
    /^400 invalid-body: The body: byte 13, counted from 0, is not valid UTF-8\.$/,
  ],
  ['a wrong byte in a key', bytes('{"id":"\xc3"}'), /^400 invalid-body: The body: byte 7, counted from 0, is not/],
  ['half a character at the end', bytes('{"id":"\xc3'), /^400 invalid-body: .*is not valid UTF-8\.$/],
]

const WRONG_ARRAYS: readonly Wrong[] = [
  ['a bad element', '[{"id":7},{"id":8},9]', /^400 invalid-body: Element 2: it is a number, not an object: /],
  ['an array in it', '[{"id":7},[]]', /^400 invalid-body: Element 1: it is an array, not an object: /],
  ['a broken element', '[{"id":7},{"id":8,}]', /^400 invalid-item: Element 1: unexpected character `}` at column 9: /],
  [
    'no comma',
    '[{"id":7} {"id":8}]',
    /^400 invalid-body: Element 1: a comma or the closing \] of the array is missing/,
  ],
  ['a comma at the end', '[{"id":7},]', /^400 invalid-body: Element 1: an item is missing between/],
  ['a comma at the beginning', '[,{"id":7}]', /^400 invalid-body: Element 0: an item is missing before this comma/],
  ['no end', '[{"id":7}', /^400 invalid-body: Element 1: it breaks off: the closing \] of the array is missing\.$/],
  ['no end of an element', '[{"id":7},{"id', /^400 invalid-item: Element 1: it breaks off: a closing " is missing: /],
  [
    'something behind',
    '[{"id":7}] x',
    /^400 invalid-body: Element 1: something follows the closing \] of the array: x\.$/,
  ],
  ['a wrong byte', bytes('[{"id":7},{"id":"\xff"}]'), /^400 invalid-body: Line 1: this is not valid UTF-8: .*\\xff\.$/],
  ['nesting of 513 in one', `[{"id":8},${nested(513)}]`, /^400 invalid-item: Element 1: nested deeper than 512/],
  ['an element without key', '[{"id":7},{"a":1}]', /^400 invalid-item: Element 1: the key field "id" is missing: /],
]

const WRONG_LINES: readonly Wrong[] = [
  ['a bad line', '{"id":7}\n\n{"id":', /^400 invalid-item: Line 3: it breaks off: a closing } is missing: \{"id":\.$/],
  ['a number on a line', '{"id":7}\n8\n', /^400 invalid-item: Line 2: it is a number, not an object: 8\.$/],
  ['two objects on a line', '{"id":7}{"id":8}', /^400 invalid-item: Line 1: something follows the object: /],
  ['an array', '[{"id":7}]', /^400 invalid-item: Line 1: it is an array, not an object: \[\{"id":7\}\]\.$/],
  ['an object on two lines', '{"id":7,\n"a":1}', /^400 invalid-item: Line 1: it breaks off: /],
  ['a wrong byte', bytes('{"id":7}\n{"id":"\xff"}'), /^400 invalid-body: Line 2: this is not valid UTF-8: .*\\xff\.$/],
  ['nothing but blank lines', '\n \n\r\n', /^400 invalid-body: The body is empty\.$/],
]

const WRONG_KEYS: readonly Wrong[] = [
  ['no key', '{"a":1}', /^400 invalid-item: The body: the key field "id" is missing\.$/],
  [
    'no key but in the prototype',
    '{"__proto__":{"id":7}}',
    /^400 invalid-item: The body: the key field "id" is missing\.$/,
  ],
  ['an empty key', '{"id":""}', /^400 invalid-item: The body: the key field "id" is empty\.$/],
  [
    'null as key',
    '{"id":null}',
    /^400 invalid-item: The body: the key field "id" holds null; a key is a string or an integer\.$/,
  ],
  ['an object as key', '{"id":{}}', /^400 invalid-item: .*holds an object; a key is a string or an integer\.$/],
  ['a fraction as key', '{"id":7.0}', /^400 invalid-item: .*holds a number with a fraction or an exponent; /],
  ['an exponent as key', '{"id":7e1}', /^400 invalid-item: .*holds a number with a fraction or an exponent; /],
  ['two keys', '{"id":7,"id":8}', /^400 invalid-item: The body: the key field "id" is given more than once\.$/],
  [
    'two keys, one escaped',
    '{"id":7,"\\u0069d":8}',
    /^400 invalid-item: The body: the key field "id" is given more than once\.$/,
  ],
  ['half of a surrogate pair as key', '{"id":"\\ud800"}', /^400 invalid-item: .*holds half of a surrogate pair/],
  ['a NUL in the key', '{"id":"a\\u0000"}', /^400 invalid-item: .*holds a NUL character/],
  ['a dot as key', '{"id":"."}', /^400 invalid-item: .*is "\." or "\.\."/],
  [
    'a key of 1,025 bytes',
    `{"id":"${'x'.repeat(1025)}"}`,
    /^400 invalid-item: .*has 1,025 bytes; a key has at most 1,024\.$/,
  ],
  ['a key that is there', '[{"id":7},{"id":1}]', /^409 conflict: An item with the key "1" is there already\.$/],
  ['a key that is there as a string', '{"id":"1"}', /^409 conflict: An item with the key "1" is there already\.$/],
  [
    'a key twice in the request',
    '[{"id":7},{"id":8},{"id":"7"}]',
    /^409 conflict: The key "7" stands in the request twice, in the items 0 and 2, counted from 0\.$/,
  ],
]

const WRONG_TYPES: readonly Wrong[] = [
  ['no type', '{"id":7}', /^415 unsupported-media-type: There is no Content-Type\.$/, { 'Content-Type': '' }],
  ...[
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonx',
    'application/json; charset=utf-16',
    'application/json; charset="iso-8859-1"',
    'constructor',
    '__proto__',
    '; charset=utf-8',
  ].map(
    (type): Wrong => [type, '{"id":7}', /^415 unsupported-media-type: The Content-Type is "/, { 'Content-Type': type }],
  ),
  ...['br', 'deflate', 'zstd', 'gzip, gzip', 'gzip, identity'].map(
    (encoding): Wrong => [
      `encoding ${encoding}`,
      '{"id":7}',
      new RegExp(`^415 unsupported-media-type: The Content-Encoding is "${encoding}"; gzip is taken\\.$`),
      { 'Content-Encoding': encoding },
    ],
  ),
]

const PACKED = gzipSync('{"id":7}')
const WRONG_GZIP: readonly Wrong[] = [
  ['no gzip', '{"id":7}', /^400 invalid-body: The body is not gzip\.$/, GZIP],
  ['nothing', '', /^400 invalid-body: /, GZIP],
  ['gzip that breaks off', PACKED.subarray(0, -9), /^400 invalid-body: The gzip data breaks off\.$/, GZIP],
  ['gzip without its last byte', PACKED.subarray(0, -1), /^400 invalid-body: The gzip data breaks off\.$/, GZIP],
  [
    'a wrong checksum',
    Buffer.concat([PACKED.subarray(0, -8), Buffer.alloc(4), PACKED.subarray(-4)]),
    /^400 invalid-body: The body is not gzip\.$/,
    GZIP,
  ],
  ['garbage behind it', Buffer.concat([PACKED, bytes('garbage')]), /^400 invalid-body: The body is not gzip\.$/, GZIP],
  [
    'zeros and more behind it',
    Buffer.concat([PACKED, Buffer.alloc(3), gzipSync(' {}')]),
    /^400 invalid-body: Something follows the gzip data\.$/,
    GZIP,
  ],
  [
    'more than 200 times its size',
    gzipSync(Buffer.alloc(3_000_000, ' ')),
    /^413 content-too-large: Unpacked, the body has more than 200 times the [\d,]+ bytes that it has packed\.$/,
    GZIP,
  ],
  [
    'more than the limit, unpacked',
    gzipSync(randomBytes(2_400_000).toString('base64') + ' '.repeat(1_000_000)),
    /^413 content-too-large: Unpacked, the body has more than the 4,000,000 bytes that are taken\.$/,
    GZIP,
  ],
]

const LARGE = `{"id":8,"a":"${'x'.repeat(2500)}"}`
const LIMIT = `{"id":"m","a":"${'x'.repeat(1983)}"}`
const SIZES = 'the item has 2,515 bytes, the limit is 2,000; '
const MORE = 'the item has more than 2,000 bytes, the limit is 2,000; '
const TOO_LARGE: readonly Wrong[] = [
  [
    'a body above the limit',
    ' '.repeat(4_000_001),
    /^413 content-too-large: The body has 4,000,001 bytes; at most 4,000,000 are taken\.$/,
  ],
  ['a large item', LARGE, new RegExp(`^413 content-too-large: The body: ${SIZES}`)],
  ['a large element', `[{"id":7}, ${LARGE},{"id":9}]`, new RegExp(`^413 content-too-large: Element 1: ${MORE}`)],
  ['a large line', `{"id":7}\n\n${LARGE}\n{"id":9}`, new RegExp(`^413 content-too-large: Line 3: ${SIZES}`), NDJSON],
  ['a large last line', `{"id":7}\n${LARGE}`, new RegExp(`^413 content-too-large: Line 2: ${MORE}`), NDJSON],
  [
    'a large key',
    `{"id":"${'x'.repeat(3000)}"}`,
    /^413 content-too-large: The body: the item has 3,009 bytes, the limit is 2,000; /,
  ],
  [
    'an endless item',
    `[{"id":7},{"a":"${'x'.repeat(3_000_000)}`,
    /^413 content-too-large: Element 1: the item has more than 2,000 bytes, /,
  ],
  ['10,001 items', `[${numbered(10_001, 100)}]`, /^413 content-too-large: The request has more than 10,000 items\.$/],
  [
    '10,001 lines',
    numbered(10_001, 100).join('\n'),
    /^413 content-too-large: The request has more than 10,000 items\.$/,
    NDJSON,
  ],
]

const WRONG_IDEMPOTENCY_KEYS: readonly Wrong[] = ['a b', 'x'.repeat(256), 'ü', 'a\r\nIdempotency-Key: b', '\t'].map(
  (key) => [
    JSON.stringify(key).slice(0, 30),
    '{"id":7}',
    /^400 invalid-idempotency-key: The Idempotency-Key is not 1 to 255 visible ASCII characters\.$/,
    { 'Idempotency-Key': key },
  ],
)

describe('a POST is refused, nothing is written and the connection goes on, for', () => {
  const server = sharedWriteServer(({ store }) => fill(store, 'events', numbered(2)), { limits: LIMITS })
  const refuses = (kind: string, cases: readonly Wrong[], common: Headers = {}) =>
    describe(kind, () => {
      for (const [what, body, expected, headers] of cases)
        it(what, async () => {
          const { store, askTwice } = server()
          const before = await store.head('events')
          const [refused, next, ...more] = await askTwice('POST', '/events', body, { ...common, ...headers })
          assert.match(problemInRaw(refused), expected)
          assert.equal(refused?.headers.get('content-type'), 'application/problem+json')
          assert.equal(next?.body.toString(), '{"id":1}')
          assert.equal(more.length, 0)
          assert.deepEqual(await store.head('events'), before)
        })
    })
  refuses('JSON', WRONG_JSON)
  refuses('arrays', WRONG_ARRAYS)
  refuses('NDJSON', WRONG_LINES, NDJSON)
  refuses('keys', WRONG_KEYS)
  refuses('types', WRONG_TYPES)
  refuses('gzip', WRONG_GZIP)
  refuses('sizes', TOO_LARGE)
  refuses('idempotency keys', WRONG_IDEMPOTENCY_KEYS)
})

describe('a POST is taken, and comes back byte for byte, with', () => {
  const server = sharedWriteServer(({ store }) => fill(store, 'events', numbered(2)), { limits: LIMITS })
  const takes = (what: string, body: Content, item: string, key: string, headers: Headers = {}): void =>
    void it(what, async () => {
      const { ask } = server()
      const { status, text } = await ask('POST', '/events', body, headers)
      assert.equal(status, 201, text)
      assert.equal((await ask('GET', `/events/${encodeURIComponent(key)}`)).text, item)
    })
  const same = (what: string, item: string, key: string): void => takes(what, item, item, key)

  same('nesting of 512', nested(512), '7')
  same('half of a surrogate pair outside the key', '{"id":"a","b":"\\ud800"}', 'a')
  same('fields given twice, and __proto__', '{"id":"b","a":1,"a":2,"__proto__":{"id":"x"},"constructor":0}', 'b')
  same('numbers that no float holds', '{"id":"c","n":[12345678901234567890,1.10,1E5,-0]}', 'c')
  same('a large integer as key', '{"id":12345678901234567891}', '12345678901234567891')
  same('a slash in the key', '{"id":"a/b"}', 'a/b')
  same('a percent sign in the key', '{"id":"a%2Fb"}', 'a%2Fb')
  same('a key of 300 characters', `{"id":"${'ü'.repeat(300)}"}`, 'ü'.repeat(300))
  same('a key with a composed letter', '{"id":"\u00e9"}', '\u00e9')
  same('the same letter in two parts, which is another key', '{"id":"e\u0301"}', 'e\u0301')
  same('blanks, quotes and a byte-order mark in the key', '{"id":"\ufeff \\" ?#"}', '\ufeff " ?#')
  takes('blanks and a byte-order mark around it', '\ufeff\r\n {"id":"d",\n"a":1}\t\n', '{"id":"d", "a":1}', 'd')
  takes('a byte-order mark before an array', '\ufeff[{"id":"e"}]', '{"id":"e"}', 'e')
  takes('blank lines and no last line break', '\n{"id":"f"}\r\n\n{"id":"g"}', '{"id":"g"}', 'g', NDJSON)
  takes('a charset', '{"id":"h"}', '{"id":"h"}', 'h', { 'Content-Type': 'Application/JSON; Charset="UTF-8"' })
  takes('two gzip members', Buffer.concat(['{"id":', '"i"}'].map((part) => gzipSync(part))), '{"id":"i"}', 'i', GZIP)
  takes('an encoding by its old name', gzipSync('{"id":"j"}'), '{"id":"j"}', 'j', { 'Content-Encoding': 'X-Gzip' })
  takes('no encoding, named', '{"id":"k"}', '{"id":"k"}', 'k', { 'Content-Encoding': 'identity' })
  takes('a body in chunks', '{"id":"l"}', '{"id":"l"}', 'l', CHUNKED)
  takes('an item of just the limit', `\n${LIMIT}\n`, LIMIT, 'm')
})

describe('an empty array', () => {
  const server = sharedWriteServer(({ store }) => fill(store, 'events', numbered(2)))
  it('appends nothing and changes nothing', async () => {
    const { ask, store } = server()
    const { status, text } = await ask('POST', '/events', ' [ ] ')
    assert.deepEqual([status, JSON.parse(text)], [201, { appended: 0, item_count: 2, version: 2 }])
    assert.equal((await store.head('events'))?.version, 2)
  })
})

describe('a POST to an unpaginated collection', () => {
  const server = sharedWriteServer(({ store }) => fill(store, 'venues', numbered(9999), { isPaginated: false }))
  it('takes the 10,000th item and refuses the next, and all that would go beyond', async () => {
    const { ask, store } = server()
    assert.match(
      problemIn(await ask('POST', '/venues', '[{"id":"a"},{"id":"b"}]')),
      /^409 conflict: .* at most 10,000 items; with these it would have 10,001\./,
    )
    assert.equal((await ask('POST', '/venues', '{"id":"a"}')).status, 201)
    assert.match(problemIn(await ask('POST', '/venues', '{"id":"b"}')), /^409 conflict: /)
    assert.match(problemIn(await ask('PUT', '/venues/b', '{"id":"b"}')), /^409 conflict: /)
    assert.equal((await store.head('venues'))?.live, 10_000)
  })
})
