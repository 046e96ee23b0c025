/** A hash of 64 bits, in two halves: short enough to keep for millions of items, long enough to take equal ones for equal. */

export interface Fingerprint {
  readonly high: number
  readonly low: number
}

/** Two independent multiplicative hashes over the UTF-16 units, mixed at the end. Not for secrets. */
export function fingerprintOf(text: string): Fingerprint {
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    high = Math.imul(high ^ unit, 0x9e3779b1)
    low = Math.imul(low ^ unit, 0x5f356495)
    low = (low << 13) | (low >>> 19)
  }
  return { high: mix(high ^ (low >>> 16)), low: mix(low ^ (high >>> 15)) }
}

function mix(half: number): number {
  const once = Math.imul(half ^ (half >>> 16), 0x85ebca6b)
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35)
  return (twice ^ (twice >>> 16)) >>> 0
}

/** The fingerprint as a text, to be compared or kept in a set. */
export function keyOf({ high, low }: Fingerprint): string {
  return `${high}.${low}`
}
