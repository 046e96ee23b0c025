/** What a collection holds, read once in order: checked, counted, summed up, and handed on as it lies. */

import { createHash, type Hash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { toNdjson } from '../../items/ndjson-text.ts'
import { countGone } from '../../store/gone-map.ts'
import { damageOf, inflateReam, REAM_SIZE } from '../../store/ream.ts'
import type { Head } from '../../store/store.ts'
import type { KeyPosition, SealedReam, StoredRows, TailItem } from '../../store/stored-collection.ts'
import { type Receiver, Sender } from './sender.ts'

export interface Content {
  readonly items: number
  /** SHA-256 of the items in order, as `reams export` writes them. */
  readonly sha256: string
  /** SHA-256 of what is around them: positions, holes and keys. */
  readonly layout: string
}

/** Something in a store is not as it must be. */
export class Damage extends Error {
  override readonly name = 'Damage'
}

export interface ContentOptions {
  readonly signal: AbortSignal
  /** Items, and keys, that were read since the last call. */
  onProgress(items: number, keys: number): void
  /** Who gets all of it. */
  readonly receiver?: Receiver
}

/** Reams between two turns of the event loop: reading a file never waits for anything. */
const REAMS_A_TURN = 8

/** `head` says what has to be there. */
export async function readContent(rows: StoredRows, head: Head, options: ContentOptions): Promise<Content> {
  return new ContentReader(rows, head, options).read()
}

class ContentReader {
  readonly #rows: StoredRows
  readonly #head: Head
  readonly #options: ContentOptions
  readonly #sender: Sender
  readonly #sum: Hash = createHash('sha256')
  readonly #layout: Hash = createHash('sha256')
  #items = 0

  constructor(rows: StoredRows, head: Head, options: ContentOptions) {
    this.#rows = rows
    this.#head = head
    this.#options = options
    this.#sender = new Sender(options.receiver)
  }

  async read(): Promise<Content> {
    try {
      await this.#readReams()
      await this.#readTail()
      if (this.#items !== this.#head.live)
        throw new Damage(`The head says ${this.#head.live} items, and ${this.#items} are there.`)
      await this.#readKeys()
    } finally {
      await this.#sender.settle()
    }
    await this.#sender.end()
    return { items: this.#items, sha256: this.#sum.digest('hex'), layout: this.#layout.digest('hex') }
  }

  async #readReams(): Promise<void> {
    const sealed = Math.floor(this.#head.next / REAM_SIZE)
    let expected = 0
    for await (const ream of this.#rows.reams()) {
      if (ream.number !== expected) throw new Damage(`Ream ${expected} is missing.`)
      expected++
      this.#sum.update(soundLines(ream))
      this.#layout.update(`${ream.count} `).update(ream.gone ?? '')
      await this.#sender.ream(ream)
      await this.#count(ream.count, expected)
    }
    if (expected !== sealed) throw new Damage(`Ream ${expected} is missing.`)
  }

  async #readTail(): Promise<void> {
    const items: TailItem[] = []
    for await (const item of this.#rows.tail()) items.push(item)
    for (const { position, item } of items) {
      this.#sum.update(`${item}\n`)
      this.#layout.update(`${position} `)
    }
    await this.#sender.tail(items)
    await this.#count(items.length, 0)
  }

  async #readKeys(): Promise<void> {
    if (this.#head.keyField === null) return
    let found = 0
    for await (const keys of this.#rows.keys()) {
      this.#layout.update(JSON.stringify(keys.map(({ key, position }: KeyPosition) => [key, position])))
      found += keys.length
      await this.#sender.keys(keys)
      this.#options.onProgress(0, keys.length)
      await setImmediate()
      this.#options.signal.throwIfAborted()
    }
    if (found !== this.#items) throw new Damage(`There are ${found} keys for ${this.#items} items with a key.`)
  }

  async #count(items: number, reams: number): Promise<void> {
    this.#items += items
    this.#options.onProgress(items, 0)
    if (reams % REAMS_A_TURN !== 0) return
    await setImmediate()
    this.#options.signal.throwIfAborted()
  }
}

/** The items of a ream, one a line, if its bytes, its count and its map agree. */
function soundLines(ream: SealedReam): Uint8Array {
  const gone = countGone(ream.gone)
  if (ream.count + gone !== REAM_SIZE)
    throw new Damage(`Ream ${ream.number} says ${ream.count} items, but its map has ${gone} of ${REAM_SIZE} gone.`)
  const raw = inflated(ream)
  const lines = raw.byteLength === 0 ? raw : toNdjson(raw)
  // Every item but the last has lost a comma, and the last has got a line feed.
  const held = raw.byteLength === 0 ? 0 : raw.byteLength - lines.byteLength + 2
  if (held !== ream.count) throw new Damage(`Ream ${ream.number} says ${ream.count} items and holds ${held}.`)
  return lines
}

function inflated(ream: SealedReam): Uint8Array {
  try {
    return inflateReam(ream)
  } catch (error) {
    throw new Damage(damageOf(ream), { cause: error })
  }
}
