/** The header line of CSV: where it ends, what separates its fields, and whether it may be a title above the real header. */

import { CARRIAGE_RETURN, errorAt, LINE_FEED, type Piece } from './input-error.ts'

/** What usually separates fields, with the word for several of them. */
const DELIMITERS: ReadonlyMap<string, string> = new Map([
  [',', 'commas'],
  [';', 'semicolons'],
  ['\t', 'tabs'],
  ['|', 'pipes'],
])
const QUOTE = 0x22
/** Excel writes this line to declare the delimiter. */
const SEPARATOR_LINE = /^"?sep=([^\p{L}\p{N}"\P{ASCII}])"?$/iu

/** How many rows are searched for titles. */
export const FIRST_ROWS = 20

export interface CsvHeader {
  /** Whether more bytes cannot change it. */
  readonly isComplete: boolean
  readonly piece: Piece
  /** The line on which it ends. */
  readonly endLine: number
  /** How often each delimiter occurs in it outside of quotes, the most frequent first. */
  readonly counts: readonly (readonly [delimiter: string, count: number])[]
}

/** Reads the header and the rows after it, each in the same way: FIRST_ROWS at most. */
export function readFirstRows(bytes: Uint8Array, line: number): [CsvHeader, ...CsvHeader[]] {
  let row = readHeader(bytes, line)
  const rows: [CsvHeader, ...CsvHeader[]] = [row]
  while (row.isComplete && rows.length < FIRST_ROWS) {
    row = readHeader(row.piece.bytes.subarray(row.piece.end), row.endLine)
    rows.push(row)
  }
  return rows
}

/** Reads the first line that is not empty. `line` is the number of the first line. */
export function readHeader(bytes: Uint8Array, line: number): CsvHeader {
  const counts = new Map([...DELIMITERS.keys()].map((delimiter) => [delimiter.charCodeAt(0), 0]))
  let [at, start, endLine, isQuoted] = [0, 0, line, false]
  for (; at < bytes.length; at++) {
    const byte = bytes[at] as number
    const isBreak = byte === LINE_FEED || byte === CARRIAGE_RETURN
    if (isBreak && !isQuoted && at > start) break
    if (isBreak && (byte === CARRIAGE_RETURN || bytes[at - 1] !== CARRIAGE_RETURN)) endLine++
    if (isBreak && !isQuoted) [start, line] = [at + 1, endLine]
    if (byte === QUOTE) isQuoted = !isQuoted
    const count = counts.get(byte)
    if (count !== undefined && !isQuoted) counts.set(byte, count + 1)
  }
  const sorted = [...counts].map(([code, count]) => [String.fromCharCode(code), count] as const)
  return {
    isComplete: at < bytes.length,
    piece: { bytes, start, end: at, line },
    endLine,
    counts: sorted.sort(([, a], [, b]) => b - a),
  }
}

/** The delimiter that a header shows, or the one that is `given`, if the header does not speak against it. `titles`: see below. */
export function delimiterOf({ piece, counts }: CsvHeader, given: string | undefined, titles: string): string {
  const [[first, most] = [',', 0], [second, next] = [';', 0]] = counts
  const nameOf = (delimiter: string) => DELIMITERS.get(delimiter) ?? JSON.stringify(delimiter)
  if (given !== undefined) {
    if (most === 0 || textOf(piece).includes(given)) return given
    const reason = `the header has no ${nameOf(given)} to separate its fields, but ${nameOf(first)}`
    throw errorAt(`${reason}; give the right --delimiter, or put it in quotes if it is one field${titles}`, piece)
  }
  if (most === 0 && titles === '') return ','
  if (most === 0)
    throw errorAt(`the header has 1 field, rows below it have more${titles}; if not, add --delimiter ,`, piece)
  if (next < most) return first
  const names = `${nameOf(first)} or ${nameOf(second)}`
  throw errorAt(`${names} could separate the fields of the header; say which, with --delimiter${titles}`, piece)
}

/** The delimiter that a line `sep=;` names; undefined for any other line. */
export function separatorIn(line: Uint8Array): string | undefined {
  return line.length > '"sep=;"'.length ? undefined : SEPARATOR_LINE.exec(new TextDecoder().decode(line))?.[1]
}

/**
 * What to do, as the end of a message, if the header looks like a title: two rows below it, one after the other, have the same number
 * of fields, and at least twice as many as it has. Spreadsheets fill titles up with empty fields, which do not count. Else ''.
 */
export function adviceOnTitles([header, ...rows]: readonly [CsvHeader, ...CsvHeader[]]): string {
  for (const [index, row] of rows.entries())
    for (const [delimiter, count] of row.counts) {
      const isTable = count > 0 && count === new Map(rows[index + 1]?.counts).get(delimiter)
      if (isTable && filled(row, delimiter) > count && count + 1 >= 2 * filled(header, delimiter))
        return `; if the header is on line ${row.piece.line}, add --skip ${row.piece.line - 1}`
    }
  return ''
}

/** Roughly how many fields are not empty; ignores quotes. */
function filled({ piece }: CsvHeader, delimiter: string): number {
  return textOf(piece)
    .split(delimiter)
    .filter((text) => text.trim() !== '').length
}

function textOf({ bytes, start, end }: Piece): string {
  return new TextDecoder().decode(bytes.subarray(start, end))
}
