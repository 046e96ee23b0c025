/** A server that is killed again and again, and clients that send each request until it is answered. */

import { ITEM_SEPARATOR } from '../../src/contract/envelope.ts'
import { ReamsProcess } from './reams-process.ts'

/** Where nobody says another one. The port is another one after each start. Links stay as they are, as behind a proxy. */
const BASE_URL = 'http://reams.example'

/** A status that is no success, or no answer although nobody killed the server. */
export class WrongAnswer extends Error {
  override readonly name = 'WrongAnswer'
  /** Undefined where there was no answer. */
  readonly status: number | undefined

  constructor(message: string, { status, ...options }: ErrorOptions & { readonly status?: number } = {}) {
    super(message, options)
    this.status = status
  }
}

export interface SentBody {
  readonly type: string
  readonly body: string
  /** Makes sure that it is done once. */
  readonly idempotencyKey: string
}

export interface ReadState {
  /** The items as they were sent. */
  readonly texts: readonly string[]
  /** What the pages say about how many there are: one count. */
  readonly counts: readonly number[]
  /** Of the snapshot. */
  readonly path: string
}

export class MortalServer implements AsyncDisposable {
  readonly #location: string
  readonly #token: string
  readonly #baseUrl: string
  #process: ReamsProcess | undefined
  #address: Promise<string>
  kills = 0

  /** Starts it. */
  constructor(location: string, token: string, baseUrl = BASE_URL) {
    this.#location = location
    this.#token = token
    this.#baseUrl = baseUrl
    this.#address = this.#start()
  }

  /** Of the one that runs, or is being started. */
  async port(): Promise<number> {
    return Number(new URL(await this.#address).port)
  }

  /** Resolves when the next one is ready, with how long that took. In between, something can be done to its store. */
  async killAndStart(between?: () => Promise<void>): Promise<number> {
    const started = Promise.withResolvers<string>()
    // From now on, who loses the connection knows why.
    this.#address = started.promise
    this.kills++
    await this.#process?.kill()
    await between?.()
    const startedAt = performance.now()
    started.resolve(this.#start())
    await started.promise
    return performance.now() - startedAt
  }

  /** Takes a link or a path. What a kill left in doubt is sent again to the next server. */
  async ask(method: string, href: string, sent?: SentBody): Promise<string> {
    const { pathname, search } = new URL(href, BASE_URL)
    for (;;) {
      const address = this.#address
      const url = `${await address}${pathname}${search}`
      const answer = await this.#send(method, url, sent).catch((error: unknown) => {
        if (address !== this.#address) return undefined
        throw new WrongAnswer(`${method} ${href} was not answered, and nobody killed the server`, { cause: error })
      })
      if (answer === undefined) continue
      if (answer.status < 300) return answer.text
      const { status, text } = answer
      throw new WrongAnswer(`${method} ${href} was answered ${status}${this.#lastError()}: ${text}`, { status })
    }
  }

  /** The newest snapshot of a collection, page by page. */
  async readState(name: string): Promise<ReadState> {
    const { snapshot } = readLinks(await this.ask('GET', `/${name}`))
    const href = snapshot?.href ?? ''
    const texts: string[] = []
    const counts = new Set<number>()
    for (let next: string | undefined = href; next !== undefined; ) {
      const body: string = await this.ask('GET', next)
      texts.push(...readItems(body))
      counts.add(JSON.parse(body).item_count)
      next = readLinks(body)['next']?.href
    }
    return { texts, counts: [...counts], path: new URL(href).pathname }
  }

  /** What the server told about it in its log. */
  #lastError(): string {
    const { stdout = '', stderr = '' } = this.#process ?? {}
    const line = `${stdout}\n${stderr}`.split('\n').findLast((each) => /"level":"error".*"error":/.test(each))
    return line === undefined ? '' : ` (${JSON.parse(line).msg})`
  }

  async #send(method: string, url: string, sent?: SentBody): Promise<{ status: number; text: string }> {
    const response = await fetch(url, {
      method,
      headers: {
        Authorization: `Bearer ${this.#token}`,
        ...(sent && { 'Content-Type': sent.type, 'Idempotency-Key': sent.idempotencyKey }),
      },
      ...(sent && { body: sent.body }),
    })
    return { status: response.status, text: await response.text() }
  }

  #start(): Promise<string> {
    const variables = { REAMS_STORE: this.#location }
    this.#process = new ReamsProcess(['serve', '--port', '0', '--base-url', this.#baseUrl], { variables })
    return this.#process.address()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process?.kill()
  }
}

function readLinks(body: string): Partial<Record<string, { readonly href: string }>> {
  return JSON.parse(body)._links
}

/** The texts of the items of a page: JSON has no line breaks within. */
function readItems(body: string): string[] {
  const items = body.slice(body.indexOf('[\n') + 2, body.lastIndexOf('\n]'))
  return items === '' ? [] : items.split(ITEM_SEPARATOR)
}
