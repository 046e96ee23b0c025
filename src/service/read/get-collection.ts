/** `GET /<collection>`: one page of a collection, or all of an unpaginated one. */

import { pageEnvelopeHead, wholeEnvelopeHead } from '../../contract/envelope.ts'
import { matchesTag, pageTag } from '../../contract/etag.ts'
import { liveLinks } from '../../contract/link.ts'
import { quoted } from '../../contract/message-text.ts'
import { isCollectionName } from '../../contract/name.ts'
import { effectivePage, parsePage } from '../../contract/page.ts'
import { keepsHistory, stateOf } from '../../contract/state-tag.ts'
import { free } from '../../items/owned-bytes.ts'
import type { Head, PageRead, SegmentForm } from '../../store/store.ts'
import { hasNoScope, mayRead } from '../access.ts'
import { collectionOf, type HandlerContext } from '../handler-context.ts'
import { queryValues } from '../incoming.ts'
import { chooseEncoding, chooseEnvelopeType, type Encoding } from '../negotiate.ts'
import { collectionNotFound, Refusal } from '../problem-reply.ts'
import { cachingOf, found, notModified, type Reply } from '../reply.ts'
import { HEAD_ROOM, itemsIn, PAGE_FORMS, type PageItems, USUAL_ROOM } from './page-body.ts'
import { hasSameItems, type KeptPage } from './page-cache.ts'
import { orWait } from './wait-for-change.ts'

/** `mayWait`: for a change, where the client prefers that. */
export async function getCollection(context: HandlerContext, mayWait = true): Promise<Reply> {
  const { request } = context
  const name = collectionOf(context)
  if (!isCollectionName(name)) throw collectionNotFound(name)
  const pageValues = queryValues(request.target, 'page')
  const requestedPage = parsePage(pageValues)
  const encoding = chooseEncoding(request.headers.get('accept-encoding'))

  const ifNoneMatch = request.headers.get('if-none-match')
  const kept = context.pages.find(name, requestedPage, encoding)
  if (ifNoneMatch !== null || kept !== undefined) {
    const head = await context.readHead(name, hasNoScope(context.caller, name))
    if (head === undefined || !mayRead(context.caller, head)) throw collectionNotFound(name)
    const page = answeringPage(head, requestedPage)
    notePage(context, page)
    const current = kept !== undefined && kept.page === page && hasSameItems(kept, head) ? kept : undefined
    const isWhole = current !== undefined && isSameReply(current, context, head)
    if (page !== undefined && ifNoneMatch !== null) {
      const tag = isWhole ? current.tag : tagOf(context, head, page, encoding)
      if (matchesTag(ifNoneMatch, tag)) {
        const unchanged = notModified(tag, cachingOf(context, head))
        return mayWait ? orWait(context, head, unchanged, (later) => getCollection(later, false)) : unchanged
      }
    }
    if (current !== undefined) {
      context.facts.cache = 'hit'
      return isWhole ? current.reply : pageReply(context, head, current.page, current.items, encoding)
    }
  }

  // From here on everything comes from one snapshot, the tag too: the head above may be older (D15).
  const read = await readPage(context, name, pageValues, PAGE_FORMS[encoding].stored)
  if (!context.pages.isOff) context.facts.cache = 'miss'
  return pageReply(context, read.head, read.page, PAGE_FORMS[encoding].itemsOf(read.segments), encoding)
}

/** The requested page from the store. Throws a Refusal if there is none. With `form`, in the form that the body is made from. */
export async function readPage(
  context: HandlerContext,
  name: string,
  pageValues: readonly string[],
  form?: SegmentForm,
): Promise<PageRead> {
  const requestedPage = parsePage(pageValues)
  const isPublicOnly = hasNoScope(context.caller, name)
  const options = { isPublicOnly, ...(form && { form, room: USUAL_ROOM }) }
  const read = await context.store.page(name, requestedPage ?? 1, options)
  if (read === undefined || !mayRead(context.caller, read.head)) throw collectionNotFound(name)
  if (answeringPage(read.head, requestedPage) === undefined) throw invalidPage(pageValues)
  notePage(context, read.page)
  return read
}

/** For the log. An unpaginated collection has no pages. */
function notePage({ facts }: HandlerContext, page: number | undefined): void {
  if (page) facts.page = page
}

/** The page to answer with: 0 for an unpaginated collection, whatever was asked for (D10); undefined for an invalid number. */
function answeringPage(head: Head, requestedPage: number | undefined): number | undefined {
  if (!head.isPaginated) return 0
  return requestedPage === undefined ? undefined : effectivePage(requestedPage, head.live)
}

function tagOf({ baseUrl }: HandlerContext, head: Head, page: number, encoding: Encoding): string {
  const { id, generation, version, commitId } = head
  const hasHistory = keepsHistory(head)
  const { tagEncoding } = PAGE_FORMS[encoding]
  return pageTag({ baseUrl, collectionId: id, generation, version, commitId, hasHistory, page, encoding: tagEncoding })
}

/** Puts the envelope around the items, and keeps the reply for the next request. */
function pageReply(context: HandlerContext, head: Head, page: number, items: PageItems, encoding: Encoding): Reply {
  const { baseUrl, pages } = context
  const { bodyOf, tailBytes } = PAGE_FORMS[encoding]
  const [type, caching, tag] = [typeFor(context), cachingOf(context, head), tagOf(context, head, page, encoding)]
  const body = bodyOf(envelopeHead(baseUrl, head, page), items)
  const reply = { ...found(body, type, tag, caching, encoding), room: HEAD_ROOM }
  const kept = { head, page, items: itemsIn(body, items, tailBytes), reply, tag, baseUrl, type, caching }
  const isKept = pages.keep({ ...kept, bytes: body.length }, encoding)
  return isKept ? reply : { ...reply, onSent: () => free(body) }
}

/** Whether the kept reply can be sent as it is. */
function isSameReply({ head: then, baseUrl, type, caching }: KeptPage, context: HandlerContext, head: Head): boolean {
  return (
    then.commitId === head.commitId &&
    keepsHistory(then) === keepsHistory(head) &&
    baseUrl === context.baseUrl &&
    type === typeFor(context) &&
    caching === cachingOf(context, head)
  )
}

export function typeFor({ request }: HandlerContext): string {
  return chooseEnvelopeType(request.headers.get('accept'))
}

function envelopeHead(baseUrl: string, head: Head, page: number): Buffer {
  const { name, isPaginated, live } = head
  if (!isPaginated) return Buffer.from(wholeEnvelopeHead(baseUrl, name))
  const links = keepsHistory(head) ? liveLinks(baseUrl, name, stateOf(head)) : {}
  return Buffer.from(pageEnvelopeHead(baseUrl, name, page, live, { links }))
}

export function invalidPage(values: readonly string[]): Refusal {
  const given = quoted(values.join(', '))
  const detail =
    values.length > 1
      ? `The parameter "page" is given ${values.length} times: ${given}.`
      : `The parameter "page" is ${given}, which is not a page number.`
  return new Refusal('invalid-page', detail)
}
