/** Carries out a plan on a real socket, and records what happens. */

import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { AnswerReader } from './answer-reader.ts'
import { answersDue, LAST_TAG, type Message } from './message.ts'
import type { Plan } from './plan.ts'

/** How long the server may take to answer a complete request, and to close after the client has. */
const ANSWER_MS = 20_000
/** How long to wait for an answer that need not come. */
const QUIET_MS = 30

export type Ending =
  /** closed: by the server, as it should be. */
  'closed' | 'reset by the server' | 'reset by the client' | 'not connected' | 'not answered' | 'left open'

export interface Transcript {
  readonly ending: Ending
  /** All that was sent. */
  readonly sent: Buffer
  /** How many messages were sent to their last byte. */
  readonly sentMessages: number
  /** What was sent of the one behind these. */
  readonly cutOff: Buffer
  readonly reader: AnswerReader
}

export function exchange(port: number, plan: Plan, answerMs: number = ANSWER_MS): Promise<Transcript> {
  return new Exchange(port, plan, answerMs).run()
}

class Exchange {
  readonly #plan: Plan
  readonly #answerMs: number
  readonly #socket: Socket
  readonly #reader: AnswerReader
  readonly #sent: Buffer[] = []
  #sentBytes = 0
  #sentMessages = 0
  #cutOff: Buffer = Buffer.alloc(0)
  #receivedBytes = 0
  #isConnected = false
  #isResetByServer = false
  #isResetByClient = false
  /** The server has closed its side, or the connection is gone. */
  #isEnded = false
  #isGone = false
  #wake = () => {}
  readonly #timers: NodeJS.Timeout[] = []

  constructor(port: number, plan: Plan, answerMs: number) {
    this.#plan = plan
    this.#answerMs = answerMs
    this.#reader = new AnswerReader((index) => this.#isToHead(index))
    this.#socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
  }

  async run(): Promise<Transcript> {
    this.#listen()
    const { ending: planned } = this.#plan.delivery
    await this.#until(() => this.#isConnected || this.#isGone)
    await this.#send()
    if (planned === 'reset') this.#reset()
    if (planned === 'half-close') this.#socket.end()
    const isAnswered = planned !== 'close' || (await this.#answers())
    if (isAnswered) this.#socket.end()
    const isClosed = isAnswered && (await this.#until(() => this.#isGone))
    for (const timer of this.#timers) clearTimeout(timer)
    this.#socket.destroy()
    return {
      ending: this.#ending(isAnswered, isClosed),
      sent: Buffer.concat(this.#sent),
      sentMessages: this.#sentMessages,
      cutOff: this.#cutOff,
      reader: this.#reader,
    }
  }

  /** A HEAD whose head is cut off is answered like any broken request, with a body. */
  #isToHead(index: number): boolean {
    const isHeadSent = index < this.#sentMessages || (index === this.#sentMessages && this.#cutOff.includes('\r\n\r\n'))
    return isHeadSent && this.#plan.messages[index]?.isHead === true
  }

  #ending(isAnswered: boolean, isClosed: boolean): Ending {
    if (this.#isResetByClient) return 'reset by the client'
    if (!this.#isConnected) return 'not connected'
    if (this.#isResetByServer) return 'reset by the server'
    if (!isAnswered) return 'not answered'
    return isClosed ? 'closed' : 'left open'
  }

  #listen(): void {
    const socket = this.#socket
    const { readAfterMs, resetAfterMs } = this.#plan.delivery
    const on = (event: string, happen: () => void) =>
      socket.on(event, () => {
        happen()
        this.#wake()
      })
    on('connect', () => {
      this.#isConnected = true
      if (readAfterMs === 0) this.#read()
      else if (readAfterMs < Number.POSITIVE_INFINITY) this.#later(readAfterMs, () => this.#read())
      if (resetAfterMs < Number.POSITIVE_INFINITY) this.#later(resetAfterMs, () => this.#reset())
    })
    on('error', () => {
      this.#isResetByServer = !this.#isResetByClient
    })
    on('end', () => {
      this.#isEnded = true
      socket.end()
    })
    on('close', () => {
      this.#isEnded = true
      this.#isGone = true
    })
    on('drain', () => {})
  }

  #read(): void {
    const { resetAfterBytes, readPauseMs } = this.#plan.delivery
    this.#socket.on('data', (chunk: Buffer) => {
      this.#receivedBytes += chunk.length
      this.#reader.push(chunk)
      if (this.#receivedBytes >= resetAfterBytes) this.#reset()
      if (readPauseMs > 0) {
        this.#socket.pause()
        this.#later(readPauseMs, () => this.#socket.resume())
      }
      this.#wake()
    })
  }

  #later(ms: number, act: () => void): void {
    this.#timers.push(setTimeout(act, ms))
  }

  #reset(): void {
    if (this.#isGone) return
    this.#isResetByClient = true
    // Libuv does not reset a socket that is shut down already, and would leave it open.
    if (this.#socket.writableEnded) this.#socket.destroy()
    else this.#socket.resetAndDestroy()
  }

  async #send(): Promise<void> {
    const { messages, delivery } = this.#plan
    for (const [index, message] of messages.entries()) {
      if (delivery.isInTurns && !(await this.#until(() => this.#isEnded || this.#reader.answers.length >= index)))
        return
      const before = this.#sentMessages
      await this.#sendMessage(message)
      if (this.#sentMessages === before) return
    }
  }

  async #sendMessage(message: Message): Promise<void> {
    const { stopAfterBytes, pieceBytes, pauseMs } = this.#plan.delivery
    const whole = this.#withLastTag(message.bytes)
    const due = whole.subarray(0, Math.max(0, stopAfterBytes - this.#sentBytes))
    for (let at = 0; at < due.length; at += pieceBytes) {
      // A server that has answered and closed need not be sent the rest.
      if (!this.#socket.writable || this.#isEnded) return
      const piece = due.subarray(at, at + pieceBytes)
      this.#sent.push(piece)
      this.#sentBytes += piece.length
      const isWhole = at + piece.length === whole.length
      if (isWhole) this.#sentMessages++
      this.#cutOff = whole.subarray(0, isWhole ? 0 : at + piece.length)
      const isTaken = this.#socket.write(piece)
      if (!isTaken) await this.#until(() => this.#isGone || this.#socket.writableLength === 0)
      if (pieceBytes < whole.length || pauseMs > 0) await sleep(pauseMs)
    }
  }

  #withLastTag(bytes: Buffer): Buffer {
    const tag = this.#reader.answers.at(-1)?.headers.get('etag')
    if (tag === undefined || !bytes.includes(LAST_TAG)) return bytes
    return Buffer.from(bytes.toString('latin1').replace(LAST_TAG, tag), 'latin1')
  }

  /** False if an answer that has to come did not come in time. */
  async #answers(): Promise<boolean> {
    const due = answersDue(this.#plan.messages.slice(0, this.#sentMessages))
    const isAnswered = () => this.#isEnded || this.#reader.flaw !== undefined || this.#reader.answers.length >= due
    if (!(await this.#until(isAnswered))) return false
    const isCertain = due === this.#plan.messages.length
    if (!isCertain) await this.#until(() => this.#isEnded, QUIET_MS)
    return true
  }

  /** False if the time is over first. */
  async #until(isSo: () => boolean, ms: number = this.#answerMs): Promise<boolean> {
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      this.#wake()
    }, ms)
    try {
      while (!isSo() && !isLate)
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      return isSo()
    } finally {
      clearTimeout(timer)
    }
  }
}
