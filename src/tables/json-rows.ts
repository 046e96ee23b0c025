/** Writes rows as JSON objects, one on each line, where the database does not do it itself. */

import { type OwnedBytes, own } from '../items/owned-bytes.ts'

const LINE_FEED = '\n'

/** Enough text to be worth handing over. */
const CHUNK_LENGTH = 64 * 1024

/** `values` are JSON texts, in the order of `columns`. */
export class JsonRows {
  readonly #names: readonly string[]
  readonly #encoder = new TextEncoder()
  #text = ''

  constructor(columns: readonly string[]) {
    this.#names = columns.map((name, index) => `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`)
  }

  /** Answers with bytes when there are enough of them. */
  add(values: readonly string[]): OwnedBytes | undefined {
    let row = values.length === 0 ? '{' : ''
    for (let i = 0; i < values.length; i++) row += (this.#names[i] as string) + (values[i] as string)
    this.#text += `${row}}${LINE_FEED}`
    return this.#text.length >= CHUNK_LENGTH ? this.take() : undefined
  }

  /** All that was not answered yet. */
  take(): OwnedBytes {
    const bytes = own(this.#encoder.encode(this.#text))
    this.#text = ''
    return bytes
  }
}

export function base64(bytes: Uint8Array): string {
  return `"${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')}"`
}

/** As PostgreSQL writes numbers that JSON does not have. */
export function jsonNumber(value: number): string {
  return Number.isFinite(value) ? `${value}` : `"${value}"`
}
