/** One page of a collection, checked: what its envelope says, and its items as values and as bytes. */

import { JsonFlaw } from '../items/json-cursor.ts'
import { ConnectionLost, InvalidPage, reasonOf } from './client-error.ts'
import { type Envelope, type Links, type PageRequest, readEnvelope } from './envelope.ts'
import type { FetchedBody } from './exchange.ts'
import { type EmbeddedList, embeddedLists, ndjsonOf } from './page-items.ts'

export class Page<Item = unknown> {
  /** The URL that was requested. */
  readonly url: string
  /** The number of this page; that of the last page if one beyond it was requested. */
  readonly number: number
  readonly lastPage: number
  /** How many items the whole collection has. */
  readonly itemCount: number
  readonly isPaginated: boolean
  /** The name under which the items stand in `_embedded`. */
  readonly name: string
  /** All of `_links`, as it came. */
  readonly links: Links
  readonly etag: string | undefined
  /** The whole answer, as it came. */
  readonly body: Uint8Array
  readonly #list: EmbeddedList
  #items: readonly Item[] | undefined

  constructor({ url, headers, body }: FetchedBody, envelope: Envelope, list: EmbeddedList) {
    this.url = url
    this.number = envelope.number
    this.lastPage = envelope.lastPage
    this.itemCount = envelope.itemCount
    this.isPaginated = envelope.isPaginated
    this.links = envelope.links
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
    return ndjsonOf(this.body, this.#list, first)
  }
}

/** Reads an answer as a page. Throws a ClientError that says what is wrong with it. */
export function readPage<Item>(fetched: FetchedBody, asked: Pick<PageRequest, 'page' | 'allows'>): Page<Item> {
  const lists = listsOf(fetched)
  const [list] = lists
  if (list === undefined || lists.length > 1) {
    const names = lists.map(({ name }) => name).join(', ')
    throw new InvalidPage(fetched, `_embedded should hold one array, the items. It holds ${names || 'none'}`)
  }
  const envelope = readEnvelope(fieldsOf(fetched, list), {
    ...asked,
    url: fetched.url,
    length: list.offsets.length / 2,
  })
  return new Page(fetched, envelope, list)
}

function listsOf(fetched: FetchedBody): EmbeddedList[] {
  const { body } = fetched
  try {
    return embeddedLists(body)
  } catch (error) {
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
function fieldsOf(fetched: FetchedBody, { start, end }: EmbeddedList): Readonly<Record<string, unknown>> {
  const { body } = fetched
  try {
    // The cursor does not check that the bytes are UTF-8.
    decode(body.subarray(start, end))
    return JSON.parse(`${decode(body.subarray(0, start))}[]${decode(body.subarray(end))}`)
  } catch (error) {
    throw new InvalidPage(fetched, flawOf(body), error)
  }
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
}
