/** The pages for a browser that navigates: the same data under the same rules, in HTML (D12). */

import { isCollectionName } from '../contract/name.ts'
import type { Problem } from '../contract/problem.ts'
import type { Explorer } from '../explorer/create-explorer.ts'
import { type HandlerContext as Call, segmentsOf } from './handler-context.ts'
import { foundHtml, htmlReply } from './html-reply.ts'
import { type Incoming, queryValues } from './incoming.ts'
import { collectionNotFound } from './problem-reply.ts'
import { readPage } from './read/get-collection.ts'
import { entryCaching, readableHeads } from './read/get-entry.ts'
import { readItem } from './read/get-item.ts'
import { cachingOf, type Reply } from './reply.ts'

export type Browse = (call: Call, explorer: Explorer) => Promise<Reply>

export async function browseEntry(call: Call, explorer: Explorer): Promise<Reply> {
  const { heads, isComplete } = await readableHeads(call)
  const make = () => explorer.entry(call.baseUrl, heads, isComplete)
  return foundHtml(call, { key: keyOf(call, heads, isComplete), make, caching: entryCaching(call) })
}

export async function browseCollection(call: Call, explorer: Explorer): Promise<Reply> {
  const { request, baseUrl } = call
  const [name = ''] = segmentsOf(call)
  if (!isCollectionName(name)) return collectionNotFound(call, name)
  const read = await readPage(call, name, queryValues(request.target, 'page'))
  if ('status' in read) return read
  const { head: collection, page, segments } = read
  // As far as the page shows them.
  const pieces = segments.values().map((segment) => segment.raw())
  const make = () => explorer.collection(baseUrl, { collection, page, pieces })
  return foundHtml(call, { key: keyOf(call, collection, page), make, caching: cachingOf(call, collection) })
}

export async function browseItem(call: Call, explorer: Explorer): Promise<Reply> {
  const read = await readItem(call)
  if ('status' in read) return read
  const { head, key, text } = read
  const make = () => explorer.item(call.baseUrl, { collection: head.name, key, text })
  return foundHtml(call, { key: keyOf(call, head, key), make, caching: cachingOf(call, head) })
}

/** The head of a collection stands for its items too: its `commitId` is another after every commit. */
function keyOf({ baseUrl }: Call, ...parts: readonly unknown[]): string {
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
