/** Copies one collection: sends it, reads it back, compares, and only then makes it visible. */

import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { Copy } from '../../../store/copy.ts'
import { countGone } from '../../../store/gone-map.ts'
import { damageOf, inflateReam, REAM_SIZE } from '../../../store/ream.ts'
import type { Head, Store } from '../../../store/store.ts'
import { StoreError } from '../../../store/store-error.ts'
import type { SealedReam, StoredRows } from '../../../store/stored-collection.ts'
import { describeFailure, Failure } from '../../failure.ts'
import { toNdjson } from '../../ndjson.ts'
import { startProgress } from '../../progress.ts'
import type { StoreLocation } from '../../store-location.ts'

export interface Side {
  readonly location: StoreLocation
  readonly store: Store
}

export interface CopyJob {
  readonly from: Side
  readonly to: Side
  /** Replace collections that exist already, and differ. */
  readonly isReplacement: boolean
  readonly signal: AbortSignal
}

export interface Content {
  /** SHA-256 of the items in order, as `reams export` writes them. */
  readonly sha256: string
  /** SHA-256 of what is around them: positions, holes and keys. */
  readonly layout: string
}

/** Reams that go into one commit. */
const BATCH_BYTES = 1024 * 1024

/** Reams between two turns of the event loop: reading a file never waits for anything. */
const REAMS_PER_TURN = 8

export function copyCollection(job: CopyJob, name: string): Promise<{ head: Head; content: Content }> {
  return job.from.store.stored(name, async (source) => {
    const copy = await job.to.store.copy(source.head, { isReplacement: job.isReplacement })
    try {
      const content = await readSide(job, job.from, source, source.head, 'copying', copy)
      const arrived = await copy.read((rows) => readSide(job, job.to, rows, source.head, 'checking'))
      if (!isSame(content, arrived)) throw notWhatWasSent(job.to, name, content, arrived)
      return { head: await copy.commit(), content }
    } catch (error) {
      // If even this fails, the next writer removes what is left; the first error is the one to report.
      await copy.abort().catch(() => {})
      throw nameFailure(error, name)
    }
  })
}

/** The content of a collection, if it is stored in the same way on both sides. */
export async function compareCollection(job: CopyJob, origin: Head, target: Head): Promise<Content | undefined> {
  const isAlike = origin.next === target.next && origin.live === target.live
  if (!isAlike || differencesOf(origin, target).length > 0) return undefined
  // Both at once, and one bar for both: they have the same to do.
  const [here, there] = await Promise.all(
    [job.from, job.to].map((side) => {
      const what = side === job.from ? 'comparing' : undefined
      return side.store.stored(origin.name, (stored) => readSide(job, side, stored, stored.head, what))
    }),
  )
  return here && there && isSame(here, there) ? here : undefined
}

/** The settings in which two collections differ, as the target has them. */
export function differencesOf(origin: Head, target: Head): string[] {
  const words: string[] = []
  if (origin.keyField !== target.keyField)
    words.push(target.keyField === null ? 'without a key' : `with the key "${target.keyField}"`)
  if (origin.isPaginated !== target.isPaginated) words.push(target.isPaginated ? 'paginated' : 'unpaginated')
  if (origin.isPrivate !== target.isPrivate) words.push(target.isPrivate ? 'private' : 'public')
  return words
}

function isSame(one: Content, other: Content): boolean {
  return one.sha256 === other.sha256 && one.layout === other.layout
}

function notWhatWasSent({ location }: Side, name: string, sent: Content, arrived: Content): Failure {
  return new Failure(
    3,
    `${name}: ${location} does not return what was sent: SHA-256 ${arrived.sha256} instead of ${sent.sha256}, or other keys and positions. What was sent has been removed. Check the disk or the database there, then try again.`,
  )
}

/** A message about a store alone would not tell which collection it was. */
function nameFailure(error: unknown, name: string): unknown {
  if (!(error instanceof StoreError)) return error
  const { exitStatus, message } = describeFailure(error)
  return new Failure(exitStatus, `${name}: ${message}`, { cause: error })
}

async function readSide(
  { signal }: CopyJob,
  { location }: Side,
  rows: StoredRows,
  head: Head,
  what: string | undefined,
  copy?: Copy,
): Promise<Content> {
  const total = head.live * (head.keyField === null ? 1 : 2)
  const progress = what === undefined ? undefined : startProgress(`${what} ${head.name}`, total)
  try {
    const reader = new ContentReader(rows, head, copy, (items, keys) => {
      signal.throwIfAborted()
      progress?.update(items + keys, items)
    })
    return await reader.read()
  } catch (error) {
    const isDamage = error instanceof Damage
    if (!isDamage && !(error instanceof StoreError && error.code === 'corrupt')) throw error
    const advice = ` \`reams verify --store ${location.word}\` tells more; restore the store from a backup.`
    const message = `${head.name}: the store ${location} is damaged. It was not copied. ${error.message}`
    throw new Failure(3, isDamage ? message + advice : message, { cause: error })
  } finally {
    progress?.stop()
  }
}

/** Something in a store is not as it must be. */
class Damage extends Error {
  override readonly name = 'Damage'
}

/** Reads what a collection holds, once and in order: checks, counts and hashes it, and sends it to a copy, if there is one. */
class ContentReader {
  readonly #rows: StoredRows
  readonly #head: Head
  readonly #copy: Copy | undefined
  readonly #onProgress: (items: number, keys: number) => void
  readonly #sum = createHash('sha256')
  readonly #layout = createHash('sha256')
  #items = 0
  /** What is being written: the next part waits for it, and is read meanwhile. */
  #writing: Promise<void> = Promise.resolve()

  /** `head` says what has to be there. */
  constructor(rows: StoredRows, head: Head, copy: Copy | undefined, onProgress: (items: number, keys: number) => void) {
    this.#rows = rows
    this.#head = head
    this.#copy = copy
    this.#onProgress = onProgress
  }

  async read(): Promise<Content> {
    try {
      await this.#readReams()
      await this.#readTail()
      if (this.#items !== this.#head.live)
        throw new Damage(`The head says ${this.#head.live} items, and there are ${this.#items}.`)
      if (this.#head.keyField !== null) await this.#readKeys()
    } catch (error) {
      // Nothing may be under way when the copy is aborted.
      await this.#writing.catch(() => {})
      throw error
    }
    await this.#writing
    return { sha256: this.#sum.digest('hex'), layout: this.#layout.digest('hex') }
  }

  async #readReams(): Promise<void> {
    const sealed = Math.floor(this.#head.next / REAM_SIZE)
    let expected = 0
    let batch: SealedReam[] = []
    let bytes = 0
    const flush = async (): Promise<void> => {
      const reams = batch
      await this.#send((copy) => copy.putReams(reams))
      batch = []
      bytes = 0
    }
    for await (const ream of this.#rows.reams()) {
      if (ream.number !== expected) throw new Damage(`Ream ${expected} is missing.`)
      expected++
      this.#sum.update(soundLines(ream))
      this.#layout.update(`${ream.count} `).update(ream.gone ?? '')
      this.#items += ream.count
      batch.push(ream)
      bytes += ream.data.byteLength
      if (bytes >= BATCH_BYTES) await flush()
      if (expected % REAMS_PER_TURN === 0) await this.#takeTurn(0)
    }
    if (expected !== sealed) throw new Damage(`Ream ${expected} is missing.`)
    if (batch.length > 0) await flush()
  }

  async #readTail(): Promise<void> {
    const items = await Array.fromAsync(this.#rows.tail())
    for (const { position, item } of items) {
      this.#sum.update(`${item}\n`)
      this.#layout.update(`${position} `)
    }
    this.#items += items.length
    await this.#send((copy) => copy.putTail(items))
    await this.#takeTurn(0)
  }

  async #readKeys(): Promise<void> {
    let found = 0
    for await (const keys of this.#rows.keys()) {
      this.#layout.update(JSON.stringify(keys.map(({ key, position }) => [key, position])))
      found += keys.length
      await this.#send((copy) => copy.putKeys(keys))
      await this.#takeTurn(found)
    }
    if (found !== this.#items) throw new Damage(`There are ${found} keys for ${this.#items} items with a key.`)
  }

  /** Resolves when the write has begun, not when it is done. */
  async #send(put: (copy: Copy) => Promise<void>): Promise<void> {
    if (this.#copy === undefined) return
    await this.#writing
    this.#writing = put(this.#copy)
    // It is awaited later: until then a failure must not count as unhandled.
    this.#writing.catch(() => {})
  }

  async #takeTurn(keys: number): Promise<void> {
    await setImmediate()
    this.#onProgress(this.#items, keys)
  }
}

/** The items of a ream, one a line, if its bytes, its count and its map agree. */
function soundLines(ream: SealedReam): Uint8Array {
  const gone = countGone(ream.gone)
  if (ream.count + gone !== REAM_SIZE)
    throw new Damage(`Ream ${ream.number} says ${ream.count} items, but its map has ${gone} of ${REAM_SIZE} gone.`)
  const raw = inflated(ream)
  const lines = raw.byteLength === 0 ? raw : toNdjson(raw)
  // Every item but the last has lost a comma, and the last has gained a line feed.
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
