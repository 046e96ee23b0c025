/** What goes out on one connection, at the pace of its client, and the memory that it holds until the client takes it. */

import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Reply } from '../reply.ts'
import { portsOf } from './linux-proc.ts'
import type { Holder, UnsentMemory } from './unsent-memory.ts'

export interface OutgoingOptions {
  readonly unsent: UnsentMemory
  /** What a client has to take of a reply, once `sendGraceMs` are over. */
  readonly minBytesPerSecond: number
  readonly sendGraceMs: number
}

/** Bodies up to this size are sent in one piece. Of larger ones the next piece follows when the last is taken. */
const WHOLE_BYTES = 256 * 1024
const PIECE_BYTES = 64 * 1024
/** The system's buffer for a connection grows to 4 MB, and takes nothing more from us before a third of it is free. */
const SYSTEM_BYTES = 1536 * 1024

export class Outgoing implements Holder {
  readonly #socket: Socket
  readonly #options: OutgoingOptions
  readonly #onTaken: () => void
  /** When the client must have taken what was last written. */
  #deadlineAt = Number.POSITIVE_INFINITY

  /** `onTaken`: the last reply has gone out, or the connection is closed. */
  constructor(socket: Socket, options: OutgoingOptions, onTaken: () => void) {
    this.#socket = socket
    this.#options = options
    this.#onTaken = onTaken
    socket.once('close', () => this.#releaseAll())
  }

  get handedOver(): number {
    return this.#socket.bytesWritten - this.#socket.writableLength
  }

  get ports(): string {
    return portsOf(this.#socket.localPort, this.#socket.remotePort)
  }

  isTooSlow(now: number): boolean {
    return now > this.#deadlineAt
  }

  drop(): void {
    this.#releaseAll()
    this.#socket.resetAndDestroy()
  }

  /** Something else that the connection holds while its client does not take what it asked for. */
  hold(thing: object, bytes: number): void {
    this.#options.unsent.hold(this, thing, bytes)
  }

  release(thing: object): void {
    this.#options.unsent.release(this, thing)
  }

  #releaseAll(): void {
    this.#deadlineAt = Number.POSITIVE_INFINITY
    this.#options.unsent.releaseAll(this)
  }

  /** Sends the body of a reply whose head is written. */
  send(response: ServerResponse, { body, onSent }: Reply): void {
    if (body === null || typeof body === 'string' || body.length <= WHOLE_BYTES || response.req.method === 'HEAD') {
      response.end(body, onSent)
      // Nearly always the system has taken all of it by now.
      if (response.writableLength === 0) this.#onTaken()
      else this.#awaitClient(response, typeof body === 'object' && body !== null ? body : response)
    } else {
      this.#awaitClient(response, body)
      this.#sendPiece(response, body, 0, onSent)
    }
  }

  #sendPiece(response: ServerResponse, body: Uint8Array, start: number, onSent: (() => void) | undefined): void {
    const end = start + PIECE_BYTES
    this.#expect(Math.min(PIECE_BYTES, body.length - start))
    if (end >= body.length) response.end(body.subarray(start), onSent)
    else
      response.write(body.subarray(start, end), (error) => {
        if (!error) this.#sendPiece(response, body, end, onSent)
      })
  }

  #awaitClient(response: ServerResponse, thing: object): void {
    const bytes = thing instanceof Uint8Array ? thing.length : response.writableLength
    response.once('close', () => {
      this.#deadlineAt = Number.POSITIVE_INFINITY
      this.release(thing)
      this.#onTaken()
    })
    this.#expect(bytes)
    this.hold(thing, bytes)
  }

  #expect(bytes: number): void {
    const { sendGraceMs, minBytesPerSecond } = this.#options
    this.#deadlineAt = performance.now() + sendGraceMs + ((bytes + SYSTEM_BYTES) * 1_000) / minBytesPerSecond
  }
}
