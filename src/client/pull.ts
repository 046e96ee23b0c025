/** Brings a whole collection to a sink. */

import { CollectionChanged } from './collection-changed.ts'
import type { Page } from './page.ts'
import type { Errand } from './requester.ts'
import type { Drift, Step, WalkState } from './walk.ts'

/** Takes the pages, in order, one at a time: the next comes when it has taken the one before. */
export interface Sink<Item = unknown> {
  /** Takes the items of the page from `first` on. With `state` kept, a pull can go on behind them. */
  page(page: Page<Item>, step: Step<Item>): void | Promise<void>
  /** Forgets all that it was given: the collection changed, and is read again from its beginning. */
  restart(): void | Promise<void>
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

export interface PullOptions {
  /** Ends the pull, which rejects with its reason. */
  readonly signal?: AbortSignal | undefined
  /** Where an earlier pull ended: this one goes on behind it, if the collection is still the same. */
  readonly from?: WalkState | undefined
  /** How often to begin again when the collection changed. Default: 3. */
  readonly restarts?: number | undefined
  /** Told after every page. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
}

export interface Progress {
  /** Handed over so far, also by the pull that this one goes on with. */
  readonly items: number
  /** As the newest page says. */
  readonly itemCount: number
  readonly page: number
  readonly lastPage: number
  readonly requestsInFlight: number
  readonly retries: number
  readonly restarts: number
}

/** Begins a walk, or goes on with one. */
export type StartWalk<Item> = (errand: Errand, from: WalkState | undefined) => AsyncGenerator<Step<Item>, void>

const DEFAULT_RESTARTS = 3

export async function pull<Item>(
  startWalk: StartWalk<Item>,
  sink: Sink<Item>,
  options: PullOptions & { readonly requestsInFlight: () => number },
): Promise<PullResult> {
  const { signal, restarts: mostRestarts = DEFAULT_RESTARTS, onProgress, requestsInFlight } = options
  let { from } = options
  let retries = 0
  const onRetry = () => void retries++
  for (let restarts = 0; ; restarts++) {
    try {
      let result: PullResult | undefined
      for await (const step of startWalk({ signal, onRetry }, from)) {
        await sink.page(step.page, step)
        const { number: page, itemCount, lastPage } = step.page
        const { items } = step.state
        onProgress?.({ items, itemCount, page, lastPage, requestsInFlight: requestsInFlight(), retries, restarts })
        result = { itemCount, pages: lastPage, ...step.drift, retries, restarts, state: step.state }
      }
      if (result !== undefined) return result
    } catch (error) {
      if (!(error instanceof CollectionChanged && restarts < mostRestarts)) throw error
    }
    from = undefined
    await sink.restart()
  }
}
