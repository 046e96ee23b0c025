/** Finds the items in the body of a page. Every byte is looked at once, and all of it has to be JSON. */

import { JsonCursor } from '../items/json-cursor.ts'

/** An array directly under `_embedded`. */
export interface EmbeddedList {
  readonly name: string
  /** From its opening bracket to behind its closing one. */
  readonly start: number
  readonly end: number
  /** Where each item begins and where it ends, two numbers an item. */
  readonly offsets: readonly number[]
  /** Whether a line break stands within an item. */
  readonly hasLineBreaks: boolean
}

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
