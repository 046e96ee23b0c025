/** A server that is killed again and again, and clients that send each request until it is answered. */

import { WrongAnswer } from './connection.ts'
import { ReamsProcess } from './reams-process.ts'
import type { Findings } from './report.ts'
import { linkOf, readPage, readPages, textsOf } from './walk.ts'

/** Where nobody says another one. The port is another one after each start. Links stay as they are, as behind a proxy. */
const BASE_URL = 'http://reams.example'

export interface SentBody {
  readonly type: string
  readonly body: string
  /** Makes sure that it is done once. */
  readonly idempotencyKey: string
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

  /** The items of the newest snapshot of a collection, page by page, and its path. */
  async readState(name: string, findings: Findings): Promise<{ texts: readonly string[]; path: string }> {
    const path = linkOf(readPage(await this.ask('GET', `/${name}`), findings), 'snapshot')
    const pages = await readPages(path, (href) => this.ask('GET', href), findings)
    return { texts: textsOf(pages, findings), path }
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
