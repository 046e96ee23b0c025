/** Deflate streams put together from pieces that were deflated apart: stored blocks between them, and the CRC-32 of the whole. */

import { ITEM_SEPARATOR } from '../contract/envelope.ts'

/** The longest text of one stored deflate block: its length has 16 bits. */
const STORED_BYTES = 65_535
/** Before the text: the kind of block, its length, and the length with all bits inverted. */
const BLOCK_HEADER_BYTES = 5

/** A text as uncompressed deflate blocks. */
export function stored(text: Uint8Array): Buffer {
  const blocks = Buffer.alloc(storedLength(text))
  putStored(blocks, 0, text)
  return blocks
}

/** The length of a text as stored blocks. */
export function storedLength({ length }: Uint8Array): number {
  return length + BLOCK_HEADER_BYTES * Math.max(1, Math.ceil(length / STORED_BYTES))
}

/** Writes a text as uncompressed deflate blocks, at least one, and returns where they end. With `isEnd` the stream ends there. */
export function putStored(gzip: Buffer, start: number, text: Uint8Array, isEnd = false): number {
  let at = start
  let from = 0
  do {
    const to = Math.min(from + STORED_BYTES, text.length)
    at = gzip.writeUInt8(isEnd && to === text.length ? 1 : 0, at)
    at = gzip.writeUInt16LE(to - from, at)
    at = gzip.writeUInt16LE((to - from) ^ 0xffff, at)
    gzip.set(text.length <= STORED_BYTES ? text : text.subarray(from, to), at)
    at += to - from
    from = to
  } while (from < text.length)
  return at
}

/**
 * A CRC-32 is a polynomial over GF(2) modulo this one. Bits run backwards: the top bit is x⁰, and a shift to the right
 * multiplies by x.
 */
const POLYNOMIAL = 0xedb88320
const ONE = 0x80000000
const X = 0x40000000

/** Filled by `powersAt`. */
const POWERS: Uint32Array[] = []

/**
 * The CRC-32 of two texts in a row, from the CRC of each and the length of the second: appending so many zero bytes multiplies
 * a CRC by x to the power 8·length.
 */
export function combineCrc(crcOfFirst: number, crcOfSecond: number, lengthOfSecond: number): number {
  let product = crcOfFirst
  for (let rest = lengthOfSecond, k = 0; rest > 0; rest = Math.floor(rest / 256), k++) {
    const byte = rest % 256
    if (byte > 0) product = multiply(product, powersAt(k)[byte] ?? ONE)
  }
  return (product ^ crcOfSecond) >>> 0
}

/** Entry b is x to the power 8·b·256^k: it appends the b·256^k zero bytes that byte k of a length stands for. */
function powersAt(k: number): Uint32Array {
  POWERS[k] ??= powersOf(power(X, 8 * 256 ** k))
  return POWERS[k]
}

/** The powers 0 to 255. */
function powersOf(unit: number): Uint32Array {
  const powers = new Uint32Array(256)
  for (let product = ONE, b = 0; b < powers.length; product = multiply(product, unit), b++) powers[b] = product
  return powers
}

/** By squaring: the exponent is a power of 2. */
function power(base: number, exponent: number): number {
  let product = base
  for (let reached = 1; reached < exponent; reached *= 2) product = multiply(product, product)
  return product
}

/** The product of two polynomials modulo POLYNOMIAL. */
function multiply(a: number, b: number): number {
  let product = 0
  for (let rest = a, term = b; rest !== 0; rest <<= 1) {
    if (rest & ONE) product ^= term
    term = term & 1 ? (term >>> 1) ^ POLYNOMIAL : term >>> 1
  }
  return product >>> 0
}

/** Stands between two pieces of items. */
export const STORED_SEPARATOR = stored(Buffer.from(ITEM_SEPARATOR))
