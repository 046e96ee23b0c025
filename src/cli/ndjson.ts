/** From the form in which a store holds items to one item a line. */

import { ITEM_SEPARATOR } from '../contract/envelope.ts'

const LINE_BREAK = 0x0a

/** `text` is not empty; a line break stands in it only as the end of ITEM_SEPARATOR. */
export function toNdjson(text: Uint8Array): Uint8Array {
  const lines = new Uint8Array(text.length + 1)
  let length = 0
  let start = 0
  for (let end = text.indexOf(LINE_BREAK); end !== -1; end = text.indexOf(LINE_BREAK, start)) {
    const item = text.subarray(start, end + 1 - ITEM_SEPARATOR.length)
    lines.set(item, length)
    length += item.length
    lines[length++] = LINE_BREAK
    start = end + 1
  }
  lines.set(text.subarray(start), length)
  length += text.length - start
  lines[length++] = LINE_BREAK
  return lines.subarray(0, length)
}
