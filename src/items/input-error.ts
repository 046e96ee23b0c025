/** The error for input that cannot be read: on which line, why, and what stands there. */

import { excerpt } from '../contract/message-text.ts'
import type { ItemError } from './item-scanner.ts'
import type { InvalidText } from './utf8.ts'

export class InputError extends Error {
  override readonly name = 'InputError'
  /** Counted from 1; undefined if it is not about a line. */
  readonly line: number | undefined
  /** Which item, counted from 1; undefined if it is not about an item. */
  readonly item: number | undefined
  /** Reads well after "line 17: ". */
  readonly reason: string
  /** What stands there, shortened; '' if there is nothing to show. */
  readonly text: string

  constructor(
    reason: string,
    options: { readonly line?: number; readonly item?: number; readonly text?: string; readonly cause?: unknown } = {},
  ) {
    const { line, item, text = '', cause } = options
    super('', cause === undefined ? undefined : { cause })
    this.line = line
    this.item = item
    this.reason = reason
    this.text = text
    this.message = this.describe('line')
  }

  /** `unit` is what a line is called there. */
  describe(unit: 'line' | 'row'): string {
    const { line, reason, text } = this
    return (line === undefined ? '' : `${unit} ${line}: `) + reason + (text === '' ? '' : `: \`${text}\``)
  }
}

/** A piece of input that begins on a known line. */
export interface Piece {
  readonly bytes: Uint8Array
  readonly start: number
  readonly end: number
  readonly line: number
  /** The item that is read there, counted from 1, where the format tells. */
  readonly item?: number
}

/** The error about the offset `at` of a piece. */
export function errorAt(reason: string, piece: Piece, at: number = piece.start, cause?: ItemError): InputError {
  const { bytes, start, end } = piece
  const from = lineStart(bytes, start, at)
  let to = lineEnd(bytes, at, end)
  if (to > at && bytes[to - 1] === CARRIAGE_RETURN) to--
  return new InputError(reason, {
    line: piece.line + countLineFeeds(bytes, start, at),
    text: excerpt(bytes, from, to, at),
    ...(piece.item !== undefined && { item: piece.item }),
    cause,
  })
}

/** The error about the bytes that follow a piece and cannot be read. */
export function invalidText(piece: Piece, { bytes, encoding, at = 0 }: InvalidText): InputError {
  const before = errorAt('', piece, piece.end)
  const hex = bytes[0] === undefined ? '' : `\\x${bytes[0].toString(16).padStart(2, '0')}`
  const guess = guessEncoding(piece.bytes.subarray(piece.start, piece.end), at)
  const reason =
    encoding === 'utf-8'
      ? `this is not valid UTF-8; it may be ${guess}: then add --encoding ${guess}`
      : `this is not valid ${encoding}; the file is damaged, or --encoding has to name another encoding`
  return new InputError(reason, { line: before.line ?? piece.line, text: before.text + hex })
}

/** Every second byte of Western text in UTF-16 is NUL; no other encoding has them. `end`: the index in the file at which the text ends. */
export function guessEncoding(text: Uint8Array, end = text.length): string {
  const nul = text.indexOf(0)
  return nul < 0 ? 'windows-1252' : (end - text.length + nul) % 2 === 0 ? 'utf-16be' : 'utf-16le'
}

export const LINE_FEED = 0x0a
export const CARRIAGE_RETURN = 0x0d

export function countLineFeeds(bytes: Uint8Array, start: number, end: number): number {
  let count = 0
  for (let i = start; i < end; i++) if (bytes[i] === LINE_FEED) count++
  return count
}

/** The offset after the last line feed before `at`, but not before `start`. */
export function lineStart(bytes: Uint8Array, start: number, at: number): number {
  return Math.max(start, bytes.subarray(start, at).lastIndexOf(LINE_FEED) + 1 + start)
}

/** The offset of the first line feed from `at` on; `end` if there is none before. */
export function lineEnd(bytes: Uint8Array, at: number, end: number): number {
  const offset = bytes.subarray(at, end).indexOf(LINE_FEED)
  return offset < 0 ? end : at + offset
}
