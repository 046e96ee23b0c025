import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { type CheckOptions, checkConformance, type Report } from '../../src/check/index.ts'
import { CorrectServer, inProcess, type ServerOptions } from './correct-server.ts'
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

interface Served extends CheckOptions {
  readonly serves?: ServerOptions
}

/** Tests of a server that is right, except where the handler answers otherwise. */
function unjudged(name: string, handler: Handler, reason: RegExp, { serves, ...options }: Served = HURRY): void {
  it(`${name}: unjudged`, async (t) => {
    await assertUnjudged((await serve(t, handler, serves)).url, reason, options)
  })
}

function broken(name: string, id: string, handler: Handler, detail: RegExp, options: Served = HURRY): void {
  it(`${name}: breaks ${id}`, async (t) => {
    const { serves, ...rest } = options
    await assertBroken((await serve(t, handler, serves)).url, id, detail, { ...HURRY, ...rest })
  })
}

function kept(name: string, handler: Handler, serves: ServerOptions = {}): void {
  it(`${name}: kept`, async (t) => {
    await assertKept((await serve(t, handler, serves)).url)
  })
}

/** A server that sends these bytes, or does something with the socket. */
function unjudgedRaw(name: string, answer: string | ((socket: Socket) => void), reason: RegExp, options = HURRY): void {
  it(`${name}: unjudged`, async (t) => {
    const write = typeof answer === 'string' ? (socket: Socket) => void socket.end(answer, 'latin1') : answer
    await assertUnjudged(await serveRaw(t, write), reason, options)
  })
}

/** The correct server, whose answers are written by hand. */
function keptRaw(name: string, version: string, before: string, isClosed: boolean): void {
  it(`${name}: kept`, async (t) => {
    const right = new CorrectServer({ items: 501 })
    const url = await serveRaw(t, (socket, head) => {
      right.baseUrl = new URL(url).origin
      rawAnswer(right, socket, head, version, before)
      if (isClosed) socket.end()
    })
    await assertKept(url)
  })
}

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

const right: Handler = (_request, _response, answerRight) => answerRight()

/** Every request is answered with this body. */
function always(body: string | Buffer, headers: Record<string, string> = {}, status = 200): Handler {
  return (_request, response) =>
    void response.writeHead(status, { 'Content-Type': 'application/hal+json', ...headers }).end(body)
}

/** Right, except for the requests that `when` picks. */
function except(
  when: (request: IncomingMessage, number: number) => boolean,
  answer: (response: ServerResponse, request: IncomingMessage) => void,
): Handler {
  return (request, response, answerRight, number) => {
    if (when(request, number)) answer(response, request)
    else answerRight()
  }
}

/** Pages beyond the last one of 501 items, which are 2. */
function isBeyond({ url = '' }: IncomingMessage): boolean {
  return Number(/\?page=([0-9]+)$/.exec(url)?.[1] ?? 0) > 2
}

function wantsGzip({ headers }: IncomingMessage): boolean {
  return headers['accept-encoding'] === 'gzip'
}

const cutOff = (_response: ServerResponse, { socket }: IncomingMessage) => void socket.destroy()
const stayBusy = (_request: IncomingMessage, number: number) => number > 10

describe('a server that does not answer', () => {
  it('that refuses connections cannot be judged', async () => {
    await assertUnjudged(`${await unusedOrigin()}/events`, /^nobody listens there \(connection refused\)$/)
  })

  it('whose host has no address cannot be judged', async () => {
    await assertUnjudged('http://reams-check.invalid/events', /^the host name (is not known|could not be looked up)$/)
  })

  const LATE = /^no complete answer within 0\.4 s$/
  unjudgedRaw('that accepts and stays silent', () => {}, LATE, NO_PATIENCE)
  unjudged(
    'that sends headers and then drips for ever',
    (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/hal+json' }).write('{')
      const timer = setInterval(() => response.write(' '), 50)
      response.on('close', () => clearInterval(timer))
    },
    LATE,
    NO_PATIENCE,
  )
  unjudgedRaw(
    'that drips its headers',
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      const timer = setInterval(() => socket.write('X-More: 1\r\n'), 50)
      socket.on('close', () => clearInterval(timer))
    },
    LATE,
    NO_PATIENCE,
  )
  const short = { timeoutMs: 60_000, timeLimitMs: 600 }
  unjudgedRaw('beyond the time of the run', () => {}, /the time of this run is used up/, short)

  it('that slows down is judged by what it answered in time', async (t) => {
    const { url } = await serve(
      t,
      except(
        (_request, number) => number > 12,
        () => {},
      ),
    )
    const report = await check(url, { timeoutMs: 60_000, timeLimitMs: 1500 })
    assert.equal(report.verdict, 'unjudged', outline(report))
    assert.ok(report.rules.some(({ detail }) => detail.startsWith('not judged: the time of this run is used up')))
  })

  it('that dies in the middle has broken nothing, whenever it dies', async (t) => {
    const kinds: [serves: ServerOptions, moments: number[]][] = [
      [{}, [1, 2, 3, 5, 8, 13, 21, 34]],
      [{ isPaginated: false }, [2, 4, 9]],
      [{ items: 0 }, [2, 4, 9]],
    ]
    for (const [serves, moments] of kinds)
      for (const last of moments) {
        const handler: Handler = (request, _response, answerRight, number) => {
          if (number > last) return void request.socket.destroy()
          answerRight()
          if (number === last) server.close()
        }
        const { url, server } = await serve(t, handler, serves)
        const report = await check(url, { ...HURRY, strict: true })
        assert.equal(report.verdict, 'unjudged', `after ${last} requests: ${outline(report)}`)
        assert.deepEqual(idsWith(report, 'fail'), [], outline(report))
        const told = `${notesOf(report)}\n${report.rules.map(({ detail }) => detail).join('\n')}`
        assert.match(told, /connection was closed before the answer was complete|nobody listens there/, `after ${last}`)
      }
  })

  broken(
    'that dies in the middle has broken what it broke before',
    'C7',
    (request, response, answerRight, number) => {
      if (number > 30) request.socket.destroy()
      else if (isBeyond(request)) response.writeHead(404).end()
      else answerRight()
    },
    /expected as page 2: 200 OK; came 404 Not Found/,
  )

  const silences: Record<string, [handler: Handler, came: RegExp]> = {
    'is silent': [except(isBeyond, () => {}), /200 OK; came no complete answer within 0\.4 s/],
    'closes the connection': [
      except(isBeyond, cutOff),
      /came the connection was closed before the answer was complete/,
    ],
  }
  for (const [name, [handler, came]] of Object.entries(silences))
    it(`that ${name} at pages beyond the last one breaks C7 alone`, async (t) => {
      const { url } = await serve(t, handler)
      const report = await assertBroken(url, 'C7', came, { timeoutMs: 400, timeLimitMs: 20_000 })
      assert.deepEqual(idsWith(report, 'fail'), ['C7'], outline(report))
    })

  keptRaw('that closes every connection after one answer, without a word', '1.1', '', true)
})

describe('a body that cannot be read', () => {
  const few = { ...HURRY, answerBytes: 1_000_000 }

  for (const [name, chunk] of [
    ['an array without end', '[1,2,3],'.repeat(1000)],
    ['blanks without end', ' '.repeat(8000)],
    ['a text without end', 'a'.repeat(8000)],
  ] as const)
    unjudged(
      name,
      (_request, response) => {
        response.writeHead(200, { 'Content-Type': 'application/hal+json' }).write('[')
        const more = () => {
          while (!response.destroyed && response.write(chunk));
          if (!response.destroyed) response.once('drain', more)
        }
        more()
      },
      /^a body of more than 1000000 bytes$/,
      few,
    )

  it('of one byte more than may be read is given up, and one of just as many is read', async (t) => {
    const { url } = await serve(t, always(`{"a":"${'a'.repeat(992)}"}`))
    await assertUnjudged(url, /^a body of more than 999 bytes$/, { ...HURRY, answerBytes: 999 })
    await assertBroken(url, 'C1', /an object with item_count/, { ...HURRY, answerBytes: 1000 })
  })

  const large = except(isBeyond, (response) => response.end(Buffer.alloc(2_000_000, 32)))
  broken('a large one beyond the last page', 'C7', large, /came a body of more than 1000000 bytes/, few)

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
    const answer = (response: ServerResponse) =>
      void response.writeHead(200, { 'Content-Encoding': encoding, 'Content-Type': 'application/hal+json' }).end(body)
    broken(`${name} where gzip was asked for`, 'C1', except(wantsGzip, answer), came, few)
    unjudged(`${name} in every answer`, (_request, response) => answer(response), /a body (of|with)|not JSON/, few)
  }

  for (const serves of [{ isPaginated: false }, { items: 0 }]) {
    const bad = except(wantsGzip, (response) => response.writeHead(200, { 'Content-Encoding': 'gzip' }).end('{}'))
    broken(`a broken gzip of ${JSON.stringify(serves)}`, 'C1', bad, /cannot be decompressed/, { serves })
  }

  const CLOSED = /^the connection was closed before the answer was complete$/
  const type = 'Content-Type: application/json'
  unjudgedRaw('shorter than its length', `HTTP/1.1 200 OK\r\n${type}\r\nContent-Length: 5000\r\n\r\n{"a":`, CLOSED)
  for (const line of ['', 'Connection: close\r\n'])
    unjudgedRaw(
      `chunks without an end, ${line.trim()}`,
      `HTTP/1.1 200 OK\r\n${line}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n`,
      CLOSED,
    )
  const reset = except(
    ({ url }) => url === '/events?page=2',
    (response, request) => {
      response.writeHead(200, { 'Content-Length': '5000' }).write('{"item_count":')
      setTimeout(() => request.socket.resetAndDestroy(), 10)
    },
  )
  broken('a reset in the middle of the last page', 'C1', reset, /came the connection was closed before the answer/)
})

describe('an answer that is not JSON', () => {
  const others: Record<string, [body: string | Buffer, type: string, note?: RegExp]> = {
    'an HTML page': ['<title>Hi</title>', 'text/html', /^the answer is not JSON \(text\/html\): <title>Hi<\/title>$/],
    'a text': ['It works!', 'text/plain', /^the answer is not JSON \(text\/plain\): It works!$/],
    'an empty body': ['', 'application/json'],
    'bytes that are no text': [Buffer.from([0, 255, 254, 27, 91, 50, 74, 7, 8, 155, 49, 109]), 'application/json'],
    'an array that is cut off': ['[{"id": 1}, {"id"', 'application/json'],
    'an array 100,000 deep': ['['.repeat(100_000) + ']'.repeat(100_000), 'application/json'],
    'a Content-Type full of control characters': ['nothing', 'text/\u009b31m\u0085html'],
  }
  for (const [name, [body, type, note = /^the answer is not JSON \(/]] of Object.entries(others))
    unjudged(name, always(body, { 'Content-Type': type }), note)
})

describe('JSON that is no envelope', () => {
  const deep = (text: string, depth = 100_000) => `${text.repeat(depth)}1${'}'.repeat(depth)}`
  const envelope = (links: string, embedded: string) =>
    `{"item_count": 3, "_links": ${links}, "_embedded": ${embedded}}`
  const bodies: Record<string, [body: string, came: RegExp]> = {
    'an object that is cut off': ['{"item_count": 501, "_links": {"first"', /no JSON: \{"item_count": 501/],
    'an object 100,000 deep': [deep('{"a":'), /no JSON: \{"a":\{"a":/],
    null: ['null', /came null/],
    'an empty array': ['[]', /came an array: \[\]/],
    'a text': ['"x"', /came a string: "x"/],
    'a number': ['17', /came a number: 17/],
    'an empty object': ['{}', /an object with item_count, _links and _embedded; came \{\}/],
    'odd fields': ['{"__proto__": {"item_count": 3}, "constructor": 1, "": 2, "\\u0000": 3}', /came \{"__proto__"/],
    'null links': [envelope('null', '{}'), /an object as _links/],
    'arrays as links and items': [envelope('[]', '[]'), /an object as _(links|embedded)/],
    'texts as links and items': [envelope('"x"', '"x"'), /an object as _(links|embedded)/],
    'odd links': [
      envelope('{"__proto__": {"href": "x"}, "first": {"__proto__": 1}}', 'null'),
      /an object as _embedded/,
    ],
    'links 100,000 deep': [envelope(deep('{"a":'), '{"events": []}'), /no JSON/],
  }
  for (const [name, [body, came]] of Object.entries(bodies)) broken(name, 'C1', always(body), came)

  it('ends with a verdict at every depth', async (t) => {
    for (const depth of [1000, 2000, 4000, 5000, 6000, 8000]) {
      const link = deep('{"a":', depth)
      const { url } = await serve(t, always(envelope(`{"first": ${link}, "x": ${link}}`, `{"events": [${link}]}`)))
      const report = await check(url)
      assert.equal(report.verdict, 'broken', outline(report))
    }
  })
})

describe('an envelope with odd values', () => {
  const evil = '\u001b[2J\u0007\r\n\u0000\u007f\u0085\u009b31m\u2028\u202e'

  /** Three items on one page; the count is JSON, and links may say anything. */
  function envelope(count: string, linksTo: (url: string) => object = () => ({})): Handler {
    let body: string | undefined
    return ({ headers, url: path = '' }, response, answerRight) => {
      if (!/^\/events(\?|$)/.test(path)) return answerRight()
      const url = `http://${headers.host}/events`
      const pages = { self: { href: `${url}?page=1` }, first: { href: url }, last: { href: `${url}?page=1` } }
      const embedded = JSON.stringify({ events: [{ id: 1 }, { id: 2 }, { id: 3 }] })
      const links = () => JSON.stringify({ ...pages, ...linksTo(url) })
      body ??= `{"item_count": ${count}, "_links": ${links()}, "_embedded": ${embedded}}`
      response.end(body)
    }
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
    broken(`an item_count of ${count} beside three items`, id, envelope(count), detail)

  for (const page of ['1000000000000000000000000000000', '9007199254740991', '9007199254740993', '2147483648'])
    for (const walk of [false, true]) {
      const handler = envelope('3', (url) => ({ last: { href: `${url}?page=${page}` } }))
      broken(`a last page ${page} for three items, walk ${walk}`, 'C5', handler, /last leads to page 1/, { walk })
    }

  it('a count of ten billion pages is not walked to its end when the time is over', async (t) => {
    const { url } = await serve(t, envelope('5000000000000'))
    const report = await checkConformance(url, { timeoutMs: 1000, timeLimitMs: 1500, walk: true })
    assertSound(report, Number.POSITIVE_INFINITY)
    assert.equal(report.verdict, 'broken', outline(report))
  })

  it('100,000 other links are no reason to fail', async (t) => {
    const more = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`link${i}`, { href: '/x' }]))
    const { url } = await serve(
      t,
      envelope('3', () => more),
    )
    const report = await check(url, { timeoutMs: 5000, timeLimitMs: 60_000 })
    assert.equal(ruleOf(report, 'C1').status, 'pass', outline(report))
    assert.equal(ruleOf(report, 'C4').status, 'pass', outline(report))
  })

  it('500 items of 100 KB each are judged, or the time is over', async (t) => {
    const items = Array.from({ length: 500 }, (_, id) => ({ id, text: 'x'.repeat(100_000) }))
    const { url } = await serve(t, right, { items })
    const report = await check(url, { timeoutMs: 10_000, timeLimitMs: 4000 })
    assert.notEqual(report.verdict, 'broken', outline(report))
    if (report.verdict === 'unjudged') assert.match(JSON.stringify(report.rules), /the time of this run is used up/)
  })

  it('control characters in texts and headers reach the report only in a harmless form', async (t) => {
    const links = {
      [evil]: evil,
      self: { href: `${evil}` },
      first: { href: `http://x/${evil}`, [evil]: evil },
      prev: evil,
      next: { href: evil },
      last: { href: `/events?page=${evil}` },
    }
    const { url } = await serve(t, (_request, response, _answerRight, number) => {
      const _embedded = { events: [{ [evil]: evil }, evil], [evil]: [evil] }
      const headers = Object.fromEntries(
        ['Content-Type', 'Vary', 'Allow', 'Cache-Control'].map((name) => [name, '\u009b31m']),
      )
      response.writeHead(number % 3 === 1 ? 200 : 404, {
        ...headers,
        ETag: `"\u009b31m${number}"`,
        'Last-Modified': `\u0085${number}`,
      })
      response.end(JSON.stringify({ item_count: evil, _links: { ...links, n: number }, _embedded }))
    })
    const report = await check(url)
    assert.equal(report.verdict, 'broken', outline(report))
  })

  it('control characters in raw headers reach the report only in a harmless form', async (t) => {
    const server = new CorrectServer({ items: 501 })
    let number = 0
    const url = await serveRaw(t, (socket, head) => {
      server.baseUrl = new URL(url).origin
      const tag = `"\u009b31m${++number}\u0085"`
      Object.assign(server, { etag: () => tag, mediaType: () => tag })
      rawAnswer(server, socket, head)
    })
    const report = await check(url)
    assert.equal(ruleOf(report, 'C7').status, 'fail', outline(report))
  })

  it('control characters in problem details reach the report only in a harmless form', async (t) => {
    const { url } = await serve(t, ({ url, headers }, response, answerRight) => {
      if (url === '/events' || /page=[1-9]/.test(url ?? '')) return answerRight()
      const problem = { type: `http://${headers.host}/${evil}`, title: evil, status: evil, detail: evil }
      response.writeHead(url?.startsWith('/events') ? 400 : 404, { 'Content-Type': 'application/problem+json' })
      response.end(JSON.stringify(problem))
    })
    const report = await check(url)
    assert.equal(ruleOf(report, 'D14').status, 'warn', outline(report))
  })

  it('control characters in names at an entry point reach the report only in a harmless form', async (t) => {
    const names = ['ev\nil', 'ev\u001b[2Jil', 'ev\u202eil', '..', '%2e%2e', '\\\\evil.invalid']
    const { origin } = await serve(t, entryPoint(names))
    const report = await check(origin)
    assert.deepEqual(idsWith(report, 'fail'), [], outline(report))
  })

  it('an entry point with thousands of collections ends within the time limit', async (t) => {
    const { origin } = await serve(t, entryPoint(Array.from({ length: 5000 }, (_, i) => `c${i}`)))
    const report = await checkConformance(origin, { timeoutMs: 1000, timeLimitMs: 1500 })
    assert.equal(report.verdict, 'unjudged')
    assert.ok(JSON.stringify(report).length < 5_000_000, `${JSON.stringify(report).length} characters`)
  })
})

/** An entry point that links these names below itself, or these URLs, in which SELF is its own origin. */
function entryPoint(names: readonly string[]): Handler {
  return ({ headers, url }, response, answerRight) => {
    if (url !== '/') return answerRight()
    const origin = `http://${headers.host}`
    const hrefOf = (name: string) => (/SELF|\/\//.test(name) ? name.replace('SELF', origin) : `${origin}/${name}`)
    response.end(JSON.stringify({ _links: { collections: names.map((name) => ({ href: hrefOf(name) })) } }))
  }
}

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
      const elsewhere = await serve(t, right)
      const { url, seen } = await serve(t, ({ headers }, response) => {
        const [status, location] = redirect(`http://${headers.host}`, elsewhere.origin)
        response.writeHead(status, { Location: location }).end()
      })
      const options = { ...HURRY, token: 'secret-1' }
      const report = await assertBroken(url, 'C1', /expected 200 OK; came 30[12378] [A-Za-z ]+ to /, options)
      assert.equal(elsewhere.seen.length, 0)
      assert.ok(seen.every((request) => !request.url?.includes('hop=')))
      assert.doesNotMatch(JSON.stringify(report), /secret-1/)
    })

  broken('without a Location', 'C1', always('', {}, 301), /expected 200 OK; came 301 Moved Permanently$/m)

  it('beyond the last page breaks C7, and is not followed', async (t) => {
    const elsewhere = await serve(t, right)
    const redirect = (response: ServerResponse) =>
      response.writeHead(302, { Location: `${elsewhere.url}?page=2` }).end()
    await assertBroken((await serve(t, except(isBeyond, redirect))).url, 'C7', /came 302 Found to http:/)
    assert.equal(elsewhere.seen.length, 0)
  })
})

describe('another origin', () => {
  it('gets no request and no token, whatever links and problems lead there', async (t) => {
    const elsewhere = await serve(t, right)
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
    const elsewhere = await serve(t, right)
    const { host } = new URL(elsewhere.url)
    const names = [elsewhere.url, 'SELF.evil.invalid/events', `SELF@${host}/events`, `//${host}/events`]
    const { origin } = await serve(t, entryPoint([...names, 'events']))
    const report = await assertKept(origin, { ...HURRY, token: 'secret-1' })
    assert.deepEqual(
      report.collections.map(({ url }) => url),
      [`${origin}/events`],
    )
    assert.equal(elsewhere.seen.length, 0)
  })

  it('gets nothing when the type of a problem is a URL with a user name', async (t) => {
    const elsewhere = await serve(t, right)
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
    unjudged(
      String(status),
      always('{}', {}, status),
      new RegExp(`^${status} [A-Za-z]+: the collection asks for a token`),
    )

  for (const status of [404, 410, 502, 503, 504])
    unjudged(
      String(status),
      always('{}', {}, status),
      new RegExp(`^${status} [A-Za-z ]+: there is no collection to check at this URL$`),
    )

  for (const status of [201, 204, 206, 304, 400, 405, 500, 501])
    broken(`${status} always`, 'C1', always('{}', {}, status), new RegExp(`expected 200 OK; came ${status}`))

  const fail = (response: ServerResponse) => void response.writeHead(500).end()
  for (const parity of [0, 1])
    it(`500 at every second request, from ${parity + 1} on, breaks a rule`, async (t) => {
      const { url } = await serve(
        t,
        except((_request, number) => number % 2 === parity, fail),
      )
      const report = await check(url)
      assert.equal(report.verdict, 'broken', outline(report))
      assert.match(JSON.stringify(report.rules), /came 500 Internal Server Error/)
    })

  for (const serves of [{ isPaginated: false }, { items: 0 }]) {
    const name = `500 at every second request of ${JSON.stringify(serves)}`
    const handler = except((_request, number) => number % 2 === 0, fail)
    broken(name, 'C1', handler, /came 500 Internal Server Error/, { serves })
  }

  it('429 for ever cannot be judged, and gets few requests', async (t) => {
    const { url, seen } = await serve(t, always('', { 'Retry-After': '0' }, 429))
    await assertUnjudged(url, /^the server asks to wait again and again \(429 Too Many Requests\); --delay/)
    assert.ok(seen.length <= 10, `${seen.length} requests`)
  })

  it('429 with a wait that is longer than the run cannot be judged, and gets few requests', async (t) => {
    const { url, seen } = await serve(t, always('', { 'Retry-After': '3600' }, 429))
    await assertUnjudged(url, /^the server asks to wait 3600 s \(429\), longer than the run may take$/)
    assert.ok(seen.length <= 2, `${seen.length} requests`)
  })

  const endOfTime = { timeoutMs: 1000, timeLimitMs: 2500 }
  unjudged('429 without Retry-After', always('', {}, 429), /429|the time of this run is used up/, endOfTime)
  const tooLong = (status: number) =>
    new RegExp(`^the server asks to wait [0-9]+ s \\(${status}\\), longer than the run may take$`)
  unjudged('429 until far away', always('', { 'Retry-After': 'Fri, 31 Dec 2999 23:59:59 GMT' }, 429), tooLong(429))
  unjudged('503 with a long wait', always('', { 'Retry-After': '999999999' }, 503), tooLong(503))

  for (const [status, wait] of [
    [429, '1'],
    [503, '1'],
  ] as const) {
    const busy = (response: ServerResponse) => void response.writeHead(status, { 'Retry-After': wait }).end()
    kept(
      `${status} with Retry-After 1, now and then`,
      except((_request, number) => number === 34 || number === 38, busy),
    )
  }

  for (const [wait, reason] of [
    ['3600', /^not judged: the server asks to wait 3600 s \(429\)/],
    ['0', /^not judged: the server asks to wait again and again/],
  ] as const)
    it(`429 in the middle, with Retry-After ${wait}, leaves the rest unjudged`, async (t) => {
      const busy = (response: ServerResponse) => void response.writeHead(429, { 'Retry-After': wait }).end()
      const report = await check((await serve(t, except(stayBusy, busy))).url)
      assert.equal(report.verdict, 'unjudged', outline(report))
      assert.ok(
        report.rules.some(({ detail }) => reason.test(detail)),
        outline(report),
      )
    })
})

describe('what is hardly HTTP', () => {
  const NOT_HTTP = /^no answer that is HTTP \(/
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
    'two lengths': ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}', NOT_HTTP],
    'a length and chunks': ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}', NOT_HTTP],
    'chunks without a length': [
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzzz\r\n{}',
      /^no answer that is HTTP|^the connection was closed/,
    ],
  }
  for (const [name, [text, note]] of Object.entries(raw)) unjudgedRaw(name, text, note)

  it('TLS where plain HTTP is spoken is told as such', async (t) => {
    const { url } = await serve(t, right)
    await assertUnjudged(url.replace('http:', 'https:'), /^the server does not speak TLS there/)
  })

  it('a status text full of control characters reaches the report only in a harmless form', async (t) => {
    const text = 'HTTP/1.1 500 \u009b31mBad\u0085\tWay\r\nContent-Length: 3\r\n\r\n\u001b[2'
    const url = await serveRaw(t, (socket) => void socket.end(text, 'latin1'))
    await assertBroken(url, 'C1', /expected 200 OK; came 500$/m)
  })

  keptRaw('HTTP/1.0', '1.0', '', true)
  keptRaw('an answer after 100 Continue', '1.1', 'HTTP/1.1 100 Continue\r\n\r\n', false)
  keptRaw('an answer after 103 Early Hints', '1.1', 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n', false)
  keptRaw('an answer after many that only say Processing', '1.1', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(50), false)
})

describe('other kinds of collections', () => {
  kept('an unpaginated collection', right, { isPaginated: false })
  kept('an empty collection', right, { items: 0 })

  const silent = except(
    ({ url = '' }) => /\?page=(?!1$)[0-9]+$/.test(url),
    () => {},
  )
  broken('an empty collection that is silent beyond its page', 'C7', silent, /no complete answer within 0\.4 s/, {
    serves: { items: 0 },
    timeoutMs: 400,
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

  it('that ignores the abort does not hold up the run, and its body is cancelled', async () => {
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

  it('may have decompressed the body already', async () => {
    const server = new CorrectServer({ items: 501 })
    server.gzip = (plain) => plain
    await assertKept(url, { ...HURRY, fetch: inProcess(server, 'http://service.invalid') })
  })
})

describe('answers that are much larger than what they say', () => {
  const patient = { timeoutMs: 20_000, timeLimitMs: 60_000 }

  it('millions of items are counted and not kept', async (t) => {
    const body = `{"item_count":4000000,"_links":{"first":{"href":"x"}},"_embedded":{"events":[${'0,'.repeat(3_999_999)}0]}}`
    const { url } = await serve(t, always(gzipSync(body), { 'Content-Encoding': 'gzip' }))
    await assertBroken(url, 'C3', /at most 500 items; came 4000000 items/, patient)
  })

  it('links of megabytes make a small report', async (t) => {
    const long = 'x'.repeat(5_000_000)
    const links = { first: { href: long }, self: { href: long }, [long]: { href: long }, [`${long}y`]: 1 }
    const document = { item_count: 1, _links: links, _embedded: { events: [{}] } }
    const { url } = await serve(t, (_request, response, _answerRight, number) =>
      response.end(JSON.stringify({ ...document, number })),
    )
    const report = await check(url, patient)
    assert.equal(report.verdict, 'broken')
    assert.ok(JSON.stringify(report).length < 200_000, `${JSON.stringify(report).length} characters`)
  })
})
