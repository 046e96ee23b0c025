/** The collection that is mirrored, as its server shows it. */

import { HttpError } from '../client/client-error.ts'
import { type ClientOptions, settingsOf } from '../client/client-options.ts'
import { Collection } from '../client/collection.ts'
import { snapshotName } from '../client/envelope.ts'
import { inOrder } from '../client/in-order.ts'
import type { Page, ReadItem } from '../client/page.ts'
import { Requester } from '../client/requester.ts'
import { entryUrl } from '../contract/link.ts'
import { HistoryLost, MirrorError } from './mirror-error.ts'

/** Pages that are read ahead. */
const AHEAD = 4

/** The statuses of a state that is not kept any more, or never was in this history. */
const GONE: readonly number[] = [404, 410]

/** Statuses by which a server says that it is not the moment, or not for this token: anything else may be no entry point at all. */
const NOT_NOW: readonly number[] = [401, 408, 429]

/** What a collection is; undefined where its server does not tell. */
export interface Settings {
  readonly keyField: string | null | undefined
  readonly isPrivate: boolean | undefined
}

export class Origin {
  readonly url: string
  readonly live: Collection
  /** Whether a token goes along with every request. */
  readonly hasToken: boolean
  readonly #requester: Requester
  readonly #signal: AbortSignal
  #hasNoStates = false

  constructor(url: string, options: ClientOptions, signal: AbortSignal) {
    this.url = url
    this.#requester = new Requester(url, settingsOf(options))
    this.live = new Collection(url, this.#requester)
    this.hasToken = options.token !== undefined
    this.#signal = signal
  }

  /** As the entry point of the service has it. Nothing is known where there is none, or where it does not list the collection. */
  async settings(): Promise<Settings> {
    const slash = this.url.lastIndexOf('/')
    const name = this.url.slice(slash + 1)
    const url = entryUrl(this.url.slice(0, slash))
    try {
      const body = await this.#requester.send({ url }, { signal: this.#signal }, (fetched) => fetched.body)
      const listed = collectionsIn(JSON.parse(new TextDecoder().decode(body)))
      const { key, private: isPrivate } = listed.find((each) => each['name'] === name) ?? {}
      const isKey = key === null || typeof key === 'string'
      return {
        keyField: isKey ? key : undefined,
        isPrivate: typeof isPrivate === 'boolean' ? isPrivate : undefined,
      }
    } catch (error) {
      const hasNone = error instanceof HttpError && error.status < 500 && !NOT_NOW.includes(error.status)
      if (!hasNone && !(error instanceof SyntaxError)) throw error
      return { keyField: undefined, isPrivate: undefined }
    }
  }

  /** The state that a live page shows, or with which changes end; undefined if the server does not name any. */
  tagOf({ links }: Page): string | undefined {
    if (this.#hasNoStates) return undefined
    const { allows } = this.#requester
    return snapshotName(links, { url: this.url, allows })?.replace(/^[^@]*@/, '')
  }

  /** Ignores links to states from now on: they lead nowhere. */
  ignoreStates(): void {
    this.#hasNoStates = true
  }

  /** All pages of a state, in order. */
  async *snapshot(tag: string, readItem: ReadItem): AsyncGenerator<Page> {
    const snapshot = new Collection(`${this.url}@${tag}`, this.#requester, readItem)
    const signal = this.#signal
    const first = await known(snapshot.page(1, { signal }))
    yield first
    const read = (number: number, ending: AbortSignal) => known(snapshot.page(number, { signal: ending }))
    for await (const page of inOrder(2, first.lastPage, AHEAD, read, signal)) {
      if (page.itemCount !== first.itemCount) throw this.#changedCount(tag, first, page)
      yield page
    }
  }

  #changedCount(tag: string, first: Page, page: Page): MirrorError {
    const counts = `${first.itemCount} items on page 1, ${page.itemCount} on page ${page.number}`
    return new MirrorError('data', `${this.url}@${tag} is no snapshot: its item_count is ${counts}.`)
  }

  /** The changes since a state. */
  changes(tag: string): Collection {
    return new Collection(`${this.url}@${tag}..`, this.#requester)
  }

  /** Throws HistoryLost where the origin does not know that state any more. */
  async check(tag: string): Promise<void> {
    await known(this.changes(tag).page(1, { signal: this.#signal }))
  }
}

/** What is asked about a state of the origin: throws HistoryLost where it does not know it. */
export async function known<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (!(error instanceof HttpError && GONE.includes(error.status))) throw error
    const isExpired = error.status === 410
    const why = isExpired
      ? 'its origin does not keep the state that it shows any more'
      : 'its origin has another history'
    throw new HistoryLost(why, { cause: error })
  }
}

function collectionsIn(entry: unknown): readonly Readonly<Record<string, unknown>>[] {
  const { _embedded: embedded } = (entry ?? {}) as { _embedded?: { collections?: unknown } }
  const collections = embedded?.collections
  return Array.isArray(collections) ? collections.filter((each) => typeof each === 'object' && each !== null) : []
}
