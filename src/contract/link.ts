/** Every URL that Reams writes into an answer is built here, from the base URL and nothing else (C4, D17). */

import { lastPage } from './page.ts'
import { urlFlaw, withoutSlash } from './url.ts'

/** A link relation: an object with one field (C4). */
export interface Link {
  readonly href: string
}

/** The links of one page, in the order in which they are written. */
export interface PageLinks {
  readonly self: Link
  readonly first: Link
  readonly prev?: Link
  readonly next?: Link
  readonly last: Link
}

/** `{base_url}/<collection>`. */
export function collectionUrl(baseUrl: string, name: string): string {
  return `${baseUrl}/${name}`
}

/** `{base_url}/<collection>?page=<n>`. */
export function pageUrl(baseUrl: string, name: string, page: number): string {
  return `${collectionUrl(baseUrl, name)}?page=${page}`
}

/** `{base_url}/<collection>/<key>`. */
export function itemUrl(baseUrl: string, name: string, key: string): string {
  return `${collectionUrl(baseUrl, name)}/${encodeURIComponent(key)}`
}

/** `{base_url}/-/problems/<name>` (D14). */
export function problemUrl(baseUrl: string, name: string): string {
  return `${baseUrl}/-/problems/${name}`
}

/** `{base_url}/`, the entry point. */
export function entryUrl(baseUrl: string): string {
  return `${baseUrl}/`
}

/** `{base_url}/-/openapi.json`, the description of the service. */
export function descriptionUrl(baseUrl: string): string {
  return `${baseUrl}/-/openapi.json`
}

/** `{base_url}/-/json`: in place of the base URL it leads to the same data, also a browser, which gets HTML otherwise (D12). */
export function rawUrl(baseUrl: string): string {
  return `${baseUrl}/-/json`
}

/** The links of page `page` of a collection with `itemCount` items (C5, D4, D7). */
export function pageLinks(baseUrl: string, name: string, page: number, itemCount: number): PageLinks {
  const last = lastPage(itemCount)
  const to = (target: number): Link => ({ href: pageUrl(baseUrl, name, target) })
  const links: { -readonly [relation in keyof PageLinks]?: Link } = {
    self: to(page),
    first: { href: collectionUrl(baseUrl, name) },
  }
  if (page > 1) links.prev = to(page - 1)
  if (page < last) links.next = to(page + 1)
  links.last = to(last)
  // The cast: all that must be there is.
  return links as PageLinks
}

/**
 * Brings a base URL into the one form that links are built on: absolute, http or https, no slash at the end.
 * Throws a TypeError that says what is wrong.
 */
export function normalizeBaseUrl(text: string): string {
  // The one sign that a URL parser lets a host have and that would end a text in JSON.
  const flaw =
    urlFlaw(text) ?? (new URL(text).host.includes('"') ? 'The URL has a quotation mark in its host' : undefined)
  if (flaw !== undefined)
    throw new TypeError(`${flaw}. Expected one such as https://api.example.com or https://example.com/api/v1.`)
  return withoutSlash(new URL(text))
}
