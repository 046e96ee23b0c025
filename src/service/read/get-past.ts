/** `GET /<collection>@<tag>` and `GET /<collection>@<tag>..`: one page of a snapshot, or of the changes since (D22, D23). */

import { pageEnvelopeHead } from '../../contract/envelope.ts'
import { matchesTag, pastTag } from '../../contract/etag.ts'
import { changesLinks, changesPath, itemUrl, snapshotLinks, snapshotPath } from '../../contract/link.ts'
import { quoted } from '../../contract/message-text.ts'
import { effectivePage, lastPage, parsePage } from '../../contract/page.ts'
import { parseCollectionPath, parseTag, type StateTag, stateOf } from '../../contract/state-tag.ts'
import { free } from '../../items/owned-bytes.ts'
import type { PastRead, SegmentForm, StateRead } from '../../store/store.ts'
import { hasNoScope, mayRead } from '../access.ts'
import { type HandlerContext, keyOf, segmentsOf } from '../handler-context.ts'
import { queryValues } from '../incoming.ts'
import { chooseEncoding, type Encoding } from '../negotiate.ts'
import { collectionNotFound, pastItemNotFound, Refusal } from '../problem-reply.ts'
import { type Caching, cachingOf, found, immutableFor, notModified, type Reply } from '../reply.ts'
import { invalidPage, typeFor } from './get-collection.ts'
import { HEAD_ROOM, PAGE_FORMS, USUAL_ROOM } from './page-body.ts'
import { orWait } from './wait-for-change.ts'

/** What a path asks for: a collection as it was in a state, or what has changed since. */
export interface Past {
  readonly name: string
  readonly state: StateTag
  readonly isChanges: boolean
}

/** `mayWait`: for more changes, where the client prefers that. A snapshot has no others. */
export async function getPast(context: HandlerContext, mayWait = true): Promise<Reply> {
  const { headers, target } = context.request
  const past = await findPast(context)
  const pageValues = queryValues(target, 'page')
  const requestedPage = parsePage(pageValues)
  const encoding = chooseEncoding(headers.get('accept-encoding'))

  const ifNoneMatch = headers.get('if-none-match')
  if (ifNoneMatch !== null && requestedPage !== undefined) {
    const hasForms = encoding === 'gzip' && !past.isChanges
    const options = { ...readOptions(context, past), ...(hasForms && { page: requestedPage }) }
    const read = visible(context, past, await context.store.stateAt(past.name, past.state, options))
    const page = effectivePage(requestedPage, past.isChanges ? read.head.changes - past.state.changes : read.live)
    const tag = tagOf(context, past, read, page, encoding)
    context.facts.page = page
    if (matchesTag(ifNoneMatch, tag)) {
      const unchanged = notModified(tag, cachingFor(context, past, read))
      if (!past.isChanges || !mayWait) return unchanged
      return orWait(context, read.head, unchanged, (later) => getPast(later, false))
    }
  }

  const read = await readPast(context, past, pageValues, PAGE_FORMS[encoding].stored)
  const { itemsOf, bodyOf } = PAGE_FORMS[encoding]
  const body = bodyOf(Buffer.from(envelopeHead(context.baseUrl, past, read)), itemsOf(read.segments))
  const tag = tagOf(context, past, read, read.page, encoding)
  const reply = found(body, typeFor(context), tag, cachingFor(context, past, read), encoding)
  return { ...reply, room: HEAD_ROOM, onSent: () => free(body) }
}

/** What the path names. Throws a Refusal where it cannot be the path of a state, and nothing need be looked for. */
export async function findPast(context: HandlerContext): Promise<Past> {
  const [path = ''] = segmentsOf(context)
  const { name, tag = '', isChanges } = parseCollectionPath(path) ?? {}
  if (name === undefined || isChanges === undefined) throw collectionNotFound(path)
  context.facts.collection = name
  const state = parseTag(tag)
  if (state !== undefined) return { name, state, isChanges }
  const head = await context.readHead(name, hasNoScope(context.caller, name))
  if (head === undefined || !mayRead(context.caller, head)) throw collectionNotFound(name)
  throw new Refusal('state-not-found', `The collection ${quoted(name)} never was in the state ${quoted(tag)}.`)
}

/** `GET /<collection>@<tag>/<key>`: there is nothing, whatever the collection holds. */
export async function getPastItem(context: HandlerContext): Promise<Reply> {
  const [path = ''] = segmentsOf(context)
  const { name } = parseCollectionPath(path) ?? {}
  if (name === undefined) throw collectionNotFound(path)
  context.facts.collection = name
  const key = keyOf(context)
  throw pastItemNotFound(context, key && itemUrl(context.baseUrl, name, key))
}

/** The requested page from the store. Throws a Refusal if there is none. With `form`, in the form that the body is made from. */
export async function readPast(
  context: HandlerContext,
  past: Past,
  pageValues: readonly string[],
  form?: SegmentForm,
): Promise<PastRead> {
  const { store } = context
  const { name, state, isChanges } = past
  const requestedPage = parsePage(pageValues)
  const options = { ...readOptions(context, past), ...(form && { form, room: USUAL_ROOM }) }
  const page = requestedPage ?? 1
  const read = isChanges
    ? await store.changesSince(name, state, page, options)
    : await store.pageAt(name, state, page, options)
  const shown = visible(context, past, read)
  if (requestedPage === undefined) throw invalidPage(pageValues)
  context.facts.page = shown.page
  return shown
}

function readOptions({ caller }: HandlerContext, { name }: Past) {
  return { isPublicOnly: hasNoScope(caller, name) }
}

/** The same access rules as those of the live collection. */
function visible<Read extends StateRead>({ caller }: HandlerContext, { name }: Past, read: Read | undefined): Read {
  if (read === undefined || !mayRead(caller, read.head)) throw collectionNotFound(name)
  return read
}

function tagOf({ baseUrl }: HandlerContext, past: Past, read: StateRead, page: number, encoding: Encoding): string {
  const { head, rewrittenBy } = read
  const until = past.isChanges ? stateOf(head) : undefined
  return pastTag({ baseUrl, state: past.state, until, rewrittenBy, page, encoding: PAGE_FORMS[encoding].tagEncoding })
}

/** A snapshot never changes. Changes become more. */
function cachingFor(context: HandlerContext, { isChanges }: Past, { head, keptMs }: StateRead): Caching {
  return isChanges ? cachingOf(context, head) : immutableFor(context, head, keptMs)
}

function envelopeHead(baseUrl: string, { name, state, isChanges }: Past, { head, page, itemCount }: PastRead): string {
  const end = page === lastPage(itemCount) ? stateOf(head) : undefined
  const extras = isChanges
    ? { path: changesPath(name, state), links: changesLinks(baseUrl, name, end) }
    : { path: snapshotPath(name, state), links: snapshotLinks(baseUrl, name, state) }
  return pageEnvelopeHead(baseUrl, name, page, itemCount, extras)
}
