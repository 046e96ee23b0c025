/** The header line of CSV: where it ends, and what separates its fields. */

import { CARRIAGE_RETURN, errorAt, LINE_FEED, type Piece } from './input-error.ts'

/** What usually separates fields, with the word for several of them. */
export const DELIMITERS: ReadonlyMap<string, string> = new Map([
  [',', 'commas'],
  [';', 'semicolons'],
  ['\t', 'tabs'],
  ['|', 'pipes'],
])
const QUOTE = 0x22
/** Excel writes this line to tell other programs, and itself, what separates the fields. */
const SEPARATOR_LINE = /^"?sep=([^\p{L}\p{N}"\P{ASCII}])"?$/iu

export interface CsvHeader {
  /** Whether more bytes cannot change it. */
  readonly isComplete: boolean
  readonly piece: Piece
  /** How often each delimiter occurs in it outside of quotes, the most frequent first. */
  readonly counts: readonly (readonly [delimiter: string, count: number])[]
}

/** Reads the first line that is not empty. `line` is the number of the first line. */
export function readHeader(bytes: Uint8Array, line = 1): CsvHeader {
  const counts = new Map([...DELIMITERS.keys()].map((delimiter) => [delimiter.charCodeAt(0), 0]))
  let [at, start, isQuoted] = [0, 0, false]
  for (; at < bytes.length; at++) {
    const byte = bytes[at] as number
    const isBreak = byte === LINE_FEED || byte === CARRIAGE_RETURN
    if (isBreak && !isQuoted && at > start) break
    if (isBreak && !isQuoted) start = at + 1
    if (isBreak && !isQuoted && (byte === LINE_FEED ? bytes[at - 1] !== CARRIAGE_RETURN : true)) line++
    if (byte === QUOTE) isQuoted = !isQuoted
    const count = counts.get(byte)
    if (count !== undefined && !isQuoted) counts.set(byte, count + 1)
  }
  const sorted = [...counts].map(([code, count]) => [String.fromCharCode(code), count] as const)
  return {
    isComplete: at < bytes.length,
    piece: { bytes, start, end: at, line },
    counts: sorted.sort(([, a], [, b]) => b - a),
  }
}

/** The delimiter that a header shows, or the one that is `given`, if the header does not speak against it. */
export function delimiterOf({ piece, counts }: CsvHeader, given: string | undefined): string {
  const [[first, most] = [',', 0], [second, next] = [';', 0]] = counts
  const nameOf = (delimiter: string) => DELIMITERS.get(delimiter) ?? JSON.stringify(delimiter)
  if (given !== undefined) {
    const text = new TextDecoder().decode(piece.bytes.subarray(piece.start, piece.end))
    if (most === 0 || text.includes(given)) return given
    const reason = `the header has no ${nameOf(given)} to separate its fields, but ${nameOf(first)}`
    const advice = 'put it in quotes if it is one field, or leave out titles above the header with --skip'
    throw errorAt(`${reason}; give the right --delimiter, ${advice}`, piece)
  }
  if (most === 0) return ','
  if (next < most) return first
  const names = `${nameOf(first)} or ${nameOf(second)}`
  throw errorAt(`${names} could separate the fields of the header; say which, with --delimiter`, piece)
}

/** The delimiter that a line `sep=;` names; undefined for any other line. */
export function separatorIn(line: Uint8Array): string | undefined {
  return line.length > '"sep=;"'.length ? undefined : SEPARATOR_LINE.exec(new TextDecoder().decode(line))?.[1]
}
