/** The fields of an item, from its JSON text, which no parser touches: numbers stay as they were written. */

import { fieldsOf as fieldsIn } from '../items/item-fields.ts'

/** Of one item a page looks at no more than this: else few items could make it work for seconds. */
export const LOOKED_AT_BYTES = 8 * 1024

const LINE_FEED = 0x0a

/** The items of a piece of a page, each of which stands on a line of its own (D9). */
export function* itemsIn(raw: Uint8Array): Generator<Uint8Array, void> {
  let start = 0
  for (let end = raw.indexOf(LINE_FEED); end !== -1; end = raw.indexOf(LINE_FEED, start)) {
    // The comma before the line break is not part of it.
    yield raw.subarray(start, end - 1)
    start = end + 1
  }
  yield raw.subarray(start)
}

export interface ItemFields {
  /** The JSON of each field; of one that is there twice, the last. One that breaks off ends with `…`. */
  readonly fields: ReadonlyMap<string, string>
  /** Whether there is more than was looked at. */
  readonly isCut: boolean
}

export function fieldsOf(item: Uint8Array): ItemFields {
  return { fields: fieldsIn(item.subarray(0, LOOKED_AT_BYTES)), isCut: item.length > LOOKED_AT_BYTES }
}
