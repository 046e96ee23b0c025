/** A body that is one JSON object. */

import type { ItemRun } from '../items/item-run.ts'
import { ItemPacker } from '../items/item-run.ts'
import { ItemError, ItemScanner, skipBlanks } from '../items/item-scanner.ts'
import { Utf8Gate } from '../items/utf8.ts'
import { type Body, joined, PIECE_BYTES } from './body.ts'
import { figure } from './figure.ts'
import { Refusal } from './refusal.ts'

const OPEN_OBJECT = 0x7b
const BLANKS = [0x20, 0x09, 0x0a, 0x0d]

/** Throws a Refusal that says what is wrong with it. */
export function readObject(body: Body, keyField: string | null, itemBytes: number): ItemRun {
  const scanner = new ItemScanner({ keyField, itemBytes })
  // Some blanks may stand around it, but nobody looks for an item in the midst of so many.
  if (body.length > itemBytes + PIECE_BYTES) throw refused(scanner.tooLarge(body.length), OPEN_OBJECT)
  const text = decodable(joined(body))
  const start = skipBlanks(text, 0, text.length)
  const end = Math.max(start, text.findLastIndex((byte) => !BLANKS.includes(byte)) + 1)
  try {
    scanner.check(text, start, end)
  } catch (error) {
    throw error instanceof ItemError ? refused(error, text[start]) : error
  }
  const packer = new ItemPacker(scanner)
  packer.add(text, start, end)
  return packer.take()
}

/** The same bytes, without a byte-order mark, if they are UTF-8. */
function decodable(bytes: Uint8Array): Uint8Array {
  const gate = new Utf8Gate()
  const text = gate.pass(bytes)
  gate.end()
  if (gate.invalid === undefined) return text
  const at = figure(bytes.length - gate.invalid.length)
  throw new Refusal('invalid-body', `The body: byte ${at}, counted from 0, is not valid UTF-8.`)
}

function refused({ kind, reason }: ItemError, first: number | undefined): Refusal {
  if (kind === 'size') return new Refusal('content-too-large', `The body: ${reason}.`)
  const isObject = first === OPEN_OBJECT
  const isMore = reason === 'something follows the object'
  const detail = isMore ? `${reason}; several are sent as an array or as NDJSON` : reason
  return new Refusal(isObject && !isMore ? 'invalid-item' : 'invalid-body', `The body: ${detail}.`)
}
