/** The fields of an item, found in its text: values stay as they were written. */

import { JsonCursor } from '../client/json-cursor.ts'

const OPEN_OBJECT = 0x7b
const BACKSLASH = '\\'

/** `jsonOf` gives the JSON text of the value. */
export type VisitField = (name: string, jsonOf: () => string) => void

/** Visits the fields in their order, one that stands there twice twice. False for an item that is not an object. */
export function visitFields(item: Uint8Array, visit: VisitField): boolean {
  const cursor = new JsonCursor(item)
  if (cursor.peek() !== OPEN_OBJECT) return false
  const textOf = textsOf(item)
  cursor.readMembers((nameStart, nameEnd) => {
    cursor.peek()
    const start = cursor.at
    cursor.readValue()
    visit(stringOf(textOf(nameStart, nameEnd)), () => textOf(start, cursor.at))
  })
  return true
}

/** The texts between two offsets. */
function textsOf(item: Uint8Array): (start: number, end: number) => string {
  const bytes = Buffer.from(item.buffer, item.byteOffset, item.length)
  const text = bytes.toString()
  // Where all is ASCII, offsets in bytes are offsets in the text, which is far cheaper to cut.
  if (text.length === item.length) return (start, end) => text.slice(start, end)
  return (start, end) => bytes.toString('utf8', start, end)
}

/** What a JSON string says. */
export function stringOf(json: string): string {
  return json.includes(BACKSLASH) ? JSON.parse(json) : json.slice(1, -1)
}
