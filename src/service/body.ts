/** The bytes of a body, in pieces of a good size. */

/** About as many bytes as are worked through in a fraction of a millisecond. */
export const PIECE_BYTES = 1 << 16
const MIN_BLOCK_BYTES = 1 << 10

export interface Body {
  /** None is empty. */
  readonly pieces: readonly Uint8Array[]
  readonly length: number
}

/** Collects what comes. Small chunks are put together: each alone would take far more memory than its bytes. */
export class BodyBuilder {
  length = 0
  readonly #pieces: Uint8Array[] = []
  #block = new Uint8Array(0)
  #filled = 0

  add(chunk: Uint8Array): void {
    if (chunk.length === 0) return
    this.length += chunk.length
    const isFirst = this.#pieces.length === 0 && this.#filled === 0
    if (isFirst || chunk.length > PIECE_BYTES / 2) this.#addWhole(chunk)
    else this.#addToBlock(chunk)
  }

  body(): Body {
    this.#closeBlock()
    return { pieces: this.#pieces, length: this.length }
  }

  #addWhole(chunk: Uint8Array): void {
    this.#closeBlock()
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) this.#pieces.push(chunk.subarray(at, at + PIECE_BYTES))
  }

  #addToBlock(chunk: Uint8Array): void {
    if (this.#filled + chunk.length > this.#block.length) {
      this.#closeBlock()
      // Blocks grow with the body: who sends a few bytes, and then waits, holds little more than these.
      const wanted = Math.max(chunk.length, Math.min(this.length, PIECE_BYTES))
      this.#block = new Uint8Array(Math.max(MIN_BLOCK_BYTES, wanted))
    }
    this.#block.set(chunk, this.#filled)
    this.#filled += chunk.length
  }

  #closeBlock(): void {
    if (this.#filled > 0) this.#pieces.push(this.#block.subarray(0, this.#filled))
    this.#block = new Uint8Array(0)
    this.#filled = 0
  }
}

/** All of it in one. */
export function joined({ pieces, length }: Body): Uint8Array {
  const [only] = pieces
  return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces, length)
}
