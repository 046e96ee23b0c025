/** The fields of an item, found in its text: values stay as they were written. */

import { JsonCursor } from '../client/json-cursor.ts'

const OPEN_OBJECT = 0x7b
const BACKSLASH = '\\'

/** `jsonOf` gives the JSON text of the value. */
export type VisitField = (name: string, jsonOf: () => string) => void

/** Visits the fields in their order, one that stands there twice twice. False for an item that is not an object. */
export function visitFields(item: Uint8Array, visit: VisitField): boolean {
  const text = Buffer.from(item.buffer, item.byteOffset, item.length)
  const cursor = new JsonCursor(item)
  if (cursor.peek() !== OPEN_OBJECT) return false
  cursor.readMembers((nameStart, nameEnd) => {
    cursor.peek()
    const start = cursor.at
    cursor.readValue()
    visit(stringOf(text.toString('utf8', nameStart, nameEnd)), () => text.toString('utf8', start, cursor.at))
  })
  return true
}

/** What a JSON string says. */
export function stringOf(json: string): string {
  return json.includes(BACKSLASH) ? JSON.parse(json) : json.slice(1, -1)
}
