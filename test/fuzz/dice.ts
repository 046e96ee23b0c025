/** Random choices of one case: the same for the same seed and number, so that a case can be repeated alone. */

import { createRandom, type Random } from '../../bench/random.ts'

export class Dice {
  /** A whole number from 0 up to but not including the limit. */
  readonly below: Random

  constructor(seed: number, number: number) {
    this.below = createRandom(Math.imul(seed, 0x9e3779b1) ^ Math.imul(number + 1, 0x85ebca6b))
  }

  /** A whole number, both ends included. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1)
  }

  /** True in so many of 100 throws. */
  chance(percent: number): boolean {
    return this.below(100) < percent
  }

  /** One of them; there has to be one. */
  of<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T
  }

  /** Up to `most` of them, in any order, some perhaps twice. */
  some<T>(choices: readonly T[], most: number): T[] {
    return this.times(this.below(most + 1), () => this.of(choices))
  }

  times<T>(count: number, make: (index: number) => T): T[] {
    return Array.from({ length: count }, (_, index) => make(index))
  }

  bytes(count: number): Buffer {
    return Buffer.from(this.times(count, () => this.below(256)))
  }
}

/** Texts without blanks, as they stand between blanks. */
export function words(text: string): string[] {
  return text.trim().split(/[ \n]+/)
}

/** Texts that may have blanks within, as they stand between bars. */
export function texts(text: string): string[] {
  return text.trim().split(/[ \n]+\|[ \n]+/)
}
