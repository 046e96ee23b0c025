/** Reads a file that an earlier pull has finished: how many items it holds, and the last of them. */

import { createReadStream } from 'node:fs'
import { PAGE_SIZE } from '../../contract/page.ts'
import { gunzipped } from '../../items/gunzip.ts'
import type { InputFormat } from '../../items/read-items.ts'
import { parseCsvRow } from '../csv-text.ts'
import { RecordCutter } from './records.ts'

const CHUNK_BYTES = 128 * 1024
/** What is compared with the collection, at most. */
const TAIL_ITEMS = 2 * PAGE_SIZE
/** No item is longer, as no answer is. A file without line breaks would have to be held as a whole. */
const MAX_RECORD_BYTES = 500_000_000

export interface FinishedFile {
  readonly items: number
  /** The last items as they stand in the file. */
  readonly tail: readonly Uint8Array[]
  /** How many bytes, unpacked, stand before what closes the file. */
  readonly contentBytes: number
  /** The names in the first row of CSV. */
  readonly columns: readonly string[]
}

/** Undefined for a file that is not as a pull writes it. */
export async function readFinished(
  path: string,
  format: InputFormat,
  signal: AbortSignal,
): Promise<FinishedFile | undefined> {
  const cutter = new RecordCutter(format === 'csv')
  const reading = READINGS[format]()
  for await (const chunk of unpacked(path, signal)) {
    reading.bytes += chunk.length
    for (const record of cutter.push(chunk)) reading.add(record)
    if (cutter.restBytes > MAX_RECORD_BYTES) return undefined
  }
  return cutter.restBytes > 0 ? undefined : reading.end()
}

/** The bytes of a file, unpacked if they are gzip. */
export function unpacked(path: string, signal: AbortSignal): AsyncIterable<Uint8Array> {
  return gunzipped(createReadStream(path, { highWaterMark: CHUNK_BYTES, signal }))
}

/** Every byte is a character: enough for comparing. */
export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}

/** Takes the records of a file, in order. */
class Reading {
  bytes = 0
  items = 0
  tail: Uint8Array[] = []

  add(record: Uint8Array): void {
    this.items++
    this.tail.push(record)
    if (this.tail.length === 2 * TAIL_ITEMS) this.tail = this.tail.slice(-TAIL_ITEMS)
  }

  end(): FinishedFile | undefined {
    return this.finished(this.bytes, [])
  }

  finished(contentBytes: number, columns: readonly string[]): FinishedFile {
    return { items: this.items, tail: this.tail.slice(-TAIL_ITEMS), contentBytes, columns }
  }
}

class JsonReading extends Reading {
  #opening: string | undefined
  #latest: Uint8Array | undefined

  /** Behind every item but the last stands a comma; the bracket comes behind it. */
  override add(record: Uint8Array): void {
    if (this.#opening === undefined) this.#opening = textOf(record)
    else {
      if (this.#latest !== undefined) super.add(withoutComma(this.#latest))
      this.#latest = record
    }
  }

  override end(): FinishedFile | undefined {
    if (this.#opening === '[]' && this.#latest === undefined) return this.finished(0, [])
    if (this.#opening !== '[' || this.#latest === undefined || textOf(this.#latest) !== ']') return undefined
    return this.finished(this.bytes - '\n]\n'.length, [])
  }
}

class CsvReading extends Reading {
  #header: Uint8Array | undefined

  override add(record: Uint8Array): void {
    if (this.#header === undefined) this.#header = record
    else super.add(record)
  }

  override end(): FinishedFile | undefined {
    const columns = this.#header === undefined ? [] : parseCsvRow(Buffer.from(this.#header).toString())
    return columns === undefined ? undefined : this.finished(this.bytes, columns)
  }
}

const READINGS: Readonly<Record<InputFormat, () => Reading>> = {
  ndjson: () => new Reading(),
  json: () => new JsonReading(),
  csv: () => new CsvReading(),
}

function withoutComma(record: Uint8Array): Uint8Array {
  return record.at(-1) === 0x2c ? record.subarray(0, -1) : record
}
