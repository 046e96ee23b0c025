/** Random choices that are the same in every run, so that two runs read, delete and generate the same things. */

/** Answers a whole number from 0 up to but not including `below`. */
export type Random = (below: number) => number

/** The generator called mulberry32: fast, and good enough to pick pages and words. */
export function createRandom(seed: number): Random {
  let state = seed | 0
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

/** `count` page numbers in random order; none comes twice before all have come. */
export function randomPages(count: number, lastPage: number, seed: number): number[] {
  const random = createRandom(seed)
  let pages: number[] = []
  while (pages.length < count) pages = pages.concat(shuffled(lastPage, random).slice(0, count - pages.length))
  return pages
}

/** `wanted` of the numbers from 0 up to but not including `total`, each as likely as any other, in order. */
export function* randomSample(wanted: number, total: number, seed: number): Generator<number> {
  const random = createRandom(seed)
  let missing = wanted
  for (let number = 0; number < total && missing > 0; number++) {
    if (random(total - number) >= missing) continue
    missing--
    yield number
  }
}

/** The numbers from 1 to `last`, shuffled. */
function shuffled(last: number, random: Random): number[] {
  const numbers = Array.from({ length: last }, (_, index) => index + 1)
  for (let at = last - 1; at > 0; at--) {
    const other = random(at + 1)
    const moved = numbers[at] as number
    numbers[at] = numbers[other] as number
    numbers[other] = moved
  }
  return numbers
}
