/** Reads a store through its public door, as plain arrays of item texts that tests can compare. */

import { gunzipSync } from 'node:zlib'
import { lastPage } from '../../src/contract/page.ts'
import { free, own } from '../../src/items/owned-bytes.ts'
import { STORED_SEPARATOR } from '../../src/items/splice.ts'
import { joinDeflated, spliceGzip } from '../../src/service/read/page-body.ts'
import { splitItems } from '../../src/store/item-text.ts'
import type { PageRead, Store } from '../../src/store/store.ts'

/** Overwrites and frees what it has read: whoever still reads that, such as a cache, has something else. */
export function textsOf(read: PageRead): string[] {
  return read.segments.flatMap((segment) => {
    const raw = segment.raw()
    const texts = splitItems(raw)
    destroy([raw])
    return texts
  })
}

/** Some may lie in the same memory. */
function destroy(pieces: readonly Uint8Array[]): void {
  for (const bytes of pieces) bytes.fill(0)
  for (const bytes of pieces) free(own(bytes))
}

export async function readPageTexts(store: Store, name: string, page: number): Promise<string[]> {
  const read = await store.page(name, page)
  if (read === undefined) throw new Error(`no collection ${name}`)
  return textsOf(read)
}

/** The same, from what a gzip answer is made of. */
export async function readPackedTexts(store: Store, name: string, page: number): Promise<string[]> {
  const read = await store.page(name, page, { form: 'deflated' })
  if (read === undefined) throw new Error(`no collection ${name}`)
  return packedTextsOf(read)
}

/** Destroys what it has read, too. */
export function packedTextsOf({ segments }: PageRead): string[] {
  const nothing = new Uint8Array(0)
  const items = joinDeflated(segments)
  const texts = splitItems(gunzipSync(spliceGzip(nothing, items, nothing)))
  destroy(items.pieces.filter((piece) => piece !== STORED_SEPARATOR))
  return texts
}

/** Every page, in order. */
export async function readAllPages(store: Store, name: string, readPage = readPageTexts): Promise<string[][]> {
  const head = await store.head(name)
  if (head === undefined) throw new Error(`no collection ${name}`)
  const pages: string[][] = []
  for (let page = 1; page <= lastPage(head.live); page++) pages.push(await readPage(store, name, page))
  return pages
}

/** The items as `items()` gives them. */
export async function readItems(store: Store, name: string): Promise<string[]> {
  const texts: string[] = []
  for await (const segment of store.items(name)) texts.push(...splitItems(segment.raw()))
  return texts
}

/** What the pages must be, from the plain array that the collection stands for. */
export function pagesOf(texts: readonly string[]): string[][] {
  if (texts.length === 0) return [[]]
  const pages: string[][] = []
  for (let start = 0; start < texts.length; start += 500) pages.push(texts.slice(start, start + 500))
  return pages
}
