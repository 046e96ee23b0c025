/** The CRC-32 of two texts in a row, from the CRC of each and the length of the second, without reading them again. */

/**
 * A CRC-32 is a polynomial over GF(2) modulo this one. Bits run backwards: the top bit is x⁰, and a shift to the right
 * multiplies by x.
 */
const POLYNOMIAL = 0xedb88320
const ONE = 0x80000000
const X = 0x40000000

export type Crc32Combine = (crcOfFirst: number, crcOfSecond: number, lengthOfSecond: number) => number

/** Computes the powers that every call needs, once. */
export function createCrc32Combine(): Crc32Combine {
  // squares[k] is x to the power 2^k. The order of x divides 2^32 − 1, so they repeat after 32.
  const squares = [X]
  for (let last = X; squares.length < 32; squares.push(last)) last = multiply(last, last)

  /** x to the power 8·length: appending that many zero bytes multiplies a CRC by it. */
  function shiftBy(length: number): number {
    let power = ONE
    for (let rest = length, k = 3; rest > 0; rest = Math.floor(rest / 2), k++)
      if (rest % 2 === 1) power = multiply(power, squares[k % 32] ?? ONE)
    return power
  }

  return (first, second, length) => (multiply(first, shiftBy(length)) ^ second) >>> 0
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
