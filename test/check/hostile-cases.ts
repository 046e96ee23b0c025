/** The tests with hostile servers. */

import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { type CheckOptions, checkConformance, type Report } from '../../src/check/index.ts'
import { Cases } from '../sample.ts'
import { CorrectServer, inProcess, type ServerOptions } from './correct-server.ts'
import {
  assertSound,
  type Handler,
  idsWith,
  outline,
  ruleOf,
  serve,
  serveRaw,
  unusedOrigin,
} from './hostile-servers.ts'

const { describe, it, list } = new Cases()

/** How a check reports servers that break almost every rule. */
export const HOSTILE = list

const NO_PATIENCE = { timeoutMs: 100 }

/** The rule that is broken, or that none is. */
type Expected = 'passed' | 'undecided' | `${'C' | 'D'}${number}`

/** The report of a check with this outcome, in which a line says this: a finding of the rule, a note or a detail. */
async function check(url: string, expected?: Expected, words = /^/, options: CheckOptions = {}): Promise<Report> {
  const report = await checkConformance(url, options)
  assertSound(report, options.walk ? Number.POSITIVE_INFINITY : undefined)
  if (expected === undefined) return report
  const rule = /^[CD]/.test(expected) ? ruleOf(report, expected) : undefined
  assert.equal(report.verdict, rule === undefined ? expected : 'failed', outline(report))
  if (rule === undefined) assert.deepEqual(idsWith(report, 'fail'), [], outline(report))
  else assert.equal(rule.status, 'fail', outline(report))
  const lines = rule?.findings.map(({ expected, got }) => `expected ${expected}; got ${got}`) ?? [
    ...report.collections.flatMap(({ notes }) => notes),
    ...report.rules.map(({ detail }) => detail),
  ]
  const isTold = lines.some((line) => words.test(line))
  assert.ok(isTold, `${words}: ${lines.join('\n')}`)
  return report
}

interface Served extends CheckOptions {
  readonly serves?: ServerOptions
}

/** Tests of a server that is right, except where the handler answers otherwise; or that sends these bytes. */
function judge(name: string, answer: Handler | string, expected: Expected, words?: RegExp, options: Served = {}): void {
  const { serves, ...rest } = options
  const start = async (t: TestContext) =>
    typeof answer === 'string'
      ? serveRaw(t, (socket) => void socket.end(answer, 'latin1'))
      : (await serve(t, answer, serves)).url
  it(`${name}: ${expected}`, async (t) => void (await check(await start(t), expected, words, rest)))
}

/** The correct server, whose answers are written by hand. */
function judgeRaw(name: string, version: string, before: string, isClosed: boolean): void {
  it(`${name}: kept`, async (t) => {
    const right = new CorrectServer({ items: 501 })
    const url = await serveRaw(t, (socket, head) => {
      right.baseUrl = new URL(url).origin
      rawAnswer(right, socket, head, version, before)
      if (isClosed) socket.end()
    })
    await check(url, 'passed')
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
const silent = () => {}

/** Every request is answered with this body. */
function always(body: string | Buffer, headers: Record<string, string> = {}, status = 200): Handler {
  return (_request, response) =>
    void response.writeHead(status, { 'Content-Type': 'application/hal+json', ...headers }).end(body)
}

type When = (request: IncomingMessage, number: number) => boolean
type Answer = (response: ServerResponse, request: IncomingMessage) => void

/** Right, except for the requests that `when` picks. */
function except(when: When, answer: Answer): Handler {
  return (request, response, answerRight, number) => {
    if (when(request, number)) answer(response, request)
    else answerRight()
  }
}

/** Pages beyond the last one of 501 items, which are 2. */
const isBeyond: When = ({ url = '' }) => Number(/\?page=([0-9]+)$/.exec(url)?.[1] ?? 0) > 2
const wantsGzip: When = ({ headers }) => headers['accept-encoding'] === 'gzip'
const from =
  (first: number): When =>
  (_request, number) =>
    number >= first

/** With this status, and perhaps a time to wait. */
const refuse = (status: number, wait?: string) => (response: ServerResponse) =>
  void response.writeHead(status, wait === undefined ? {} : { 'Retry-After': wait }).end()
const cutOff: Answer = (_response, { socket }) => void socket.destroy()

/** Sends something again and again, as long as somebody takes it. */
function drip(stream: Socket | ServerResponse, text: string): void {
  const timer = setInterval(() => stream.write(text), 50)
  stream.on('close', () => clearInterval(timer))
}

const OTHER_KINDS: readonly ServerOptions[] = [{ isPaginated: false }, { items: 0 }]

describe('a server that does not answer', () => {
  it('that refuses connections cannot be judged', async () => {
    await check(`${await unusedOrigin()}/events`, 'undecided', /^no server listens there \(connection refused\)$/)
  })

  it('whose host has no address cannot be judged', async () => {
    const words = /^the host name (is not known|could not be looked up)$/
    await check('http://reams-check.invalid/events', 'undecided', words)
  })

  const LATE = /^no complete response within 0\.1 s$/
  judge('that accepts and stays silent', silent, 'undecided', LATE, NO_PATIENCE)
  const dripBody: Handler = (_request, response) => drip(response.writeHead(200), ' ')
  judge('that sends headers and then drips for ever', dripBody, 'undecided', LATE, NO_PATIENCE)
  const dripHeaders: Handler = ({ socket }) => {
    socket.write('HTTP/1.1 200 OK\r\n')
    drip(socket, 'X-More: 1\r\n')
  }
  judge('that drips its headers', dripHeaders, 'undecided', LATE, NO_PATIENCE)
  const USED_UP = /the time of this run is used up/
  judge('beyond the time of the run', silent, 'undecided', USED_UP, { timeoutMs: 60_000, timeLimitMs: 600 })
  const slow = { timeoutMs: 60_000, timeLimitMs: 1500 }
  judge('that slows down', except(from(13), silent), 'undecided', /^the time of this run is used up/, slow)

  it('that dies in the middle has broken nothing, whenever it dies', async (t) => {
    const kinds: [serves: ServerOptions, moments: number[]][] = [
      [{}, [1, 2, 3, 5, 8, 13, 21, 34]],
      ...OTHER_KINDS.map((serves): [ServerOptions, number[]] => [serves, [2, 4, 9]]),
    ]
    for (const [serves, moments] of kinds)
      for (const last of moments) {
        const handler: Handler = (request, _response, answerRight, number) => {
          if (number > last) return void request.socket.destroy()
          answerRight()
          if (number === last) server.close()
        }
        const { url, server } = await serve(t, handler, serves)
        const words = /connection was closed before the response was complete|no server listens there/
        await check(url, 'undecided', words, { strict: true })
      }
  })

  const dying: Handler = (request, response, answerRight, number) => {
    if (number > 30) request.socket.destroy()
    else if (isBeyond(request, number)) response.writeHead(404).end()
    else answerRight()
  }
  judge('that dies in the middle, after it broke a rule', dying, 'C7', /as page 2: 200 OK; got 404 Not Found/)

  it('that closes the connection at pages beyond the last one breaks C7 alone', async (t) => {
    const words = /got the connection was closed before the response was complete/
    const report = await check((await serve(t, except(isBeyond, cutOff))).url, 'C7', words)
    assert.deepEqual(idsWith(report, 'fail'), ['C7'], outline(report))
  })

  // In this process and not compressed: every other answer comes in the same turn, however slow the machine is.
  for (const [items, last] of [
    [501, 2],
    [0, 1],
  ] as const)
    it(`that is silent at pages beyond the last one of ${items} items breaks C7 alone`, async () => {
      const server = Object.assign(new CorrectServer({ items }), { encoding: () => 'identity' })
      const answer = inProcess(server, 'http://service.invalid')
      const fetch = (request: Request) =>
        Number(/\?page=([0-9]+)$/.exec(request.url)?.[1]) > last ? new Promise<Response>(() => {}) : answer(request)
      const options = { fetch, timeoutMs: 100 }
      const report = await check(
        'http://service.invalid/events',
        'C7',
        /got no complete response within 0\.1 s/,
        options,
      )
      assert.deepEqual(idsWith(report, 'fail'), ['C7'], outline(report))
    })

  judgeRaw('that closes every connection after one answer, without a word', '1.1', '', true)
})

describe('a body that cannot be read', () => {
  const few = { answerBytes: 1_000_000 }

  for (const [name, chunk] of [
    ['an array without end', '[1,2,3],'.repeat(1000)],
    ['blanks without end', ' '.repeat(8000)],
    ['a text without end', 'a'.repeat(8000)],
  ] as const) {
    const endless: Handler = (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/hal+json' }).write('[')
      const more = () => {
        while (!response.destroyed && response.write(chunk));
        if (!response.destroyed) response.once('drain', more)
      }
      more()
    }
    judge(name, endless, 'undecided', /^a body of more than 1000000 bytes$/, few)
  }

  const aThousandBytes = always(`{"a":"${'a'.repeat(992)}"}`)
  judge('of one byte too many', aThousandBytes, 'undecided', /^a body of more than 999 bytes$/, { answerBytes: 999 })
  judge('of as many as may be', aThousandBytes, 'C1', /an object with item_count/, { answerBytes: 1000 })

  const large = except(isBeyond, (response) => response.end(Buffer.alloc(2_000_000, 32)))
  judge('a large one beyond the last page', large, 'C7', /got a body of more than 1000000 bytes/, few)

  const plain = JSON.stringify({ item_count: 0 })
  const packed = gzipSync(plain)
  const faulty: Record<string, [body: string | Buffer, encoding: string, got: RegExp]> = {
    'a gzip bomb': [gzipSync(Buffer.alloc(10_000_000)), 'gzip', /got a body of more than 1000000 bytes/],
    'a broken gzip': [Buffer.concat([packed.subarray(0, 12), Buffer.alloc(30, 7)]), 'gzip', /cannot be decompressed/],
    'a gzip that is cut off': [packed.subarray(0, -6), 'gzip', /cannot be decompressed/],
    'gzip that is announced, but plain': [plain, 'gzip', /Content-Encoding: gzip that cannot be decompressed/],
    'gzip around gzip': [gzipSync(packed), 'gzip', /no JSON/],
    'another encoding than gzip': [packed, 'br', /got a body with Content-Encoding: br, which was not asked for/],
    'two encodings': [packed, 'gzip, br', /Content-Encoding: gzip, br, which was not asked for/],
  }
  for (const [name, [body, encoding, got]] of Object.entries(faulty)) {
    const answer = always(body, { 'Content-Encoding': encoding })
    const packedOnly: Handler = (request, ...others) => (wantsGzip(request, 0) ? answer : right)(request, ...others)
    judge(`${name} where gzip was asked for`, packedOnly, 'C1', got, few)
    judge(`${name} in every answer`, answer, 'undecided', /a body (of|with)|not JSON/, few)
  }

  const bad = except(wantsGzip, (response) => response.writeHead(200, { 'Content-Encoding': 'gzip' }).end('{}'))
  for (const serves of OTHER_KINDS)
    judge(`a broken gzip of ${JSON.stringify(serves)}`, bad, 'C1', /cannot be decompressed/, { serves })

  const CLOSED = /^the connection was closed before the response was complete$/
  const raw: Record<string, string> = {
    'shorter than its length': 'Content-Type: application/json\r\nContent-Length: 5000\r\n\r\n{"a":',
    'chunks without an end': 'Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n',
    'chunks without an end, at the end': 'Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n',
  }
  for (const [name, rest] of Object.entries(raw)) judge(name, `HTTP/1.1 200 OK\r\n${rest}`, 'undecided', CLOSED)
  const isLast: When = ({ url }) => url === '/events?page=2'
  const reset = except(isLast, (response, request) => {
    response.writeHead(200, { 'Content-Length': '5000' }).write('{"item_count":')
    setTimeout(() => request.socket.resetAndDestroy(), 10)
  })
  judge('a reset in the middle of the last page', reset, 'C1', /got the connection was closed before the response/)
})

describe('an answer that is not JSON', () => {
  const others: Record<string, [body: string | Buffer, type: string, note?: RegExp]> = {
    'an HTML page': ['<title>Hi</title>', 'text/html', /^the response is not JSON \(text\/html\): <title>Hi<\/title>$/],
    'a text': ['It works!', 'text/plain', /^the response is not JSON \(text\/plain\): It works!$/],
    'an empty body': ['', 'application/json'],
    'bytes that are no text': [Buffer.from([0, 255, 254, 27, 91, 50, 74, 7, 8, 155, 49, 109]), 'application/json'],
    'an array that is cut off': ['[{"id": 1}, {"id"', 'application/json'],
    'an array 100,000 deep': ['['.repeat(100_000) + ']'.repeat(100_000), 'application/json'],
    'a Content-Type full of control characters': ['nothing', 'text/\u009b31m\u0085html'],
  }
  for (const [name, [body, type, note = /^the response is not JSON \(/]] of Object.entries(others))
    judge(name, always(body, { 'Content-Type': type }), 'undecided', note)
})

describe('JSON that is no envelope', () => {
  const deep = (text: string, depth = 100_000) => `${text.repeat(depth)}1${'}'.repeat(depth)}`
  const envelope = (links: string, embedded: string) =>
    `{"item_count": 3, "_links": ${links}, "_embedded": ${embedded}}`
  const oddLinks = envelope('{"__proto__": {"href": "x"}, "first": {"__proto__": 1}}', 'null')
  const bodies: Record<string, [body: string, got: RegExp]> = {
    'an object that is cut off': ['{"item_count": 501, "_links": {"first"', /no JSON: \{"item_count": 501/],
    'an object 100,000 deep': [deep('{"a":'), /no JSON: \{"a":\{"a":/],
    null: ['null', /got null/],
    'an empty array': ['[]', /got an array: \[\]/],
    'a text': ['"x"', /got a string: "x"/],
    'a number': ['17', /got a number: 17/],
    'an empty object': ['{}', /an object with item_count, _links and _embedded; got \{\}/],
    'odd fields': ['{"__proto__": {"item_count": 3}, "constructor": 1, "": 2, "\\u0000": 3}', /got \{"__proto__"/],
    'null links': [envelope('null', '{}'), /an object as _links/],
    'arrays as links and items': [envelope('[]', '[]'), /an object as _(links|embedded)/],
    'texts as links and items': [envelope('"x"', '"x"'), /an object as _(links|embedded)/],
    'odd links': [oddLinks, /an object as _embedded/],
    'links 100,000 deep': [envelope(deep('{"a":'), '{"events": []}'), /no JSON/],
  }
  for (const [name, [body, got]] of Object.entries(bodies)) judge(name, always(body), 'C1', got)

  it('ends with a verdict at every depth', async (t) => {
    for (const depth of [1000, 2000, 4000, 5000, 6000, 8000]) {
      const link = deep('{"a":', depth)
      const { url } = await serve(t, always(envelope(`{"first": ${link}, "x": ${link}}`, `{"events": [${link}]}`)))
      assert.equal((await check(url)).verdict, 'failed')
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

  const counts: Record<string, [id: Expected, detail: RegExp]> = {
    '1e308': ['C2', /1e\+308/],
    '1152921504606846976': ['C2', /1152921504606847000/],
    '9007199254740991': ['C2', /9007199254740991/],
    '-1': ['C2', /an item_count of at least 0; got -1/],
    '1.5': ['C1', /a whole number as item_count; got 1\.5/],
    '"12"': ['C1', /a whole number as item_count; got "12"/],
    null: ['C1', /a whole number as item_count; got null/],
    '{}': ['C1', /a whole number as item_count; got/],
    '[3]': ['C1', /a whole number as item_count; got/],
    true: ['C1', /a whole number as item_count; got true/],
  }
  for (const [count, [id, detail]] of Object.entries(counts))
    judge(`an item_count of ${count} beside three items`, envelope(count), id, detail)

  for (const page of ['1000000000000000000000000000000', '9007199254740991', '9007199254740993', '2147483648'])
    for (const walk of [false, true]) {
      const handler = envelope('3', (url) => ({ last: { href: `${url}?page=${page}` } }))
      judge(`a last page ${page} for three items, walk ${walk}`, handler, 'C5', /last leads to page 1/, { walk })
    }

  judge('a walk through ten billion pages', envelope('5000000000000'), 'C2', /./, { walk: true })

  it('20,000 other links are no reason to fail', async (t) => {
    const more = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`link${i}`, { href: '/x' }]))
    const handler = envelope('3', () => more)
    const report = await check((await serve(t, handler)).url)
    for (const id of ['C1', 'C4']) assert.equal(ruleOf(report, id).status, 'pass', outline(report))
  })

  it('500 items of 20 KB each are judged, or the time is over', async (t) => {
    const items = Array.from({ length: 500 }, (_, id) => ({ id, text: 'x'.repeat(20_000) }))
    const { url } = await serve(t, right, { items })
    const report = await check(url, undefined, /^/, { timeLimitMs: 2000 })
    assert.notEqual(report.verdict, 'failed', outline(report))
    if (report.verdict === 'undecided') assert.match(JSON.stringify(report.rules), /the time of this run is used up/)
  })

  it('an entry point with thousands of collections ends within the time limit', async (t) => {
    const { origin } = await serve(t, entryPoint(Array.from({ length: 5000 }, (_, i) => `c${i}`)))
    const report = await checkConformance(origin, { timeLimitMs: 1500 })
    assert.equal(report.verdict, 'undecided')
    assert.ok(JSON.stringify(report).length < 5_000_000, `${JSON.stringify(report).length} characters`)
  })

  describe('control characters reach the report only in a harmless form', () => {
    it('in texts and headers', async (t) => {
      const links = {
        [evil]: evil,
        self: { href: `${evil}` },
        first: { href: `http://x/${evil}`, [evil]: evil },
        prev: evil,
        next: { href: evil },
        last: { href: `/events?page=${evil}` },
      }
      const names = ['Content-Type', 'Vary', 'Allow', 'Cache-Control']
      const headers = Object.fromEntries(names.map((name) => [name, '\u009b31m']))
      const { url } = await serve(t, (_request, response, _answerRight, number) => {
        const _embedded = { events: [{ [evil]: evil }, evil], [evil]: [evil] }
        const more = { ETag: `"\u009b31m${number}"`, 'Last-Modified': `\u0085${number}` }
        response.writeHead(number % 3 === 1 ? 200 : 404, { ...headers, ...more })
        response.end(JSON.stringify({ item_count: evil, _links: { ...links, n: number }, _embedded }))
      })
      assert.equal((await check(url)).verdict, 'failed')
    })

    it('in raw headers', async (t) => {
      const server = new CorrectServer({ items: 501 })
      let number = 0
      const url = await serveRaw(t, (socket, head) => {
        server.baseUrl = new URL(url).origin
        const tag = `"\u009b31m${++number}\u0085"`
        Object.assign(server, { etag: () => tag, mediaType: () => tag })
        rawAnswer(server, socket, head)
      })
      await check(url, 'C7')
    })

    it('in problem details', async (t) => {
      const { url } = await serve(t, ({ url, headers }, response, answerRight) => {
        if (url === '/events' || /page=[1-9]/.test(url ?? '')) return answerRight()
        const problem = { type: `http://${headers.host}/${evil}`, title: evil, status: evil, detail: evil }
        response.writeHead(url?.startsWith('/events') ? 400 : 404, { 'Content-Type': 'application/problem+json' })
        response.end(JSON.stringify(problem))
      })
      assert.equal(ruleOf(await check(url), 'D14').status, 'warn')
    })

    it('in names at an entry point', async (t) => {
      const names = ['ev\nil', 'ev\u001b[2Jil', 'ev\u202eil', '..', '%2e%2e', '\\\\evil.invalid']
      const { origin } = await serve(t, entryPoint(names))
      assert.deepEqual(idsWith(await check(origin), 'fail'), [])
    })

    const status = 'HTTP/1.1 500 \u009b31mBad\u0085\tWay\r\nContent-Length: 3\r\n\r\n\u001b[2'
    judge('in a status text', status, 'C1', /expected 200 OK; got 500$/)
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
      const got = /expected 200 OK; got 30[12378] [A-Za-z ]+ to /
      const report = await check(url, 'C1', got, { token: 'secret-1' })
      assert.equal(elsewhere.seen.length, 0)
      assert.ok(seen.every((request) => !request.url?.includes('hop=')))
      assert.doesNotMatch(JSON.stringify(report), /secret-1/)
    })

  judge('without a Location', always('', {}, 301), 'C1', /expected 200 OK; got 301 Moved Permanently$/)

  it('beyond the last page breaks C7, and is not followed', async (t) => {
    const elsewhere = await serve(t, right)
    const redirect = (response: ServerResponse) =>
      response.writeHead(302, { Location: `${elsewhere.url}?page=2` }).end()
    await check((await serve(t, except(isBeyond, redirect))).url, 'C7', /got 302 Found to http:/)
    assert.equal(elsewhere.seen.length, 0)
  })
})

describe('another origin', () => {
  const problem = (type: string) => JSON.stringify({ type, title: 'x', status: 404, detail: 'x', hint: 'x' })
  const problemHeaders = { 'Content-Type': 'application/problem+json' }

  it('gets no request and no token, whatever links and problems lead there', async (t) => {
    const elsewhere = await serve(t, right)
    const { url, seen } = await serve(t, ({ url }, response) => {
      const href = elsewhere.url
      if (!url?.startsWith('/events') || /page=0$/.test(url)) {
        response.writeHead(url?.startsWith('/events') ? 400 : 404, problemHeaders)
        return void response.end(problem(`${elsewhere.origin}/-/problems/x`))
      }
      const pages = { self: `${href}?page=1`, first: href, prev: `${href}?page=1`, next: `${href}?page=2` }
      const links = Object.entries({ ...pages, last: `${href}?page=2`, search: href, describedby: href })
      const _links = Object.fromEntries(links.map(([name, target]) => [name, { href: target }]))
      response.end(JSON.stringify({ item_count: 501, _links, _embedded: { events: [{ id: 1 }] } }))
    })
    for (const walk of [false, true])
      await check(url, 'C4', /first leads to "http:.*", not to http:/, { token: 'secret-1', walk })
    assert.equal(elsewhere.seen.length, 0)
    assert.ok(seen.length > 0 && seen.every(({ headers }) => headers.authorization === 'Bearer secret-1'))
  })

  it('gets no request when an entry point links collections there', async (t) => {
    const elsewhere = await serve(t, right)
    const { host } = new URL(elsewhere.url)
    const names = [elsewhere.url, 'SELF.evil.invalid/events', `SELF@${host}/events`, `//${host}/events`]
    const { origin } = await serve(t, entryPoint([...names, 'events']))
    const { collections } = await check(origin, 'passed', /^/, { token: 'secret-1' })
    assert.equal(collections.map(({ url }) => url).join(), `${origin}/events`)
    assert.equal(elsewhere.seen.length, 0)
  })

  it('gets nothing when the type of a problem is a URL with a user name', async (t) => {
    const elsewhere = await serve(t, right)
    const { url } = await serve(t, ({ url, headers }, response, answerRight) => {
      if (url?.startsWith('/events') && !/page=0$/.test(url)) return answerRight()
      response.writeHead(404, problemHeaders)
      response.end(problem(`http://${headers.host}@${new URL(elsewhere.url).host}/x`))
    })
    await check(url, undefined, /^/, { token: 'secret-1' })
    assert.equal(elsewhere.seen.length, 0)
  })
})

describe('a status other than 200', () => {
  const words: [statuses: number[], words: (status: number) => RegExp, expected: Expected][] = [
    [[401, 403], (status) => new RegExp(`^${status} [A-Za-z]+: the collection asks for a token`), 'undecided'],
    [
      [404, 410, 502, 503, 504],
      (status) => new RegExp(`^${status} [A-Za-z ]+: there is no collection to check at this URL$`),
      'undecided',
    ],
    [[201, 204, 206, 304, 400, 405, 500, 501], (status) => new RegExp(`expected 200 OK; got ${status}`), 'C1'],
  ]
  for (const [statuses, wordsOf, expected] of words)
    for (const status of statuses) judge(`${status} always`, always('{}', {}, status), expected, wordsOf(status))

  const FAILED = /got 500 Internal Server Error/
  const everySecond: When = (_request, number) => number % 2 === 0
  for (const serves of OTHER_KINDS)
    judge(`500 at every second request of ${JSON.stringify(serves)}`, except(everySecond, refuse(500)), 'C1', FAILED, {
      serves,
    })
  for (const parity of [0, 1])
    it(`500 at every second request, from ${parity + 1} on, breaks a rule`, async (t) => {
      const isOne: When = (_request, number) => number % 2 === parity
      const report = await check((await serve(t, except(isOne, refuse(500)))).url)
      assert.equal(report.verdict, 'failed', outline(report))
      assert.match(JSON.stringify(report.rules), FAILED)
    })

  const endless: [wait: string, words: RegExp, most: number][] = [
    ['0', /^the server asks to wait again and again \(429 Too Many Requests; --delay/, 10],
    ['3600', /^the server asks to wait 3600 s \(429\), longer than the run may take$/, 2],
  ]
  for (const [wait, words, most] of endless)
    it(`429 with Retry-After ${wait} for ever cannot be judged, and gets few requests`, async (t) => {
      const { url, seen } = await serve(t, always('', { 'Retry-After': wait }, 429))
      await check(url, 'undecided', words)
      assert.ok(seen.length <= most, `${seen.length} requests`)
    })

  const endOfTime = { timeLimitMs: 1500 }
  judge('429 without Retry-After', always('', {}, 429), 'undecided', /429|the time of this run is used up/, endOfTime)
  const tooLong = /^the server asks to wait [0-9]+ s \((429|503)\), longer than the run may take$/
  const newYearsEve = { 'Retry-After': 'Fri, 31 Dec 2999 23:59:59 GMT' }
  judge('429 until far away', always('', newYearsEve, 429), 'undecided', tooLong)
  judge('503 with a long wait', always('', { 'Retry-After': '999999999' }, 503), 'undecided', tooLong)
  for (const status of [429, 503])
    judge(
      `${status} with Retry-After 0, once`,
      except((_request, number) => number === 36, refuse(status, '0')),
      'passed',
    )
  const longer = /^the server asks to wait 3600 s \(429\)/
  judge('429 in the middle, with a long wait', except(from(11), refuse(429, '3600')), 'undecided', longer)
  const again = /^the server asks to wait again and again|the time of this run is used up/
  judge('429 in the middle, again and again', except(from(11), refuse(429, '0')), 'undecided', again, endOfTime)
})

describe('what is hardly HTTP', () => {
  const NOT_HTTP = /^no valid HTTP response \(/
  const empty = 'Content-Length: 0\r\n\r\n'
  const long = `X-Long: ${'x'.repeat(100_000)}\r\nContent-Length: 2\r\n\r\n{}`
  const raw: Record<string, [text: string, note: RegExp]> = {
    'a status of 999': [`HTTP/1.1 999 Odd\r\n${empty}`, /^no valid HTTP response \(the status 999/],
    'a status of 600': [`HTTP/1.1 600 Odd\r\n${empty}`, /^no valid HTTP response \(the status 600/],
    'a status of 42': [`HTTP/1.1 42 Odd\r\n${empty}`, NOT_HTTP],
    garbage: ['\u0000\u001b[31mSSH-2.0-OpenSSH_9.6\r\n\r\n', NOT_HTTP],
    nothing: ['', /^the connection was closed before the response was complete$/],
    'another protocol': [
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n',
      /^no valid HTTP response \(the server switched to another protocol\)$/,
    ],
    'headers of 100 KB': [`HTTP/1.1 200 OK\r\n${long}`, /^headers that are larger than 16 KiB$/],
    'two lengths': ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}', NOT_HTTP],
    'a length and chunks': ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}', NOT_HTTP],
    'chunks without a length': [
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzzz\r\n{}',
      /^no valid HTTP response|^the connection was closed/,
    ],
  }
  for (const [name, [text, note]] of Object.entries(raw)) judge(name, text, 'undecided', note)

  it('a TLS handshake with a server of plain HTTP gets an error that says so', async (t) => {
    const { url } = await serve(t, right)
    await check(url.replace('http:', 'https:'), 'undecided', /^the server does not speak TLS there/)
  })

  judgeRaw('HTTP/1.0', '1.0', '', true)
  judgeRaw('an answer after 100 Continue', '1.1', 'HTTP/1.1 100 Continue\r\n\r\n', false)
  judgeRaw('an answer after 103 Early Hints', '1.1', 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n', false)
  judgeRaw('an answer after many that only say Processing', '1.1', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(50), false)
})

describe('a fetch in the same process', () => {
  const url = 'http://service.invalid/events'
  const used = async () => {
    const response = new Response('{}')
    await response.text()
    return response
  }
  const locked = () => {
    const response = new Response('{}')
    response.body?.getReader()
    return response
  }
  const streamed = (source: UnderlyingDefaultSource) => () => new Response(new ReadableStream(source))
  const throwing = () => {
    throw new Error('no database\u001b[31m')
  }
  const LATE = /^no complete response within 0\.1 s$/
  const fetches: Record<string, [fetch: (request: Request) => Response | Promise<Response>, note: RegExp]> = {
    'that throws': [throwing, /^no valid HTTP response \(no database\\u001b\[31m\)$/],
    'that rejects': [() => Promise.reject(new Error('no database')), /^no valid HTTP response \(no database\)$/],
    'that rejects with undefined': [() => Promise.reject(undefined), /^no valid HTTP response \(undefined\)$/],
    'that rejects with null': [() => Promise.reject(null), /^no valid HTTP response \(null\)$/],
    'that rejects with a text': [() => Promise.reject('no database'), /^no valid HTTP response \(no database\)$/],
    'that never resolves': [() => new Promise(() => {}), LATE],
    'that answers with an error': [() => Response.error(), /^a Response that stands for an error/],
    'that answers with a used Response': [used, /^a Response whose body was read before$/],
    'that answers with a locked Response': [locked, /^no valid HTTP response \(.*locked/],
    'that answers with nothing': [() => undefined as unknown as Response, /^no valid HTTP response \(/],
    'whose body never ends': [streamed({ pull: () => new Promise(() => {}) }), LATE],
    'whose body fails': [
      streamed({ pull: () => Promise.reject(new Error('disk')) }),
      /^no valid HTTP response \(disk\)$/,
    ],
    'whose body is not made of bytes': [
      streamed({ start: (controller) => controller.enqueue('{}') }),
      /^a body that is not made of bytes$/,
    ],
  }
  for (const [name, [fetch, note]] of Object.entries(fetches))
    it(`${name} cannot be judged`, async () => void (await check(url, 'undecided', note, { ...NO_PATIENCE, fetch })))

  it('that ignores the abort does not hold up the run, and its body is cancelled', async () => {
    const cancelled: string[] = []
    const dripping = {
      pull: async (controller: ReadableStreamDefaultController) => {
        await new Promise((resolve) => setTimeout(resolve, 20))
        controller.enqueue(Buffer.from(' '))
      },
    }
    const fetch = ({ url }: Request) =>
      new Response(new ReadableStream({ ...dripping, cancel: () => void cancelled.push(url) }))
    await check(url, 'undecided', LATE, { ...NO_PATIENCE, fetch })
    assert.ok(cancelled.length > 0)
  })

  it('may have decompressed the body already', async () => {
    const server = new CorrectServer({ items: 501 })
    server.gzip = (plain) => plain
    await check(url, 'passed', /^/, { fetch: inProcess(server, 'http://service.invalid') })
  })
})

describe('answers that are much larger than what they say', () => {
  it('a hundred thousand items are counted and not kept', async (t) => {
    const body = `{"item_count":100000,"_links":{"first":{"href":"x"}},"_embedded":{"events":[${'0,'.repeat(99_999)}0]}}`
    const { url } = await serve(t, always(gzipSync(body), { 'Content-Encoding': 'gzip' }))
    await check(url, 'C3', /at most 500 items; got 100000 items/)
  })

  it('links of 300 KB make a small report', async (t) => {
    const long = 'x'.repeat(300_000)
    const links = { first: { href: long }, self: { href: long }, [long]: { href: long }, [`${long}y`]: 1 }
    const document = { item_count: 1, _links: links, _embedded: { events: [{}] } }
    const { url } = await serve(t, (_request, response, _answerRight, number) =>
      response.end(JSON.stringify({ ...document, number })),
    )
    const report = await check(url)
    assert.equal(report.verdict, 'failed')
    assert.ok(JSON.stringify(report).length < 200_000, `${JSON.stringify(report).length} characters`)
  })
})
