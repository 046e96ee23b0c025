/** How items stand in a file that is pulled: what is written for them, and what can be found again in it. */

import { linesOf } from '../../client/ndjson.ts'

/** Its items come as NDJSON: each on a line, without line breaks in it. */
export interface PullForm {
  /** What is written for these items, behind `before` others. */
  render(lines: Uint8Array, before: number): Uint8Array
  /** What is written behind the last of all items. */
  end(items: number): Uint8Array
  /** One item as it stands in the file: without what separates it from others. */
  record(line: Uint8Array): Uint8Array
}

const LINE_FEED = 0x0a
const COMMA = 0x2c
const NOTHING = new Uint8Array()

export const NDJSON_FORM: PullForm = {
  render: (lines) => lines,
  end: () => NOTHING,
  record: (line) => line,
}

/** One array, an item a line. */
export const JSON_FORM: PullForm = {
  render: (lines, before) => {
    if (lines.length === 0) return NOTHING
    const pieces: Uint8Array[] = [before === 0 ? JSON_OPENING : JSON_SEPARATOR]
    for (const line of linesOf(lines)) pieces.push(line, JSON_SEPARATOR)
    pieces.pop()
    return Buffer.concat(pieces)
  },
  end: (items) => (items === 0 ? EMPTY_JSON : JSON_CLOSING),
  record: (line) => line,
}

const JSON_OPENING = Buffer.from('[\n')
const JSON_SEPARATOR = Buffer.of(COMMA, LINE_FEED)
const JSON_CLOSING = Buffer.from('\n]\n')
const EMPTY_JSON = Buffer.from('[]\n')

/** How many line feeds there are; over long lines faster than looking at each byte. */
export function countLines(text: Uint8Array): number {
  let count = 0
  for (let at = text.indexOf(LINE_FEED); at >= 0; at = text.indexOf(LINE_FEED, at + 1)) count++
  return count
}
