/** Makes the error for a place in the bytes of an input: its line, and the text around it. */

import { excerpt } from '../contract/excerpt.ts'
import type { ItemError } from '../contract/item-error.ts'
import { InputError } from './input-error.ts'
import { CARRIAGE_RETURN, countLineFeeds, lineEnd, lineStart } from './lines.ts'

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

/** The error about the bytes that follow a piece and are not UTF-8. */
export function invalidUtf8(piece: Piece, invalid: Uint8Array): InputError {
  const before = errorAt('', piece, piece.end)
  const hex = (invalid[0] ?? 0).toString(16).padStart(2, '0')
  const reason = 'this is not valid UTF-8; convert the file to UTF-8 first'
  return new InputError(reason, { line: before.line ?? piece.line, text: `${before.text}\\x${hex}` })
}
