/** What all pages of one explorer share: where they are, and which files they load. */

import type { Assets } from './assets.ts'

export interface Site {
  readonly baseUrl: string
  readonly assets: Assets
}

/** A collection as its page and the entry show it. */
export interface CollectionFacts {
  readonly name: string
  /** How many items it has. */
  readonly live: number
  readonly keyField: string | null
  readonly isPaginated: boolean
  readonly isPrivate: boolean
}

/** What the entry knows besides. */
export interface ListedFacts extends CollectionFacts {
  /** The time of its last change, in milliseconds since 1970; null where nobody knows it. */
  readonly changedAt: number | null
}

/** What Reams links for a browser: without the origin, so that it also works where the browser knows us by another name. */
export function localHref({ baseUrl }: Site, url: string): string {
  return url.slice(new URL(baseUrl).origin.length)
}
