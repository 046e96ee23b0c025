/** `GET /<collection>`: one page of a collection, or all of an unpaginated one. */

import { matchesTag, pageTag } from '../contract/etag.ts'
import { isCollectionName } from '../contract/name.ts'
import { effectivePage, parsePage } from '../contract/page.ts'
import type { Head } from '../store/store.ts'
import { isStranger, mayRead } from './access.ts'
import { cachingOf, found, notModified } from './answer.ts'
import { type Call, segmentsOf } from './call.ts'
import { chooseEncoding, chooseEnvelopeType, type Encoding } from './negotiate.ts'
import { collectionNotFound } from './not-found.ts'
import { gzipBody, plainBody } from './page-body.ts'
import { problemResponse, quoted } from './problem-response.ts'
import { queryValues } from './request-url.ts'

export async function getCollection(call: Call): Promise<Response> {
  const { request, store, baseUrl } = call
  const [name = ''] = segmentsOf(call)
  if (!isCollectionName(name)) return collectionNotFound(call, name)
  const pageValues = queryValues(request.url, 'page')
  const requestedPage = parsePage(pageValues)
  const encoding = chooseEncoding(request.headers.get('accept-encoding'))

  const ifNoneMatch = request.headers.get('if-none-match')
  if (ifNoneMatch !== null || isStranger(call.caller, name)) {
    const head = await store.head(name)
    if (head === undefined || !mayRead(call.caller, head)) return collectionNotFound(call, name)
    const page = answeringPage(head, requestedPage)
    const tag = page === undefined ? undefined : tagOf(baseUrl, head, page, encoding)
    if (tag !== undefined && matchesTag(ifNoneMatch, tag)) return notModified(tag, cachingOf(call, head))
  }

  // Everything from here on is about this one snapshot, also the tag: the head above may be older (D15).
  const read = await store.page(name, requestedPage ?? 1)
  if (read === undefined || !mayRead(call.caller, read.head)) return collectionNotFound(call, name)
  if (answeringPage(read.head, requestedPage) === undefined) return invalidPage(call, pageValues)
  const tag = tagOf(baseUrl, read.head, read.page, encoding)
  const type = chooseEnvelopeType(request.headers.get('accept'))
  const caching = cachingOf(call, read.head)
  return encoding === 'gzip'
    ? found(gzipBody(baseUrl, read, call.spliceGzip), type, tag, { ...caching, 'Content-Encoding': 'gzip' })
    : found(plainBody(baseUrl, read), type, tag, caching)
}

/** The page that answers: 0 without pages, whatever was asked for (D10); undefined when that is not a page number. */
function answeringPage(head: Head, requestedPage: number | undefined): number | undefined {
  if (!head.isPaginated) return 0
  return requestedPage === undefined ? undefined : effectivePage(requestedPage, head.live)
}

function tagOf(baseUrl: string, { id, generation, version }: Head, page: number, encoding: Encoding): string {
  return pageTag({ baseUrl, collectionId: id, generation, version, page, encoding })
}

function invalidPage({ baseUrl }: Call, values: readonly string[]): Response {
  const given = quoted(values.join(', '))
  const detail =
    values.length > 1
      ? `The parameter "page" is given ${values.length} times: ${given}.`
      : `The parameter "page" is ${given}, which is not a page number.`
  return problemResponse(baseUrl, 'invalid-page', detail)
}
