/** `GET /<collection>`: one page of a collection, or all of an unpaginated one. */

import { pageEnvelopeHead, wholeEnvelopeHead } from '../contract/envelope.ts'
import { matchesTag, pageTag } from '../contract/etag.ts'
import { isCollectionName } from '../contract/name.ts'
import { effectivePage, parsePage } from '../contract/page.ts'
import type { Head, PageRead, SegmentForm } from '../store/store.ts'
import { hasNoScope, mayRead } from './access.ts'
import { cachingOf, found, notModified } from './answer.ts'
import { type Call, segmentsOf } from './call.ts'
import { chooseEncoding, chooseEnvelopeType, type Encoding } from './negotiate.ts'
import { collectionNotFound } from './not-found.ts'
import { hasSameItems, type KeptPage } from './page-cache.ts'
import { PAGE_FORMS, USUAL_ROOM } from './page-form.ts'
import { free, itemsIn, type PageItems } from './page-items.ts'
import { problemResponse, quoted } from './problem-response.ts'
import type { Reply } from './reply.ts'
import { queryValues } from './request-url.ts'

export async function getCollection(call: Call): Promise<Reply> {
  const { request } = call
  const [name = ''] = segmentsOf(call)
  if (!isCollectionName(name)) return collectionNotFound(call, name)
  const pageValues = queryValues(request.target, 'page')
  const requestedPage = parsePage(pageValues)
  const encoding = chooseEncoding(request.headers.get('accept-encoding'))

  const ifNoneMatch = request.headers.get('if-none-match')
  const kept = call.pages.find(name, requestedPage, encoding)
  if (ifNoneMatch !== null || kept !== undefined) {
    const head = await call.heads.read(name, hasNoScope(call.caller, name))
    if (head === undefined || !mayRead(call.caller, head)) return collectionNotFound(call, name)
    const page = answeringPage(head, requestedPage)
    const current = kept !== undefined && kept.page === page && hasSameItems(kept, head) ? kept : undefined
    const isWhole = current !== undefined && isWordForWord(current, call, head)
    if (page !== undefined && ifNoneMatch !== null) {
      const tag = isWhole ? current.tag : tagOf(call, head, page, encoding)
      if (matchesTag(ifNoneMatch, tag)) return notModified(tag, cachingOf(call, head))
    }
    if (current !== undefined)
      return isWhole ? current.reply : pageReply(call, head, current.page, current.items, encoding)
  }

  // Everything from here on is about this one snapshot, also the tag: the head above may be older (D15).
  const read = await readPage(call, name, pageValues, PAGE_FORMS[encoding].stored)
  if ('status' in read) return read
  return pageReply(call, read.head, read.page, PAGE_FORMS[encoding].itemsOf(read.segments), encoding)
}

/** The page that is asked for, from the store, or why there is none. With `form`, to be made into a body in that form. */
export async function readPage(
  call: Call,
  name: string,
  pageValues: readonly string[],
  form?: SegmentForm,
): Promise<PageRead | Reply> {
  const requestedPage = parsePage(pageValues)
  const isPublicOnly = hasNoScope(call.caller, name)
  const options = { isPublicOnly, ...(form && { form, room: USUAL_ROOM }) }
  const read = await call.store.page(name, requestedPage ?? 1, options)
  if (read === undefined || !mayRead(call.caller, read.head)) return collectionNotFound(call, name)
  return answeringPage(read.head, requestedPage) === undefined ? invalidPage(call, pageValues) : read
}

/** The page that answers: 0 without pages, whatever was asked for (D10); undefined when that is not a page number. */
function answeringPage(head: Head, requestedPage: number | undefined): number | undefined {
  if (!head.isPaginated) return 0
  return requestedPage === undefined ? undefined : effectivePage(requestedPage, head.live)
}

function tagOf({ baseUrl }: Call, head: Head, page: number, encoding: Encoding): string {
  const { id, generation, version, commitId } = head
  return pageTag({ baseUrl, collectionId: id, generation, version, commitId, page, encoding })
}

/** The envelope around the items, and its headers; kept for the next time. */
function pageReply(call: Call, head: Head, page: number, items: PageItems, encoding: Encoding): Reply {
  const { baseUrl, pages } = call
  const { bodyOf, tailBytes } = PAGE_FORMS[encoding]
  const [type, caching, tag] = [typeFor(call), cachingOf(call, head), tagOf(call, head, page, encoding)]
  const body = bodyOf(envelopeHead(baseUrl, head, page), items)
  const reply = found(body, type, tag, caching, encoding)
  if (pages.isOff) return { ...reply, onSent: () => free(body) }
  const kept = { head, page, items: itemsIn(body, items, tailBytes), reply, tag, baseUrl, type, caching }
  pages.keep({ ...kept, bytes: body.length }, encoding)
  return reply
}

/** Whether the reply that was made for an earlier request is also the one to this. */
function isWordForWord({ head: then, baseUrl, type, caching }: KeptPage, call: Call, head: Head): boolean {
  return (
    then.commitId === head.commitId &&
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
