/** C10, D12, D13, D14 and D16: methods, media types, errors and caching. */

import { shorten } from '../../contract/message-text.ts'
import { createRequest, type HttpResponse, headerLine, statusLine } from '../http/response.ts'
import type { Rule, RuleCheck } from '../rule.ts'
import { probedResponse } from '../shared-requests.ts'

export const C10: Rule = {
  id: 'C10',
  title: 'A GET needs no body.',
  why: 'A GET has no body, and many clients cannot send one.',
  affects: 'every client: it cannot read anything.',
  right: 'GET /events → 200',
  wrong: 'GET /events → 411 Length Required, or 415 Unsupported Media Type',
  scope: 'answer',
  async probe(check) {
    const { bare } = check.layout
    if ([411, 415].includes(bare.status)) check.broken(bare, 'a response to a GET without a body', statusLine(bare))
    else if (bare.status !== 200) check.skip(`the response is ${statusLine(bare)} (C1)`)
  },
}

export const D13: Rule = {
  id: 'D13',
  title: 'HEAD returns the status and headers of GET, Content-Length included; OPTIONS lists the methods in Allow.',
  why: 'With HEAD a client learns how large a page is and whether it changed, without reading it.',
  affects: 'a client that looks before it reads, and link checkers, which mostly use HEAD.',
  right:
    'HEAD /events → 200 with the Content-Type, Content-Length and ETag of GET; OPTIONS /events → Allow: GET, HEAD, OPTIONS',
  wrong: 'HEAD /events → 404, or Content-Length: 0',
  scope: '200',
  async probe(check) {
    const { collection, layout } = check
    const [head, options] = await Promise.all([collection.bare({}, 'HEAD'), collection.bare({}, 'OPTIONS')])
    if (head.status === layout.bare.status) compareHeaders(check, layout.bare, head)
    else check.broken(head, `${statusLine(layout.bare)}, as GET`, statusLine(head))
    const methods = (options.headers.get('allow') ?? '').split(',').map((method) => method.trim().toUpperCase())
    if (options.status < 200 || options.status > 299) check.broken(options, '204 with Allow', statusLine(options))
    else if (!['GET', 'HEAD', 'OPTIONS'].every((method) => methods.includes(method)))
      check.broken(options, 'Allow: GET, HEAD, OPTIONS', headerLine(options, 'Allow'))
  },
}

function compareHeaders(check: RuleCheck, get: HttpResponse, head: HttpResponse): void {
  for (const name of ['Content-Type', 'ETag'])
    if (get.headers.get(name) !== head.headers.get(name))
      check.differs(head, `${headerLine(get, name)}, as GET`, headerLine(head, name))
  // A body that came compressed although nobody asked for it has another length.
  if (get.headers.get('content-encoding') !== null) return
  const length = head.headers.get('content-length')
  // If neither has a length, the body of the GET came in chunks.
  if (length === null ? get.headers.get('content-length') !== null : Number(length) !== get.byteLength)
    check.differs(
      head,
      `Content-Length: ${get.byteLength}, the length of the body of GET`,
      headerLine(head, 'Content-Length'),
    )
}

export const D12: Rule = {
  id: 'D12',
  title:
    'Responses are application/hal+json, or application/json with the same bytes on request; never 406; Vary names Accept and Accept-Encoding.',
  why: 'The envelope is HAL. Clients that ask for something else still want the data: stock clients send Accept: text/html without being browsers.',
  affects:
    'a client whose library sends an Accept header of its own, and everyone behind a cache that mixes up the types.',
  right: 'GET /events → Content-Type: application/hal+json, Vary: Accept, Accept-Encoding',
  wrong: 'GET /events with Accept: text/html, image/png → 406',
  scope: '200',
  async probe(check) {
    const { collection, layout } = check
    const [json, html] = await Promise.all([
      collection.bare({ Accept: 'application/json' }),
      collection.bare({ Accept: 'text/html, image/png' }),
    ])
    judgeMediaType(check, layout.bare, 'application/hal+json')
    judgeVary(check, layout.bare)
    judgeMediaType(check, json, 'application/json')
    await check.compareBytes(layout.bare, json, 'the response to Accept: */*')
    if (layout.bare.document === undefined) return
    if (html.status === 200 && html.document === undefined)
      check.broken(html, 'the envelope, for a client that is not a browser', `no JSON: ${html.beginning}`)
    else await check.compareBytes(layout.bare, html, 'the response to Accept: */*')
  },
}

function judgeMediaType(check: RuleCheck, response: HttpResponse, expected: string): void {
  const [name = ''] = response.headers.get('content-type')?.split(';') ?? []
  if (response.status === 200 && name.trim().toLowerCase() !== expected)
    check.broken(response, `Content-Type: ${expected}`, headerLine(response, 'Content-Type'))
}

function judgeVary(check: RuleCheck, response: HttpResponse): void {
  const names = (response.headers.get('vary') ?? '').split(',').map((name) => name.trim().toLowerCase())
  const isComplete = ['accept', 'accept-encoding'].every((name) => names.includes(name))
  if (response.status === 200 && !isComplete && !names.includes('*'))
    check.broken(response, 'Vary: Accept, Accept-Encoding', headerLine(response, 'Vary'))
}

export const D14: Rule = {
  id: 'D14',
  title:
    'Errors are RFC 9457 problem details with type, title, status, detail and hint; type is the URL of a description.',
  why: 'A program reads type, a person reads detail and hint. One form for all errors means one piece of code for them.',
  affects: 'anyone who has to find the cause of an error in a log.',
  right: `GET /events?page=0 → 400, Content-Type: application/problem+json
{"type": "https://api.example.com/-/problems/invalid-page", "title": "…", "status": 400, "detail": "The parameter \\"page\\" is \\"0\\", …", "hint": "Ask for page=1 …"}`,
  wrong: 'GET /events?page=0 → 400, Content-Type: text/html, <h1>Bad Request</h1>',
  scope: '200',
  async probe(check) {
    const { collection, layout } = check
    const missing = await collection.send(createRequest(new URL(MISSING_NAME, collection.url).href))
    if (missing.status !== 404) check.broken(missing, '404 Not Found', statusLine(missing))
    else judgeProblem(check, missing, MISSING_NAME)
    const problems = [missing]
    if (layout.kind === 'paginated') {
      const invalid = await collection.query('page=abc')
      // That it is a 400 at all is D3's matter.
      if (invalid.status >= 400) judgeProblem(check, invalid, 'abc', 'page')
      problems.push(invalid)
    }
    await judgeDescription(check, problems)
  },
}

/** A longer URL is none that a description stands at. */
const MAX_URL_CHARACTERS = 2000

const MISSING_NAME = 'reams-check-no-such-collection'

/** All flaws of one answer are one finding. */
function judgeProblem(check: RuleCheck, response: HttpResponse, ...values: readonly string[]): void {
  const [type = ''] = response.headers.get('content-type')?.split(';') ?? []
  const problem = response.document?.whole
  const flaws: string[] = []
  if (type.trim().toLowerCase() !== 'application/problem+json') flaws.push(headerLine(response, 'Content-Type'))
  if (problem === undefined) flaws.push(`no JSON object: ${response.beginning}`)
  else {
    for (const name of ['type', 'title', 'detail', 'hint'])
      if (typeof problem[name] !== 'string' || problem[name] === '') flaws.push(`no ${name}`)
    if (problem['status'] !== response.status) flaws.push(`no status ${response.status}`)
    const { detail } = problem
    for (const value of values)
      if (typeof detail === 'string' && !detail.includes(value)) flaws.push(`a detail without "${value}"`)
    if (typeof problem['type'] === 'string' && !/^https?:\/\/./.test(problem['type']))
      flaws.push('a type that is no URL')
  }
  if (flaws.length > 0)
    check.broken(
      response,
      'problem details with type, title, status, detail (with the value) and hint',
      flaws.join(', '),
    )
}

/** Asks for the description of one problem, if it lies on the same server. */
async function judgeDescription(check: RuleCheck, problems: readonly HttpResponse[]): Promise<void> {
  const { origin } = new URL(check.collection.url)
  const type = problems
    .map(({ document }) => document?.whole?.['type'])
    .filter((each) => typeof each === 'string' && each.length < MAX_URL_CHARACTERS && URL.canParse(each))
    .map(String)
    .find((each) => new URL(each).origin === origin)
  if (type === undefined) return
  const description = await check.collection.send(createRequest(type))
  if (description.status !== 200)
    check.broken(description, '200 with a description of the problem', statusLine(description))
}

export const D16: Rule = {
  id: 'D16',
  title: 'Every page has a strong ETag that changes with its bytes; If-None-Match gives 304; Cache-Control: no-cache.',
  why: 'A client that has a page asks whether it changed, and reads it only then. A tag that stays the same while the count changes leaves a wrong count in caches.',
  affects: 'a client that caches: it reads everything again, or keeps old data.',
  right: 'GET /events with If-None-Match: "the ETag it had" → 304',
  wrong: 'one ETag for all pages, for gzip and plain, or for a page before and after its item_count changed',
  scope: '200',
  async probe(check) {
    await judgeConditions(check, check.layout.bare, await probedResponse(check))
  },
  review(check, responses) {
    const plain = responses.filter((response) => isPlain(check, response) && response.status === 200)
    for (const response of plain) judgeHeaders(check, response)
    judgeAllTags(check, plain)
  },
}

/** Matches no page. */
const UNKNOWN_TAG = '"reams-check"'

function judgeHeaders(check: RuleCheck, response: HttpResponse): void {
  const tag = response.headers.get('etag')
  if (tag === null) check.broken(response, 'a strong ETag', 'none')
  else if (!/^"[^"]*"$/.test(tag)) check.broken(response, 'a strong ETag, in double quotes', shorten(tag))
  const caching = response.headers.get('cache-control') ?? ''
  // A snapshot never changes (D22).
  const isForGood = response.document?.links.has('latest-version') && /(^|[\s,])immutable($|[\s,])/i.test(caching)
  if (!isForGood && !/(^|[\s,])no-cache($|[\s,])/i.test(caching))
    check.broken(response, 'Cache-Control: no-cache', headerLine(response, 'Cache-Control'))
}

async function judgeConditions(check: RuleCheck, bare: HttpResponse, page: HttpResponse): Promise<void> {
  const ifNoneMatch = (response: HttpResponse, value: string) =>
    check.collection.send({ ...response.request, headers: { 'If-None-Match': value } })
  const [bareTag, pageTag] = [bare, page].map(({ headers }) => headers.get('etag'))
  if (bareTag == null || pageTag == null || page.status !== 200) return
  const weakened = `${UNKNOWN_TAG}, W/${bareTag.replace(/^W\//, '')}`
  const matching = await Promise.all([ifNoneMatch(page, pageTag), ifNoneMatch(bare, weakened), ifNoneMatch(bare, '*')])
  const tags = [pageTag, bareTag, bareTag]
  for (const [index, response] of matching.entries()) {
    // With another tag by now, the page has changed.
    const isStill = response.status !== 200 || response.headers.get('etag') === tags[index]
    if (response.status !== 304 && isStill) check.differs(response, '304 Not Modified', statusLine(response))
  }
  const strange = await ifNoneMatch(bare, UNKNOWN_TAG)
  if (strange.status !== 200)
    check.broken(strange, '200 OK, for a tag that is not that of the page', statusLine(strange))
}

/**
 * One tag stands for one sequence of bytes, on every page and in every encoding, and the same bytes keep their tag.
 * Responses to odd requests are left out: if their bytes differ and should not, another rule says so.
 */
function judgeAllTags(check: RuleCheck, responses: readonly HttpResponse[]): void {
  const known = new Map<string, { bytes: string; response: HttpResponse }>()
  const tags = new Map<string, string>()
  for (const response of responses) {
    const tag = response.headers.get('etag')
    if (tag === null || tag.startsWith('W/')) continue
    const bytes = `${response.headers.get('content-encoding') ?? 'identity'} ${response.digest}`
    const place = `${response.request.url} ${bytes}`
    const earlier = tags.get(place)
    tags.set(place, tag)
    if (earlier !== undefined && earlier !== tag) {
      check.broken(response, `${shorten(earlier)}, as for the same bytes before`, shorten(tag))
      break
    }
    const before = known.get(tag)
    known.set(tag, before ?? { bytes, response })
    if (before !== undefined && before.bytes !== bytes) {
      const expected = `another ETag than that of ${describe(before.response)}, whose bytes are others`
      check.broken(response, expected, `the same one, ${shorten(tag)}`)
      // One is enough: a tag for all pages would fill the report.
      break
    }
  }
}

/** The bare URL, or a page of the collection by its number. */
function isPlain({ collection, layout }: RuleCheck, { request }: HttpResponse): boolean {
  const { url, method } = request
  const page = url.startsWith(`${collection.url}?page=`) ? url.slice(collection.url.length + 6) : ''
  const isPage = /^[1-9][0-9]{0,14}$/.test(page) && Number(page) <= (layout.last ?? 1)
  const headers = Object.keys(request.headers)
  return method === 'GET' && (url === collection.url || isPage) && headers.every((name) => name === 'Accept-Encoding')
}

function describe({ request, headers }: HttpResponse): string {
  const encoding = headers.get('content-encoding')
  return `${request.url}${encoding === null ? '' : ` as ${shorten(encoding)}`}`
}
