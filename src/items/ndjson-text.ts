/** NDJSON as text: made from what a store holds, and cut into its lines. */

import { ITEM_SEPARATOR } from '../contract/envelope.ts'

const LINE_FEED = 0x0a

/** Turns the form in which a store holds items, which is not empty, into lines: a line feed stands in it only in ITEM_SEPARATOR. */
export function toNdjson(text: Uint8Array): Uint8Array {
  const lines = new Uint8Array(text.length + 1)
  let length = 0
  let start = 0
  for (let end = text.indexOf(LINE_FEED); end !== -1; end = text.indexOf(LINE_FEED, start)) {
    const item = text.subarray(start, end + 1 - ITEM_SEPARATOR.length)
    lines.set(item, length)
    length += item.length
    lines[length++] = LINE_FEED
    start = end + 1
  }
  lines.set(text.subarray(start), length)
  length += text.length - start
  lines[length++] = LINE_FEED
  return lines.subarray(0, length)
}

/** The lines of a text, each without its line feed. */
export function* linesOf(text: Uint8Array): Generator<Uint8Array, void> {
  for (let start = 0, end = 0; start < text.length; start = end + 1) {
    end = text.indexOf(LINE_FEED, start)
    if (end < 0) end = text.length
    yield text.subarray(start, end)
  }
}
