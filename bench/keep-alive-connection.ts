/** One connection that stays open and asks one thing after the other: cheap, so that the server is what is measured. */

import { connect, type Socket } from 'node:net'

const HEAD_END = '\r\n\r\n'
const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)/i
/** The three digits behind `HTTP/1.1 `. */
const STATUS_AT = 9

export class KeepAliveConnection {
  readonly #socket: Socket
  readonly #onAnswer: (status: number, connection: KeepAliveConnection) => void
  #received: Buffer | undefined

  /** `onAnswer` is told the status of each answer when all of it has come, and may send the next request. */
  constructor(url: string, onAnswer: (status: number, connection: KeepAliveConnection) => void) {
    const { hostname, port } = new URL(url)
    this.#onAnswer = onAnswer
    this.#socket = connect({
      host: hostname,
      port: Number(port),
      noDelay: true,
      onread: { buffer: Buffer.alloc(1 << 14), callback: (length, buffer) => this.#onBytes(buffer, length) },
    })
    this.#socket.once('error', (error) => {
      throw error
    })
  }

  send(head: string | Uint8Array, body?: Uint8Array): void {
    if (body === undefined) {
      this.#socket.write(head)
      return
    }
    this.#socket.cork()
    this.#socket.write(head)
    this.#socket.write(body)
    this.#socket.uncork()
  }

  end(): void {
    this.#socket.destroy()
  }

  /** Answers of writes are short: nearly always one comes as a whole. */
  #onBytes(buffer: Uint8Array, length: number): boolean {
    const fresh = Buffer.from(buffer.buffer, buffer.byteOffset, length)
    const bytes = this.#received === undefined ? fresh : Buffer.concat([this.#received, fresh])
    const headLength = bytes.indexOf(HEAD_END)
    const head = headLength === -1 ? '' : bytes.toString('latin1', 0, headLength)
    const bodyLength = Number(CONTENT_LENGTH.exec(head)?.[1] ?? 0)
    if (head === '' || bytes.length < headLength + HEAD_END.length + bodyLength) {
      this.#received = Buffer.from(bytes)
      return true
    }
    this.#received = undefined
    this.#onAnswer(Number(head.slice(STATUS_AT, STATUS_AT + 3)), this)
    return true
  }
}
