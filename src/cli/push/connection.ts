/** The connection over which batches go, one request after the other. */

import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'

/** Of an answer no more is read. */
const ANSWER_BYTES = 64 * 1024

export interface Answer {
  readonly status: number
  readonly statusText: string
  readonly header: (name: string) => string | undefined
  /** The beginning of it, where it is longer than any answer of ours. */
  readonly body: string
}

/** No answer came. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
  /** Whether the request may have arrived. */
  readonly wasSent: boolean
  readonly isWorthRetrying: boolean

  constructor(reason: string, wasSent: boolean, isWorthRetrying: boolean, cause?: unknown) {
    super(reason, { cause })
    this.wasSent = wasSent
    this.isWorthRetrying = isWorthRetrying
  }
}

export class PushConnection implements Disposable {
  readonly #url: URL
  readonly #timeoutMs: number
  readonly #agent: HttpAgent | HttpsAgent
  #isConnected = false
  #hasAnswered = false

  constructor(url: URL, timeoutMs: number) {
    this.#url = url
    this.#timeoutMs = timeoutMs
    const options = { keepAlive: true, maxSockets: 1 }
    this.#agent = url.protocol === 'https:' ? new HttpsAgent(options) : new HttpAgent(options)
  }

  /** Follows no redirect. Rejects with a NoAnswer, or with the reason of the signal. */
  async post(body: Uint8Array, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Answer> {
    const send = this.#url.protocol === 'https:' ? requestHttps : requestHttp
    const outgoing = send(this.#url, { method: 'POST', agent: this.#agent, headers, signal })
    this.#watch(outgoing)
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      outgoing.destroy()
    }, this.#timeoutMs)
    try {
      const answer = await readAnswer(await answerTo(outgoing, body))
      this.#hasAnswered = true
      // What was answered before all of it was sent needs no more.
      if (!outgoing.writableFinished) outgoing.destroy()
      return answer
    } catch (error) {
      signal.throwIfAborted()
      throw isLate ? this.#late() : this.#explain(error)
    } finally {
      clearTimeout(timer)
    }
  }

  [Symbol.dispose](): void {
    this.#agent.destroy()
  }

  /** Before there is a connection nothing is sent. */
  #watch(outgoing: ClientRequest): void {
    this.#isConnected = false
    outgoing.once('socket', (socket) => {
      this.#isConnected = outgoing.reusedSocket
      const connected = this.#url.protocol === 'https:' ? 'secureConnect' : 'connect'
      if (!outgoing.reusedSocket)
        socket.once(connected, () => {
          this.#isConnected = true
        })
    })
  }

  #late(): NoAnswer {
    return new NoAnswer(`no answer within ${this.#timeoutMs / 1000} s`, this.#isConnected, true)
  }

  #explain(error: unknown): NoAnswer {
    const { code = '', message } = error as NodeJS.ErrnoException
    const wasSent = this.#isConnected
    // A name that was found before will be found again.
    if (code === 'ENOTFOUND' && !this.#hasAnswered)
      return new NoAnswer(`there is no host ${this.#url.hostname}`, wasSent, false, error)
    if (code.startsWith('HPE_')) return new NoAnswer(`what answers is not HTTP (${code})`, wasSent, false)
    const what = wasSent ? 'the connection was lost' : 'no connection'
    return PASSING.has(code)
      ? new NoAnswer(`${what} (${code})`, wasSent, true, error)
      : new NoAnswer(`${what}: ${message}`, wasSent, false, error)
  }
}

/** What goes by when the server or the network is back. The rest, such as a certificate, does not. */
const PASSING = new Set([
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN'],
  ...['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT'],
])

function answerTo(outgoing: ClientRequest, body: Uint8Array): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.on('response', resolve)
    outgoing.on('error', reject)
    outgoing.on('upgrade', (_message, socket) => {
      socket.destroy()
      reject(new Error('the server switched to another protocol'))
    })
    outgoing.end(body)
  })
}

async function readAnswer(incoming: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of incoming) {
    chunks.push(chunk)
    length += chunk.length
    if (length > ANSWER_BYTES) break
  }
  const { statusCode = 0, statusMessage = '', headers } = incoming
  const header = (name: string) => headers[name]?.toString()
  const body = Buffer.concat(chunks).subarray(0, ANSWER_BYTES).toString()
  return { status: statusCode, statusText: statusMessage, header, body }
}
