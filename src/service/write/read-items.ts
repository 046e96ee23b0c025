/** The items of a body: one JSON object, an array of them, or NDJSON; and what is wrong with them, as a problem. */

import { ITEM_SEPARATOR } from '../../contract/envelope.ts'
import { formatCount } from '../../contract/message-text.ts'
import { InputError } from '../../items/input-error.ts'
import { ItemPacker, type ItemRun, type OwnRun } from '../../items/item-run.ts'
import { ItemError, ItemScanner, skipBlanks } from '../../items/item-scanner.ts'
import { free, own } from '../../items/owned-bytes.ts'
import { readUnpacked } from '../../items/read-items.ts'
import { Utf8Gate } from '../../items/utf8.ts'
import type { Limits } from '../limits.ts'
import { Refusal } from '../problem-reply.ts'
import { type Body, drain, inTurns, joined, PIECE_BYTES } from './read-body.ts'

export type BodyType = 'json' | 'ndjson'

export type ReadItems = (body: Body, type: BodyType, keyField: string | null, limits: Limits) => Promise<ItemRun>

const OPEN_ARRAY = 0x5b
const OPEN_OBJECT = 0x7b
const BLANKS = [0x20, 0x09, 0x0a, 0x0d]
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]

/** Reads all items and their keys. Throws a Refusal that names the first one that is wrong. */
export const readItems: ReadItems = async (body, type, keyField, limits) => {
  const first = await firstByte(body)
  if (first === undefined) throw new Refusal('invalid-body', 'The body is empty.')
  return type === 'json' && first !== OPEN_ARRAY
    ? readObject(body, keyField, limits.itemBytes)
    : readMany(body, type, keyField, limits)
}

/** The same for a body that holds one item, and is no array. */
export const readSingleItem: ReadItems = async (body, type, keyField, limits) => {
  if (type === 'json') return readObject(body, keyField, limits.itemBytes)
  const run = await readMany(body, type, keyField, limits)
  if (run.count === 1) return run
  throw new Refusal('invalid-body', `Expected one item, got ${formatCount(run.count)}.`)
}

/** The first byte that is neither a blank nor part of a byte-order mark, which may lie in two pieces. */
async function firstByte(body: Body): Promise<number | undefined> {
  let markBytes = 0
  for await (const piece of inTurns(body)) {
    let at = 0
    for (; markBytes < BYTE_ORDER_MARK.length && piece[at] === BYTE_ORDER_MARK[markBytes]; markBytes++) at++
    const found = piece[skipBlanks(piece, at, piece.length)]
    if (found !== undefined) return found
  }
  return undefined
}

async function readMany(body: Body, type: BodyType, keyField: string | null, limits: Limits): Promise<ItemRun> {
  const { itemBytes, requestItems } = limits
  const runs: OwnRun[] = []
  let count = 0
  try {
    for await (const { run } of readUnpacked(drain(body), { format: type, keyField, itemBytes })) {
      count += run.count
      if (count > requestItems)
        throw new Refusal(
          'content-too-large',
          `The request has more than ${formatCount(requestItems)} items (--request-items).`,
        )
      runs.push(run)
    }
  } catch (error) {
    throw error instanceof InputError ? refusedInput(error, type) : error
  }
  return joinRuns(runs, keyField)
}

/** All runs as one, which belongs to the store. Frees the others. */
export async function joinRuns(runs: readonly OwnRun[], keyField: string | null): Promise<ItemRun> {
  const [only] = runs
  if (runs.length === 1 && only !== undefined) return only
  const texts = runs.map(({ text }) => text).filter(({ length }) => length > 0)
  const separator = Buffer.from(ITEM_SEPARATOR)
  const length = texts.reduce((sum, text) => sum + separator.length + text.length, -separator.length)
  const joined = own(new Uint8Array(Math.max(0, length)))
  let at = 0
  for await (const text of inTurns({ pieces: texts })) {
    if (at > 0) joined.set(separator, at)
    at += at > 0 ? separator.length : 0
    joined.set(text, at)
    at += text.length
    free(own(text))
  }
  const keys = keyField === null ? undefined : runs.flatMap((run) => run.keys ?? [])
  return { count: runs.reduce((sum, { count }) => sum + count, 0), text: joined, keys, isTransferred: true }
}

const LINE_HINT = 'Send one complete JSON object per line, or an array as application/json.'

export function refusedInput(
  { cause, reason, text, line, item }: InputError,
  type: BodyType,
  lineHint = LINE_HINT,
): Refusal {
  const where = type === 'json' && item !== undefined ? `Element ${item - 1}` : `Line ${line}`
  const shown = text === '' ? '' : `: ${text}`
  // The advice after the reason is for files and the command line.
  if (!(cause instanceof ItemError)) return new Refusal('invalid-body', `${where}: ${reason.split(';', 1)[0]}${shown}.`)
  if (cause.kind === 'size') return new Refusal('content-too-large', `${where}: ${cause.reason}.`)
  const options = type === 'ndjson' && cause.kind === 'form' ? { hint: lineHint } : {}
  return new Refusal('invalid-item', `${where}: ${cause.reason}${shown}.`, options)
}

/** A body that is one JSON object. Throws a Refusal that says what is wrong with it. */
function readObject(body: Body, keyField: string | null, itemBytes: number): ItemRun {
  const scanner = new ItemScanner({ keyField, itemBytes })
  // There may be some blanks around it, but not that many.
  if (body.length > itemBytes + PIECE_BYTES) throw refusedObject(scanner.tooLarge(body.length), OPEN_OBJECT)
  const text = decodable(joined(body))
  const start = skipBlanks(text, 0, text.length)
  const end = Math.max(start, text.findLastIndex((byte) => !BLANKS.includes(byte)) + 1)
  try {
    scanner.check(text, start, end)
  } catch (error) {
    throw error instanceof ItemError ? refusedObject(error, text[start]) : error
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
  const at = formatCount(bytes.length - gate.invalid.bytes.length)
  throw new Refusal('invalid-body', `The body: byte ${at}, counted from 0, is not valid UTF-8.`)
}

function refusedObject({ kind, reason }: ItemError, first: number | undefined): Refusal {
  if (kind === 'size') return new Refusal('content-too-large', `The body: ${reason}.`)
  if (reason === 'something follows the object')
    return new Refusal('invalid-body', `The body: ${reason}; send several as an array or as NDJSON.`)
  return new Refusal(first === OPEN_OBJECT ? 'invalid-item' : 'invalid-body', `The body: ${reason}.`)
}
