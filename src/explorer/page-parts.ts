/** What the pages of the explorer are made of: their outline, and the parts that they share. */

import { collectionUrl, entryUrl, itemUrl, rawUrl } from '../contract/link.ts'
import { counted } from '../contract/message-text.ts'
import { brief } from './browser/text.ts'
import { type Content, type Html, html } from './html.ts'
import { preformatted } from './value.ts'

export interface Page {
  readonly title: string
  /** Where the page is, behind the link to the entry. */
  readonly trail: readonly Content[]
  readonly main: Content
  /** The address of what is shown, as the service itself writes it. */
  readonly url?: string
  readonly collection?: string
  /** The page that is shown; none for a collection without pages. */
  readonly page?: number | undefined
}

/** What Reams links for a browser: without the origin, so that it also works where the browser knows us by another name. */
export function localHref(baseUrl: string, url: string): string {
  return url.slice(new URL(baseUrl).origin.length)
}

export function entryLink(baseUrl: string): Html {
  return html`<a href="${localHref(baseUrl, entryUrl(baseUrl))}">Collections</a>`
}

export function heading(title: string, facts: readonly string[], actions: Content): Html {
  return html`<div class="heading"><h1 tabindex="-1">${title}</h1>
<p class="facts">${facts.join(' · ')}</p>
<div class="row">${actions}</div></div>
`
}

/** A browser opens it without a token, so with one it could lead to nothing. */
export function rawLink(baseUrl: string, url: string): Html {
  return html`<a class="without-token" href="${localHref(baseUrl, url)}">Raw JSON</a>`
}

/** A button and what it opens. The browser closes it by Escape or by a click elsewhere. */
export function popover(id: string, label: string, content: Content): Html {
  return html`<button type="button" popovertarget="${id}">${label}</button>
<div id="${id}" popover role="dialog" aria-label="${label}">${content}</div>`
}

/** `curl` and client code for what is on the screen. The token itself stands in none of it. */
export function codePopover(url: string, code: Content): Html {
  const curl = html`curl ${quoted(url)}<span class="with-token"> -H "Authorization: Bearer $TOKEN"</span>`
  const snippets = [
    ['curl', curl],
    ['JavaScript', code],
  ] as const
  const sections = snippets.map(
    ([name, text]) =>
      html`<section><div class="row"><h2>${name}</h2>${action('copy', `Copy ${name}`)}</div>
<pre tabindex="0">${text}</pre></section>`,
  )
  return popover('code', 'Code', sections)
}

/** The call of `fetch` that gets this. */
export function fetchCall(url: string): Html {
  const headers = html`<span class="with-token">, { headers: { Authorization: 'Bearer ' + token } }</span>`
  return html`await fetch(${quoted(url)}${headers})`
}

/** As a text in JavaScript or in a shell. */
export function quoted(url: string): string {
  return `'${url.replaceAll("'", '%27')}'`
}

/** A button for which the script does something. */
export function action(name: string, label: string): Html {
  return html`<button type="button" class="scripted" data-action="${name}">${label}</button>`
}

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
