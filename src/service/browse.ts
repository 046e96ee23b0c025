/** The pages for a browser that navigates: the same data under the same rules, in HTML (D12). */

import { isCollectionName } from '../contract/name.ts'
import type { Problem } from '../contract/problem.ts'
import type { Explorer } from '../explorer/create-explorer.ts'
import { type HandlerContext, segmentsOf } from './handler-context.ts'
import { foundHtml, htmlReply } from './html-reply.ts'
import { type Incoming, queryValues } from './incoming.ts'
import { collectionNotFound } from './problem-reply.ts'
import { readPage } from './read/get-collection.ts'
import { entryCaching, readableHeads } from './read/get-entry.ts'
import { readItem } from './read/get-item.ts'
import { cachingOf, type Reply } from './reply.ts'

export type Browse = (context: HandlerContext, explorer: Explorer) => Promise<Reply>

export async function browseEntry(context: HandlerContext, explorer: Explorer): Promise<Reply> {
  const { heads, isComplete } = await readableHeads(context)
  const make = () => explorer.entry(context.baseUrl, heads, isComplete)
  return foundHtml(context, { key: keyOf(context, heads, isComplete), make, caching: entryCaching(context) })
}

export async function browseCollection(context: HandlerContext, explorer: Explorer): Promise<Reply> {
  const { request, baseUrl } = context
  const [name = ''] = segmentsOf(context)
  if (!isCollectionName(name)) return collectionNotFound(context, name)
  const read = await readPage(context, name, queryValues(request.target, 'page'))
  if ('status' in read) return read
  const { head: collection, page, segments } = read
  // As far as the page shows them.
  const pieces = segments.values().map((segment) => segment.raw())
  const make = () => explorer.collection(baseUrl, { collection, page, pieces })
  return foundHtml(context, { key: keyOf(context, collection, page), make, caching: cachingOf(context, collection) })
}

export async function browseItem(context: HandlerContext, explorer: Explorer): Promise<Reply> {
  const read = await readItem(context)
  if ('status' in read) return read
  const { head, key, text } = read
  const make = () => explorer.item(context.baseUrl, { collection: head.name, key, text })
  return foundHtml(context, { key: keyOf(context, head, key), make, caching: cachingOf(context, head) })
}

/** The head of a collection stands for its items too: its `commitId` is another after every commit. */
function keyOf({ baseUrl }: HandlerContext, ...parts: readonly unknown[]): string {
  return JSON.stringify([baseUrl, ...parts])
}

/** With the status and the headers of the problem itself. */
export async function problemInHtml(
  { request, baseUrl }: { readonly request: Incoming; readonly baseUrl: string },
  { status, headers }: Reply,
  problem: Problem,
  explorer: Explorer,
): Promise<Reply> {
  const html = await htmlReply(request, explorer.problem(baseUrl, problem))
  return { ...html, status, headers: { ...headers, ...html.headers } }
}
