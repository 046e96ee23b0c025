/** The changes of a PATCH: a put or a delete on each line, the items kept byte for byte; and what is wrong with them, as a problem. */

import { ITEM_SEPARATOR } from '../../contract/envelope.ts'
import { formatCount, shorten } from '../../contract/message-text.ts'
import { InputError } from '../../items/input-error.ts'
import { ItemPacker, type ItemRun } from '../../items/item-run.ts'
import { ItemError, ItemScanner } from '../../items/item-scanner.ts'
import { JsonScanner, MAX_CHANGE_DEPTH, WatchedMember } from '../../items/json-scan.ts'
import { readUnpacked } from '../../items/read-items.ts'
import type { ItemChanges } from '../../store/store.ts'
import type { Limits } from '../limits.ts'
import { quoted, Refusal } from '../problem-reply.ts'
import { type Body, inTurns } from './read-body.ts'
import { refusedInput } from './read-items.ts'

/** What stands around an item on its line: the names of the members, a key, a version. */
const AROUND_ITEM_BYTES = 8 * 1024

const FORM = 'Each line is {"op":"put","item":{…}} or {"op":"delete","key":"…"}.'

/** Reads all changes. Throws a Refusal that names the first line that is wrong. */
export async function readChanges(body: Body, keyField: string | null, limits: Limits): Promise<ItemChanges> {
  const reader = new ChangeReader(keyField, limits.itemBytes)
  const itemBytes = limits.itemBytes + AROUND_ITEM_BYTES
  const options = { format: 'ndjson', keyField: null, itemBytes, maxDepth: MAX_CHANGE_DEPTH } as const
  try {
    for await (const { run, lines } of readUnpacked(inTurns(body), options))
      for (const [index, text] of textsOf(run).entries()) {
        reader.add(text, lines[index] ?? 0)
        if (reader.count > limits.requestItems)
          throw new Refusal(
            'content-too-large',
            `The request has more than ${formatCount(limits.requestItems)} changes.`,
          )
      }
  } catch (error) {
    throw error instanceof InputError ? refusedLine(error, limits) : error
  }
  if (reader.count === 0) throw new Refusal('invalid-body', 'The body is empty.', { hint: FORM })
  return reader.take()
}

function refusedLine(error: InputError, { itemBytes }: Limits): Refusal {
  if (!(error.cause instanceof ItemError && error.cause.kind === 'size')) return refusedInput(error, 'ndjson', FORM)
  const [line, item] = [itemBytes + AROUND_ITEM_BYTES, itemBytes].map(formatCount)
  return new Refusal(
    'content-too-large',
    `Line ${error.line}: it has more than ${line} bytes; an item can have ${item}.`,
  )
}

/** A line break stands nowhere but between two of them. */
function textsOf({ text }: ItemRun): string[] {
  return Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString().split(ITEM_SEPARATOR)
}

class ChangeReader {
  readonly #item = new WatchedMember('item')
  readonly #finder = new JsonScanner(this.#item)
  readonly #scanner: ItemScanner
  readonly #packer: ItemPacker
  readonly #steps: (string | null)[] = []
  readonly #encoder = new TextEncoder()
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })

  constructor(keyField: string | null, itemBytes: number) {
    this.#finder.maxDepth = MAX_CHANGE_DEPTH
    this.#scanner = new ItemScanner({ keyField, itemBytes })
    this.#packer = new ItemPacker(this.#scanner)
  }

  get count(): number {
    return this.#steps.length
  }

  take(): ItemChanges {
    return { puts: this.#packer.take(), steps: this.#steps }
  }

  /** A line, which is a JSON object. */
  add(text: string, line: number): void {
    const { op, key, item } = JSON.parse(text) as Record<string, unknown>
    const refuse = (what: string): Refusal => new Refusal('invalid-item', `Line ${line}: ${what}.`, { hint: FORM })
    if (op !== 'put' && op !== 'delete')
      throw refuse(op === undefined ? 'there is no "op"' : `the op ${shorten(JSON.stringify(op))} is unknown`)
    if (key !== undefined && typeof key !== 'string') throw refuse('the key is not a string')
    if (op === 'delete') {
      if (key === undefined) throw refuse('a delete has no "key"')
      this.#steps.push(key)
    } else {
      if (item === undefined) throw refuse('a put has no "item"')
      this.#put(text, line, key)
    }
  }

  #put(text: string, line: number, key: string | undefined): void {
    const bytes = this.#encoder.encode(text)
    this.#finder.scan(bytes, 0, bytes.length)
    const { start, count } = this.#item
    if (count > 1) throw new Refusal('invalid-item', `Line ${line}: "item" is given more than once.`, { hint: FORM })
    const end = this.#finder.scan(bytes, start, bytes.length)
    try {
      this.#scanner.check(bytes, start, end)
    } catch (error) {
      if (!(error instanceof ItemError)) throw error
      const problem = error.kind === 'size' ? 'content-too-large' : 'invalid-item'
      throw new Refusal(problem, `Line ${line}, item: ${error.reason}.`)
    }
    this.#packer.add(bytes, start, end)
    this.#steps.push(null)
    if (key === undefined || this.#scanner.keyField === null) return
    const own = this.#decoder.decode(this.#scanner.key.subarray(0, this.#scanner.keyLength))
    if (own !== key)
      throw new Refusal('key-mismatch', `Line ${line} has the key ${quoted(key)}, its item ${quoted(own)}.`)
  }
}
