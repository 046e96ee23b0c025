/** Entity tags of pages, known from the head row alone, and the test of If-None-Match (D16). */

import { ENVELOPE_FORMAT } from './envelope.ts'
import { formatTag, type StateTag } from './state-tag.ts'

/** All that the bytes of a page depend on. */
export interface PageTagParts {
  readonly baseUrl: string
  readonly collectionId: number
  readonly generation: number
  readonly version: number
  /** What the last commit drew at random: a backup that was put back can reach the same version once more. */
  readonly commitId: string
  /** Whether the page links a snapshot (D22). */
  readonly hasHistory: boolean
  /** The effective page; 0 for an unpaginated collection. */
  readonly page: number
  readonly encoding: TagEncoding
}

/** With gzip, also what compressed: the same text has other bytes on other machines. */
export type TagEncoding = 'identity' | `gzip-${string}`

/**
 * The strong tag of one page. The base URL stands in it as it is, not as a hash: two base URLs can then never share one.
 * A normalized URL holds nothing that an entity tag forbids.
 */
export function pageTag(parts: PageTagParts): string {
  const { baseUrl, collectionId, generation, version, commitId, hasHistory, page, encoding } = parts
  const state = `${collectionId.toString(36)}.${generation}.${version}.${commitId}`
  return `"${state}.${page}.${ENVELOPE_FORMAT}${hasHistory ? 's' : ''}.${encoding}@${baseUrl}"`
}

/** All that the bytes of a page of a snapshot depend on, or of the changes from that state up to `until`. */
export interface PastTagParts extends Pick<PageTagParts, 'baseUrl' | 'page' | 'encoding'> {
  readonly state: StateTag
  readonly until?: StateTag | undefined
  /** The `commitId` of the commit that last changed how the items of the page are deflated; matters for gzip only. */
  readonly rewrittenBy?: string | undefined
}

/** The strong tag of one page of the past. No dot stands before the page, so it is never that of a live page. */
export function pastTag({ baseUrl, state, until, rewrittenBy, page, encoding }: PastTagParts): string {
  const states = until === undefined ? formatTag(state) : `${formatTag(state)}~${formatTag(until)}`
  const form = rewrittenBy === undefined || encoding === 'identity' ? '' : `+${rewrittenBy}`
  return `"${states}${form}.${page}.${ENVELOPE_FORMAT}.${encoding}@${baseUrl}"`
}

/** Whether an If-None-Match header (a list, weak tags, `*`) names this tag: then the answer is 304. */
export function matchesTag(ifNoneMatch: string | null, tag: string): boolean {
  if (ifNoneMatch === null) return false
  if (ifNoneMatch === tag || ifNoneMatch.trim() === '*') return true
  for (const [, opaque] of ifNoneMatch.matchAll(/(?:W\/)?("[^"]*")/g)) if (opaque === tag) return true
  return false
}

/** Whether an If-Match header (a list, `*`) names a tag that a page of this state has: compared strongly, so no weak one. */
export function namesPage(ifMatch: string, state: Omit<PageTagParts, 'page' | 'encoding'>, lastPage: number): boolean {
  if (ifMatch.trim() === '*') return true
  return strongTags(ifMatch).some((tag) => {
    const [, digits = '-1', encoding] = PAGE_AND_ENCODING.exec(tag) ?? []
    const page = Number(digits)
    const isThere = lastPage === 0 ? page === 0 : page >= 1 && page <= lastPage
    // The cast: PAGE_AND_ENCODING checked it. The tag may come from a server that compresses in another way.
    return isThere && pageTag({ ...state, page, encoding: encoding as TagEncoding }) === tag
  })
}

const PAGE_AND_ENCODING = /^"[^.]*\.\d+\.\d+\.[^.]*\.(\d{1,15})\.[^.]*\.(identity|gzip-[0-9a-z]+)@/

/** The tags of a list that are not weak. */
export function strongTags(list: string): string[] {
  return [...list.matchAll(/(W\/)?("[^"]*")/g)].flatMap(([, weak, tag = '']) => (weak === undefined ? [tag] : []))
}

/** The tags of a list, weak ones without their mark. */
export function allTags(list: string): string[] {
  return [...list.matchAll(/"[^"]*"/g)].map(([tag]) => tag)
}
