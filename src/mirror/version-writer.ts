/** Applies the changes of an origin to its mirror, a version at a time: what a reader sees is always a state that the origin had. */

import { ChangeReader, type CollectedChanges, readChange } from '../items/change-reader.ts'
import type { Head, Load, Origin, Patched, Store } from '../store/store.ts'
import { HistoryLost, MirrorError } from './mirror-error.ts'
import type { ItemCount, MirrorLimits } from './mirror-limits.ts'
import { formatPosition, type Position } from './position.ts'

/** A version with more than this is written while it is read, unseen until it is whole. */
const LARGE_BYTES = 8 * 1024 * 1024

/** With deletes it is collected in memory, up to this. */
const MAX_BYTES = 64 * 1024 * 1024

/** Versions on their way to the store, which commits several of them at once. */
const MAX_WRITES = 64
const MAX_WRITE_BYTES = 4 * 1024 * 1024

export interface Applied {
  readonly head: Head
  /** The number that the origin gave to the version. */
  readonly version: number
  readonly changes: number
}

interface WriterOptions {
  readonly url: string
  readonly itemBytes: number
  readonly limits: MirrorLimits
  readonly onApplied: (applied: Applied) => void
}

interface Write {
  readonly done: Promise<unknown>
  readonly bytes: number
}

export class VersionWriter {
  readonly #store: Store
  readonly #options: WriterOptions
  readonly #tag: string
  readonly #reader: ChangeReader
  #head: Head
  /** What the writes so far lead to. */
  #origin: Origin
  /** Changes in whole versions. */
  #taken: number
  /** The version that is being collected. */
  #version: number | undefined
  #count = 0
  #bytes = 0
  #hasDeletes = false
  /** Of that version. */
  #items: ItemCount
  #load: Load | undefined
  readonly #writes: Write[] = []

  /** `head` is the one of the mirror that is at `position`. */
  constructor(store: Store, head: Head, position: Position, options: WriterOptions) {
    this.#store = store
    this.#options = options
    this.#tag = position.tag
    this.#taken = position.changes
    this.#head = head
    this.#origin = { url: options.url, position: formatPosition(position) }
    this.#reader = new ChangeReader(head.keyField, options.itemBytes)
    this.#items = options.limits.newCount()
  }

  /** The mirror after what was applied so far. */
  get head(): Head {
    return this.#head
  }

  /** `until` is a state of the origin, not before the change. */
  async add(text: string, until: string): Promise<void> {
    const change = readChange(text)
    if (this.#count > 0 && change.version !== this.#version)
      await this.#close({ tag: this.#tag, changes: this.#taken + this.#count, until })
    this.#version = change.version
    this.#count++
    if (change.key !== undefined && this.#head.keyField === null) throw this.#keyUnknown()
    if (change.op === 'reset') return this.#beginLoad(true)
    if ((this.#load !== undefined && change.op === 'delete') || this.#bytes > MAX_BYTES)
      throw new HistoryLost('a version of its origin is too large to be applied by itself')
    this.#hasDeletes ||= change.op === 'delete'
    this.#reader.add(text, change)
    this.#bytes += text.length
    if (this.#bytes < LARGE_BYTES || (this.#hasDeletes && this.#load === undefined)) return
    if (this.#load === undefined) await this.#beginLoad(false)
    await this.#flush()
  }

  #keyUnknown(): MirrorError {
    const { name } = this.#head
    return new MirrorError(
      'usage',
      `${this.#options.url} has a key, and the mirror has none, as it was not told of it. Drop it (\`reams drop ${name}\`), and begin again with --key FIELD.`,
    )
  }

  /** The changes end with that state. Resolves with the head when all is durable. */
  async end(tag: string): Promise<Head> {
    await this.#close({ tag, changes: 0 })
    await this.#settle()
    return this.#head
  }

  /** The changes so far end with a state, whose name is not known. Otherwise as `end`. */
  async stop(until: string): Promise<Head> {
    await this.#close({ tag: this.#tag, changes: this.#taken + this.#count, until })
    await this.#settle()
    return this.#head
  }

  /** Waits for what is on its way, and forgets what is not whole. */
  async abort(): Promise<void> {
    await Promise.allSettled(this.#writes.map(({ done }) => done))
    await this.#load?.abort().catch(() => {})
  }

  async #beginLoad(isReplacement: boolean): Promise<void> {
    if (isReplacement && this.#count > 1) throw new HistoryLost('a version of its origin is reset within itself')
    await this.#settle()
    const { name, id, commitId, keyField } = this.#head
    this.#load = await this.#store.load(name, {
      isReplacement,
      ...(!isReplacement && keyField !== null && { onConflict: 'replace' }),
      state: { id, commitId },
      isMirroring: true,
    })
  }

  async #flush(): Promise<void> {
    const { puts } = this.#take()
    this.#bytes = 0
    if (puts.count > 0) await this.#load?.append({ ...puts, isTransferred: true })
  }

  /** The version is whole: with it the mirror is at `position`. */
  async #close(position: Position): Promise<void> {
    const [from, to] = [this.#origin, { url: this.#options.url, position: formatPosition(position) }]
    const [version = 0, changes, bytes] = [this.#version, this.#count, this.#bytes]
    if (from.position === to.position) return
    this.#origin = to
    this.#taken += changes
    this.#count = 0
    if (this.#load === undefined) await this.#write(from, to, { version, changes, bytes })
    else {
      await this.#flush()
      this.#head = (await this.#load.commit(to)).head
      this.#load = undefined
      this.#options.onApplied({ head: this.#head, version, changes })
    }
    this.#bytes = 0
    this.#hasDeletes = false
    this.#items = this.#options.limits.newCount()
  }

  /** The changes that were collected. Throws where the version has too many items with them. */
  #take(): CollectedChanges {
    const changes = this.#reader.take()
    this.#items.add(changes.puts.count, changes.puts.text.length)
    return changes
  }

  /** Does not wait for the write itself: the store does them in their order. */
  async #write(from: Origin, to: Origin, of: { version: number; changes: number; bytes: number }): Promise<void> {
    const { version, changes, bytes } = of
    const done = this.#store
      .patch(this.#head.name, this.#take(), { origin: { from, to } })
      .then(({ head }: Patched) => {
        this.#head = head
        this.#options.onApplied({ head, version, changes })
      })
    done.catch(() => {})
    this.#writes.push({ done, bytes })
    const total = () => this.#writes.reduce((sum, write) => sum + write.bytes, 0)
    while (this.#writes.length >= MAX_WRITES || total() > MAX_WRITE_BYTES) {
      await this.#writes[0]?.done
      this.#writes.shift()
    }
  }

  async #settle(): Promise<void> {
    for (const { done } of this.#writes.splice(0)) await done
  }
}
