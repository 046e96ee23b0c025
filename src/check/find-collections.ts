/** Which collections to judge: the one at the URL, those that were named, or those that an entry point links. */

import { shorten } from '../contract/message-text.ts'
import { type CheckOptions, WrongUse } from './check-options.ts'
import { nameOf } from './collection.ts'
import { LimitReached, type Requester } from './http/requester.ts'
import type { HttpResponse } from './http/response.ts'
import { createRequest } from './http/response.ts'
import { type Document, isPaginated } from './page/document.ts'
import { isJsonObject } from './page/items.ts'

export interface Target {
  readonly url: string
  /** The same as links should have it. */
  readonly linkUrl: string
  /** What is known of it already. */
  readonly known: readonly HttpResponse[]
}

/** Of an entry point that links more, the others can be named. */
const MAX_COLLECTIONS = 100

export async function findCollections(
  requester: Requester,
  address: URL,
  { collections = [], baseUrl }: CheckOptions,
): Promise<{ targets: readonly Target[]; notes: readonly string[] }> {
  const base = withoutSlash(address)
  const linkBase = baseUrl === undefined ? base : withoutSlash(linkAddress(baseUrl))
  const target = (name: string): Target => ({ url: `${base}/${name}`, linkUrl: `${linkBase}/${name}`, known: [] })
  if (collections.length > 0) return { targets: [...new Set(collections)].map(pathSegment).map(target), notes: [] }
  const response = await request(requester, address)
  const hrefs = response?.status === 200 && response.document !== undefined ? entryLinks(response.document) : undefined
  if (hrefs === undefined) {
    const linkUrl = baseUrl === undefined ? address.href : `${linkBase}/${address.pathname.split('/').at(-1)}`
    return { targets: [{ url: address.href, linkUrl, known: response === undefined ? [] : [response] }], notes: [] }
  }
  const names = [...new Set(hrefs.flatMap((href) => nameUnder(linkBase, href) ?? []))]
  return { targets: names.slice(0, MAX_COLLECTIONS).map(target), notes: notesOn(hrefs, names, linkBase) }
}

function withoutSlash({ origin, pathname }: URL): string {
  return `${origin}${pathname.replace(/\/+$/, '')}`
}

function linkAddress(baseUrl: string): URL {
  if (URL.canParse(baseUrl)) return new URL(baseUrl)
  throw new WrongUse(`The base URL "${baseUrl}" is not an absolute URL. Expected one such as https://api.example.com.`)
}

function pathSegment(name: string): string {
  const segment = encodeURIComponent(name)
  if (isSegment(segment)) return segment
  throw new WrongUse(`Invalid collection name "${name}".`)
}

async function request(requester: Requester, address: URL): Promise<HttpResponse | undefined> {
  requester.requestsLeft = 1
  try {
    return await requester.send(createRequest(address.href), nameOf(address))
  } catch (error) {
    if (error instanceof LimitReached) return undefined
    throw error
  }
}

/** An entry point lists its collections under one relation, or links them and holds nothing else. */
function entryLinks(document: Document): string[] | undefined {
  if (document.kind !== 'an object' || isPaginated(document)) return undefined
  const listed = document.links.get('collections')
  if (Array.isArray(listed)) return hrefsOf(listed)
  if (document.embeddedKind !== 'absent' || document.linksKind === 'absent') return undefined
  return hrefsOf([...document.links].filter(([relation]) => relation !== 'self').flatMap(([, link]) => link))
}

function hrefsOf(links: readonly unknown[]): string[] {
  return links.flatMap((link) => (isJsonObject(link) && typeof link['href'] === 'string' ? [link['href']] : []))
}

/** Only what lies directly under the entry point: nothing sends a request, or a token, to anywhere else. */
function nameUnder(base: string, href: string): string | undefined {
  const name = href.startsWith(`${base}/`) ? href.slice(base.length + 1) : ''
  return isSegment(name) ? name : undefined
}

/** One segment of a path, as it stands in a URL. */
function isSegment(text: string): boolean {
  return /^(?!(?:\.|%2e){1,2}$)[\w.~!$&'()*+,;=:@%-]+$/i.test(text)
}

function notesOn(hrefs: readonly string[], names: readonly string[], base: string): string[] {
  const foreign = hrefs.filter((href) => nameUnder(base, href) === undefined)
  const [example = ''] = foreign
  const notes: string[] = []
  if (hrefs.length === 0) notes.push('The entry point links no collection.')
  if (foreign.length > 0)
    notes.push(
      `Links of the entry point that were left out because they are not under ${base}/: ${foreign.length}, such as ${shorten(example)}. If that is its address, pass it as the base URL (--base-url).`,
    )
  if (names.length > MAX_COLLECTIONS)
    notes.push(
      `The entry point links ${names.length} collections; the first ${MAX_COLLECTIONS} were checked. Name others with --collection.`,
    )
  return notes
}
