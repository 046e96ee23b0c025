/** Cuts the items of an input into batches, each of them the body of one request. */

import { ITEM_SEPARATOR } from '../../../contract/envelope.ts'
import { formatCount } from '../../../contract/message-text.ts'
import type { InputBatch } from '../../../items/item-reader.ts'
import type { ItemRun } from '../../../items/item-run.ts'

export interface Batch {
  /** How many items of the input stand before it. */
  readonly first: number
  readonly count: number
  /** A JSON array of the items. */
  readonly body: Buffer<ArrayBuffer>
  /** The line on which each item begins. */
  readonly lines: readonly number[]
}

/** Of a request, about. */
export const BATCH_BYTES = 1024 * 1024

const OPEN = Buffer.from('[')
const SEPARATOR = Buffer.from(ITEM_SEPARATOR)
const CLOSE = Buffer.from(']')
const LINE_FEED = 0x0a

/** Of `maxItems` and BATCH_BYTES at most, and one item always: the same input gives the same batches. */
export async function* cutBatches(inputs: AsyncIterable<InputBatch>, maxItems: number): AsyncGenerator<Batch, void> {
  let [first, bytes] = [0, 0]
  let pieces: Uint8Array[] = []
  let lines: number[] = []
  const next = (): Batch => {
    const batch = { first, count: lines.length, body: Buffer.concat([...pieces, CLOSE]), lines }
    first += lines.length
    bytes = 0
    pieces = []
    lines = []
    return batch
  }
  for await (const { run, lines: linesOfRun } of inputs) {
    let index = 0
    for (const item of itemsOf(run)) {
      if (lines.length > 0 && bytes + item.length > BATCH_BYTES) yield next()
      pieces.push(lines.length === 0 ? OPEN : SEPARATOR, item)
      lines.push(linesOfRun[index++] ?? 0)
      bytes += item.length
      if (lines.length >= maxItems) yield next()
    }
  }
  if (lines.length > 0) yield next()
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

/** `items 1,001 to 2,000 (lines 1,003 to 2,002)`. */
export function placeOf({ first, count, lines }: Batch): string {
  const [from = 0] = lines
  return `${spanOf('item', first + 1, first + count)} (${spanOf('line', from, lines.at(-1) ?? from)})`
}

function spanOf(unit: string, from: number, to: number): string {
  return from === to ? `${unit} ${formatCount(from)}` : `${unit}s ${formatCount(from)} to ${formatCount(to)}`
}

/** `Element 17: …` is about the body of a request; here the item is named by its place in the file. So are two elements. */
export function nameInFile(message: string, { first, lines }: Batch): string {
  return message.replace(/\bElements? (\d+)(?: and (\d+))?:/, (text, ...digits: (string | undefined)[]) => {
    const indexes = digits.slice(0, 2).flatMap((each) => (each === undefined ? [] : [Number(each)]))
    const found = indexes.map((index) => lines[index])
    if (found.includes(undefined)) return text
    const s = indexes.length > 1 ? 's' : ''
    const join = (numbers: readonly number[]) => numbers.map(formatCount).join(' and ')
    return `Item${s} ${join(indexes.map((index) => first + index + 1))} (line${s} ${join(found.map(Number))}):`
  })
}
