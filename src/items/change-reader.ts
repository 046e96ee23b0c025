/** Reads changes, each as an item of a collection's changes has it and as a line of a PATCH takes it (D23, D24). */

import { quoted, shorten } from '../contract/message-text.ts'
import { ItemPacker, type OwnRun } from './item-run.ts'
import { ItemError, ItemScanner } from './item-scanner.ts'
import { JsonScanner, MAX_CHANGE_DEPTH, WatchedMember } from './json-scan.ts'

/** What is wrong with a change: its form, its item, the size of that, or that its key is not the one of its item. */
export class ChangeFlaw extends Error {
  readonly kind: 'form' | 'item' | 'size' | 'key'

  constructor(kind: ChangeFlaw['kind'], message: string) {
    super(message)
    this.kind = kind
  }
}

/** A change, but for the item that it puts. */
export interface ChangeLine {
  readonly op: 'put' | 'delete' | 'reset'
  readonly key: string | undefined
  /** Of the state that its commit led to; undefined where it does not say. */
  readonly version: number | undefined
}

/** Puts and deletes, in their order: see `ItemChanges`. */
export interface CollectedChanges {
  readonly puts: OwnRun
  readonly steps: readonly (string | null)[]
}

export class ChangeReader {
  readonly #item = new WatchedMember('item')
  readonly #finder = new JsonScanner(this.#item)
  readonly #scanner: ItemScanner
  readonly #packer: ItemPacker
  #steps: (string | null)[] = []
  readonly #encoder = new TextEncoder()
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })

  constructor(keyField: string | null, itemBytes: number) {
    this.#finder.maxDepth = MAX_CHANGE_DEPTH
    this.#scanner = new ItemScanner({ keyField, itemBytes })
    this.#packer = new ItemPacker(this.#scanner)
  }

  /** Hands out the changes since the last time. */
  take(): CollectedChanges {
    const steps = this.#steps
    this.#steps = []
    return { puts: this.#packer.take(), steps }
  }

  /** Takes a put or a delete: `text` is the whole of it, and what `readChange` read. Throws a ChangeFlaw. */
  add(text: string, { op, key }: ChangeLine): void {
    if (op === 'put') this.#put(text, key)
    else this.#steps.push(key ?? '')
  }

  #put(text: string, key: string | undefined): void {
    const bytes = this.#encoder.encode(text)
    this.#finder.scan(bytes, 0, bytes.length)
    const { start, count } = this.#item
    if (count > 1) throw new ChangeFlaw('form', '"item" is given more than once')
    const end = this.#finder.scan(bytes, start, bytes.length)
    try {
      this.#scanner.check(bytes, start, end)
    } catch (error) {
      if (!(error instanceof ItemError)) throw error
      throw new ChangeFlaw(error.kind === 'size' ? 'size' : 'item', error.reason)
    }
    this.#packer.add(bytes, start, end)
    this.#steps.push(null)
    if (key === undefined || this.#scanner.keyField === null) return
    const own = this.#decoder.decode(this.#scanner.key.subarray(0, this.#scanner.keyLength))
    if (own !== key) throw new ChangeFlaw('key', `has the key ${quoted(key)}, its item ${quoted(own)}`)
  }
}

/** `text` is a JSON object. Throws a ChangeFlaw where it is no change. */
export function readChange(text: string): ChangeLine {
  const { op, key, version, item } = JSON.parse(text) as Record<string, unknown>
  if (op !== 'put' && op !== 'delete' && op !== 'reset')
    throw new ChangeFlaw(
      'form',
      op === undefined ? 'there is no "op"' : `the op ${shorten(JSON.stringify(op))} is unknown`,
    )
  if (key !== undefined && typeof key !== 'string') throw new ChangeFlaw('form', 'the key is not a string')
  if (op === 'delete' && key === undefined) throw new ChangeFlaw('form', 'a delete has no "key"')
  if (op === 'put' && item === undefined) throw new ChangeFlaw('form', 'a put has no "item"')
  return { op, key, version: typeof version === 'number' ? version : undefined }
}
