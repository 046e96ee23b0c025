/** Lets only valid UTF-8 pass, whole characters at a time, without a byte-order mark at the beginning. */

import { Buffer, isUtf8 } from 'node:buffer'

const NOTHING = new Uint8Array(0)

/** Bytes that cannot be read in the encoding of the text. */
export interface InvalidText {
  readonly bytes: Uint8Array
  /** As TextDecoder names it. */
  readonly encoding: string
  /** How many bytes of the text come before them, where that is known. */
  readonly at?: number
}

/** Turns the bytes of a text into UTF-8. */
export type TextGate = Pick<Utf8Gate, 'invalid' | 'pass' | 'end'>

export class Utf8Gate {
  /** The beginning of a character that the bytes so far cut in two. */
  #rest: Uint8Array = NOTHING
  #isAtStart = true
  /** How many bytes have passed. */
  #passed = 0
  /** Once set: what follows the bytes that have passed, and cannot be read. */
  invalid: InvalidText | undefined

  /** The bytes that can go on, out of all that came. If the others are wrong, and not only cut in two, `invalid` is set. */
  pass(block: Uint8Array): Uint8Array {
    const bytes = this.#rest.length === 0 ? block : Buffer.concat([this.#rest, block])
    let end = wholeCharacters(bytes, bytes.length)
    if (!isUtf8(bytes.subarray(0, end))) {
      end = validLength(bytes)
      this.invalid = { bytes: bytes.subarray(end), encoding: 'utf-8', at: this.#passed + end }
    }
    this.#passed += end
    // A copy: whoever hands over a block may give back its memory afterwards.
    this.#rest = end === bytes.length ? NOTHING : new Uint8Array(bytes.subarray(end))
    return this.#withoutMark(bytes.subarray(0, end))
  }

  /** Ends the text; an incomplete last character is invalid. Returns the remaining valid bytes. */
  end(): Uint8Array {
    if (this.#rest.length > 0) this.invalid = { bytes: this.#rest, encoding: 'utf-8', at: this.#passed }
    return NOTHING
  }

  #withoutMark(bytes: Uint8Array): Uint8Array {
    if (!this.#isAtStart || bytes.length === 0) return bytes
    this.#isAtStart = false
    return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes
  }
}

/** How many of the first `length` bytes are left without the beginning of a character at their end. */
function wholeCharacters(bytes: Uint8Array, length: number): number {
  for (let back = 1; back <= Math.min(3, length); back++) {
    const byte = bytes[length - back] ?? 0
    if (byte < 0x80) return length
    if (byte >= 0xc0) return back < characterLength(byte) ? length - back : length
  }
  return length
}

function characterLength(lead: number): number {
  return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf8 ? 4 : 1
}

/** The length of the longest beginning that is valid, found by halving. */
function validLength(bytes: Uint8Array): number {
  let valid = 0
  let wrong = bytes.length + 1
  while (wrong - valid > 1) {
    const middle = (valid + wrong) >> 1
    if (isUtf8(bytes.subarray(0, wholeCharacters(bytes, middle)))) valid = middle
    else wrong = middle
  }
  return wholeCharacters(bytes, valid)
}
