/** Whether a collection holds the same items as a table, and which differ: by sums of hashes, so that memory stays small. */

import { hash } from 'node:crypto'
import { ITEM_SEPARATOR } from '../contract/envelope.ts'
import { quoted } from '../contract/message-text.ts'
import { InputError } from '../items/input-error.ts'
import type { ItemRun } from '../items/item-run.ts'

/** Keys fall into so many buckets. Of those whose sums differ, all keys are looked at again. */
const BUCKETS = 1 << 16

/** Sums stay below this: with one more hash they are still exact. */
const HASH_BYTES = 6
const MODULUS = 2 ** (8 * HASH_BYTES)

type Runs = AsyncIterable<ItemRun>

export class BucketSums {
  readonly #counts = new Uint32Array(BUCKETS)
  readonly #sums = new Float64Array(BUCKETS)
  items = 0

  static async of(runs: Runs): Promise<BucketSums> {
    const sums = new BucketSums()
    for await (const run of runs) for (const [key, item] of hashes(run)) sums.#add(bucketOf(key), item)
    return sums
  }

  #add(bucket: number, item: number): void {
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1
    this.#sums[bucket] = ((this.#sums[bucket] as number) + item) % MODULUS
    this.items++
  }

  /** The buckets that are not the same in both. */
  differing(others: BucketSums): Set<number> {
    const found = new Set<number>()
    for (let bucket = 0; bucket < BUCKETS; bucket++)
      if (this.#counts[bucket] !== others.#counts[bucket] || this.#sums[bucket] !== others.#sums[bucket])
        found.add(bucket)
    return found
  }
}

/** The hashes of the items in these buckets, by their keys. Fails if two rows have the same key. */
export async function hashesIn(buckets: ReadonlySet<number>, runs: Runs): Promise<Map<string, number>> {
  const found = new Map<string, number>()
  for await (const run of runs)
    for (const [key, item] of hashes(run)) {
      if (!buckets.has(bucketOf(key))) continue
      if (found.has(key))
        throw new InputError(`several rows have the key ${quoted(key)}, as a child table can add; delete all but one`)
      found.set(key, item)
    }
  return found
}

/** The keys that only one of them has, or that stand for different items. */
export function differingKeys(some: ReadonlyMap<string, number>, others: ReadonlyMap<string, number>): string[] {
  const keys = new Set([...some.keys(), ...others.keys()])
  return [...keys].filter((key) => some.get(key) !== others.get(key))
}

const LINE_BREAK = 10

function* hashes({ text, keys = [] }: ItemRun): Generator<[key: string, item: number]> {
  let start = 0
  for (const key of keys) {
    const lineBreak = text.indexOf(LINE_BREAK, start)
    const end = lineBreak === -1 ? text.byteLength : lineBreak + 1 - ITEM_SEPARATOR.length
    yield [key, hash('sha256', text.subarray(start, end), 'buffer').readUIntBE(0, HASH_BYTES)]
    start = lineBreak + 1
  }
}

/** FNV-1a, of which a few bits are enough. */
function bucketOf(key: string): number {
  let value = 0x811c9dc5
  for (let i = 0; i < key.length; i++) value = Math.imul(value ^ key.charCodeAt(i), 0x01000193)
  return (value ^ (value >>> 16)) & (BUCKETS - 1)
}
