/** The collection under test: every request to it goes through here and is sent once. */

import { shorten } from '../contract/message-text.ts'
import type { Requester } from './http/requester.ts'
import type { HttpResponse } from './http/response.ts'
import { createRequest, type HttpRequest } from './http/response.ts'
import type { Document } from './page/document.ts'
import { isJsonObject, kindOf, shown } from './page/items.ts'

export class Collection {
  /** Where requests go. */
  readonly url: string
  /** The same as links should have it. */
  readonly linkUrl: string
  /** The last segment of its path; that of the live collection for a snapshot. */
  readonly name: string
  readonly #requester: Requester
  readonly #byRequest = new Map<string, Promise<HttpResponse>>()
  readonly #responses: HttpResponse[] = []

  /** `known` are responses that need not be requested again; of two to the same request the later one counts. */
  constructor(
    requester: Requester,
    url: string,
    linkUrl: string,
    known: readonly HttpResponse[] = [],
    name = nameOf(new URL(url)),
  ) {
    this.#requester = requester
    this.url = url
    this.linkUrl = linkUrl
    this.name = name
    for (const response of known) this.#byRequest.set(JSON.stringify(response.request), Promise.resolve(response))
    this.#responses.push(...known)
  }

  /** A snapshot of it, or its changes: they stand beside it, with their items under the same name. */
  beside(segment: string): Collection {
    const [url = '', linkUrl = ''] = [this.url, this.linkUrl].map((each) => each.replace(/[^/]*$/, () => segment))
    return new Collection(this.#requester, url, linkUrl, [], this.name)
  }

  /** Every response so far, but for those of `sendUnrecorded`. */
  get responses(): readonly HttpResponse[] {
    return this.#responses
  }

  /** The collection without a query. */
  bare(headers: HttpRequest['headers'] = {}, method: HttpRequest['method'] = 'GET'): Promise<HttpResponse> {
    return this.send(createRequest(this.url, headers, method))
  }

  /** The collection with a query, which is sent as written here. */
  query(query: string): Promise<HttpResponse> {
    return this.send(createRequest(`${this.url}?${query}`))
  }

  /** A page by its number, which can be too large for a number of JavaScript. */
  page(page: number | bigint): Promise<HttpResponse> {
    return this.send(this.pageRequest(page))
  }

  pageRequest(page: number | bigint): HttpRequest {
    return createRequest(`${this.url}?page=${page}`)
  }

  /** Sends a request, or returns the response that the same one got before. */
  send(request: HttpRequest): Promise<HttpResponse> {
    const key = JSON.stringify(request)
    const known = this.#byRequest.get(key)
    if (known !== undefined) return known
    const response = this.sendAgain(request)
    this.#byRequest.set(key, response)
    return response
  }

  /** Sends a request although it was sent before. */
  async sendAgain(request: HttpRequest): Promise<HttpResponse> {
    const response = await this.sendUnrecorded(request)
    this.#responses.push(response)
    return response
  }

  /** Sends a request whose response is not kept: for a walk, which would keep too many. */
  sendUnrecorded(request: HttpRequest): Promise<HttpResponse> {
    return this.#requester.send(request, this.name)
  }

  /** A link of a response; undefined if it is absent. */
  link(document: Document | undefined, relation: string): LinkView | undefined {
    return viewLink(document?.links.get(relation), this.linkUrl)
  }

  /** The page that a link leads to; undefined if it leads to none. */
  linkedPage(document: Document | undefined, relation: string): number | undefined {
    const page = this.link(document, relation)?.page
    return Number.isSafeInteger(page) ? page : undefined
  }
}

/** The last segment of a path, decoded. */
export function nameOf({ pathname }: URL): string {
  const segment = pathname.split('/').at(-1) ?? ''
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

interface LinkView {
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
