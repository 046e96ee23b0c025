/** Finds the items in the body of a page in one pass that also checks the JSON, and copies them as NDJSON. */

import { JsonCursor } from '../items/json-cursor.ts'

/** An array directly under `_embedded`. */
export interface EmbeddedList {
  readonly name: string
  /** The offset of its opening bracket, and that after its closing one. */
  readonly start: number
  readonly end: number
  /** Where each item begins and where it ends, two numbers an item. */
  readonly offsets: readonly number[]
  /** Whether any item contains a line break. */
  readonly hasLineBreaks: boolean
}

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20
const OPEN_ARRAY = 0x5b
const OPEN_OBJECT = 0x7b
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]

/** Throws a JsonFlaw where the body is not a JSON object. */
export function embeddedLists(body: Uint8Array): EmbeddedList[] {
  const lists: EmbeddedList[] = []
  const cursor = new JsonCursor(body)
  const nameAt = (start: number, end: number) => JSON.parse(new TextDecoder().decode(body.subarray(start, end)))
  if (BYTE_ORDER_MARK.every((byte, index) => byte === body[index])) cursor.at = BYTE_ORDER_MARK.length
  cursor.readMembers((nameStart, nameEnd) => {
    if (nameAt(nameStart, nameEnd) !== '_embedded' || cursor.peek() !== OPEN_OBJECT) return cursor.readValue()
    cursor.readMembers((keyStart, keyEnd) => {
      if (cursor.peek() === OPEN_ARRAY) lists.push(readList(cursor, nameAt(keyStart, keyEnd)))
      else cursor.readValue()
    })
  })
  cursor.readEnd()
  return lists
}

function readList(cursor: JsonCursor, name: string): EmbeddedList {
  const start = cursor.at
  const offsets: number[] = []
  let hasLineBreaks = false
  cursor.readElements(() => {
    cursor.peek()
    cursor.hasLineBreak = false
    offsets.push(cursor.at)
    cursor.readValue()
    offsets.push(cursor.at)
    hasLineBreaks ||= cursor.hasLineBreak
  })
  return { name, start, end: cursor.at, offsets, hasLineBreaks }
}

/** The items from `first` on, each as it came, on a line of its own. */
export function ndjsonOf(body: Uint8Array, list: EmbeddedList, first: number): Uint8Array<ArrayBuffer> {
  const { offsets } = list
  const from = offsets[2 * first]
  if (from === undefined) return new Uint8Array()
  // The comma between two items makes room for the line feed: nothing ever moves to the right.
  const lines = body.slice(from, list.end) as Uint8Array<ArrayBuffer>
  let length = 0
  for (let i = 2 * first; i < offsets.length; i += 2) {
    const start = (offsets[i] as number) - from
    const end = (offsets[i + 1] as number) - from
    lines.copyWithin(length, start, end)
    if (list.hasLineBreaks) replaceLineBreaks(lines.subarray(length, length + end - start))
    length += end - start
    lines[length++] = LINE_FEED
  }
  return lines.subarray(0, length)
}

/** A line break in an item is always white space between tokens: in strings it is escaped. */
function replaceLineBreaks(item: Uint8Array): void {
  for (let at = 0; at < item.length; at++) if (item[at] === LINE_FEED || item[at] === CARRIAGE_RETURN) item[at] = SPACE
}
