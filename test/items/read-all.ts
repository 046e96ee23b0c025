/** Reads an input in chunks of given sizes, and gives back all of it in a form that is easy to compare. */

import fc from 'fast-check'
import { InputError } from '../../src/items/input-error.ts'
import { type ReadOptions, readItems } from '../../src/items/read-items.ts'

/** Characters that JSON, CSV or UTF-8 treat in a way of their own, among ordinary ones. */
export const character = fc.constantFrom(...'ab0 "\\/,:{}[]\n\r\t\0\u001f\u007fé\u2028\ufeff\uffff😀')

export interface Reading {
  readonly items: string[]
  readonly lines: number[]
  readonly keys: string[]
  /** How many items each batch has. */
  readonly counts: number[]
  readonly error?: { line: number | undefined; reason: string; text: string }
}

/** The bytes in chunks whose sizes repeat; everything in one chunk without any. */
export async function* chunked(bytes: Uint8Array, sizes: readonly number[] = []): AsyncIterable<Uint8Array> {
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? bytes.length
    yield bytes.slice(at, at + size)
    at += size
  }
}

export async function readAll(
  input: string | Uint8Array,
  options: ReadOptions,
  sizes?: readonly number[],
): Promise<Reading> {
  const bytes = typeof input === 'string' ? new TextEncoder().encode(input) : input
  const reading: Reading = { items: [], lines: [], keys: [], counts: [] }
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    for await (const { run, lines } of readItems(chunked(bytes, sizes), options)) {
      reading.items.push(...decoder.decode(run.text).split(',\n'))
      reading.lines.push(...lines)
      reading.keys.push(...(run.keys ?? []))
      reading.counts.push(run.count)
    }
    return reading
  } catch (error) {
    if (!(error instanceof InputError)) throw error
    const { line, reason, text } = error
    return { ...reading, error: { line, reason, text } }
  }
}

/** The line, the reason and the text that an input is refused with. */
export async function refusal(
  input: string | Uint8Array,
  options: ReadOptions,
  sizes?: readonly number[],
): Promise<[number | undefined, string, string]> {
  const { error } = await readAll(input, options, sizes)
  return error === undefined ? [undefined, 'it is taken', ''] : [error.line, error.reason, error.text]
}

/** Text with one byte that UTF-8 does not have at this place. */
export function latin1(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0))
}
