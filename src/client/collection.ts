/** One collection of a server: its pages, its items, its count, and all of it into a sink. */

import { pageUrl } from '../contract/link.ts'
import { CollectionChanged } from './client-error.ts'
import { type ListChoice, type Page, type ReadItem, readPage } from './page.ts'
import type { RequestContext, Requester } from './requester.ts'
import { type Drift, type Reader, type Step, type WalkState, walk } from './walk.ts'

export interface ReadOptions {
  /** Ends the operation, which rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

export interface NewerOptions extends ReadOptions {
  /** For how many seconds the server may wait for a change before it answers that there is none, if it can. Default: 0. */
  readonly waitSeconds?: number | undefined
}

export interface WalkChoice extends ReadOptions {
  /** Whether to read live pages, also where the server links a snapshot. Default: false. */
  readonly live?: boolean | undefined
}

export interface IterateOptions extends WalkChoice {
  /** Called at the end if the collection changed meanwhile without harm. */
  readonly onDrift?: ((drift: Drift) => void) | undefined
}

/** Takes the pages of a pull, in order, one at a time: the next comes when it has taken the one before. */
export interface Sink<Item = unknown> {
  /** Takes the items of the page from `first` on. With `state` kept, a pull can be resumed behind them. */
  page(page: Page<Item>, step: Step<Item>): void | Promise<void>
  /** Forgets all that it was given: the collection changed, and is read again from its beginning. */
  restart(): void | Promise<void>
}

export interface PullOptions extends WalkChoice {
  /** Where an earlier pull ended: this one resumes behind it, if the collection is still the same. */
  readonly from?: WalkState | undefined
  /** How often to begin again when the collection changed. Default: 3. */
  readonly restarts?: number | undefined
  /** Called after every page. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
}

export interface Progress {
  /** Handed over so far, also by the pull that this one resumes. */
  readonly items: number
  /** As the newest page says. */
  readonly itemCount: number
  readonly page: number
  readonly lastPage: number
  readonly requestsInFlight: number
  readonly retries: number
  readonly restarts: number
}

export interface PullResult extends Drift {
  /** Exactly so many were handed over: the `item_count` of the last page. */
  readonly itemCount: number
  readonly pages: number
  /** How often a request was sent again. */
  readonly retries: number
  /** How often the collection was read from its beginning again. */
  readonly restarts: number
  /** With this, a later pull fetches what was appended. */
  readonly state: WalkState
}

const DEFAULT_RESTARTS = 3

export class Collection<Item = unknown> {
  readonly url: string
  readonly #requester: Requester
  readonly #readItem: ReadItem | undefined
  readonly #choice: ListChoice

  constructor(url: string, requester: Requester, readItem?: ReadItem) {
    this.url = url
    this.#choice = { collection: nameIn(url) }
    this.#requester = requester
    this.#readItem = readItem
  }

  /** One page; beyond the last one, the last. */
  async page(number: number, options: ReadOptions = {}): Promise<Page<Item>> {
    if (!Number.isSafeInteger(number) || number < 1)
      throw new TypeError(`Invalid page number ${number}: expected 1 or more.`)
    return this.#read(number, options)
  }

  /** The same, but undefined where it still is the one with that `etag`. */
  newerPage(number: number, etag: string, options: NewerOptions = {}): Promise<Page<Item> | undefined> {
    const { waitSeconds = 0, ...context } = options
    const headers = { 'If-None-Match': etag, ...(waitSeconds > 0 && { Prefer: `wait=${waitSeconds}` }) }
    const { allows } = this.#requester
    return this.#requester.send({ url: this.#pageUrl(number), headers }, context, (fetched) =>
      fetched.isUnchanged ? undefined : readPage<Item>(fetched, { page: number, allows }, this.#choice),
    )
  }

  /** How many items there are. */
  async count(options: ReadOptions = {}): Promise<number> {
    return (await this.page(1, options)).itemCount
  }

  /** All pages, in order, read ahead. */
  async *pages(options: IterateOptions = {}): AsyncGenerator<Page<Item>, void> {
    let drift: Drift | undefined
    for await (const step of this.#walk(options)) {
      drift = step.drift
      yield step.page
    }
    if (drift?.replaced || drift?.appended) options.onDrift?.(drift)
  }

  /** All items, in order, read ahead. */
  async *items(options: IterateOptions = {}): AsyncGenerator<Item, void> {
    for await (const page of this.pages(options))
      for (const item of page.items) {
        options.signal?.throwIfAborted()
        yield item
      }
  }

  /** Hands all pages to a sink. When this resolves, the sink has every item exactly once. */
  async pull(sink: Sink<Item>, options: PullOptions = {}): Promise<PullResult> {
    const { signal, live, restarts: maxRestarts = DEFAULT_RESTARTS, onProgress } = options
    let { from } = options
    let retries = 0
    const onRetry = () => void retries++
    for (let restarts = 0; ; restarts++) {
      try {
        let result: PullResult | undefined
        for await (const step of this.#walk({ signal, live, onRetry }, from)) {
          await sink.page(step.page, step)
          const { number: page, itemCount, lastPage } = step.page
          const { items } = step.state
          const requestsInFlight = this.#requester.slots.taken
          onProgress?.({ items, itemCount, page, lastPage, requestsInFlight, retries, restarts })
          result = { itemCount, pages: lastPage, ...step.drift, retries, restarts, state: step.state }
        }
        if (result !== undefined) return result
      } catch (error) {
        if (!(error instanceof CollectionChanged && restarts < maxRestarts)) throw error
      }
      from = undefined
      await sink.restart()
    }
  }

  #walk({ signal, onRetry, live }: WalkChoice & RequestContext, from?: WalkState): AsyncGenerator<Step<Item>, void> {
    const { url } = this
    const { settings, allows } = this.#requester
    this.#choice.name ??= from?.list || undefined
    const read: Reader<Item> = (number, ending, name) => this.#read(number, { signal: ending, onRetry }, name)
    return walk<Item>({ url, read, signal, ahead: settings.concurrency, from, live, allows })
  }

  /** `snapshot` is the name of one beside the collection. */
  #read(page: number, context: RequestContext, snapshot?: string): Promise<Page<Item>> {
    const { allows } = this.#requester
    const url = this.#pageUrl(page, snapshot)
    return this.#requester.send({ url }, context, (fetched) =>
      readPage(fetched, { page, allows }, this.#choice, this.#readItem),
    )
  }

  #pageUrl(page: number, snapshot?: string): string {
    const slash = this.url.lastIndexOf('/')
    return pageUrl(this.url.slice(0, slash), snapshot ?? this.url.slice(slash + 1), page)
  }
}

/** The name of a collection, or of the one that a snapshot shows. */
function nameIn(url: string): string {
  const segment = url.replace(/.*\/|@.*/g, '')
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
