/** Sends the replies of one connection at the pace of its client, and accounts for the memory that they hold meanwhile. */

import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Reply } from '../reply.ts'
import { inUse, type JoinedReply, joinHead } from './joined-head.ts'
import { portsOf } from './linux-proc.ts'
import type { Holder, UnsentMemory } from './unsent-memory.ts'

export interface OutgoingOptions {
  readonly unsent: UnsentMemory
  /** The minimum rate at which a client has to read, once `sendGraceMs` are over. */
  readonly minBytesPerSecond: number
  readonly sendGraceMs: number
}

/** Bodies up to this size are sent in one piece. Larger ones are sent piece by piece, each when the last has gone out. */
const WHOLE_BYTES = 256 * 1024
const PIECE_BYTES = 64 * 1024
/** The kernel's send buffer grows to 4 MB, and accepts nothing more before a third of it is free. */
const SYSTEM_BYTES = 1536 * 1024

/** A reply has gone out, or the connection was closed before: so many bytes of its body were sent. */
type OnSent = (bodyBytes: number, isAborted: boolean) => void

export class Outgoing implements Holder {
  readonly #socket: Socket
  readonly #options: OutgoingOptions
  readonly #onSent: OnSent
  /** When the client must have read what was last written. */
  #deadlineAt = Number.POSITIVE_INFINITY
  /** How much of the body was written. */
  #pieceEnd = 0

  constructor(socket: Socket, options: OutgoingOptions, onSent: OnSent) {
    this.#socket = socket
    this.#options = options
    this.#onSent = onSent
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
    // TLS cannot reset.
    if (this.#socket instanceof TLSSocket) this.#socket.destroy()
    else this.#socket.resetAndDestroy()
  }

  /** Accounts for something else that the connection holds while its client does not read. */
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

  /** Sends the body of a reply whose head has been written. */
  send(response: ServerResponse, { body, onSent }: Reply): void {
    if (body === null || typeof body === 'string' || body.length <= WHOLE_BYTES || response.req.method === 'HEAD') {
      response.end(body, onSent)
      this.#pieceEnd = body === null || response.req.method === 'HEAD' ? 0 : Buffer.byteLength(body)
      // Nearly always the kernel has taken all of it by now.
      if (response.writableLength === 0) this.#onSent(this.#pieceEnd, false)
      else this.#awaitClient(response, typeof body === 'object' && body !== null ? body : response)
    } else {
      this.#awaitClient(response, body)
      this.#sendPiece(response, body, 0, onSent)
    }
  }

  /** A reply with its head, to be sent in one write on a connection that stays open. Undefined where that cannot be. */
  join(reply: Reply): JoinedReply | undefined {
    return (reply.body?.length ?? 0) > WHOLE_BYTES ? undefined : joinHead(reply)
  }

  /** Sends a reply and its head, which were joined. */
  sendJoined(response: ServerResponse, { bytes, body, onSent }: JoinedReply): void {
    let onTaken: (() => void) | undefined
    this.#socket.write(bytes, (error) => {
      // Not where it was taken at once: another client may be taking it by now.
      if (onTaken !== undefined) inUse.delete(body)
      // Also where the client is gone: nobody reads it any more.
      onSent?.()
      if (error) return
      // Node and Bun go on with the next request then, but Bun does not close a response that it did not send.
      response.emit('finish')
      onTaken?.()
    })
    this.#pieceEnd = body.length
    if (this.#socket.writableLength === 0) this.#onSent(body.length, false)
    else {
      inUse.add(body)
      onTaken = this.#awaitClient(response, body)
    }
  }

  #sendPiece(response: ServerResponse, body: Uint8Array, start: number, onSent: (() => void) | undefined): void {
    const end = start + PIECE_BYTES
    this.#pieceEnd = Math.min(end, body.length)
    this.#expect(this.#pieceEnd - start)
    if (end >= body.length) response.end(body.subarray(start), onSent)
    else
      response.write(body.subarray(start, end), (error) => {
        if (!error) this.#sendPiece(response, body, end, onSent)
        // The client is gone, and nobody reads the rest.
        else onSent?.()
      })
  }

  /** Returns what can be called when the client has taken all of it, where `response` does not close by itself. */
  #awaitClient(response: ServerResponse, thing: object): () => void {
    const bytes = thing instanceof Uint8Array ? thing.length : response.writableLength
    let isAborted = true
    const onFinish = (): void => {
      isAborted = false
    }
    const onClose = (): void => {
      response.off('close', onClose)
      this.#deadlineAt = Number.POSITIVE_INFINITY
      this.release(thing)
      this.#onSent(this.#pieceEnd, isAborted)
    }
    response.once('finish', onFinish).once('close', onClose)
    this.#expect(bytes)
    this.hold(thing, bytes)
    return onClose
  }

  #expect(bytes: number): void {
    const { sendGraceMs, minBytesPerSecond } = this.#options
    this.#deadlineAt = performance.now() + sendGraceMs + ((bytes + SYSTEM_BYTES) * 1_000) / minBytesPerSecond
  }
}
