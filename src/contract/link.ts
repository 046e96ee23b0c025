/** Every URL that Reams writes into an answer is built here, from the base URL and nothing else (C4, D17). */

import { lastPage } from './page.ts'
import { formatTag, type StateTag } from './state-tag.ts'
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

/** Further links of a page, in the order in which they are written (D22, D23). */
export interface HistoryLinks {
  /** From a live page to that state for good; from the last page of changes to the state with which they end. */
  readonly snapshot?: Link
  /** From a snapshot to everything since. */
  readonly changes?: Link
  /** From a snapshot, and from changes, to the live collection (RFC 5829). */
  readonly 'latest-version'?: Link
}

/** `{base_url}/<collection>`. */
export function collectionUrl(baseUrl: string, name: string): string {
  return `${baseUrl}/${name}`
}

/** `<collection>@<tag>`: stands for the collection's name in the links of a snapshot. */
export function snapshotPath(name: string, state: StateTag): string {
  return `${name}@${formatTag(state)}`
}

/** `<collection>@<tag>..`: the same for the changes since that state. */
export function changesPath(name: string, state: StateTag): string {
  return `${snapshotPath(name, state)}..`
}

/** What a live page links. */
export function liveLinks(baseUrl: string, name: string, state: StateTag): HistoryLinks {
  return { snapshot: { href: collectionUrl(baseUrl, snapshotPath(name, state)) } }
}

/** What a page of a snapshot links. */
export function snapshotLinks(baseUrl: string, name: string, state: StateTag): HistoryLinks {
  return {
    changes: { href: collectionUrl(baseUrl, changesPath(name, state)) },
    'latest-version': { href: collectionUrl(baseUrl, name) },
  }
}

/** What a page of changes links; `end` is the state with which they end, for the last page. */
export function changesLinks(baseUrl: string, name: string, end: StateTag | undefined): HistoryLinks {
  const latest = { 'latest-version': { href: collectionUrl(baseUrl, name) } }
  return end === undefined ? latest : { ...liveLinks(baseUrl, name, end), ...latest }
}

/** `{base_url}/<collection>?page=<n>`. */
export function pageUrl(baseUrl: string, name: string, page: number): string {
  return `${collectionUrl(baseUrl, name)}?page=${page}`
}

/** `{base_url}/<collection>/<key>`. A comma means nothing in a path, and reads better as it is. */
export function itemUrl(baseUrl: string, name: string, key: string): string {
  return `${collectionUrl(baseUrl, name)}/${encodeURIComponent(key).replaceAll('%2C', ',')}`
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

/** The links of page `page` of a collection with `itemCount` items (C5, D4, D7). `name` may also be the path of a snapshot. */
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
