/** Which collections are to be judged: the one at the URL, those that were named, or those that an entry point links. */

import { createAsk } from './ask.ts'
import type { Document } from './document.ts'
import { isPaginated } from './document.ts'
import { isJsonObject } from './json-kind.ts'
import { LimitReached, type Requester } from './requester.ts'

/** Of an entry point that links more, the others can be named. */
const MOST_COLLECTIONS = 100

export interface Target {
  readonly url: string
  /** The same as links should have it. */
  readonly linkUrl: string
}

export interface TargetOptions {
  readonly collections?: readonly string[]
  readonly baseUrl?: string
}

export async function collectionsOf(
  requester: Requester,
  address: URL,
  { collections = [], baseUrl }: TargetOptions,
): Promise<Target[]> {
  const base = `${address.origin}${address.pathname.replace(/\/+$/, '')}`
  const target = (name: string) => ({
    url: `${base}/${name}`,
    linkUrl: `${baseUrl?.replace(/\/+$/, '') ?? base}/${name}`,
  })
  if (collections.length > 0) return collections.map((name) => target(encodeURIComponent(name)))
  const names = await namesAtEntry(requester, address, baseUrl ?? base)
  if (names !== undefined) return names.map(target)
  const name = address.pathname.split('/').at(-1) ?? ''
  return [
    { url: address.href, linkUrl: baseUrl === undefined ? address.href : `${baseUrl.replace(/\/+$/, '')}/${name}` },
  ]
}

/** The names of the collections that the entry point at this address links; undefined where there is no entry point. */
async function namesAtEntry(requester: Requester, address: URL, base: string): Promise<string[] | undefined> {
  requester.allow(1)
  try {
    const { status, document } = await requester.send(createAsk(address.href), '')
    const hrefs = status === 200 && document !== undefined ? entryLinks(document) : undefined
    if (hrefs === undefined) return undefined
    const prefix = `${base.replace(/\/+$/, '')}/`
    // Only what lies directly under the entry point: nothing sends a request, or a token, to anywhere else.
    const names = hrefs.filter((href) => href.startsWith(prefix)).map((href) => href.slice(prefix.length))
    const collections = [...new Set(names)].filter(isName)
    return collections.length === 0 ? undefined : collections.slice(0, MOST_COLLECTIONS)
  } catch (error) {
    if (error instanceof LimitReached) return undefined
    throw error
  }
}

/** One segment of a path, as it stands in a URL. */
function isName(text: string): boolean {
  return /^(?![.]{1,2}$)[\w.~!$&'()*+,;=:@-]+$/.test(text)
}

/** An entry point lists its collections under one relation, or links them and holds nothing else. */
function entryLinks(document: Document): string[] | undefined {
  if (document.kind !== 'an object' || isPaginated(document)) return undefined
  const listed = document.links.get('collections')
  if (Array.isArray(listed)) return hrefsOf(listed)
  if (document.embeddedKind !== 'absent') return undefined
  return hrefsOf([...document.links].filter(([relation]) => relation !== 'self').flatMap(([, link]) => link))
}

function hrefsOf(links: readonly unknown[]): string[] {
  return links.flatMap((link) => (isJsonObject(link) && typeof link['href'] === 'string' ? [link['href']] : []))
}
