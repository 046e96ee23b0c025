/** What pages say about a mirror: what it is a copy of, and how far it is behind. */

import { counted } from '../contract/message-text.ts'
import { brief } from './browser/text.ts'
import { type Content, type Html, html } from './html.ts'

export interface MirrorFacts {
  /** The URL of the collection that it is a copy of. */
  readonly url: string
  /** Undefined while nobody has said anything. */
  readonly lag?: Lag | undefined
}

/** Moments in milliseconds since 1970, and no ages: what has not changed makes the same page. */
export interface Lag {
  readonly versions: number
  /** The moment of the origin that the mirror shows; undefined while that is not known. */
  readonly asOf: number | undefined
  /** When whoever keeps the mirror last said something, where that is a while ago. */
  readonly silentSince: number | undefined
}

/** `http://…/events, 0 versions behind, as of …`. */
export function mirrorLine({ url, lag }: MirrorFacts): Html {
  const { versions = 0, asOf, silentSince } = lag ?? {}
  const behind = asOf === undefined ? '' : html`, ${counted(versions, 'version')} behind, as of ${timeOf(asOf)}`
  const silent = silentSince === undefined ? '' : html`, last report ${timeOf(silentSince)}`
  return html`<a href="${url}" rel="noopener noreferrer" target="_blank">${brief(url)}</a>${behind}${silent}`
}

/** The script makes an age of it. */
function timeOf(at: number): Content {
  const time = `${new Date(at).toISOString().slice(0, 19)}Z`
  return html`<time class="ago" datetime="${time}">${time.slice(0, 19).replace('T', ' ')} UTC</time>`
}
