/** D22: snapshots and the changes since, for servers that link them. */

import type { Collection } from '../collection.ts'
import { type HttpResponse, headerLine, statusLine } from '../http/response.ts'
import { findLayout, type Layout, pageOf } from '../layout.ts'
import { isJsonObject, shown } from '../page/items.ts'
import { type Rule, RuleCheck } from '../rule.ts'
import { C3 } from './count.ts'
import { C1, D6 } from './envelope.ts'
import { C4, C5, D4, D7 } from './links.ts'

export const D22: Rule = {
  id: 'D22',
  title:
    'The link snapshot, where present, leads to a copy of the collection that never changes: itself a collection, which links changes.',
  why: 'When items are removed, those after them move up, and a client that is reading misses some. A snapshot does not move; its link changes lists what happened since. A server without these links breaks nothing.',
  affects: 'a client that reads the snapshot because nothing moves in it: it misses items, or finds nothing at all.',
  right:
    'GET /events → "snapshot": {"href": "https://api.example.com/events@7"}; GET /events@7?page=2 → page 2 as it was then, with "next": {"href": "https://api.example.com/events@7?page=3"}',
  wrong: 'GET /events@7?page=2 → page 2 as it is now, or "next": {"href": "https://api.example.com/events?page=3"}',
  scope: 'paginated',
  countsFromOne: true,
  async probe(check) {
    const { collection, layout } = check
    const { bare } = layout
    const links = bare.document?.links
    // Changes link a snapshot, too; only a live page is not a version of another one.
    if (!links?.has('snapshot') || links.has('latest-version')) return check.skip('no snapshot is linked')
    const snapshot = linkedBeside(check, bare, 'snapshot', `${segmentOf(collection.linkUrl)}@`)
    if (snapshot === undefined) return
    await judgeSnapshot(check, snapshot)
    await judgeUnknownTag(check)
  },
}

/** No server gives it out. */
const UNKNOWN_TAG = 'reams-check'

/** What every page keeps by itself, whichever collection it is of. */
const PAGE_RULES = [C1, C3, C4, C5, D4, D6, D7]

async function judgeSnapshot(check: RuleCheck, snapshot: Collection): Promise<void> {
  const layout = await findLayout(snapshot)
  const { bare } = layout
  const pages = await someOf(snapshot, layout)
  let changes: Collection | undefined
  for (const [response, requested] of pages) {
    judgePage(check, snapshot, layout, response, requested)
    if (response.status !== 200) continue
    judgeState(check, response)
    await judgeItems(check, response, requested)
    changes = linkedBeside(check, response, 'changes', `${segmentOf(snapshot.linkUrl)}..`)
  }
  const [last, lastPage] = pages.at(-1) ?? [bare, 1]
  if (last.status !== 200) return
  const beyond = await snapshot.page(lastPage + 1)
  if (!isExpired(check, beyond) && beyond.digest !== last.digest)
    check.broken(beyond, `the ${last.byteLength} bytes of page ${lastPage}, the last one`, statusOrBytes(beyond))
  if (changes !== undefined) await judgeChanges(check, changes)
}

async function judgeChanges(check: RuleCheck, changes: Collection): Promise<void> {
  const layout = await findLayout(changes)
  const pages = await someOf(changes, layout)
  for (const [response, requested] of pages) judgePage(check, changes, layout, response, requested)
  const [last] = pages.at(-1) ?? [layout.bare]
  const links = last.document?.links
  // More may have come by now.
  if (last.status === 200 && links !== undefined && !links.has('next'))
    linkedBeside(check, last, 'snapshot', `${segmentOf(check.collection.linkUrl)}@`)
}

/** The first page, one in the middle and the last one, each with its number. */
async function someOf(collection: Collection, { bare, last = 1 }: Layout): Promise<[HttpResponse, number][]> {
  const pages: [HttpResponse, number][] = [[bare, 1]]
  const numbers = bare.status === 200 ? new Set([Math.ceil(last / 2), last]) : []
  for (const number of numbers) if (number > 1) pages.push([await collection.page(number), number])
  return pages
}

/** A page of a snapshot or of changes, by the rules that hold for every page. */
function judgePage(
  check: RuleCheck,
  past: Collection,
  layout: Layout,
  response: HttpResponse,
  requested: number,
): void {
  if (isExpired(check, response)) return
  const own = new RuleCheck(check.rule, past, layout, false)
  const page = pageOf(response, requested, past, layout)
  for (const rule of PAGE_RULES) {
    rule.inspect?.(own, response)
    if (page !== undefined) rule.see?.(own, page)
  }
  check.findings = [...check.findings, ...own.findings]
  if (response.status !== 200) return
  const latest = response.document?.links.get('latest-version')
  const expected = check.collection.linkUrl
  if (hrefOf(latest) !== expected)
    check.broken(response, `latest-version is {"href": "${expected}"}`, latest === undefined ? 'none' : shown(latest))
}

/** A write may have come in between, and the state before it need not be kept. */
function isExpired(check: RuleCheck, response: HttpResponse): boolean {
  if (response.status !== 410) return false
  check.differs(response, '200 OK, while it is the latest state', statusLine(response))
  return true
}

/** What a page of a snapshot has besides: the count that was linked, and a tag that can stay. */
function judgeState(check: RuleCheck, response: HttpResponse): void {
  const [before, count] = [check.layout.bare, response].map(({ document }) => document?.count)
  if (before !== undefined && count !== undefined && count !== before)
    check.broken(response, `item_count ${before}, as on the page that links it`, `item_count ${count}`)
  if (!/^"[^"]*"$/.test(response.headers.get('etag') ?? ''))
    check.broken(response, 'a strong ETag', headerLine(response, 'ETag'))
}

/** A page of a snapshot has the items of the live page that links the same one. */
async function judgeItems(check: RuleCheck, response: HttpResponse, requested: number): Promise<void> {
  const { collection, layout } = check
  const live = requested === 1 ? layout.bare : await collection.page(requested)
  if (live.status !== 200) return
  const linked = linkedBeside(check, live, 'snapshot', `${segmentOf(collection.linkUrl)}@`)
  // Something may have been written since.
  if (
    linked === undefined ||
    hrefOf(live.document?.links.get('snapshot')) !== hrefOf(layout.bare.document?.links.get('snapshot'))
  )
    return
  const [items, expected] = [response, live].map(({ document }) => document?.items?.contents.join())
  if (items !== undefined && items !== expected)
    check.broken(response, 'the items of the page that links it', 'other items')
}

async function judgeUnknownTag(check: RuleCheck): Promise<void> {
  const { collection } = check
  const response = await collection.beside(`${segmentOf(collection.url)}@${UNKNOWN_TAG}`).bare()
  if (response.status !== 404 && response.status !== 410)
    check.broken(response, '404 or 410, for a state that never was', statusLine(response))
}

/** What a link leads to, if that stands beside the collection: nothing sends a request, or a token, to anywhere else. */
function linkedBeside(
  check: RuleCheck,
  response: HttpResponse,
  relation: string,
  start: string,
): Collection | undefined {
  const { linkUrl } = check.collection
  const base = linkUrl.slice(0, linkUrl.lastIndexOf('/') + 1)
  const link = response.document?.links.get(relation)
  const href = hrefOf(link) ?? ''
  const segment = href.startsWith(base) ? href.slice(base.length) : ''
  if (segment.startsWith(start) && !/[/?#\s]/.test(segment)) return check.collection.beside(segment)
  const expected = `${relation} is {"href": "${base}${start}${start.endsWith('@') ? '<tag>' : ''}"}`
  check.broken(response, expected, link === undefined ? 'none' : shown(link))
  return undefined
}

function hrefOf(link: unknown): string | undefined {
  return isJsonObject(link) && typeof link['href'] === 'string' ? link['href'] : undefined
}

function segmentOf(url: string): string {
  return url.slice(url.lastIndexOf('/') + 1)
}

function statusOrBytes(response: HttpResponse): string {
  return response.status === 200 ? `${response.byteLength} other bytes` : statusLine(response)
}
