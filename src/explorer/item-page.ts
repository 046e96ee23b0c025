/** The page of one item: its JSON, indented, every digit as it was written. */

import { collectionUrl, itemUrl, rawUrl } from '../contract/link.ts'
import { brief, counted } from './browser/text.ts'
import { html } from './html.ts'
import { action, codePopover, entryLink, fetchCall, heading, localHref, type Page, rawLink } from './page-parts.ts'
import { preformatted } from './value.ts'

export interface ItemContent {
  readonly collection: string
  readonly key: string
  /** Its JSON. */
  readonly text: Uint8Array
}

/** More than is shown, and less than an item may have. */
const LOOKED_AT_BYTES = 1024 * 1024

export function itemPage(baseUrl: string, { collection, key, text }: ItemContent): Page {
  const label = brief(key)
  const url = itemUrl(baseUrl, collection, key)
  const trail = [
    entryLink(baseUrl),
    html`<a href="${localHref(baseUrl, collectionUrl(baseUrl, collection))}">${collection}</a>`,
    label,
  ]
  const actions = [
    rawLink(baseUrl, itemUrl(rawUrl(baseUrl), collection, key)),
    codePopover(url, html`const item = await (${fetchCall(url)}).json()`),
    ITEM_ACTIONS,
  ]
  const json = new TextDecoder().decode(text.subarray(0, LOOKED_AT_BYTES))
  const main = html`${heading(label, [counted(text.length, 'byte')], actions)}<div class="item">${preformatted(json)}</div>`
  return { title: `${label} · ${collection}`, trail, main, url, collection }
}

/** Of an item on its own page and beside a table. */
export const ITEM_ACTIONS = html`${action('copy-json', 'Copy JSON')}${action('copy-url', 'Copy URL')}`
