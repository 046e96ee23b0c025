/**
 * A cache of the pages that were sent, limited in bytes. Nothing in it is trusted: every use is checked against the head of
 * the collection, read for that request. A full page stays valid until a commit changes a full page or adds one; where items were
 * deleted, the last full page stays valid until the next commit.
 */

import { LRUCache } from 'lru-cache'
import { fullPages } from '../../contract/page.ts'
import type { Head, Store } from '../../store/store.ts'
import type { Encoding } from '../negotiate.ts'
import type { Caching, Reply } from '../reply.ts'
import type { PageItems } from './page-body.ts'

export interface KeptPage {
  /** As it was when the reply was made. */
  readonly head: Head
  /** 0 for an unpaginated collection. */
  readonly page: number
  readonly items: PageItems
  readonly reply: Reply
  readonly tag: string
  /** What else the reply depends on. */
  readonly baseUrl: string
  readonly type: string
  readonly caching: Caching
  readonly bytes: number
}

/** Roughly what a page takes besides its body, with the room before that. */
const OVERHEAD_BYTES = 3_000
/** One page may take this part of the cache at most, so that it cannot evict everything else. */
const MAX_SHARE = 4

export class PageCache {
  readonly #pages: LRUCache<string, KeptPage> | undefined

  /** With 0 bytes nothing is kept. */
  constructor(maxBytes: number) {
    if (maxBytes < MAX_SHARE) return
    this.#pages = new LRUCache({
      maxSize: maxBytes,
      maxEntrySize: Math.floor(maxBytes / MAX_SHARE),
      sizeCalculation: ({ bytes }) => bytes + OVERHEAD_BYTES,
    })
  }

  get isOff(): boolean {
    return this.#pages === undefined
  }

  /** The page last kept for that number, valid or not. */
  find(name: string, page: number | undefined, encoding: Encoding): KeptPage | undefined {
    return this.#pages?.get(`${name} ${page} ${encoding}`)
  }

  /** Returns false for a page that is too large to be kept. */
  keep(kept: KeptPage, encoding: Encoding): boolean {
    // Page 0, all of an unpaginated collection, is what a request for page 1 gets.
    const key = `${kept.head.name} ${kept.page || 1} ${encoding}`
    return this.#pages?.set(key, kept).peek(key) === kept
  }
}

/**
 * Whether a page read now would have the same items in the same bytes. Appends change no full page, but they can compress items
 * that were in the tail in another way. Without deletions a full page has no items of the tail. With deletions, the last full page
 * may have some.
 */
export function hasSameItems({ head: then, page }: KeptPage, now: Head): boolean {
  if (then.id !== now.id) return false
  if (then.commitId === now.commitId) return true
  if (!then.isPaginated || then.fullPagesId !== now.fullPagesId) return false
  const last = fullPages(then.live)
  return then.live === then.next ? page <= last : page < last
}

export type ReadHead = ReturnType<typeof shareHeads>

/** Requests that arrive in the same turn of the event loop share one read of a head, which begins after all of them arrived. */
export function shareHeads(store: Store) {
  const next = new Map<string, Promise<Head | undefined>>()
  return (name: string, isPublicOnly: boolean): Promise<Head | undefined> => {
    const sought = `${isPublicOnly} ${name}`
    const shared = next.get(sought)
    if (shared !== undefined) return shared
    const own = new Promise<Head | undefined>((resolve, reject) => {
      setImmediate(() => {
        // Requests from here on share the next read.
        next.delete(sought)
        store.head(name, { isPublicOnly }).then(resolve, reject)
      })
    })
    next.set(sought, own)
    return own
  }
}

/** A few dozen usual pages in HTML. */
const MAX_HTML_BYTES = 8 * 1024 * 1024

export type FindHtml = ReturnType<typeof cacheHtml>

/** A cache of pages in HTML: making one takes as long as dozens of answers with data. With 0 bytes nothing is cached. */
export function cacheHtml(maxBytes: number) {
  const pages = new LRUCache<string, Reply>({
    maxSize: Math.max(1, Math.min(maxBytes, MAX_HTML_BYTES)),
    sizeCalculation: ({ body }, key) => (body?.length ?? 0) + key.length,
  })
  /** `key` has to name all that the page is made from. */
  return async (key: string, make: () => Promise<Reply>): Promise<Reply> => {
    const kept = pages.get(key)
    if (kept !== undefined) return kept
    const made = await make()
    pages.set(key, made)
    return made
  }
}
