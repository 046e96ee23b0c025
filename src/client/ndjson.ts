/** Items as NDJSON: each as it came, on a line of its own. */

import type { EmbeddedList } from './page-scan.ts'

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20

export function ndjsonOf(body: Uint8Array, list: EmbeddedList, first: number): Uint8Array<ArrayBuffer> {
  const { offsets } = list
  const from = offsets[2 * first]
  if (from === undefined) return new Uint8Array()
  // Between two items stands at least a comma, which makes room for the line feed: nothing ever moves to the right.
  const lines = body.slice(from, list.end) as Uint8Array<ArrayBuffer>
  let length = 0
  for (let i = 2 * first; i < offsets.length; i += 2) {
    const start = (offsets[i] as number) - from
    const end = (offsets[i + 1] as number) - from
    lines.copyWithin(length, start, end)
    length += end - start
    lines[length++] = LINE_FEED
  }
  const text = lines.subarray(0, length)
  if (list.hasLineBreaks) replaceLineBreaks(list, first, text)
  return text
}

/** Within an item a line break can only be a blank between two tokens: in a string it is written as an escape. */
function replaceLineBreaks({ offsets }: EmbeddedList, first: number, text: Uint8Array): void {
  let at = 0
  for (let i = 2 * first; i < offsets.length; i += 2) {
    const end = at + (offsets[i + 1] as number) - (offsets[i] as number)
    for (; at < end; at++) if (text[at] === LINE_FEED || text[at] === CARRIAGE_RETURN) text[at] = SPACE
    at++
  }
}

/** The lines of a text, each without its line feed. */
export function* linesOf(text: Uint8Array): Generator<Uint8Array, void> {
  for (let start = 0, end = 0; start < text.length; start = end + 1) {
    end = text.indexOf(LINE_FEED, start)
    if (end < 0) end = text.length
    yield text.subarray(start, end)
  }
}
