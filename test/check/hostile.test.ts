import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { type CheckOptions, checkConformance, type Report } from '../../src/check/index.ts'
import { CorrectServer } from './correct-server.ts'
import {
  assertSound,
  type Handler,
  idsWith,
  notesOf,
  outline,
  ruleOf,
  serve,
  serveRaw,
  unusedOrigin,
} from './hostile-servers.ts'

const HURRY = { timeoutMs: 2000, timeLimitMs: 20_000 }
const NO_PATIENCE = { timeoutMs: 400, timeLimitMs: 5000 }

async function check(url: string, options: CheckOptions = HURRY): Promise<Report> {
  const report = await checkConformance(url, options)
  assertSound(report)
  return report
}

/** Nothing could be judged, and the notes say why. */
async function assertUnjudged(url: string, reason: RegExp, options: CheckOptions = HURRY): Promise<Report> {
  const report = await check(url, options)
  assert.equal(report.verdict, 'unjudged', outline(report))
  assert.deepEqual(idsWith(report, 'fail'), [], outline(report))
  assert.match(notesOf(report), reason)
  return report
}

/** The rule is broken, and its detail says by what. */
async function assertBroken(url: string, id: string, detail: RegExp, options: CheckOptions = HURRY): Promise<Report> {
  const report = await check(url, options)
  assert.equal(report.verdict, 'broken', outline(report))
  assert.equal(ruleOf(report, id).status, 'fail', outline(report))
  const texts = ruleOf(report, id).findings.map(({ expected, came }) => `expected ${expected}; came ${came}`)
  assert.match(texts.join('\n'), detail)
  return report
}

async function assertKept(url: string, options: CheckOptions = HURRY): Promise<Report> {
  const report = await check(url, options)
  assert.equal(report.verdict, 'kept', outline(report))
  assert.deepEqual(idsWith(report, 'fail'), [], outline(report))
  return report
}

/** Every request is answered with this body. */
function always(body: string | Buffer, headers: Record<string, string> = {}, status = 200): Handler {
  return (_request, response) =>
    void response.writeHead(status, { 'Content-Type': 'application/hal+json', ...headers }).end(body)
}

/** Pages beyond the last one of 501 items, which are 2. */
function isBeyond({ url = '' }: IncomingMessage): boolean {
  return Number(/\?page=([0-9]+)$/.exec(url)?.[1] ?? 0) > 2
}

function wantsGzip({ headers }: IncomingMessage): boolean {
  return headers['accept-encoding'] === 'gzip'
}

/** Writes for as long as the connection lasts. */
function writeForEver(response: ServerResponse, chunk: string): void {
  const more = () => {
    while (!response.destroyed && response.write(chunk));
    if (!response.destroyed) response.once('drain', more)
  }
  more()
}

describe('a server that does not answer', () => {
  it('that refuses connections cannot be judged', async () => {
    await assertUnjudged(`${await unusedOrigin()}/events`, /^nobody listens there \(connection refused\)$/)
  })

  it('that refuses connections cannot be judged, with the default limits', async () => {
    await assertUnjudged(`${await unusedOrigin()}/events`, /nobody listens there/, {})
  })

  it('whose host has no address cannot be judged', async () => {
    await assertUnjudged('http://reams-check.invalid/events', /^the host name (is not known|could not be looked up)$/)
  })

  it('that accepts and stays silent cannot be judged', async (t) => {
    const url = await serveRaw(t, () => {})
    await assertUnjudged(url, /^no complete answer within 0\.4 s$/, NO_PATIENCE)
  })

  it('that sends headers and then drips for ever cannot be judged', async (t) => {
    const { url } = await serve(t, (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/hal+json' }).write('{')
      const timer = setInterval(() => response.write(' '), 50)
      response.on('close', () => clearInterval(timer))
    })
    await assertUnjudged(url, /^no complete answer within 0\.4 s$/, NO_PATIENCE)
  })

  it('that drips its headers cannot be judged', async (t) => {
    const url = await serveRaw(t, (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      const timer = setInterval(() => socket.write('X-More: 1\r\n'), 50)
      socket.on('close', () => clearInterval(timer))
    })
    await assertUnjudged(url, /^no complete answer within 0\.4 s$/, NO_PATIENCE)
  })

  it('is given up when the time of the run is over, whatever one answer may take', async (t) => {
    const url = await serveRaw(t, () => {})
    await assertUnjudged(url, /the time of this run is used up/, { timeoutMs: 60_000, timeLimitMs: 600 })
  })

  it('that slows down is judged by what it answered in time', async (t) => {
    const { url } = await serve(t, (_request, _response, answerRight, number) => {
      if (number <= 12) answerRight()
    })
    const report = await check(url, { timeoutMs: 60_000, timeLimitMs: 1500 })
    assert.equal(report.verdict, 'unjudged', outline(report))
    assert.ok(report.rules.some(({ detail }) => detail.startsWith('not judged: the time of this run is used up')))
  })

  it('that dies in the middle has broken nothing, whenever it dies', async (t) => {
    for (const last of [1, 2, 3, 5, 8, 13, 21, 34]) {
      const { url, server } = await serve(t, (request, _response, answerRight, number) => {
        if (number > last) return void request.socket.destroy()
        answerRight()
        if (number === last) server.close()
      })
      const report = await check(url, { ...HURRY, strict: true })
      assert.equal(report.verdict, 'unjudged', `after ${last} requests: ${outline(report)}`)
      assert.deepEqual(idsWith(report, 'fail'), [], outline(report))
      const told = `${notesOf(report)}\n${report.rules.map(({ detail }) => detail).join('\n')}`
      assert.match(told, /connection was closed before the answer was complete|nobody listens there/, `after ${last}`)
    }
  })

  it('that dies in the middle has broken what it broke before', async (t) => {
    const { url } = await serve(t, (request, response, answerRight, number) => {
      if (number > 30) request.socket.destroy()
      else if (isBeyond(request)) response.writeHead(404).end()
      else answerRight()
    })
    await assertBroken(url, 'C7', /expected as page 2: 200 OK; came 404 Not Found/)
  })

  it('that is silent about pages beyond the last one breaks C7', async (t) => {
    const { url } = await serve(t, (request, _response, answerRight) => {
      if (!isBeyond(request)) answerRight()
    })
    const report = await assertBroken(url, 'C7', /200 OK; came no complete answer within 0\.4 s/, {
      timeoutMs: 400,
      timeLimitMs: 20_000,
    })
    assert.deepEqual(idsWith(report, 'fail'), ['C7'], outline(report))
  })

  it('that closes the connection at pages beyond the last one breaks C7', async (t) => {
    const { url } = await serve(t, (request, _response, answerRight) => {
      if (isBeyond(request)) request.socket.destroy()
      else answerRight()
    })
    const report = await assertBroken(url, 'C7', /came the connection was closed before the answer was complete/)
    assert.deepEqual(idsWith(report, 'fail'), ['C7'], outline(report))
  })

  it('that closes every connection after one answer, without a word, is judged all the same', async (t) => {
    const right = new CorrectServer({ items: 501 })
    const url = await serveRaw(t, (socket, head) => {
      right.baseUrl = new URL(url).origin
      rawAnswer(right, socket, head)
      socket.end()
    })
    await assertKept(url)
  })
})

/** Answers as the correct server does, written by hand. */
function rawAnswer(right: CorrectServer, socket: Socket, head: string, version = '1.1', before = ''): void {
  const [line = '', ...lines] = head.split('\r\n')
  const [method = '', target = ''] = line.split(' ')
  const headers = Object.fromEntries(
    lines.map((each) => [each.slice(0, each.indexOf(':')).toLowerCase(), each.slice(each.indexOf(':') + 1).trim()]),
  )
  const [path = '', query = ''] = target.split(/\?(.*)/s)
  const answered = right.answer({ method, path, query, headers })
  const length = { 'Content-Length': String(answered.body.length) }
  const all = { ...answered.headers, ...(![204, 304].includes(answered.status) && length) }
  const text = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`${before}HTTP/${version} ${answered.status} Some Text\r\n${text.join('')}\r\n`)
  if (method !== 'HEAD') socket.write(answered.body)
}

describe('a body that cannot be read', () => {
  const few = { ...HURRY, answerBytes: 1_000_000 }

  for (const [name, chunk] of [
    ['an array without end', '[1,2,3],'.repeat(1000)],
    ['blanks without end', ' '.repeat(8000)],
    ['a text without end', 'a'.repeat(8000)],
  ] as const)
    it(`${name} is given up at the limit`, async (t) => {
      const { url } = await serve(t, (_request, response) => {
        response.writeHead(200, { 'Content-Type': 'application/hal+json' }).write('[')
        writeForEver(response, chunk)
      })
      await assertUnjudged(url, /^a body of more than 1000000 bytes$/, few)
    })

  it('an answer without end is given up with the default limits', async (t) => {
    const { url } = await serve(t, (_request, response) => writeForEver(response, '[1,2,3],'.repeat(1000)))
    await assertUnjudged(url, /^a body of more than 67108864 bytes$|^no complete answer within 10 s$/, {})
  })

  it('a body of one byte more than may be read is given up, and one of just as many is read', async (t) => {
    const { url } = await serve(t, always(`{"a":"${'a'.repeat(992)}"}`))
    await assertUnjudged(url, /^a body of more than 999 bytes$/, { ...HURRY, answerBytes: 999 })
    await assertBroken(url, 'C1', /an object with item_count/, { ...HURRY, answerBytes: 1000 })
  })

  it('a large body beyond the last page breaks C7', async (t) => {
    const { url } = await serve(t, (request, response, answerRight) => {
      if (isBeyond(request)) response.end(Buffer.alloc(2_000_000, 32))
      else answerRight()
    })
    await assertBroken(url, 'C7', /came a body of more than 1000000 bytes/, few)
  })

  it('a gzip bomb is given up at the limit', async (t) => {
    const bomb = gzipSync(Buffer.alloc(100_000_000))
    const { url } = await serve(t, always(bomb, { 'Content-Encoding': 'gzip' }))
    await assertUnjudged(url, /^a body of more than 67108864 bytes$/, { timeoutMs: 10_000, timeLimitMs: 30_000 })
  })

  const plain = JSON.stringify({ item_count: 0 })
  const packed = gzipSync(plain)
  const faulty: Record<string, [body: string | Buffer, encoding: string, came: RegExp]> = {
    'a gzip bomb': [gzipSync(Buffer.alloc(10_000_000)), 'gzip', /came a body of more than 1000000 bytes/],
    'a broken gzip': [Buffer.concat([packed.subarray(0, 12), Buffer.alloc(30, 7)]), 'gzip', /cannot be decompressed/],
    'a gzip that is cut off': [packed.subarray(0, -6), 'gzip', /cannot be decompressed/],
    'gzip that is announced, but plain': [plain, 'gzip', /Content-Encoding: gzip that cannot be decompressed/],
    'gzip around gzip': [gzipSync(packed), 'gzip', /no JSON/],
    'another encoding than gzip': [packed, 'br', /came a body with Content-Encoding: br, which was not asked for/],
    'two encodings': [packed, 'gzip, br', /Content-Encoding: gzip, br, which was not asked for/],
  }
  for (const [name, [body, encoding, came]] of Object.entries(faulty)) {
    it(`${name} where gzip was asked for breaks C1`, async (t) => {
      const { url } = await serve(t, (request, response, answerRight) => {
        if (wantsGzip(request)) response.writeHead(200, { 'Content-Encoding': encoding }).end(body)
        else answerRight()
      })
      await assertBroken(url, 'C1', came, few)
    })

    it(`${name} in every answer cannot be judged`, async (t) => {
      const { url } = await serve(t, always(body, { 'Content-Encoding': encoding }))
      const report = await check(url, few)
      assert.equal(report.verdict, 'unjudged', outline(report))
      assert.match(notesOf(report), /a body (of|with)|not JSON/)
    })
  }

  it('a body that ends before its Content-Length cannot be judged', async (t) => {
    const url = await serveRaw(t, (socket) => {
      socket.end('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n{"item_count":')
    })
    await assertUnjudged(url, /^the connection was closed before the answer was complete$/)
  })

  it('a chunked body without its end cannot be judged', async (t) => {
    const url = await serveRaw(t, (socket) => {
      socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n')
    })
    await assertUnjudged(url, /^the connection was closed before the answer was complete$/)
  })

  it('a connection that is reset in the middle of the last page breaks C1', async (t) => {
    const { url } = await serve(t, (request, response, answerRight) => {
      if (request.url !== '/events?page=2') return answerRight()
      response.writeHead(200, { 'Content-Length': '5000' }).write('{"item_count":')
      setTimeout(() => request.socket.resetAndDestroy(), 10)
    })
    await assertBroken(url, 'C1', /came the connection was closed before the answer was complete/)
  })
})

describe('an answer that is not JSON', () => {
  const others: Record<string, [body: string | Buffer, type: string]> = {
    'an HTML page': ['<!doctype html><title>Welcome</title>', 'text/html'],
    'a text': ['It works!', 'text/plain'],
    'an empty body': ['', 'application/json'],
    'bytes that are no text': [Buffer.from([0, 255, 254, 27, 91, 50, 74, 7, 8, 155, 49, 109]), 'application/json'],
    'an array that is cut off': ['[{"id": 1}, {"id"', 'application/json'],
    'an array 100,000 deep': ['['.repeat(100_000) + ']'.repeat(100_000), 'application/json'],
    'a Content-Type full of control characters': ['nothing', 'text/\u009b31m\u0085html'],
  }
  for (const [name, [body, type]] of Object.entries(others))
    it(`cannot be judged: ${name}`, async (t) => {
      const { url } = await serve(t, always(body, { 'Content-Type': type }))
      await assertUnjudged(url, /^the answer is not JSON \(/)
    })

  it('says what came', async (t) => {
    const { url } = await serve(t, always('<!doctype html><title>Welcome</title>', { 'Content-Type': 'text/html' }))
    await assertUnjudged(url, /^the answer is not JSON \(text\/html\): <!doctype html><title>Welcome<\/title>$/)
  })

  it('cannot be judged with the default limits either', async (t) => {
    const { url } = await serve(t, always('It works!', { 'Content-Type': 'text/plain' }))
    await assertUnjudged(url, /^the answer is not JSON \(text\/plain\): It works!$/, {})
  })
})

describe('JSON that is no envelope', () => {
  const deep = (text: string) => `${text.repeat(100_000)}1${'}'.repeat(100_000)}`
  const bodies: Record<string, [body: string, came: RegExp]> = {
    'an object that is cut off': ['{"item_count": 501, "_links": {"first"', /no JSON: \{"item_count": 501/],
    'an object 100,000 deep': [deep('{"a":'), /no JSON: \{"a":\{"a":/],
    null: ['null', /came null/],
    'an empty array': ['[]', /came an array: \[\]/],
    'a text': ['"x"', /came a string: "x"/],
    'a number': ['17', /came a number: 17/],
    'an empty object': ['{}', /an object with item_count, _links and _embedded; came \{\}/],
    'odd fields': ['{"__proto__": {"item_count": 3}, "constructor": 1, "": 2, "\\u0000": 3}', /came \{"__proto__"/],
  }
  for (const [name, [body, came]] of Object.entries(bodies))
    it(`breaks C1: ${name}`, async (t) => {
      const { url } = await serve(t, always(body))
      await assertBroken(url, 'C1', came)
    })

  it('breaks C1 where links, embedded and items are of odd kinds', async (t) => {
    for (const [links, embedded] of [
      ['null', '{}'],
      ['[]', '[]'],
      ['"x"', '"x"'],
      ['{"__proto__": {"href": "x"}, "first": {"__proto__": {"href": 1}}}', 'null'],
    ]) {
      const { url } = await serve(t, always(`{"item_count": 3, "_links": ${links}, "_embedded": ${embedded}}`))
      await assertBroken(url, 'C1', /an object as _(links|embedded)/)
    }
  })

  it('breaks C1 where something in it is 100,000 deep', async (t) => {
    const { url } = await serve(t, always(`{"item_count": 0, "_links": ${deep('{"a":')}, "_embedded": {"events": []}}`))
    await assertBroken(url, 'C1', /no JSON/)
  })

  it('ends with a verdict at every depth', async (t) => {
    for (const depth of [1000, 2000, 4000, 5000, 6000, 8000]) {
      const link = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
      const { url } = await serve(t, (_request, response) => {
        response.end(
          `{"item_count": 0, "_links": {"first": ${link}, "x": ${link}}, "_embedded": {"events": [${link}]}}`,
        )
      })
      const report = await check(url)
      assert.equal(report.verdict, 'broken', outline(report))
    }
  })
})

describe('an envelope with odd values', () => {
  function envelope(origin: string, count: string, links: object = {}): string {
    const url = `${origin}/events`
    const pages = { self: { href: `${url}?page=1` }, first: { href: url }, last: { href: `${url}?page=1` } }
    const parts = [
      JSON.stringify({ ...pages, ...links }),
      JSON.stringify({ events: [{ id: 1 }, { id: 2 }, { id: 3 }] }),
    ]
    return `{"item_count": ${count}, "_links": ${parts[0]}, "_embedded": ${parts[1]}}`
  }

  async function serveEnvelope(t: TestContext, count: string, links: object = {}): Promise<string> {
    const { url } = await serve(t, ({ headers, url }, response, answerRight) => {
      if (!url?.startsWith('/events')) answerRight()
      else response.end(envelope(`http://${headers.host}`, count, links))
    })
    return url
  }

  const counts: Record<string, [id: string, detail: RegExp]> = {
    '1e308': ['C2', /1e\+308/],
    '1152921504606846976': ['C2', /1152921504606847000/],
    '9007199254740991': ['C2', /9007199254740991/],
    '-1': ['C2', /an item_count of at least 0; came -1/],
    '1.5': ['C1', /a whole number as item_count; came 1\.5/],
    '"12"': ['C1', /a whole number as item_count; came "12"/],
    null: ['C1', /a whole number as item_count; came null/],
    '{}': ['C1', /a whole number as item_count; came/],
    '[3]': ['C1', /a whole number as item_count; came/],
    true: ['C1', /a whole number as item_count; came true/],
  }
  for (const [count, [id, detail]] of Object.entries(counts))
    it(`an item_count of ${count} beside three items breaks ${id}`, async (t) => {
      await assertBroken(await serveEnvelope(t, count), id, detail)
    })

  for (const page of ['1000000000000000000000000000000', '9007199254740991', '9007199254740993', '2147483648'])
    it(`a last page ${page} for three items breaks C5`, async (t) => {
      const { url } = await serve(t, ({ headers, url }, response) => {
        const { origin } = new URL(`http://${headers.host}${url}`)
        response.end(envelope(origin, '3', { last: { href: `${origin}/events?page=${page}` } }))
      })
      await assertBroken(url, 'C5', /last leads to page 1/)
      await assertBroken(url, 'C5', /last leads to page 1/, { ...HURRY, walk: true })
    })

  it('a count of ten billion pages is not walked to its end when the time is over', async (t) => {
    const url = await serveEnvelope(t, '5000000000000')
    const report = await checkConformance(url, { timeoutMs: 1000, timeLimitMs: 1500, walk: true })
    assertSound(report, Number.POSITIVE_INFINITY)
    assert.equal(report.verdict, 'broken', outline(report))
  })

  it('100,000 other links are no reason to stumble', async (t) => {
    const more = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`link${i}`, { href: '/x' }]))
    let body: string | undefined
    const { url } = await serve(t, ({ headers, url }, response, answerRight) => {
      if (!/^\/events(\?|$)/.test(url ?? '')) return answerRight()
      body ??= envelope(`http://${headers.host}`, '3', more)
      response.end(body)
    })
    const report = await check(url, { timeoutMs: 5000, timeLimitMs: 60_000 })
    assert.equal(ruleOf(report, 'C1').status, 'pass', outline(report))
    assert.equal(ruleOf(report, 'C4').status, 'pass', outline(report))
  })

  it('500 items of 100 KB each are judged, or the time is over', async (t) => {
    const items = Array.from({ length: 500 }, (_, id) => ({ id, text: 'x'.repeat(100_000) }))
    const { url } = await serve(t, (_request, _response, answerRight) => answerRight(), { items })
    const report = await check(url, { timeoutMs: 10_000, timeLimitMs: 4000 })
    assert.notEqual(report.verdict, 'broken', outline(report))
    if (report.verdict === 'unjudged') assert.match(JSON.stringify(report.rules), /the time of this run is used up/)
  })

  it('texts full of control characters reach the report only in a harmless form', async (t) => {
    const evil = '\u001b[2J\u0007\r\n\u0000\u007f\u0085\u009b31m\u2028\u202e'
    const items = [{ [evil]: evil }, evil]
    const links = {
      [evil]: evil,
      self: { href: `${evil}` },
      first: { href: `http://x/${evil}`, [evil]: evil },
      prev: evil,
      next: { href: evil },
      last: { href: `/events?page=${evil}` },
    }
    const { url } = await serve(t, (_request, response, _answerRight, number) => {
      const document = {
        item_count: evil,
        _links: { ...links, n: number },
        _embedded: { events: items, [evil]: [evil] },
      }
      response.writeHead(number % 3 === 1 ? 200 : 404, {
        'Content-Type': 'text/\u009b31m',
        ETag: `"\u009b31m${number}"`,
        Vary: '\u009b31m',
        Allow: '\u009b31m',
        'Last-Modified': `\u0085${number}`,
        'Cache-Control': '\u009b31m',
      })
      response.end(JSON.stringify(document))
    })
    const report = await check(url)
    assert.equal(report.verdict, 'broken', outline(report))
  })

  it('headers full of control characters reach the report only in a harmless form', async (t) => {
    const right = new CorrectServer({ items: 501 })
    let number = 0
    const url = await serveRaw(t, (socket, head) => {
      right.baseUrl = new URL(url).origin
      number++
      const evil = Buffer.from(`"\u009b31m${number}\u0085"`, 'latin1').toString('latin1')
      right.etag = () => evil
      right.mediaType = () => evil
      rawAnswer(right, socket, head)
    })
    const report = await check(url)
    assert.equal(ruleOf(report, 'C7').status, 'fail', outline(report))
  })

  it('problem details full of control characters reach the report only in a harmless form', async (t) => {
    const evil = '\u001b[2J\u0007\r\n\u0000\u007f\u0085\u009b31m\u2028\u202e'
    const { url } = await serve(t, ({ url, headers }, response, answerRight) => {
      if (url === '/events' || /page=[1-9]/.test(url ?? '')) return answerRight()
      const problem = { type: `http://${headers.host}/${evil}`, title: evil, status: evil, detail: evil }
      response.writeHead(url?.startsWith('/events') ? 400 : 404, { 'Content-Type': 'application/problem+json' })
      response.end(JSON.stringify(problem))
    })
    const report = await check(url)
    assert.equal(ruleOf(report, 'D14').status, 'warn', outline(report))
  })

  it('names at an entry point full of control characters reach the report only in a harmless form', async (t) => {
    const { origin } = await serve(t, ({ headers, url }, response, answerRight) => {
      if (url !== '/') return answerRight()
      const hrefs = ['ev\nil', 'ev\u001b[2Jil', 'ev\u202eil', '..', '%2e%2e', '\\\\evil.invalid']
      const links = hrefs.map((name) => ({ href: `http://${headers.host}/${name}` }))
      response.end(JSON.stringify({ _links: { collections: links } }))
    })
    const report = await check(origin)
    assert.deepEqual(idsWith(report, 'fail'), [], outline(report))
  })

  it('an entry point with thousands of collections ends within the time limit', async (t) => {
    const { origin } = await serve(t, ({ headers, url }, response, answerRight) => {
      if (url !== '/') return answerRight()
      const links = Array.from({ length: 5000 }, (_, i) => ({ href: `http://${headers.host}/c${i}` }))
      response.end(JSON.stringify({ _links: { collections: links } }))
    })
    const report = await checkConformance(origin, { timeoutMs: 1000, timeLimitMs: 1500 })
    assert.equal(report.verdict, 'unjudged')
    assert.ok(JSON.stringify(report).length < 5_000_000, `${JSON.stringify(report).length} characters`)
  })
})

describe('a redirect', () => {
  const redirects: Record<string, (origin: string, elsewhere: string) => [status: number, location: string]> = {
    'to itself': (origin) => [301, `${origin}/events`],
    'to another origin': (_origin, elsewhere) => [302, `${elsewhere}/events`],
    'to another origin without its scheme': (_origin, elsewhere) => [308, `//${new URL(elsewhere).host}/events`],
    'to the next of an endless chain': (origin) => [303, `${origin}/events?hop=${Math.random()}`],
    'to https': (origin) => [307, `${origin.replace('http:', 'https:')}/events`],
  }
  for (const [name, redirect] of Object.entries(redirects))
    it(`${name} is never followed, and takes the token nowhere`, async (t) => {
      const elsewhere = await serve(t, (_request, _response, answerRight) => answerRight())
      const { url, seen } = await serve(t, ({ headers }, response) => {
        const [status, location] = redirect(`http://${headers.host}`, elsewhere.origin)
        response.writeHead(status, { Location: location }).end()
      })
      const report = await assertBroken(url, 'C1', /expected 200 OK; came 30[12378] [A-Za-z ]+ to /, {
        ...HURRY,
        token: 'secret-1',
      })
      assert.equal(elsewhere.seen.length, 0)
      assert.ok(seen.every((request) => !request.url?.includes('hop=')))
      assert.doesNotMatch(JSON.stringify(report), /secret-1/)
    })

  it('without a Location breaks C1', async (t) => {
    const { url } = await serve(t, always('', {}, 301))
    await assertBroken(url, 'C1', /expected 200 OK; came 301 Moved Permanently$/m)
  })

  it('beyond the last page breaks C7, and is not followed', async (t) => {
    const elsewhere = await serve(t, (_request, _response, answerRight) => answerRight())
    const { url } = await serve(t, (request, response, answerRight) => {
      if (isBeyond(request)) response.writeHead(302, { Location: `${elsewhere.url}?page=2` }).end()
      else answerRight()
    })
    await assertBroken(url, 'C7', /came 302 Found to http:/)
    assert.equal(elsewhere.seen.length, 0)
  })
})

describe('another origin', () => {
  it('gets no request and no token, whatever links and problems lead there', async (t) => {
    const elsewhere = await serve(t, (_request, _response, answerRight) => answerRight())
    const { url, seen } = await serve(t, ({ url }, response) => {
      const href = elsewhere.url
      if (!url?.startsWith('/events') || /page=0$/.test(url)) {
        response.writeHead(url?.startsWith('/events') ? 400 : 404, { 'Content-Type': 'application/problem+json' })
        const problem = { type: `${elsewhere.origin}/-/problems/x`, title: 'x', status: 404, detail: 'x', hint: 'x' }
        return void response.end(JSON.stringify(problem))
      }
      const pages = { self: `${href}?page=1`, first: href, prev: `${href}?page=1`, next: `${href}?page=2` }
      const links = Object.entries({ ...pages, last: `${href}?page=2`, search: href, describedby: href })
      const _links = Object.fromEntries(links.map(([name, target]) => [name, { href: target }]))
      response.end(JSON.stringify({ item_count: 501, _links, _embedded: { events: [{ id: 1 }] } }))
    })
    for (const walk of [false, true])
      await assertBroken(url, 'C4', /first leads to "http:.*", not to http:/, { ...HURRY, token: 'secret-1', walk })
    assert.equal(elsewhere.seen.length, 0)
    assert.ok(seen.length > 0 && seen.every(({ headers }) => headers.authorization === 'Bearer secret-1'))
  })

  it('gets no request when an entry point links collections there', async (t) => {
    const elsewhere = await serve(t, (_request, _response, answerRight) => answerRight())
    const { origin } = await serve(t, ({ url, headers }, response, answerRight) => {
      if (url !== '/') return answerRight()
      const mine = `http://${headers.host}`
      const hrefs = [elsewhere.url, `${mine}.evil.invalid/events`, `${mine}@${new URL(elsewhere.url).host}/events`]
      hrefs.push(`//${new URL(elsewhere.url).host}/events`, `${mine}/events`)
      response.end(JSON.stringify({ _links: { collections: hrefs.map((href) => ({ href })) } }))
    })
    const report = await assertKept(origin, { ...HURRY, token: 'secret-1' })
    assert.deepEqual(
      report.collections.map(({ url }) => url),
      [`${origin}/events`],
    )
    assert.equal(elsewhere.seen.length, 0)
  })

  it('gets nothing when the type of a problem is a URL with a user name', async (t) => {
    const elsewhere = await serve(t, (_request, _response, answerRight) => answerRight())
    const { url } = await serve(t, ({ url, headers }, response, answerRight) => {
      if (url?.startsWith('/events') && !/page=0$/.test(url)) return answerRight()
      const type = `http://${headers.host}@${new URL(elsewhere.url).host}/x`
      const problem = { type, title: 'x', status: 404, detail: 'x', hint: 'x' }
      response.writeHead(404, { 'Content-Type': 'application/problem+json' }).end(JSON.stringify(problem))
    })
    await check(url, { ...HURRY, token: 'secret-1' })
    assert.equal(elsewhere.seen.length, 0)
  })
})

describe('a status other than 200', () => {
  for (const status of [401, 403])
    it(`${status} asks for a token`, async (t) => {
      const { url } = await serve(t, always('{}', {}, status))
      await assertUnjudged(url, new RegExp(`^${status} [A-Za-z]+: the collection asks for a token`))
    })

  for (const status of [404, 410, 502, 503, 504])
    it(`${status} is no collection to judge`, async (t) => {
      const { url } = await serve(t, always('{}', {}, status))
      await assertUnjudged(url, new RegExp(`^${status} [A-Za-z ]+: there is no collection to judge at this URL$`))
    })

  for (const status of [201, 204, 206, 304, 400, 405, 500, 501])
    it(`${status} in every answer breaks C1`, async (t) => {
      const { url } = await serve(t, always('{}', {}, status))
      await assertBroken(url, 'C1', new RegExp(`expected 200 OK; came ${status}`))
    })

  it('500 at every second request breaks C1', async (t) => {
    for (const parity of [0, 1]) {
      const { url } = await serve(t, (_request, response, answerRight, number) => {
        if (number % 2 === parity) response.writeHead(500).end()
        else answerRight()
      })
      const report = await check(url)
      assert.equal(report.verdict, 'broken', outline(report))
      assert.match(JSON.stringify(report.rules), /came 500 Internal Server Error/)
    }
  })

  for (const [name, options] of [
    ['of an unpaginated collection', { isPaginated: false }],
    ['of an empty collection', { items: 0 }],
  ] as const)
    it(`500 at every second request ${name} breaks C1`, async (t) => {
      const { url } = await serve(
        t,
        (_request, response, answerRight, number) => {
          if (number % 2 === 0) response.writeHead(500).end()
          else answerRight()
        },
        options,
      )
      await assertBroken(url, 'C1', /came 500 Internal Server Error/)
    })

  it('429 for ever cannot be judged', async (t) => {
    const { url, seen } = await serve(t, always('', { 'Retry-After': '0' }, 429))
    await assertUnjudged(url, /^the server asks to wait again and again \(429 Too Many Requests\); --delay/)
    assert.ok(seen.length <= 10, `${seen.length} requests`)
  })

  it('429 for ever without Retry-After ends within the time limit', async (t) => {
    const { url } = await serve(t, always('', {}, 429))
    await assertUnjudged(url, /429|the time of this run is used up/, { timeoutMs: 1000, timeLimitMs: 2500 })
  })

  it('429 with Retry-After 1 is waited for, and then all is fine', async (t) => {
    const { url } = await serve(t, (_request, response, answerRight, number) => {
      if (number === 2 || number === 10) response.writeHead(429, { 'Retry-After': '1' }).end()
      else answerRight()
    })
    await assertKept(url)
  })

  it('429 with a wait that is longer than the run cannot be judged', async (t) => {
    const { url, seen } = await serve(t, always('', { 'Retry-After': '3600' }, 429))
    await assertUnjudged(url, /^the server asks to wait 3600 s \(429\), longer than the run may take$/)
    assert.ok(seen.length <= 2, `${seen.length} requests`)
  })

  it('429 with a date far away cannot be judged', async (t) => {
    const { url } = await serve(t, always('', { 'Retry-After': 'Fri, 31 Dec 2999 23:59:59 GMT' }, 429))
    await assertUnjudged(url, /^the server asks to wait [0-9]+ s \(429\), longer than the run may take$/)
  })

  it('429 in the middle, with a wait that is too long, leaves the rest unjudged', async (t) => {
    const { url } = await serve(t, (_request, response, answerRight, number) => {
      if (number > 10) response.writeHead(429, { 'Retry-After': '3600' }).end()
      else answerRight()
    })
    const report = await check(url)
    assert.equal(report.verdict, 'unjudged', outline(report))
    assert.ok(report.rules.some(({ detail }) => /not judged: the server asks to wait 3600 s \(429\)/.test(detail)))
  })

  it('429 in the middle, for ever, leaves the rest unjudged', async (t) => {
    const { url } = await serve(t, (_request, response, answerRight, number) => {
      if (number > 10) response.writeHead(429, { 'Retry-After': '0' }).end()
      else answerRight()
    })
    const report = await check(url)
    assert.equal(report.verdict, 'unjudged', outline(report))
  })

  it('503 with Retry-After is waited for, and then all is fine', async (t) => {
    const { url } = await serve(t, (_request, response, answerRight, number) => {
      if (number === 3) response.writeHead(503, { 'Retry-After': '1' }).end()
      else answerRight()
    })
    await assertKept(url)
  })

  it('503 with a wait that is longer than the run cannot be judged', async (t) => {
    const { url } = await serve(t, always('', { 'Retry-After': '999999999' }, 503))
    await assertUnjudged(url, /^the server asks to wait 999999999 s \(503\), longer than the run may take$/)
  })
})

describe('what is hardly HTTP', () => {
  const raw: Record<string, [text: string, note: RegExp]> = {
    'a status of 999': ['HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n', /^no answer that is HTTP \(the status 999/],
    'a status of 600': ['HTTP/1.1 600 Odd\r\nContent-Length: 0\r\n\r\n', /^no answer that is HTTP \(the status 600/],
    'a status of 42': ['HTTP/1.1 42 Odd\r\nContent-Length: 0\r\n\r\n', /^no answer that is HTTP \(/],
    garbage: ['\u0000\u001b[31mSSH-2.0-OpenSSH_9.6\r\n\r\n', /^no answer that is HTTP \(/],
    nothing: ['', /^the connection was closed before the answer was complete$/],
    'another protocol': [
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n',
      /^no answer that is HTTP \(the server switched to another protocol\)$/,
    ],
    'headers of 100 KB': [
      `HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(100_000)}\r\nContent-Length: 2\r\n\r\n{}`,
      /^headers that are larger than 16 KiB$/,
    ],
    'two lengths': [
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}',
      /^no answer that is HTTP \(/,
    ],
    'a length beside chunks': [
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}',
      /^no answer that is HTTP \(|^the connection was closed/,
    ],
    'chunks without a length': [
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzzz\r\n{}',
      /^no answer that is HTTP|^the connection was closed/,
    ],
  }
  for (const [name, [text, note]] of Object.entries(raw))
    it(`cannot be judged: ${name}`, async (t) => {
      const url = await serveRaw(t, (socket) => void socket.end(text, 'latin1'))
      await assertUnjudged(url, note)
    })

  it('TLS where plain HTTP is spoken is told as such', async (t) => {
    const { url } = await serve(t, (_request, _response, answerRight) => answerRight())
    await assertUnjudged(url.replace('http:', 'https:'), /^the server does not speak TLS there/)
  })

  it('a status text full of control characters reaches the report only in a harmless form', async (t) => {
    const url = await serveRaw(t, (socket) => {
      socket.end('HTTP/1.1 500 \u009b31mBad\u0085\tWay\r\nContent-Length: 3\r\n\r\n\u001b[2', 'latin1')
    })
    await assertBroken(url, 'C1', /expected 200 OK; came 500$/m)
  })

  it('HTTP/1.0 is judged as any other', async (t) => {
    const right = new CorrectServer({ items: 501 })
    const url = await serveRaw(t, (socket, head) => {
      right.baseUrl = new URL(url).origin
      rawAnswer(right, socket, head, '1.0')
      socket.end()
    })
    await assertKept(url)
  })

  for (const [name, before] of [
    ['100 Continue', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['103 Early Hints', 'HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n'],
    ['many of them', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(50)],
  ] as const)
    it(`an answer after ${name} is judged as any other`, async (t) => {
      const right = new CorrectServer({ items: 501 })
      const url = await serveRaw(t, (socket, head) => {
        right.baseUrl = new URL(url).origin
        rawAnswer(right, socket, head, '1.1', before)
      })
      await assertKept(url)
    })
})

describe('other kinds of collections', () => {
  for (const [name, options] of [
    ['an unpaginated collection', { isPaginated: false }],
    ['an empty collection', { items: 0 }],
  ] as const) {
    it(`${name} that is right is kept`, async (t) => {
      const { url } = await serve(t, (_request, _response, answerRight) => answerRight(), options)
      await assertKept(url)
    })

    it(`${name} whose server dies in the middle has broken nothing`, async (t) => {
      for (const last of [2, 4, 9]) {
        const { url } = await serve(
          t,
          (request, _response, answerRight, number) => {
            if (number > last) request.socket.destroy()
            else answerRight()
          },
          options,
        )
        const report = await check(url, { ...HURRY, strict: true })
        assert.equal(report.verdict, 'unjudged', `after ${last}: ${outline(report)}`)
      }
    })

    it(`${name} with a broken gzip breaks C1`, async (t) => {
      const { url } = await serve(
        t,
        (request, response, answerRight) => {
          if (wantsGzip(request)) response.writeHead(200, { 'Content-Encoding': 'gzip' }).end('{}')
          else answerRight()
        },
        options,
      )
      await assertBroken(url, 'C1', /cannot be decompressed/)
    })
  }

  it('an empty collection that is silent beyond its only page breaks C7', async (t) => {
    const { url } = await serve(
      t,
      (request, _response, answerRight) => {
        if (!/\?page=(?!1$)[0-9]+$/.test(request.url ?? '')) answerRight()
      },
      { items: 0 },
    )
    await assertBroken(url, 'C7', /came no complete answer within 0\.4 s/, { timeoutMs: 400, timeLimitMs: 20_000 })
  })
})

describe('a fetch in the same process', () => {
  const url = 'http://service.invalid/events'
  const json = (body: string) => new Response(body, { headers: { 'content-type': 'application/json' } })
  const used = async () => {
    const response = json('{}')
    await response.text()
    return response
  }
  const locked = () => {
    const response = json('{}')
    response.body?.getReader()
    return response
  }
  const fetches: Record<string, [fetch: (request: Request) => Response | Promise<Response>, note: RegExp]> = {
    'that throws': [
      () => {
        throw new Error('no database\u001b[31m')
      },
      /^no answer that is HTTP \(no database\\u001b\[31m\)$/,
    ],
    'that rejects': [() => Promise.reject(new Error('no database')), /^no answer that is HTTP \(no database\)$/],
    'that rejects with undefined': [() => Promise.reject(undefined), /^no answer that is HTTP \(undefined\)$/],
    'that rejects with null': [() => Promise.reject(null), /^no answer that is HTTP \(null\)$/],
    'that rejects with a text': [() => Promise.reject('no database'), /^no answer that is HTTP \(no database\)$/],
    'that never resolves': [() => new Promise(() => {}), /^no complete answer within 0\.4 s$/],
    'that answers with an error': [() => Response.error(), /^a Response that stands for an error/],
    'that answers with a used Response': [used, /^a Response whose body was read before$/],
    'that answers with a locked Response': [locked, /^no answer that is HTTP \(.*locked/],
    'that answers with nothing': [() => undefined as unknown as Response, /^no answer that is HTTP \(/],
    'whose body never ends': [
      () => new Response(new ReadableStream({ pull: () => new Promise(() => {}) })),
      /^no complete answer within 0\.4 s$/,
    ],
    'whose body fails': [
      () => new Response(new ReadableStream({ pull: () => Promise.reject(new Error('disk')) })),
      /^no answer that is HTTP \(disk\)$/,
    ],
    'whose body is not made of bytes': [
      () => new Response(new ReadableStream({ start: (controller) => controller.enqueue('{}') })),
      /^a body that is not made of bytes$/,
    ],
  }
  for (const [name, [fetch, note]] of Object.entries(fetches))
    it(`${name} cannot be judged`, async () => {
      await assertUnjudged(url, note, { ...NO_PATIENCE, fetch })
    })

  it('that takes no notice of the abort does not hold up the run, and its body is cancelled', async () => {
    const cancelled: string[] = []
    const fetch = ({ url }: Request) =>
      new Response(
        new ReadableStream({
          pull: async (controller) => {
            await new Promise((resolve) => setTimeout(resolve, 20))
            controller.enqueue(Buffer.from(' '))
          },
          cancel: () => void cancelled.push(url),
        }),
      )
    await assertUnjudged(url, /^no complete answer within 0\.4 s$/, { ...NO_PATIENCE, fetch })
    assert.ok(cancelled.length > 0)
  })

  it('may have unpacked the body already', async () => {
    const right = new CorrectServer({ items: 501 })
    right.baseUrl = 'http://service.invalid'
    const fetch = async (request: Request) => {
      const { pathname, search } = new URL(request.url)
      const headers = Object.fromEntries(request.headers)
      const asked = { method: request.method, path: pathname, query: search.slice(1), headers }
      right.gzip = (plain) => plain
      const { status, headers: answered, body } = right.answer(asked)
      const hasBody = request.method !== 'HEAD' && ![204, 304].includes(status)
      return new Response(hasBody ? new Uint8Array(body) : null, { status, headers: answered })
    }
    await assertKept(url, { ...HURRY, fetch })
  })
})

describe('answers that are much larger than what they say', () => {
  it('millions of items are counted and not kept', async (t) => {
    const body = `{"item_count":4000000,"_links":{"first":{"href":"x"}},"_embedded":{"events":[${'0,'.repeat(3_999_999)}0]}}`
    const { url } = await serve(t, always(gzipSync(body), { 'Content-Encoding': 'gzip' }))
    await assertBroken(url, 'C3', /at most 500 items; came 4000000 items/, { timeoutMs: 20_000, timeLimitMs: 60_000 })
  })

  it('links of megabytes make a small report', async (t) => {
    const long = 'x'.repeat(5_000_000)
    const links = { first: { href: long }, self: { href: long }, [long]: { href: long }, [`${long}y`]: 1 }
    const document = { item_count: 1, _links: links, _embedded: { events: [{}] } }
    const { url } = await serve(t, (_request, response, _answerRight, number) =>
      response.end(JSON.stringify({ ...document, number })),
    )
    const report = await check(url, { timeoutMs: 20_000, timeLimitMs: 60_000 })
    assert.equal(report.verdict, 'broken')
    assert.ok(JSON.stringify(report).length < 200_000, `${JSON.stringify(report).length} characters`)
  })
})
