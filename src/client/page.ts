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
    return lengthOf(this.#list)
  }

  /** The items, parsed when they are first asked for. */
  get items(): readonly Item[] {
    const { start, end } = this.#list
    this.#items ??= JSON.parse(decode(this.body.subarray(start, end)) || '[]') as Item[]
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

/** Which array of `_embedded` holds the items, if there are several. The first page decides for all others. */
export interface ListChoice {
  /** The name of the collection. */
  readonly collection: string
  /** The name of the array, once it is chosen. */
  name?: string | undefined
  /** Whether there were others. */
  isOneOfSeveral?: boolean
}

/** Reads a response as a page. Throws a ClientError that says what is wrong with it. */
export function readPage<Item>(
  fetched: FetchedBody,
  asked: Omit<PageRequest, 'url'>,
  choice: ListChoice,
  readItem?: ReadItem,
): Page<Item> {
  const { url, body } = fetched
  try {
    const lists = embeddedLists(body, readItem)
    let list = NO_LIST
    const envelope = readEnvelope(fieldsOf(body, lists), { ...asked, url }, (expected) => {
      list = chooseList(lists, expected, choice, fetched)
      return lengthOf(list)
    })
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

/** The only array; of several, the one with the name of the collection, or else the only one with as many items as expected. */
function chooseList(
  lists: readonly EmbeddedList[],
  expected: number | undefined,
  choice: ListChoice,
  fetched: FetchedBody,
): EmbeddedList {
  const { name, isOneOfSeveral, collection } = choice
  if (expected === 0 && lists.length === 0) return NO_LIST
  const named = lists.find((list) => list.name === (name ?? collection))
  const fitting = name ? [] : lists.filter((list) => lengthOf(list) === expected)
  // An empty page is the same whichever array it is.
  const fits = fitting.length === 1 || expected === 0 ? fitting[0] : undefined
  const list = lists.length === 1 && !isOneOfSeveral ? lists[0] : (named ?? fits)
  if (list === undefined) throw undecided(lists, name, fetched)
  if (expected !== 0) {
    choice.name ??= list.name
    choice.isOneOfSeveral ||= lists.length > 1
  }
  return list
}

function undecided(lists: readonly EmbeddedList[], name: string | undefined, fetched: FetchedBody): InvalidPage {
  const names = lists.map((list) => list.name).join(', ')
  if (names === '') return new InvalidPage(fetched, '_embedded should hold the items as an array. It holds none')
  const why = name
    ? `earlier pages had them in ${name}`
    : 'none has the name of the collection, or alone the right length'
  return new InvalidPage(
    fetched,
    `_embedded has the arrays ${names}, and ${why}`,
    undefined,
    'The items were not found',
  )
}

/** The fields of the envelope, the arrays in `_embedded` left out. */
function fieldsOf(body: Uint8Array, lists: readonly EmbeddedList[]): Readonly<Record<string, unknown>> {
  let [text, at] = ['', 0]
  for (const { start, end } of lists) {
    text += `${decode(body.subarray(at, start))}[]`
    // The cursor does not check that the bytes are UTF-8.
    decode(body.subarray(start, end))
    at = end
  }
  return JSON.parse(text + decode(body.subarray(at)))
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

/** Some servers leave the array out where there are no items. */
const NO_LIST: EmbeddedList = { name: '', start: 0, end: 0, offsets: [] }

function lengthOf({ offsets }: EmbeddedList): number {
  return offsets.length / 2
}

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20
const OPEN_ARRAY = 0x5b
const OPEN_OBJECT = 0x7b
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]

/** Throws a JsonFlaw where the body is not a JSON object. */
function embeddedLists(body: Uint8Array, readItem: ReadItem | undefined): EmbeddedList[] {
  let lists: EmbeddedList[] = []
  const cursor = new JsonCursor(body)
  const nameAt = (start: number, end: number) => JSON.parse(decode(body.subarray(start, end)))
  if (BYTE_ORDER_MARK.every((byte, index) => byte === body[index])) cursor.at = BYTE_ORDER_MARK.length
  cursor.readMembers((nameStart, nameEnd) => {
    if (nameAt(nameStart, nameEnd) !== '_embedded') return cursor.readValue()
    // Of several members with one name the last one counts, as in JSON.parse.
    lists = []
    if (cursor.peek() !== OPEN_OBJECT) return cursor.readValue()
    cursor.readMembers((keyStart, keyEnd) => {
      const name = nameAt(keyStart, keyEnd)
      lists = lists.filter((list) => list.name !== name)
      if (cursor.peek() === OPEN_ARRAY) lists.push(readList(cursor, name, readItem))
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
