/** The requests of readers, as bytes: random pages of a collection, or always the same one, as gzip. */

import { randomPages } from './random.ts'
import type { WriteRequest } from './write-requests.ts'

export interface ReadOptions {
  readonly kind: 'read'
  /** The URL of the collection. */
  readonly url: string
  /** Pages that are asked for, at random; one alone is asked for again and again. */
  readonly pages: number
  /** Each asks the server to close the connection behind the answer. Default false. */
  readonly isClosing?: boolean
}

/** Pages in one random order, before it begins anew. */
const MAX_PAGES = 20_000

/** Without an end. */
export function* readRequests({ url, pages, isClosing }: ReadOptions): Generator<WriteRequest, never> {
  const { pathname, host } = new URL(url)
  const rest = `HTTP/1.1\r\nHost: ${host}\r\nAccept-Encoding: gzip\r\n${isClosing ? 'Connection: close\r\n' : ''}\r\n`
  const order = randomPages(Math.min(pages, MAX_PAGES), pages, 6)
  for (;;) for (const page of order) yield { head: `GET ${pathname}?page=${page} ${rest}` }
}
