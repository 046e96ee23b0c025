/** The page of one item: its JSON, indented, every digit as it was written. */

import { collectionUrl, entryUrl, itemUrl, rawUrl } from '../contract/link.ts'
import { indented } from './browser/json-text.ts'
import { shortened } from './cell.ts'
import { documentOf } from './document.ts'
import { type Html, html } from './html.ts'
import { localHref, type Site } from './site.ts'

/** Of one item a page shows no more than this. */
const SHOWN_BYTES = 200_000
/** And no more than this of it indented: what is nested deep is mostly blanks then. */
const SHOWN_CHARACTERS = 2_000_000

export interface ItemContent {
  readonly collection: string
  readonly key: string
  /** Its JSON. */
  readonly text: Uint8Array
}

export function itemPage(site: Site, { collection, key, text }: ItemContent): string {
  const label = shortened(key)
  const trail = [
    html`<a href="${localHref(site, entryUrl(site.baseUrl))}">Collections</a>`,
    html`<a href="${localHref(site, collectionUrl(site.baseUrl, collection))}">${collection}</a>`,
    label,
  ]
  const raw = localHref(site, itemUrl(rawUrl(site.baseUrl), collection, key))
  const main = html`<h1>${label}</h1>
<p class="facts">${text.length.toLocaleString('en-US')} bytes · <a href="${raw}">raw JSON</a></p>
${jsonOf(text)}`
  return documentOf(site, { view: 'item', title: `${label} · ${collection} · Reams`, trail, main, collection, key })
}

function jsonOf(text: Uint8Array): Html {
  const json = indented(new TextDecoder().decode(text.subarray(0, SHOWN_BYTES)))
    .map((piece) => piece.text)
    .join('')
  const isCut = text.length > SHOWN_BYTES || json.length > SHOWN_CHARACTERS
  const note = isCut ? html`<p class="notes">Only the beginning is shown; the raw JSON has all.</p>\n` : ''
  return html`${note}<pre class="json" tabindex="0">${json.slice(0, SHOWN_CHARACTERS)}</pre>`
}
