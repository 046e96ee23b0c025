/** Reads the answers on a connection as they arrive, and accepts only what is strictly well-formed. */

import type { RawAnswer } from '../service/raw-http.ts'

const STATUS_LINE = /^HTTP\/1\.1 (\d{3}) [\x20-\x7e]*$/
/** No control characters: whoever can put a line break into a header can add headers. */
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*)$/
/** Must not be given twice. */
const SINGLE = ['content-length', 'content-type', 'connection', 'etag', 'location', 'date', 'content-encoding']
const HEAD_END = '\r\n\r\n'
const MAX_HEAD_BYTES = 64 * 1024

export class AnswerReader {
  /** The final ones, not those with a status of 1xx. */
  readonly answers: RawAnswer[] = []
  /** What is wrong with an answer. Nothing is read after it. */
  flaw: string | undefined
  /** What has arrived of the next answer. */
  rest: Buffer = Buffer.alloc(0)
  readonly #isHead: (index: number) => boolean

  /** `isHead` says of each answer whether its body is left out. */
  constructor(isHead: (index: number) => boolean) {
    this.#isHead = isHead
  }

  push(chunk: Buffer): void {
    this.rest = Buffer.concat([this.rest, chunk])
    try {
      while (this.flaw === undefined && this.#readAnswer());
    } catch (error) {
      this.flaw = String(error)
    }
  }

  /** False when the bytes are not enough. Throws a text that says what is wrong with them. */
  #readAnswer(): boolean {
    const headEnd = this.rest.indexOf(HEAD_END)
    if (headEnd < 0 && this.rest.length > MAX_HEAD_BYTES) throw 'the head of an answer does not end'
    if (headEnd < 0) return false
    const [statusLine = '', ...lines] = this.rest.subarray(0, headEnd).toString('latin1').split('\r\n')
    const status = Number(STATUS_LINE.exec(statusLine)?.[1])
    if (Number.isNaN(status)) throw 'an answer does not begin with a status line'
    const headers = headersOf(lines)
    const bodyStart = headEnd + HEAD_END.length
    const bodyEnd = bodyStart + bodyLength(status, headers, this.#isHead(this.answers.length))
    if (this.rest.length < bodyEnd) return false
    const body = this.rest.subarray(bodyStart, bodyEnd)
    this.rest = this.rest.subarray(bodyEnd)
    if (status >= 200) this.answers.push({ status, headers, body })
    return true
  }
}

function headersOf(lines: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>()
  for (const line of lines) {
    const [, name, value] = HEADER.exec(line) ?? []
    if (name === undefined || value === undefined) throw 'an answer has a malformed header'
    const key = name.toLowerCase()
    if (headers.has(key) && SINGLE.includes(key)) throw `an answer has two headers ${name}`
    headers.set(key, value.trim())
  }
  return headers
}

function bodyLength(status: number, headers: ReadonlyMap<string, string>, isHead: boolean): number {
  const given = headers.get('content-length')
  if (status === 101 || headers.has('transfer-encoding')) throw `an answer ${status} has a body of unknown length`
  if (status < 200 || status === 204 || status === 304) {
    if (given !== undefined) throw `an answer ${status} has a Content-Length`
    return 0
  }
  if (given === undefined || !/^\d+$/.test(given)) throw `an answer ${status} has the Content-Length ${given}`
  return isHead ? 0 : Number(given)
}
