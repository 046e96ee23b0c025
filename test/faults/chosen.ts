/** One of several things, each as often as its weight says in proportion to the others. */

import type { Random } from '../../bench/random.ts'

export type Weighted<T> = readonly (readonly [weight: number, thing: T])[]

/** The weights are whole numbers. */
export function chosen<T>(things: Weighted<T>, random: Random): T {
  let left = random(things.reduce((sum, [weight]) => sum + weight, 0))
  for (const [weight, thing] of things) {
    if (left < weight) return thing
    left -= weight
  }
  throw new Error('There is nothing to choose of.')
}
