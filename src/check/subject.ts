/** The collection that is judged: every question about it goes through here and is sent once. */

import type { Answer } from './answer.ts'
import { type Ask, createAsk } from './ask.ts'
import type { Requester } from './requester.ts'

export class Subject {
  /** The collection's own URL, where requests go to. */
  readonly url: string
  /** The same as links should have it. */
  readonly linkUrl: string
  /** The last segment of its path. */
  readonly name: string
  readonly #requester: Requester
  readonly #answers = new Map<string, Promise<Answer>>()
  readonly #log: Answer[] = []

  /** `known` are answers that need not be asked for again; of two to the same question the later one counts. */
  constructor(requester: Requester, url: string, linkUrl: string = url, known: readonly Answer[] = []) {
    this.#requester = requester
    this.url = url
    this.linkUrl = linkUrl
    for (const answer of known) this.#answers.set(JSON.stringify(answer.ask), Promise.resolve(answer))
    this.#log.push(...known)
    this.name = nameOf(new URL(url))
  }

  /** Every answer so far, but for those that `askAside` sent. */
  get answers(): readonly Answer[] {
    return this.#log
  }

  /** The collection without a query. */
  bare(headers: Ask['headers'] = {}, method: Ask['method'] = 'GET'): Promise<Answer> {
    return this.ask(createAsk(this.url, headers, method))
  }

  /** The collection with a query, which is sent as it is written here. */
  query(query: string, headers: Ask['headers'] = {}, method: Ask['method'] = 'GET'): Promise<Answer> {
    return this.ask(createAsk(`${this.url}?${query}`, headers, method))
  }

  /** A page by its number, which can be too large for a number of JavaScript. */
  page(page: number | bigint, headers: Ask['headers'] = {}): Promise<Answer> {
    return this.ask(this.askPage(page, headers))
  }

  askPage(page: number | bigint, headers: Ask['headers'] = {}): Ask {
    return createAsk(`${this.url}?page=${page}`, headers)
  }

  /** Sends a request, or answers as the same one was answered before. */
  ask(ask: Ask): Promise<Answer> {
    const key = JSON.stringify(ask)
    const known = this.#answers.get(key)
    if (known !== undefined) return known
    const answer = this.askAgain(ask)
    this.#answers.set(key, answer)
    return answer
  }

  /** Sends a request although it was sent before. */
  async askAgain(ask: Ask): Promise<Answer> {
    const answer = await this.askAside(ask)
    this.#log.push(answer)
    return answer
  }

  /** Sends a request whose answer is not kept: for a walk, which would keep too many. */
  askAside(ask: Ask): Promise<Answer> {
    return this.#requester.send(ask, this.name)
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
