/** Writes lines to a descriptor, many in one write, without holding up the event loop. What cannot be written is dropped in the end. */

import { fstatSync, write } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** A write of more to a pipe can be cut in two, with a line of another worker between (PIPE_BUF). */
const ATOMIC_BYTES = 4_096
const FILE_WRITE_BYTES = 64 * 1024
/** What nobody reads is dropped beyond this. */
const MAX_UNWRITTEN_BYTES = 8 * 1024 * 1024
/** A crash loses what was written since. */
const FLUSH_MS = 100
/** After which a full pipe is tried again. */
const RETRY_MS = 10
/** How long the end waits for a reader that does not read. */
const LAST_FLUSH_MS = 1_000

export class LineWriter {
  readonly #descriptor: number
  readonly #isFile: boolean
  readonly #timer: NodeJS.Timeout
  /** The next chunk, still growing, and about how large it is. */
  #lines = ''
  #bytes = 0
  readonly #unwritten: Buffer[] = []
  #unwrittenBytes = 0
  #isWriting = false
  /** A full disk, for instance, or a reader that has gone: to serve is more important. */
  #hasFailed = false

  constructor(descriptor: number) {
    this.#descriptor = descriptor
    this.#isFile = fstatSync(descriptor).isFile()
    this.#timer = setInterval(() => this.#handOver(), FLUSH_MS).unref()
  }

  write(line: string): void {
    // For a file it need not be exact, and to count the bytes is a good part of the work.
    const bytes = this.#isFile ? line.length : Buffer.byteLength(line)
    if (this.#bytes + bytes > (this.#isFile ? FILE_WRITE_BYTES : ATOMIC_BYTES)) this.#handOver()
    this.#lines += line
    this.#bytes += bytes
  }

  async end(): Promise<void> {
    clearInterval(this.#timer)
    this.#handOver()
    const givesUpAt = performance.now() + LAST_FLUSH_MS
    while (this.#unwritten.length > 0 && performance.now() < givesUpAt) {
      if (this.#hasFailed && !this.#isWriting) return
      await sleep(1)
    }
  }

  #handOver(): void {
    if (this.#bytes > 0 && this.#unwrittenBytes + this.#bytes <= MAX_UNWRITTEN_BYTES) {
      const chunk = Buffer.from(this.#lines)
      this.#unwritten.push(chunk)
      this.#unwrittenBytes += chunk.length
    }
    this.#lines = ''
    this.#bytes = 0
    this.#writeNext()
  }

  #writeNext(): void {
    const [chunk] = this.#unwritten
    if (chunk === undefined || this.#isWriting) return
    this.#isWriting = true
    write(this.#descriptor, chunk, (error, written) => {
      this.#isWriting = false
      this.#hasFailed = error !== null && error.code !== 'EAGAIN'
      if (error !== null) {
        if (!this.#hasFailed) setTimeout(() => this.#writeNext(), RETRY_MS).unref()
        return
      }
      this.#unwrittenBytes -= written
      if (written < chunk.length) this.#unwritten[0] = chunk.subarray(written)
      else this.#unwritten.shift()
      this.#writeNext()
    })
  }
}
