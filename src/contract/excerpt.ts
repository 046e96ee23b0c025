/** A short, harmless piece of a text for a message: control characters made visible, cut to about 100 characters. */

import { makeVisible } from './make-visible.ts'

export { makeVisible }

const EXCERPT_LENGTH = 100

/** Bytes shown before the place that matters, when that place is far from the beginning. */
const LEAD_BYTES = 40

/** UTF-8 has at most four bytes a character. */
const EXCERPT_BYTES = 4 * (EXCERPT_LENGTH + 1)

/** The text between `start` and `end`, or what stands around `at`, the place that matters. */
export function excerpt(bytes: Uint8Array, start: number, end: number, at: number = start): string {
  const from = at - start < 2 * LEAD_BYTES ? start : characterStart(bytes, at - LEAD_BYTES)
  const to = Math.min(end, from + EXCERPT_BYTES)
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(from, to))
  return (from > start ? '…' : '') + shorten(text)
}

/** The same for a text that is a string already. */
export function shorten(text: string): string {
  const characters = [...text.slice(0, 2 * EXCERPT_LENGTH + 2)]
  const isShort = characters.length <= EXCERPT_LENGTH
  return makeVisible(characters.slice(0, EXCERPT_LENGTH).join('')) + (isShort ? '' : '…')
}

function characterStart(bytes: Uint8Array, at: number): number {
  let i = at
  while (((bytes[i] ?? 0) & 0xc0) === 0x80) i++
  return i
}
