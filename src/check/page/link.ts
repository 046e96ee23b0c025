/** Reads one relation of `_links` as a client would, and says what the contract does not allow. */

import { shorten } from '../../contract/message-text.ts'
import { isJsonObject, kindOf, shown } from './json.ts'

export interface LinkView {
  /** Undefined if the relation is not an object with a string as `href`; `flaw` then says what it is. */
  readonly href: string | undefined
  /** The page that it leads to; undefined if it names none, NaN if what it names is not a number. */
  readonly page: number | undefined
  /** What is wrong with it by C4, in words that follow the link's name. */
  readonly flaw: string | undefined
  /** Fields beside href. */
  readonly otherFields: readonly string[]
}

/** Undefined for a relation that is absent. Null counts as absent here: whether it may be null is D4's question. */
export function viewLink(relation: unknown, collectionUrl: string): LinkView | undefined {
  if (relation === undefined || relation === null) return undefined
  const { href, ...others } = isJsonObject(relation) ? relation : {}
  const otherFields = Object.keys(others)
  if (typeof href === 'string')
    return {
      href: shorten(href),
      page: pageOf(href, collectionUrl),
      flaw: flawOf(href, new URL(collectionUrl)),
      otherFields,
    }
  const noHref = href === undefined ? 'has no href' : `has as its href ${shown(href)}`
  const flaw = isJsonObject(relation) ? noHref : `is ${kindOf(relation)}: ${shown(relation)}`
  return { href: undefined, page: undefined, flaw, otherFields }
}

function pageOf(href: string, collectionUrl: string): number | undefined {
  if (!URL.canParse(href, collectionUrl)) return undefined
  const value = new URL(href, collectionUrl).searchParams.get('page')
  if (value === null) return undefined
  return /^[0-9]+$/.test(value) ? Number(value) : Number.NaN
}

/** The first flaw is enough: the others mostly follow from it. */
function flawOf(href: string, collection: URL): string | undefined {
  if (!URL.canParse(href)) return `is not an absolute URL: ${shown(href)}`
  // A URL parser corrects these; a client that compares strings does not.
  if (/[\s\\]|^https?:(?!\/\/)|\/\.\.?(?=\/|$)/i.test(href)) return `is not a plain URL: ${shown(href)}`
  const url = new URL(href)
  if (url.origin !== collection.origin) return `leads to ${shown(url.origin)}, not to ${collection.origin}`
  if (url.username !== '' || url.password !== '') return 'holds a user name or password'
  if (url.pathname !== collection.pathname)
    return `leads to the path ${shown(url.pathname)}, not to ${collection.pathname}`
  const query = /[?#].*$/s.exec(href)?.[0] ?? ''
  if (query === '' || /^\?page=[0-9]+$/.test(query)) return undefined
  if (url.hash !== '') return `carries a fragment: ${shown(url.hash)}`
  const others = [...url.searchParams.keys()].filter((name) => name !== 'page')
  if (others.length > 0) return `carries other parameters than page: ${shown(others)}`
  return `carries more than "page" and a number: ${shown(query)}`
}
