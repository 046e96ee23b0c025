/** Answers in HTML: with the headers that keep them safe, and a tag that no other form of the data has. */

import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { matchesTag } from '../contract/etag.ts'
import { SECURITY_HEADERS } from '../explorer/create-explorer.ts'
import type { HandlerContext } from './handler-context.ts'
import type { Incoming } from './incoming.ts'
import { chooseEncoding } from './negotiate.ts'
import { type Caching, contentHeaders, notModified, type Reply, VARY } from './reply.ts'

/** Off the event loop, where it would take milliseconds. */
const compress = promisify(gzip)

export interface HtmlContent {
  /** Names all that the page is made from. */
  readonly key: string
  readonly make: () => string
  readonly caching: Caching
}

/** A page of data. Its tag is made from all of it: the data, the base URL, and the names of the files that it loads. */
export async function foundHtml(
  { request, htmlPages }: HandlerContext,
  { key, make, caching }: HtmlContent,
): Promise<Reply> {
  const encoding = chooseEncoding(request.headers.get('accept-encoding'))
  const reply = await htmlPages.find(JSON.stringify([encoding, caching, key]), async () => {
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

export async function htmlReply(request: Incoming, text: string): Promise<Reply> {
  const isGzip = chooseEncoding(request.headers.get('accept-encoding')) === 'gzip'
  const body = isGzip ? await compress(text) : Buffer.from(text)
  const encoded = isGzip ? { 'Content-Encoding': 'gzip' } : {}
  const headers = {
    ...contentHeaders('text/html; charset=utf-8', body.length),
    Vary: VARY,
    ...SECURITY_HEADERS,
    ...encoded,
  }
  return { status: 200, headers, body }
}
