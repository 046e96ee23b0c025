/** `GET /<collection>`: one page of a collection, or all of an unpaginated one. */

import { pageEnvelopeHead, wholeEnvelopeHead } from '../contract/envelope.ts'
import { matchesTag, pageTag } from '../contract/etag.ts'
import { isCollectionName } from '../contract/name.ts'
import { effectivePage, parsePage } from '../contract/page.ts'
import type { Head, PageRead } from '../store/store.ts'
import { isStranger, mayRead } from './access.ts'
import { cachingOf, found, notModified } from './answer.ts'
import { type Call, segmentsOf } from './call.ts'
import { chooseEncoding, chooseEnvelopeType, type Encoding } from './negotiate.ts'
import { collectionNotFound } from './not-found.ts'
import { hasSameItems, type KeptPage } from './page-cache.ts'
import { itemsIn, PAGE_FORMS, type PageItems } from './page-form.ts'
import { problemResponse, quoted } from './problem-response.ts'
import type { Reply } from './reply.ts'
import { queryValues } from './request-url.ts'

export async function getCollection(call: Call): Promise<Reply> {
  const { request } = call
  const [name = ''] = segmentsOf(call)
  if (!isCollectionName(name)) return collectionNotFound(call, name)
  const pageValues = queryValues(request.url, 'page')
  const requestedPage = parsePage(pageValues)
  const encoding = chooseEncoding(request.headers.get('accept-encoding'))

  const ifNoneMatch = request.headers.get('if-none-match')
  const kept = call.pages.find(name, requestedPage, encoding)
  if (ifNoneMatch !== null || kept !== undefined) {
    const head = await call.heads.read(name)
    if (head === undefined || !mayRead(call.caller, head)) return collectionNotFound(call, name)
    const page = answeringPage(head, requestedPage)
    if (page !== undefined && ifNoneMatch !== null) {
      const tag = tagOf(call, head, page, encoding)
      if (matchesTag(ifNoneMatch, tag)) return notModified(tag, cachingOf(call, head))
    }
    if (kept !== undefined && kept.page === page && hasSameItems(kept, head)) {
      return isWordForWord(kept, call, head) ? kept.reply : pageReply(call, head, page, kept.items, encoding)
    }
  }

  // Everything from here on is about this one snapshot, also the tag: the head above may be older (D15).
  const read = await readPage(call, name, pageValues)
  if ('status' in read) return read
  return pageReply(call, read.head, read.page, PAGE_FORMS[encoding].itemsOf(read.segments), encoding)
}

/** The page that is asked for, from the store, or why there is none. */
export async function readPage(call: Call, name: string, pageValues: readonly string[]): Promise<PageRead | Reply> {
  const requestedPage = parsePage(pageValues)
  const isPublicOnly = isStranger(call.caller, name)
  const read = await call.store.page(name, requestedPage ?? 1, { isPublicOnly })
  if (read === undefined || !mayRead(call.caller, read.head)) return collectionNotFound(call, name)
  return answeringPage(read.head, requestedPage) === undefined ? invalidPage(call, pageValues) : read
}

/** The page that answers: 0 without pages, whatever was asked for (D10); undefined when that is not a page number. */
function answeringPage(head: Head, requestedPage: number | undefined): number | undefined {
  if (!head.isPaginated) return 0
  return requestedPage === undefined ? undefined : effectivePage(requestedPage, head.live)
}

function tagOf({ baseUrl }: Call, { id, generation, version }: Head, page: number, encoding: Encoding): string {
  return pageTag({ baseUrl, collectionId: id, generation, version, page, encoding })
}

/** The envelope around the items, and its headers; kept for the next time. */
function pageReply(call: Call, head: Head, page: number, items: PageItems, encoding: Encoding): Reply {
  const form = PAGE_FORMS[encoding]
  const [type, caching, { baseUrl }] = [typeFor(call), cachingOf(call, head), call]
  const body = form.bodyOf(envelopeHead(baseUrl, head, page), items)
  const encoded = encoding === 'gzip' ? { 'Content-Encoding': 'gzip' } : {}
  const reply = found(body, type, tagOf(call, head, page, encoding), { ...caching, ...encoded })
  const kept = { head, page, items: itemsIn(body, items, form), reply, baseUrl, type, caching, bytes: body.length }
  call.pages.keep(kept, encoding)
  return reply
}

/** Whether the reply that was made for an earlier request is also the one to this. */
function isWordForWord({ head: then, baseUrl, type, caching }: KeptPage, call: Call, head: Head): boolean {
  return (
    then.version === head.version &&
    baseUrl === call.baseUrl &&
    type === typeFor(call) &&
    caching === cachingOf(call, head)
  )
}

function typeFor({ request }: Call): string {
  return chooseEnvelopeType(request.headers.get('accept'))
}

function envelopeHead(baseUrl: string, { name, isPaginated, live }: Head, page: number): Buffer {
  return Buffer.from(isPaginated ? pageEnvelopeHead(baseUrl, name, page, live) : wholeEnvelopeHead(baseUrl, name))
}

function invalidPage({ baseUrl }: Call, values: readonly string[]): Reply {
  const given = quoted(values.join(', '))
  const detail =
    values.length > 1
      ? `The parameter "page" is given ${values.length} times: ${given}.`
      : `The parameter "page" is ${given}, which is not a page number.`
  return problemResponse(baseUrl, 'invalid-page', detail)
}
