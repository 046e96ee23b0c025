/** What this tab knows: where the service is, and the token, which is kept here and nowhere else. */

import { type ClientOptions, settingsOf } from '../../client/client-options.ts'
import type { Answer } from '../../client/exchange.ts'
import { type Collection, createClient } from '../../client/index.ts'
import { Requester } from '../../client/requester.ts'
import { entryUrl } from '../../contract/link.ts'

/** Who looks at a page wants to be told soon, and can ask again. */
const SOON = { retries: 1 }

/** A collection as the entry point tells of it. */
export interface Listed {
  readonly name: string
  readonly item_count: number
  readonly paginated: boolean
  readonly private?: boolean
  readonly key_field?: string | null
  readonly changed_at?: string
}

/** What came, how long it took and how large it was. */
export interface Timed<T> {
  readonly value: T
  readonly milliseconds: number
  /** As it came over the network; undefined where it was not packed. */
  readonly packedBytes: number | undefined
}

export class Session {
  /** As it stands in the links of the server. */
  readonly baseUrl: string
  /** The same place, as this page was opened: a browser asks nobody else. */
  readonly root: string
  token: string | undefined
  #listed: Promise<readonly Listed[]> | undefined
  #packedBytes: number | undefined

  constructor(baseUrl: string, origin: string) {
    this.baseUrl = baseUrl
    this.root = origin + new URL(baseUrl).pathname.replace(/\/$/, '')
  }

  /** Where a link of the server leads from here. */
  local(href: string): string {
    return href.startsWith(this.baseUrl) ? this.root + href.slice(this.baseUrl.length) : href
  }

  /** `isPatient` is for who can wait: the requests of a download are sent again as often as the client does by default. */
  collection(name: string, isPatient = false): Collection {
    return createClient(this.root, this.#options(isPatient)).collection(name)
  }

  /** All collections that can be read. */
  async list(signal?: AbortSignal): Promise<readonly Listed[]> {
    const { body } = await this.read(entryUrl(this.root), signal)
    const { _embedded: embedded } = JSON.parse(new TextDecoder().decode(body))
    return embedded.collections
  }

  /** What the entry point says of one collection, asked for once; undefined if nothing. */
  async listed(name: string): Promise<Listed | undefined> {
    this.#listed ??= this.list()
    const list = await this.#listed.catch(() => [])
    return list.find((listed) => listed.name === name)
  }

  /** Anything else that the service answers, with the errors of the client. */
  read(url: string, signal?: AbortSignal): Promise<Answer> {
    return new Requester(this.root, settingsOf(this.#options(false))).get(url, { signal }, (answer) => answer)
  }

  use(token: string): void {
    this.token = token || undefined
    this.#listed = undefined
  }

  async timed<T>(task: () => Promise<T>): Promise<Timed<T>> {
    const start = performance.now()
    const value = await task()
    return { value, milliseconds: performance.now() - start, packedBytes: this.#packedBytes }
  }

  #options(isPatient: boolean): ClientOptions {
    const fetch = async (request: Request) => {
      const response = await globalThis.fetch(request)
      const { headers } = response
      this.#packedBytes = headers.has('content-encoding') ? Number(headers.get('content-length')) : undefined
      return response
    }
    const allowedOrigins = [new URL(this.baseUrl).origin]
    return { token: this.token, fetch, allowedOrigins, ...(!isPatient && { retry: SOON }) }
  }
}
