/** D16: ETags. */

import { shorten } from '../../contract/message-text.ts'
import { type HttpResponse, headerLine, statusLine } from '../http/response.ts'
import type { Rule, RuleCheck } from '../rule.ts'
import { probedResponse } from '../shared-requests.ts'

export const D16: Rule = {
  id: 'D16',
  title: 'Every page has a strong ETag that changes with its bytes; If-None-Match gives 304; Cache-Control: no-cache.',
  why: 'A client that has a page asks whether it changed, and reads it only then. A tag that stays while the count changes keeps a wrong count alive.',
  hurts: 'a client that caches: it reads everything again, or keeps what is no longer true.',
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
  if (!/(^|[\s,])no-cache($|[\s,])/i.test(response.headers.get('cache-control') ?? ''))
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
