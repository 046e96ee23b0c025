/** One connection that stays open and asks one thing after the other: cheap, so that the server is what is measured. */

import { connect, type Socket } from 'node:net'

const HEAD_END = '\r\n\r\n'
const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)/i
const ETAG = /\r\netag: *(.*)/i
/** The three digits behind `HTTP/1.1 `. */
const STATUS_AT = 9

/** All connections of a process read into it: nothing stays there for longer than `#onBytes` takes. */
const scratch = Buffer.alloc(1 << 16)

/** Told why the server closed the connection, or never took it. */
type OnLost = (error: Error) => void

export class KeepAliveConnection {
  readonly #socket: Socket
  readonly #onAnswer: (status: number, connection: KeepAliveConnection) => void
  #isEnded = false
  #received: Buffer | undefined
  /** What is yet to come of an answer whose head is here. */
  #missing = 0
  #status = 0
  #head = ''

  /**
   * `onAnswer` is told the status of each answer when all of it has come, and may send the next request.
   * A load cannot go on without one of its connections: unless there is an `onLost`, its loss is thrown.
   */
  constructor(
    url: string,
    onAnswer: (status: number, connection: KeepAliveConnection) => void,
    onLost: OnLost = throwIt,
  ) {
    const { hostname, port } = new URL(url)
    this.#onAnswer = onAnswer
    this.#socket = connect({
      host: hostname,
      port: Number(port),
      noDelay: true,
      onread: { buffer: scratch, callback: (length, buffer) => this.#onBytes(buffer, length) },
    })
    let reason = new Error(`The server closed a connection to ${url}.`)
    this.#socket.once('error', (error) => {
      reason = error
    })
    this.#socket.once('close', () => this.#isEnded || onLost(reason))
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

  /** The ETag of the last answer. */
  get tag(): string | undefined {
    return ETAG.exec(this.#head)?.[1]
  }

  end(): void {
    this.#isEnded = true
    this.#socket.destroy()
  }

  #onBytes(buffer: Uint8Array, length: number): boolean {
    if (this.#missing > 0) this.#missing -= length
    else if (!this.#readHead(Buffer.from(buffer.buffer, buffer.byteOffset, length))) return true
    if (this.#missing === 0) this.#onAnswer(this.#status, this)
    return true
  }

  /** Whether all of the head has come. Nearly always it comes as a whole; nobody wants to see the body. */
  #readHead(fresh: Buffer): boolean {
    const bytes = this.#received === undefined ? fresh : Buffer.concat([this.#received, fresh])
    const headLength = bytes.indexOf(HEAD_END)
    this.#received = headLength === -1 ? Buffer.from(bytes) : undefined
    if (headLength === -1) return false
    const head = bytes.toString('latin1', 0, headLength)
    const bodyLength = Number(CONTENT_LENGTH.exec(head)?.[1] ?? 0)
    this.#missing = headLength + HEAD_END.length + bodyLength - bytes.length
    this.#head = head
    this.#status = Number(head.slice(STATUS_AT, STATUS_AT + 3))
    return true
  }
}

function throwIt(error: Error): never {
  throw error
}
