/** The CRC-32 of two texts in a row, from the CRC of each and the length of the second, without reading them again. */

/**
 * A CRC-32 is a polynomial over GF(2) modulo this one. Bits run backwards: the top bit is x⁰, and a shift to the right
 * multiplies by x.
 */
const POLYNOMIAL = 0xedb88320
const ONE = 0x80000000
const X = 0x40000000
/** As many as the largest length that a number holds exactly. */
const LENGTH_BYTES = 7

export type Crc32Combine = (crcOfFirst: number, crcOfSecond: number, lengthOfSecond: number) => number

/** Computes the powers that every call needs, once. */
export function createCrc32Combine(): Crc32Combine {
  // tables[k][b] is x to the power 8·b·256^k: as many zero bytes as the byte b says at place k of a length.
  const tables: Uint32Array[] = []
  for (let unit = power(X, 8); tables.length < LENGTH_BYTES; unit = power(unit, 256)) tables.push(powersOf(unit))

  /** x to the power 8·length: appending that many zero bytes multiplies a CRC by it. */
  function shiftBy(length: number): number {
    let product = ONE
    for (let rest = length, k = 0; rest > 0; rest = Math.floor(rest / 256), k++) {
      const byte = rest % 256
      if (byte > 0) product = multiply(product, tables[k]?.[byte] ?? ONE)
    }
    return product
  }

  return (first, second, length) => (multiply(first, shiftBy(length)) ^ second) >>> 0
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
