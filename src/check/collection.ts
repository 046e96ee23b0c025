/** The collection under test: every request to it goes through here and is sent once. */

import { createRequest, type HttpRequest } from './http/request.ts'
import type { Requester } from './http/requester.ts'
import type { HttpResponse } from './http/response.ts'
import type { Document } from './page/document.ts'
import { type LinkView, viewLink } from './page/link.ts'

export class Collection {
  /** Where requests go. */
  readonly url: string
  /** The same as links should have it. */
  readonly linkUrl: string
  /** The last segment of its path. */
  readonly name: string
  readonly #requester: Requester
  readonly #byRequest = new Map<string, Promise<HttpResponse>>()
  readonly #responses: HttpResponse[] = []

  /** `known` are responses that need not be requested again; of two to the same request the later one counts. */
  constructor(requester: Requester, url: string, linkUrl: string, known: readonly HttpResponse[] = []) {
    this.#requester = requester
    this.url = url
    this.linkUrl = linkUrl
    this.name = nameOf(new URL(url))
    for (const response of known) this.#byRequest.set(JSON.stringify(response.request), Promise.resolve(response))
    this.#responses.push(...known)
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
