/** From the bytes of a file or a request to batches of checked items, whatever the format. */

import type { CsvOptions } from './csv.ts'
import { ColumnTypes, type Conversions } from './csv-columns.ts'
import { gunzipped, joined, readHead } from './gunzip.ts'
import type { InputBatch, ItemReader } from './item-reader.ts'
import { JsonArrayReader, type JsonOptions } from './json-array.ts'
import { NdjsonReader } from './ndjson.ts'
import { gateFor, HEAD_BYTES } from './transcode.ts'
import { type TextGate, Utf8Gate } from './utf8.ts'

export type { InputBatch } from './item-reader.ts'

/** `tsv` is CSV with tabs. */
export type InputFormat = 'ndjson' | 'json' | 'csv' | 'tsv'

/** What concerns CSV or JSON has no meaning for other formats. */
export interface ReadOptions extends CsvOptions, JsonOptions {
  readonly format: InputFormat
  /** Of a text without a byte order mark, as TextDecoder names it. Default: UTF-8. */
  readonly encoding?: string | undefined
}

/** Large chunks are read in blocks of this size: what is held beside them stays small. */
const BLOCK_BYTES = 1 << 16

/**
 * Reads all items of `source`, plain or gzip, in any encoding. Throws an InputError at the first thing that is wrong.
 * A chunk must stay as it is once it is handed over.
 */
export async function* readItems(
  source: AsyncIterable<Uint8Array>,
  options: ReadOptions,
): AsyncGenerator<InputBatch, void, undefined> {
  const chunks = gunzipped(source)[Symbol.asyncIterator]()
  try {
    const head = await readHead(chunks, HEAD_BYTES)
    yield* readUnpacked(joined(head, chunks), options, gateFor(head, options.encoding))
  } finally {
    await chunks.return?.()
  }
}

/** The same for UTF-8 that is not packed. */
export async function* readUnpacked(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  options: Omit<ReadOptions, 'encoding'>,
  gate: TextGate = new Utf8Gate(),
): AsyncGenerator<InputBatch, void, undefined> {
  const reader = await createReader(options)
  for await (const chunk of source) {
    for (let at = 0; at < chunk.length; at += BLOCK_BYTES) {
      yield* reader.push(gate.pass(chunk.subarray(at, at + BLOCK_BYTES)))
      if (gate.invalid !== undefined) yield* reader.end(gate.invalid)
    }
  }
  const rest = gate.end()
  if (rest.length > 0) yield* reader.push(rest)
  yield* reader.end(gate.invalid)
}

/** What the columns of CSV hold: reads all of it. `onBlock` is told after each block how many rows it was so far. */
export async function readColumnTypes(
  source: AsyncIterable<Uint8Array>,
  { conversions, ...options }: Omit<ReadOptions, 'types'> & { readonly conversions?: Conversions },
  onBlock: (rows: number) => void = () => {},
): Promise<ColumnTypes> {
  const types = new ColumnTypes(conversions)
  const blocks = async function* () {
    for await (const block of source) {
      yield block
      onBlock(types.rows)
    }
  }
  for await (const _ of readItems(blocks(), { ...options, types })) throw new Error('no items are read here')
  types.end()
  return types
}

/** The parser for CSV is loaded when it is needed: no start has to wait for it. */
async function createReader(options: ReadOptions): Promise<ItemReader> {
  switch (options.format) {
    case 'ndjson':
      return new NdjsonReader(options)
    case 'json':
      return new JsonArrayReader(options)
    case 'csv':
      return new (await import('./csv.ts')).CsvReader(options)
    case 'tsv':
      return new (await import('./csv.ts')).CsvReader({ ...options, delimiter: options.delimiter ?? '\t' })
  }
}
