/** One collection of a server: its pages, its items, its count. */

import { pageUrl } from '../contract/link.ts'
import { type Page, readPage } from './page.ts'
import { type PullOptions, type PullResult, pull, type Sink } from './pull.ts'
import type { Errand, Requester } from './requester.ts'
import { type Drift, type Step, Walk, type WalkState } from './walk.ts'

export interface ReadOptions {
  /** Ends what is under way, which rejects with its reason. */
  readonly signal?: AbortSignal | undefined
}

export interface IterateOptions extends ReadOptions {
  /** Told at the end if the collection changed on the way, without harm. */
  readonly onDrift?: ((drift: Drift) => void) | undefined
}

export class Collection<Item = unknown> {
  readonly url: string
  readonly #requester: Requester

  constructor(url: string, requester: Requester) {
    this.url = url
    this.#requester = requester
  }

  /** One page; beyond the last one, the last. */
  async page(number: number, options: ReadOptions = {}): Promise<Page<Item>> {
    if (!Number.isSafeInteger(number) || number < 1)
      throw new TypeError(`${number} is not the number of a page. They count from 1.`)
    return this.#read(number, options)
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

  /** Hands all pages to a sink. When it is through, the sink has every item once, or this rejects. */
  async pull(sink: Sink<Item>, options: PullOptions = {}): Promise<PullResult> {
    const requestsInFlight = () => this.#requester.slots.taken
    return pull((errand, from) => this.#walk(errand, from), sink, { ...options, requestsInFlight })
  }

  #walk({ signal, onRetry }: Errand, from?: WalkState): AsyncGenerator<Step<Item>, void> {
    const { url } = this
    const ahead = this.#requester.settings.concurrency
    const read = (number: number, ending: AbortSignal | undefined) => this.#read(number, { signal: ending, onRetry })
    return new Walk<Item>({ url, read, signal, ahead, from }).steps()
  }

  #read(page: number, errand: Errand): Promise<Page<Item>> {
    const { allows } = this.#requester
    const slash = this.url.lastIndexOf('/')
    const url = pageUrl(this.url.slice(0, slash), this.url.slice(slash + 1), page)
    return this.#requester.get(url, errand, (answer) => readPage(answer, { page, allows }))
  }
}
