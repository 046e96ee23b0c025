/** The bytes of a stream that nobody is done with yet, in one piece. */

export class ByteWindow {
  /** What counts are the bytes from `start` to `end`; a reader moves `start` on. */
  bytes = new Uint8Array(0)
  start = 0
  end = 0

  get length(): number {
    return this.end - this.start
  }

  /** Adds bytes at the end. Offsets into `bytes` are other ones afterwards, those relative to `start` stay. */
  append(block: Uint8Array): void {
    if (this.end + block.length > this.bytes.length) this.#makeRoom(block.length)
    this.bytes.set(block, this.end)
    this.end += block.length
  }

  /** At least half of the bytes are free after a move, so that small blocks do not move a long item again and again. */
  #makeRoom(more: number): void {
    const needed = 2 * (this.length + more)
    const target = needed > this.bytes.length ? new Uint8Array(2 * needed) : this.bytes
    target.set(this.bytes.subarray(this.start, this.end))
    this.bytes = target
    this.end = this.length
    this.start = 0
  }
}
