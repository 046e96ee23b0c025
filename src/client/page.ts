/** One page of a collection, checked: what its envelope says, and its items as values and as bytes. */

import { JsonCursor, JsonFlaw } from '../items/json-cursor.ts'
import { ClientError, ConnectionLost, InvalidPage } from './client-error.ts'
import { type Envelope, type Links, type PageRequest, readEnvelope } from './envelope.ts'
import { type FetchedBody, reasonOf } from './exchange.ts'

export class Page<Item = unknown> {
  /** The URL that was requested. */
  readonly url: string
  /** The number of this page; that of the last page if one beyond it was requested. */
  declare readonly number: number
  declare readonly lastPage: number
  /** How many items the whole collection has. */
  declare readonly itemCount: number
  declare readonly isPaginated: boolean
  /** The name under which the items stand in `_embedded`. */
  readonly name: string
  /** All of `_links`, as it came. */
  declare readonly links: Links
  readonly etag: string | undefined
  /** The whole answer, as it came. */
  readonly body: Uint8Array
  readonly #list: EmbeddedList
  #items: readonly Item[] | undefined

  constructor({ url, headers, body }: FetchedBody, envelope: Envelope, list: EmbeddedList) {
    Object.assign(this, envelope)
    this.url = url
    this.name = list.name
    this.etag = headers.get('etag') ?? undefined
    this.body = body
    this.#list = list
  }

  get isLast(): boolean {
    return this.number === this.lastPage
  }

  /** How many items are on this page. */
  get length(): number {
    return this.#list.offsets.length / 2
  }

  /** The items, parsed when they are first asked for. */
  get items(): readonly Item[] {
    const { start, end } = this.#list
    this.#items ??= JSON.parse(decode(this.body.subarray(start, end))) as Item[]
    return this.#items
  }

  /** The JSON text of each item, byte for byte as it came, from item `first` on: views of the body. */
  *texts(first = 0): Generator<Uint8Array, void> {
    const { offsets } = this.#list
    for (let i = 2 * first; i < offsets.length; i += 2) yield this.body.subarray(offsets[i], offsets[i + 1])
  }

  /** The items from item `first` on as NDJSON: their bytes as they came, but for line breaks, which become blanks. */
  ndjson(first = 0): Uint8Array<ArrayBuffer> {
    // There is room: behind each item stands a comma or a bracket.
    const lines = new Uint8Array(this.body.length)
    let length = 0
    for (const text of this.texts(first)) {
      const line = lines.subarray(length, length + text.length)
      line.set(text)
      // A line break is always white space between tokens: in strings it is escaped.
      for (const lineBreak of [LINE_FEED, CARRIAGE_RETURN])
        for (let at = line.indexOf(lineBreak); at >= 0; at = line.indexOf(lineBreak, at)) line[at] = SPACE
      length += text.length + 1
      lines[length - 1] = LINE_FEED
    }
    return lines.subarray(0, length)
  }
}

/** Answers where the item that begins at `start` ends; -1 where the page is to find that out itself. */
export type ReadItem = (body: Uint8Array, start: number) => number

/** Reads an answer as a page. Throws a ClientError that says what is wrong with it. */
export function readPage<Item>(
  fetched: FetchedBody,
  asked: Pick<PageRequest, 'page' | 'allows'>,
  readItem?: ReadItem,
): Page<Item> {
  const { url, body } = fetched
  try {
    const lists = embeddedLists(body, readItem)
    const [list] = lists
    if (list === undefined || lists.length > 1) {
      const names = lists.map(({ name }) => name).join(', ')
      throw new InvalidPage(fetched, `_embedded should hold one array, the items. It holds ${names || 'none'}`)
    }
    const envelope = readEnvelope(fieldsOf(body, list), { ...asked, url, length: list.offsets.length / 2 })
    return new Page(fetched, envelope, list)
  } catch (error) {
    if (error instanceof ClientError) throw error
    if (error instanceof JsonFlaw && error.isCutOff)
      throw new ConnectionLost(fetched, `the response is truncated after ${body.length} bytes`, error)
    throw new InvalidPage(fetched, error instanceof RangeError ? error.message : flawOf(body), error)
  }
}

/** The parser of the runtime says best what is wrong with a text. */
function flawOf(body: Uint8Array): string {
  try {
    const text = decode(body)
    JSON.parse(text)
    return `it is ${text.slice(0, 100)}, not an object`
  } catch (error) {
    return `it is not JSON in UTF-8: ${reasonOf(error)}`
  }
}

/** The fields of the envelope, the items left out. */
function fieldsOf(body: Uint8Array, { start, end }: EmbeddedList): Readonly<Record<string, unknown>> {
  // The cursor does not check that the bytes are UTF-8.
  decode(body.subarray(start, end))
  return JSON.parse(`${decode(body.subarray(0, start))}[]${decode(body.subarray(end))}`)
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
}

/** An array directly under `_embedded`. */
interface EmbeddedList {
  readonly name: string
  /** The offset of its opening bracket, and that after its closing one. */
  readonly start: number
  readonly end: number
  /** Where each item begins and where it ends, two numbers an item. */
  readonly offsets: readonly number[]
}

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20
const OPEN_ARRAY = 0x5b
const OPEN_OBJECT = 0x7b
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]

/** Throws a JsonFlaw where the body is not a JSON object. */
function embeddedLists(body: Uint8Array, readItem: ReadItem | undefined): EmbeddedList[] {
  const lists: EmbeddedList[] = []
  const cursor = new JsonCursor(body)
  const nameAt = (start: number, end: number) => JSON.parse(decode(body.subarray(start, end)))
  if (BYTE_ORDER_MARK.every((byte, index) => byte === body[index])) cursor.at = BYTE_ORDER_MARK.length
  cursor.readMembers((nameStart, nameEnd) => {
    if (nameAt(nameStart, nameEnd) !== '_embedded' || cursor.peek() !== OPEN_OBJECT) return cursor.readValue()
    cursor.readMembers((keyStart, keyEnd) => {
      if (cursor.peek() === OPEN_ARRAY) lists.push(readList(cursor, nameAt(keyStart, keyEnd), readItem))
      else cursor.readValue()
    })
  })
  cursor.readEnd()
  return lists
}

function readList(cursor: JsonCursor, name: string, readItem: ReadItem | undefined): EmbeddedList {
  const start = cursor.at
  const offsets: number[] = []
  cursor.readElements(() => {
    cursor.peek()
    offsets.push(cursor.at)
    const end = readItem?.(cursor.bytes, cursor.at) ?? -1
    if (end < 0) cursor.readValue()
    else cursor.at = end
    offsets.push(cursor.at)
  })
  return { name, start, end: cursor.at, offsets }
}
