/** Carries out a plan on a real socket, and records what happens. */

import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { AnswerReader } from './answer-reader.ts'
import { answersDue, LAST_TAG, type Message } from './message.ts'
import type { Plan } from './plan.ts'

/** How long the server may take to answer a complete request, and to close after the client has. */
const ANSWER_MS = 20_000
/** How long to wait for an answer that need not come. */
const QUIET_MS = 30

export interface Transcript {
  /** closed: by the server, as it should be. */
  readonly ending:
    | 'closed'
    | 'reset by the server'
    | 'reset by the client'
    | 'not connected'
    | 'not answered'
    | 'left open'
  /** All that was sent. */
  readonly sent: Buffer
  /** How many messages were sent to their last byte. */
  readonly sentMessages: number
  /** What was sent of the one behind these. */
  readonly cutOff: Buffer
  readonly reader: AnswerReader
}

export async function exchange(
  port: number,
  { messages, delivery }: Plan,
  answerMs: number = ANSWER_MS,
): Promise<Transcript> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
  const reader = new AnswerReader(isToHead)
  const sent: Buffer[] = []
  const timers: NodeJS.Timeout[] = []
  let sentBytes = 0
  let sentMessages = 0
  let cutOff: Buffer = Buffer.alloc(0)
  let receivedBytes = 0
  let isConnected = false
  let resetBy: 'server' | 'client' | undefined
  /** The server has closed its side, or the connection is gone. */
  let isEnded = false
  let isGone = false
  let wake = () => {}

  /** A HEAD whose head is cut off is answered like any broken request, with a body. */
  function isToHead(index: number): boolean {
    const isHeadSent = index < sentMessages || (index === sentMessages && cutOff.includes('\r\n\r\n'))
    return isHeadSent && messages[index]?.isHead === true
  }

  function reset(): void {
    if (isGone) return
    resetBy = 'client'
    // Libuv does not reset a socket that is shut down already, and would leave it open.
    if (socket.writableEnded) socket.destroy()
    else socket.resetAndDestroy()
  }

  /** Never, if the time is infinite. */
  function later(ms: number, act: () => void): void {
    if (ms === 0) act()
    else if (ms < Number.POSITIVE_INFINITY) timers.push(setTimeout(act, ms))
  }

  function read(): void {
    socket.on('data', (chunk: Buffer) => {
      receivedBytes += chunk.length
      reader.push(chunk)
      if (receivedBytes >= delivery.resetAfterBytes) reset()
      socket.pause()
      later(delivery.readPauseMs, () => socket.resume())
      wake()
    })
  }

  /** False if the time is over first. */
  async function until(isSo: () => boolean, ms = answerMs): Promise<boolean> {
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      wake()
    }, ms)
    while (!isSo() && !isLate)
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    clearTimeout(timer)
    return isSo()
  }

  async function send(message: Message): Promise<void> {
    const { stopAfterBytes, pieceBytes, pauseMs } = delivery
    const tag = reader.answers.at(-1)?.headers.get('etag') ?? LAST_TAG
    const whole = Buffer.from(message.bytes.toString('latin1').replace(LAST_TAG, tag), 'latin1')
    const due = whole.subarray(0, Math.max(0, stopAfterBytes - sentBytes))
    for (let at = 0; at < due.length; at += pieceBytes) {
      // A server that has answered and closed need not be sent the rest.
      if (!socket.writable || isEnded) return
      const piece = due.subarray(at, at + pieceBytes)
      sent.push(piece)
      sentBytes += piece.length
      const isWhole = at + piece.length === whole.length
      if (isWhole) sentMessages++
      cutOff = whole.subarray(0, isWhole ? 0 : at + piece.length)
      if (!socket.write(piece)) await until(() => isGone || socket.writableLength === 0)
      if (pieceBytes < whole.length || pauseMs > 0) await sleep(pauseMs)
    }
  }

  async function sendAll(): Promise<void> {
    for (const [index, message] of messages.entries()) {
      if (delivery.isInTurns && !(await until(() => isEnded || reader.answers.length >= index))) return
      await send(message)
      if (sentMessages === index) return
    }
  }

  /** False if an answer that has to come did not come in time. */
  async function areAnswered(): Promise<boolean> {
    const due = answersDue(messages.slice(0, sentMessages))
    if (!(await until(() => isEnded || reader.flaw !== undefined || reader.answers.length >= due))) return false
    if (due < messages.length) await until(() => isEnded, QUIET_MS)
    return true
  }

  const happenings: Readonly<Record<string, () => void>> = {
    connect() {
      isConnected = true
      later(delivery.readAfterMs, read)
      later(delivery.resetAfterMs, reset)
    },
    error() {
      resetBy ??= 'server'
    },
    end() {
      isEnded = true
      socket.end()
    },
    close() {
      isEnded = true
      isGone = true
    },
    drain() {},
  }
  for (const [event, happen] of Object.entries(happenings))
    socket.on(event, () => {
      happen()
      wake()
    })

  await until(() => isConnected || isGone)
  await sendAll()
  if (delivery.ending === 'reset') reset()
  if (delivery.ending === 'half-close') socket.end()
  const isAnswered = delivery.ending !== 'close' || (await areAnswered())
  if (isAnswered) socket.end()
  const isClosed = isAnswered && (await until(() => isGone))
  for (const timer of timers) clearTimeout(timer)
  socket.destroy()

  const endingOf = (): Transcript['ending'] => {
    if (resetBy === 'client') return 'reset by the client'
    if (!isConnected) return 'not connected'
    if (resetBy === 'server') return 'reset by the server'
    if (!isAnswered) return 'not answered'
    return isClosed ? 'closed' : 'left open'
  }
  return { ending: endingOf(), sent: Buffer.concat(sent), sentMessages, cutOff, reader }
}
