/** What a scanner found wrong, in words. */

import { makeVisible } from '../contract/message-text.ts'
import { type JsonScanner, MAX_DEPTH } from './json-scan.ts'

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/** The reason why `scanner` refused the text that begins at `start`. Columns count characters, from 1, in their line. */
export function describeFault(scanner: JsonScanner, bytes: Uint8Array, start: number): string {
  const { fault, faultAt, missing } = scanner
  const column = columnOf(bytes, start, faultAt)
  switch (fault) {
    case 'end':
      return missing === '' ? 'it is truncated' : `it is truncated: a closing ${missing} is missing`
    case 'character':
      return `unexpected character \`${characterAt(bytes, faultAt)}\` at column ${column}`
    case 'control':
      if (bytes[faultAt] === LINE_FEED || bytes[faultAt] === CARRIAGE_RETURN)
        return `there is a line break in a string at column ${column}: is its closing " missing?`
      return `the control character \`${characterAt(bytes, faultAt)}\` at column ${column} must be written as an escape`
    case 'escape':
      return `unknown escape in a string at column ${column}`
    case 'depth':
      return `nested deeper than ${MAX_DEPTH} at column ${column}`
  }
}

function columnOf(bytes: Uint8Array, start: number, at: number): number {
  const lineStart = Math.max(start, bytes.subarray(0, at).lastIndexOf(LINE_FEED) + 1)
  let column = 1
  for (let i = lineStart; i < at; i++) if (((bytes[i] ?? 0) & 0xc0) !== 0x80) column++
  return column
}

function characterAt(bytes: Uint8Array, at: number): string {
  const [character = ''] = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(at, at + 4))
  return makeVisible(character)
}
