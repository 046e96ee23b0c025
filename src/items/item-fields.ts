/** The fields of an item, found in its text: values stay as they were written. */

import { JsonCursor, JsonFlaw } from './json-cursor.ts'

const OPEN_OBJECT = 0x7b
const BACKSLASH = '\\'
const decoder = new TextDecoder()

/** `jsonOf` gives the JSON text of the value. */
type VisitField = (name: string, jsonOf: () => string) => void

/** The JSON of each field; of one that stands there twice, the last. One at which the item is cut off ends with `…`. */
export function fieldsOf(item: Uint8Array): Map<string, string> {
  const fields = new Map<string, string>()
  visitFields(item, (name, jsonOf) => fields.set(name, jsonOf()))
  return fields
}

/**
 * Visits the fields in their order, one that stands there twice twice. False for an item that is not an object.
 * Where the item is cut off, the value at its end gets a `…`.
 */
export function visitFields(item: Uint8Array, visit: VisitField): boolean {
  const cursor = new JsonCursor(item)
  if (cursor.peek() !== OPEN_OBJECT) return false
  const textOf = textsOf(item)
  let name = ''
  let start = 0
  let isOpen = false
  try {
    cursor.readMembers((nameStart, nameEnd) => {
      name = stringOf(textOf(nameStart, nameEnd))
      cursor.peek()
      start = cursor.at
      isOpen = true
      cursor.readValue()
      const end = cursor.at
      // What stands at the very end may go on, and the cursor will say that something is missing.
      isOpen = cursor.peek() === undefined
      if (!isOpen) visit(name, () => textOf(start, end))
    })
  } catch (error) {
    if (!(error instanceof JsonFlaw && error.isCutOff)) throw error
    if (isOpen) visit(name, () => `${textOf(start, item.length).trimEnd()}…`)
  }
  return true
}

/** The texts between two offsets. */
function textsOf(item: Uint8Array): (start: number, end: number) => string {
  const text = decoder.decode(item)
  // Where all is ASCII, offsets in bytes are offsets in the text, which is far cheaper to cut.
  if (text.length === item.length) return (start, end) => text.slice(start, end)
  return (start, end) => decoder.decode(item.subarray(start, end))
}

/** What a JSON string says. */
export function stringOf(json: string): string {
  return json.includes(BACKSLASH) ? JSON.parse(json) : json.slice(1, -1)
}
