/** A file that is written from front to back, packed or not, and can be cut back to where it was certain. */

import { type FileHandle, open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

/** So much is written at a time, unless it is flushed before; in a gzip file it becomes one member. */
const BLOCK_BYTES = 1024 * 1024

export class PartFile {
  readonly path: string
  readonly #handle: FileHandle
  readonly #isPacked: boolean
  /** Where the next bytes go. */
  #end: number
  /** What runs on while the next bytes are made. */
  #pending: Promise<void> = Promise.resolve()
  #waiting: Uint8Array[] = []
  #waitingBytes = 0
  #given: Uint8Array[] = []

  private constructor(path: string, handle: FileHandle, end: number, isPacked: boolean) {
    this.path = path
    this.#handle = handle
    this.#end = end
    this.#isPacked = isPacked
  }

  /** Keeps the first `kept` bytes of a file that is there; with 0 of them it makes one. */
  static async open(path: string, kept: number, isPacked: boolean): Promise<PartFile> {
    const handle = await open(path, kept === 0 ? 'w' : 'r+')
    const file = new PartFile(path, handle, kept, isPacked)
    if (kept > 0) await handle.truncate(kept)
    return file
  }

  /** Resolves as soon as the next bytes can come. Throws what became of earlier ones. */
  async write(bytes: Uint8Array): Promise<void> {
    this.#waiting.push(bytes)
    this.#waitingBytes += bytes.length
    if (this.#waitingBytes >= BLOCK_BYTES) await this.#writeBlock()
  }

  /** The same with bytes that nobody needs any more: page after page, waiting for their collection costs much memory. */
  async give(bytes: Uint8Array): Promise<void> {
    this.#given.push(bytes)
    await this.write(bytes)
  }

  /** Answers how long the file is when all that came is written: a place to which it can be cut back. */
  async flush(): Promise<number> {
    if (this.#waitingBytes > 0) await this.#writeBlock()
    await this.#pending
    return this.#end
  }

  /** Resolves when all that was flushed is on disk. More can be written meanwhile. */
  async sync(): Promise<void> {
    await this.#handle.datasync()
  }

  async clear(): Promise<void> {
    await this.#pending.catch(() => {})
    this.#takeBlock()
    this.#end = 0
    await this.#handle.truncate(0)
  }

  /** All of it is on disk then. */
  async finish(): Promise<void> {
    // Nothing at all would not be gzip.
    if ((await this.flush()) === 0 && this.#isPacked) await this.#writeBlock()
    await this.flush()
    await this.#handle.sync()
    await this.#handle.close()
  }

  async close(): Promise<void> {
    await this.#pending.catch(() => {})
    await this.#handle.close()
  }

  #takeBlock() {
    const block = { pieces: this.#waiting, given: this.#given }
    this.#waiting = []
    this.#waitingBytes = 0
    this.#given = []
    return block
  }

  async #writeBlock(): Promise<void> {
    const { pieces, given } = this.#takeBlock()
    await this.#pending
    this.#pending = this.#put(pieces, given)
    // Whoever comes next is told.
    this.#pending.catch(() => {})
  }

  async #put(pieces: readonly Uint8Array[], given: readonly Uint8Array[]): Promise<void> {
    let rest = this.#isPacked ? [await promisify(gzip)(Buffer.concat(pieces))] : pieces
    while (rest.length > 0) {
      const { bytesWritten } = await this.#handle.writev(rest, this.#end)
      this.#end += bytesWritten
      rest = behind(rest, bytesWritten)
    }
    for (const bytes of given) free(bytes)
  }
}

/** What is left of the pieces behind the first `length` bytes. */
function behind(pieces: readonly Uint8Array[], length: number): readonly Uint8Array[] {
  let left = length
  return pieces.flatMap((piece) => {
    const skipped = Math.min(left, piece.length)
    left -= skipped
    return skipped === piece.length ? [] : [piece.subarray(skipped)]
  })
}

/** Small buffers share their memory. */
function free({ buffer }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength > Buffer.poolSize) buffer.transfer(0)
}
