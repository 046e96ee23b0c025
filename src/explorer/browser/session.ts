/** What this tab knows: where the service is, and the token, which is kept here and nowhere else. */

import { type ClientOptions, settingsOf } from '../../client/client-options.ts'
import type { Collection } from '../../client/collection.ts'
import { createClient } from '../../client/create-client.ts'
import { Requester } from '../../client/requester.ts'
import { entryUrl } from '../../contract/link.ts'
import { bytes } from './figures.ts'

/** A collection as the entry point tells of it. */
export interface Listed {
  readonly name: string
  readonly item_count: number
  readonly paginated: boolean
  readonly private?: boolean
  readonly key?: string | null
  readonly changed_at?: string
}

export class Session {
  /** As it stands in the links of the server. */
  readonly baseUrl: string
  /** The same place, as this page was opened: a browser asks nobody else. */
  readonly root: string
  token: string | undefined
  /** Size and time of the answer that came last: `76.5 kB (10.7 kB packed) in 8 ms`. */
  lastAnswer = ''
  #listed: ReturnType<Session['list']> | undefined

  constructor(baseUrl: string, origin: string) {
    this.baseUrl = baseUrl
    this.root = origin + new URL(baseUrl).pathname.replace(/\/$/, '')
  }

  /** Where a link of the server leads from here. */
  local(href: string): string {
    return href.startsWith(this.baseUrl) ? this.root + href.slice(this.baseUrl.length) : href
  }

  /** Who looks at a page wants to be told soon what is wrong; a download is sent again as often as the client does. */
  collection(name: string, options: ClientOptions = this.#options({ fetch: this.#fetch, retry: SOON })): Collection {
    return createClient(this.root, options).collection(name)
  }

  patiently(name: string): Collection {
    return this.collection(name, this.#options({}))
  }

  /** The text of anything else that the service answers, with the errors of the client. */
  async text(url: string, signal?: AbortSignal): Promise<string> {
    const settings = settingsOf(this.#options({ fetch: this.#fetch, retry: SOON }))
    const { body } = await new Requester(this.root, settings).send({ url }, { signal }, (fetched) => fetched)
    return new TextDecoder().decode(body)
  }

  /** All collections that can be read, and whether there may be more. */
  async list(signal?: AbortSignal): Promise<{ list: readonly Listed[]; isPart: boolean }> {
    const { _embedded: embedded, incomplete } = JSON.parse(await this.text(entryUrl(this.root), signal))
    return { list: embedded.collections, isPart: incomplete === true }
  }

  /** The field by which the items of a collection are found, asked for once; undefined where there is none. */
  async keyField(name: string): Promise<string | null | undefined> {
    this.#listed ??= this.list()
    const list = await this.#listed.catch(() => undefined)
    if (list === undefined) this.#listed = undefined
    return list?.list.find((listed) => listed.name === name)?.key
  }

  use(token: string): void {
    this.token = token || undefined
    this.#listed = undefined
  }

  #options(options: ClientOptions): ClientOptions {
    return { token: this.token, allowedOrigins: [new URL(this.baseUrl).origin], ...options }
  }

  readonly #fetch = async (request: Request): Promise<Response> => {
    const start = performance.now()
    const response = await fetch(request)
    const { ok, headers } = response
    if (!ok) return response
    const body = await response.arrayBuffer()
    const packed = headers.has('content-encoding') ? ` (${bytes(Number(headers.get('content-length')))} packed)` : ''
    // What the browser noted itself does not count the time for which this page was busy.
    const { duration } = performance.getEntriesByName(request.url).at(-1) ?? { duration: performance.now() - start }
    performance.clearResourceTimings()
    this.lastAnswer = `${bytes(body.byteLength)}${packed} in ${Math.ceil(duration)} ms`
    return new Response(body, response)
  }
}

const SOON = { retries: 1 }
