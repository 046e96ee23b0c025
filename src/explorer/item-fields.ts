/** The fields of an item, from its JSON text, which no parser touches: numbers stay as they were written. */

/** Of one item a page looks at no more than this: else few items could make it work for seconds. */
const LOOKED_AT_BYTES = 8 * 1024

/** A string, a word or a number, or one of `,:[]{}`. A string may break off at the end. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)|[^\s",:[\]{}]+|[,:[\]{}]/g

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
  const text = new TextDecoder().decode(item.subarray(0, LOOKED_AT_BYTES))
  return { fields: topLevelFields(text), isCut: item.length > LOOKED_AT_BYTES }
}

function topLevelFields(json: string): Map<string, string> {
  const fields = new Map<string, string>()
  let [depth, name, text] = [0, '', '']
  const keep = (rest = ''): void => {
    if (name !== '') fields.set(JSON.parse(name), text + rest)
    name = text = ''
  }
  for (const token of json.match(TOKEN) ?? []) {
    if (token === '}' || token === ']') depth--
    if (depth === 1 && token === ':') [name, text] = [text, '']
    else if (depth === 0 || (depth === 1 && token === ',')) keep()
    else text += token
    if (token === '{' || token === '[') depth++
  }
  keep('…')
  return fields
}
