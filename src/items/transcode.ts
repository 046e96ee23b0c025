/** Converts text in any encoding to UTF-8. The encoding comes from the byte order mark, otherwise from the user. */

import { guessEncoding, InputError } from './input-error.ts'
import { type InvalidText, type TextGate, Utf8Gate } from './utf8.ts'

/** How many bytes are needed to recognise an encoding. */
export const HEAD_BYTES = 4

/** `head`: the first bytes of the file, at least HEAD_BYTES unless it has fewer. A mark wins over `encoding`. */
export function gateFor(head: Uint8Array, encoding: string | undefined): TextGate {
  const actual = markedEncoding(head) ?? encoding
  if (actual === undefined) refuseUnmarked(head)
  return actual === undefined || actual === 'utf-8' ? new Utf8Gate() : new Transcoder(actual)
}

function markedEncoding([first, second, third, fourth]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe && third === 0 && fourth === 0)
    throw new InputError('this is UTF-32, which cannot be read; save the file as UTF-8', { line: 1 })
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  return first === 0xef && second === 0xbb && third === 0xbf ? 'utf-8' : undefined
}

/** Letters in UTF-16 are valid UTF-8, with a NUL character beside each: CSV would keep them. */
function refuseUnmarked(head: Uint8Array): void {
  const nuls = Array.from(head.subarray(0, HEAD_BYTES), (byte) => Number(byte === 0)).join('')
  if (nuls !== '0101' && nuls !== '1010') return
  const advice = `add --encoding ${guessEncoding(head)}`
  throw new InputError(`this looks like UTF-16 without a byte order mark; ${advice}`, { line: 1 })
}

class Transcoder implements TextGate {
  invalid: InvalidText | undefined
  readonly #encoding: string
  readonly #decoder: TextDecoder
  /** Stays one block behind, to find the invalid byte: a decoder does not say where in a block it failed. */
  readonly #locator: TextDecoder
  readonly #encoder = new TextEncoder()

  constructor(encoding: string) {
    this.#encoding = encoding
    this.#decoder = new TextDecoder(encoding, { fatal: true })
    this.#locator = new TextDecoder(encoding, { fatal: true })
  }

  pass(block: Uint8Array): Uint8Array {
    const text = this.#decode(block)
    if (text === undefined) return this.#validPart(block)
    this.#locator.decode(block, { stream: true })
    return text
  }

  end(): Uint8Array {
    return this.#decode() ?? this.#validPart(new Uint8Array(0))
  }

  #decode(block?: Uint8Array): Uint8Array | undefined {
    try {
      return this.#encoder.encode(this.#decoder.decode(block, { stream: block !== undefined }))
    } catch (error) {
      if (error instanceof TypeError) return undefined
      throw error
    }
  }

  #validPart(block: Uint8Array): Uint8Array {
    let text = ''
    let at = 0
    try {
      for (; at < block.length; at++) text += this.#locator.decode(block.subarray(at, at + 1), { stream: true })
    } catch {
      // `at` is the place.
    }
    this.invalid = { bytes: block.subarray(at), encoding: this.#encoding }
    return this.#encoder.encode(text)
  }
}
