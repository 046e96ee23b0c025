/** Cuts a file that a pull has written into its records: the items, and what stands around them. */

const LINE_FEED = 0x0a
const QUOTE = 0x22

export class RecordCutter {
  readonly #hasQuotes: boolean
  #isQuoted = false
  #rest: Uint8Array[] = []
  /** Of a record that has no line break behind it yet. */
  restBytes = 0

  /** `hasQuotes`: whether a line break within quotes belongs to a record, as in CSV. */
  constructor(hasQuotes: boolean) {
    this.#hasQuotes = hasQuotes
  }

  /** The records that these bytes complete, each without its line break. */
  *push(bytes: Uint8Array): Generator<Uint8Array, void> {
    let start = 0
    for (let end = this.#end(bytes, 0); end >= 0; end = this.#end(bytes, start)) {
      const record = bytes.subarray(start, end)
      yield this.#rest.length === 0 ? record : Buffer.concat([...this.#rest, record])
      this.#rest = []
      this.restBytes = 0
      start = end + 1
    }
    if (start < bytes.length) this.#rest.push(bytes.subarray(start))
    this.restBytes += bytes.length - start
  }

  #end(bytes: Uint8Array, start: number): number {
    if (!this.#hasQuotes) return bytes.indexOf(LINE_FEED, start)
    for (let at = start; at < bytes.length; at++)
      if (bytes[at] === QUOTE) this.#isQuoted = !this.#isQuoted
      else if (bytes[at] === LINE_FEED && !this.#isQuoted) return at
    return -1
  }
}
