/** The pages for a browser that navigates: the same data under the same rules, in HTML (D12). */

import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { matchesTag } from '../contract/etag.ts'
import { isCollectionName } from '../contract/name.ts'
import type { Problem } from '../contract/problem.ts'
import { keepsHistory, stateOf } from '../contract/state-tag.ts'
import { type Explorer, SECURITY_HEADERS } from '../explorer/create-explorer.ts'
import type { MirrorFacts } from '../explorer/mirror-line.ts'
import type { Head } from '../store/store.ts'
import { collectionOf, type HandlerContext } from './handler-context.ts'
import { type Incoming, queryValues } from './incoming.ts'
import { chooseEncoding } from './negotiate.ts'
import { collectionNotFound, pathNotFound } from './problem-reply.ts'
import { readPage } from './read/get-collection.ts'
import { entryCaching, readableHeads } from './read/get-entry.ts'
import { readItem } from './read/get-item.ts'
import { findPast, readPast } from './read/get-past.ts'
import { type Caching, cachingOf, contentHeaders, notModified, type Reply, VARY } from './reply.ts'

export type Browse = (context: HandlerContext, explorer: Explorer) => Promise<Reply>

export async function browseEntry(context: HandlerContext, explorer: Explorer): Promise<Reply> {
  const { heads, isComplete } = await readableHeads(context)
  const mirrors = await mirrorsAmong(context, heads)
  const listed = heads.map((head) => ({ ...head, mirror: mirrors.get(head.name) }))
  const make = () => explorer.entry(context.baseUrl, listed, isComplete)
  return foundHtml(context, keyOf(context, listed, isComplete), entryCaching(context), make)
}

export async function browseCollection(context: HandlerContext, explorer: Explorer): Promise<Reply> {
  const { request, baseUrl } = context
  const name = collectionOf(context)
  if (!isCollectionName(name)) throw collectionNotFound(name)
  const read = await readPage(context, name, queryValues(request.target, 'page'))
  const { head: collection, page, segments } = read
  // As far as the page shows them.
  const pieces = segments.values().map((segment) => segment.raw())
  const state = keepsHistory(collection) ? stateOf(collection) : undefined
  const mirror = (await mirrorsAmong(context, [collection])).get(name)
  const make = () => explorer.collection(baseUrl, { collection, page, pieces, state, mirror })
  return foundHtml(context, keyOf(context, collection, page, mirror), cachingOf(context, collection), make)
}

/** Whoever keeps a mirror says something every few seconds, unless it is told to ask less often. */
const SILENT_MS = 60_000

/** By name. Where there is none, the store is not asked for more. */
async function mirrorsAmong(
  { store }: HandlerContext,
  heads: readonly Head[],
): Promise<ReadonlyMap<string, MirrorFacts>> {
  const mirrors = new Map<string, MirrorFacts>()
  for (const { name, origin } of heads) if (origin !== null) mirrors.set(name, { url: origin.url })
  if (mirrors.size === 0) return mirrors
  // All servers of the store have to answer for them. While one is away the rest of the page is worth more.
  const followings = await store.followings().catch(() => [])
  for (const { name, waiting, asOf, seenAt } of followings) {
    const mirror = mirrors.get(name)
    if (mirror === undefined) continue
    const silentSince = Math.abs(Date.now() - seenAt) > SILENT_MS ? seenAt : undefined
    mirrors.set(name, { ...mirror, lag: { versions: waiting, asOf: asOf || undefined, silentSince } })
  }
  return mirrors
}

export async function browsePast(context: HandlerContext, explorer: Explorer): Promise<Reply> {
  const { request, baseUrl } = context
  const past = await findPast(context)
  const { head, page, itemCount, segments } = await readPast(context, past, queryValues(request.target, 'page'))
  const pieces = segments.values().map((segment) => segment.raw())
  const { state, isChanges } = past
  const collection = { ...head, live: itemCount }
  const make = () => explorer.past(baseUrl, { collection, state, isChanges, page, pieces })
  return foundHtml(context, keyOf(context, head, past, page), cachingOf(context, head), make)
}

export async function browseItem(context: HandlerContext, explorer: Explorer): Promise<Reply> {
  const { head, key, text } = await readItem(context)
  const make = () => explorer.item(context.baseUrl, { collection: head.name, key, text })
  return foundHtml(context, keyOf(context, head, key), cachingOf(context, head), make)
}

/** Where there is nothing: the problem, as a page. */
export async function browseNothing(context: HandlerContext): Promise<Reply> {
  throw pathNotFound(context)
}

/** The head of a collection stands for its items too: its `commitId` is another after every commit. */
function keyOf({ baseUrl }: HandlerContext, ...parts: readonly unknown[]): string {
  return JSON.stringify([baseUrl, ...parts])
}

/** With the status and the headers of the problem itself. */
export async function problemInHtml(
  request: Incoming,
  path: string,
  baseUrl: string,
  { status, headers, facts }: Reply,
  problem: Problem,
  explorer: Explorer,
): Promise<Reply> {
  const html = await htmlReply(request, explorer.problem(baseUrl, problem, { target: request.target, path }))
  return { ...html, status, headers: { ...headers, ...html.headers }, ...(facts && { facts }) }
}

/** Off the event loop, where it would take milliseconds. */
const compress = promisify(gzip)

/**
 * A page of data; `key` names all that it is made from. Its tag is made from all of it: the data, the base URL, and the names
 * of the files that it loads.
 */
async function foundHtml(
  { request, findHtml }: HandlerContext,
  key: string,
  caching: Caching,
  make: () => string,
): Promise<Reply> {
  const encoding = chooseEncoding(request.headers.get('accept-encoding'))
  const reply = await findHtml(JSON.stringify([encoding, caching, key]), async () => {
    const text = make()
    const { status, headers, body } = await htmlReply(request, text)
    const ETag = `"html.${hash('sha256', text, 'base64url')}.${encoding}"`
    return { status, headers: { ...headers, ETag, 'Cache-Control': caching }, body }
  })
  const { ETag: tag = '' } = reply.headers
  const isKnown = matchesTag(request.headers.get('if-none-match'), tag)
  if (!isKnown) return reply
  const unchanged = notModified(tag, caching)
  return { ...unchanged, headers: { ...unchanged.headers, ...SECURITY_HEADERS } }
}

async function htmlReply(request: Incoming, text: string): Promise<Reply> {
  const isGzip = chooseEncoding(request.headers.get('accept-encoding')) === 'gzip'
  const body = isGzip ? await compress(text) : Buffer.from(text)
  const own = { Vary: VARY, ...SECURITY_HEADERS, ...(isGzip && { 'Content-Encoding': 'gzip' }) }
  return { status: 200, headers: { ...contentHeaders('text/html; charset=utf-8', body.length), ...own }, body }
}

export function getAsset(context: HandlerContext): Reply {
  const asset = context.explorer?.asset(context.path)
  if (asset === undefined) throw pathNotFound(context)
  const { headers } = context.request
  const encoding = chooseEncoding(headers.get('accept-encoding'))
  const tag = `"${asset.path.split('/').at(-1)}.${encoding}"`
  const kept = { ETag: tag, 'Cache-Control': 'public, max-age=31536000, immutable', Vary: 'Accept-Encoding' }
  if (matchesTag(headers.get('if-none-match'), tag)) return { status: 304, headers: kept, body: null }
  const body = encoding === 'gzip' ? asset.gzip : asset.plain
  const encoded = encoding === 'gzip' ? { 'Content-Encoding': 'gzip' } : {}
  return { status: 200, headers: { ...contentHeaders(asset.type, body.length), ...kept, ...encoded }, body }
}
