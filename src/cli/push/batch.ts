/** Cuts the items of an input into batches, each of them the body of one request. */

import { ITEM_SEPARATOR } from '../../contract/envelope.ts'
import type { InputBatch } from '../../items/item-reader.ts'
import type { ItemRun } from '../../items/item-run.ts'
import { formatCount } from '../figures.ts'

export interface Batch {
  /** How many items of the input stand before it. */
  readonly first: number
  readonly count: number
  /** A JSON array of the items. */
  readonly body: Buffer
  /** The line on which each item begins. */
  readonly lines: readonly number[]
}

/** What a batch holds at most; one item it holds always. */
export interface BatchLimit {
  readonly items: number
  readonly bytes: number
}

const OPEN = Buffer.from('[')
const SEPARATOR = Buffer.from(ITEM_SEPARATOR)
const CLOSE = Buffer.from(']')
const LINE_FEED = 0x0a

/** `limitAt` is asked for the limit of the batch that begins after `first` items. */
export async function* cutBatches(
  inputs: AsyncIterable<InputBatch>,
  limitAt: (first: number) => BatchLimit,
): AsyncGenerator<Batch, void, undefined> {
  let open = new OpenBatch(0, limitAt(0))
  const next = (): Batch => {
    const batch = open.close()
    const end = batch.first + batch.count
    open = new OpenBatch(end, limitAt(end))
    return batch
  }
  for await (const { run, lines } of inputs) {
    let index = 0
    for (const item of itemsOf(run)) {
      if (!open.hasRoomFor(item)) yield next()
      open.add(item, lines[index++] ?? 0)
      if (open.isFull) yield next()
    }
  }
  if (open.count > 0) yield next()
}

/** A line break stands between two items, behind the comma, and nowhere else. */
function* itemsOf({ text }: ItemRun): Iterable<Uint8Array> {
  for (let start = 0; start < text.length; ) {
    const lineFeed = text.indexOf(LINE_FEED, start)
    const end = lineFeed < 0 ? text.length : lineFeed + 1 - SEPARATOR.length
    yield text.subarray(start, end)
    start = lineFeed < 0 ? text.length : lineFeed + 1
  }
}

class OpenBatch {
  readonly #first: number
  readonly #limit: BatchLimit
  readonly #pieces: Uint8Array[] = []
  readonly #lines: number[] = []
  #bytes = 0

  constructor(first: number, limit: BatchLimit) {
    this.#first = first
    this.#limit = limit
  }

  get count(): number {
    return this.#lines.length
  }

  get isFull(): boolean {
    return this.count >= this.#limit.items
  }

  hasRoomFor(item: Uint8Array): boolean {
    return this.count === 0 || this.#bytes + item.length <= this.#limit.bytes
  }

  add(item: Uint8Array, line: number): void {
    this.#pieces.push(this.count === 0 ? OPEN : SEPARATOR, item)
    this.#bytes += item.length
    this.#lines.push(line)
  }

  close(): Batch {
    return {
      first: this.#first,
      count: this.count,
      body: Buffer.concat([...this.#pieces, CLOSE]),
      lines: this.#lines,
    }
  }
}

/** The texts of the items, one after the other as they stand in any longer batch too. */
export function textOf({ body }: Batch): readonly Uint8Array[] {
  return [body.subarray(OPEN.length, body.length - CLOSE.length), SEPARATOR]
}

/** `items 1,001 to 2,000 (lines 1,003 to 2,002)`. */
export function placeOf({ first, count, lines }: Batch): string {
  const [from = 0] = lines
  return `${spanOf('item', first + 1, first + count)} (${spanOf('line', from, lines.at(-1) ?? from)})`
}

export function spanOf(unit: string, from: number, to: number): string {
  return from === to ? `${unit} ${formatCount(from)}` : `${unit}s ${formatCount(from)} to ${formatCount(to)}`
}
