/** The items of a body: one JSON object, an array of them, or NDJSON. */

import { ITEM_SEPARATOR } from '../contract/envelope.ts'
import { InputError } from '../items/input-error.ts'
import type { ItemRun } from '../items/item-run.ts'
import { skipBlanks } from '../items/item-scanner.ts'
import { readUnpacked } from '../items/read-items.ts'
import type { Body } from './body.ts'
import type { BodyType } from './body-type.ts'
import { figure } from './figure.ts'
import { inTurns } from './in-turns.ts'
import { itemRefusal } from './item-refusal.ts'
import type { Limits } from './limits.ts'
import type { ReadItems } from './received-items.ts'
import { Refusal } from './refusal.ts'
import { readObject } from './single-item.ts'

const OPEN_ARRAY = 0x5b
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]

/** Reads all items and their keys. Throws a Refusal that names the first one that is wrong. */
export const readItemsOf: ReadItems = async (body, type, keyField, limits) => {
  const first = await firstByte(body)
  if (first === undefined) throw new Refusal('invalid-body', 'The body is empty.')
  return type === 'json' && first !== OPEN_ARRAY
    ? readObject(body, keyField, limits.itemBytes)
    : readMany(body, type, keyField, limits)
}

/** The same for a body that holds one item, and is no array. */
export const readItemOf: ReadItems = async (body, type, keyField, limits) => {
  if (type === 'json') return readObject(body, keyField, limits.itemBytes)
  const run = await readMany(body, type, keyField, limits)
  if (run.count === 1) return run
  throw new Refusal('invalid-body', `One item is expected, and there are ${figure(run.count)}.`)
}

/** The first byte that is neither a blank nor part of a byte-order mark, which may lie in two pieces. */
async function firstByte(body: Body): Promise<number | undefined> {
  const [first, ...others] = body.pieces
  if (first === undefined) return undefined
  let markBytes = 0
  const findIn = (piece: Uint8Array): number | undefined => {
    let at = 0
    for (; markBytes < BYTE_ORDER_MARK.length && piece[at] === BYTE_ORDER_MARK[markBytes]; markBytes++) at++
    return piece[skipBlanks(piece, at, piece.length)]
  }
  const found = findIn(first)
  // Nearly always: without a turn of the event loop, which would cost more than the rest.
  if (found !== undefined || others.length === 0) return found
  for await (const piece of inTurns({ pieces: others, length: 0 })) {
    const next = findIn(piece)
    if (next !== undefined) return next
  }
  return undefined
}

async function readMany(body: Body, type: BodyType, keyField: string | null, limits: Limits): Promise<ItemRun> {
  const { itemBytes, requestItems } = limits
  const runs: ItemRun[] = []
  let count = 0
  try {
    for await (const { run } of readUnpacked(inTurns(body), { format: type, keyField, itemBytes })) {
      count += run.count
      if (count > requestItems)
        throw new Refusal('content-too-large', `The request has more than ${figure(requestItems)} items.`)
      runs.push(run)
    }
  } catch (error) {
    throw error instanceof InputError ? await itemRefusal(error, body, type, itemBytes) : error
  }
  return joinedRun(runs, keyField)
}

/** One run of all of them. */
async function joinedRun(runs: readonly ItemRun[], keyField: string | null): Promise<ItemRun> {
  const [only] = runs
  if (runs.length === 1 && only !== undefined) return only
  const separator = Buffer.from(ITEM_SEPARATOR)
  const pieces = runs.flatMap(({ text }, index) => (index === 0 ? [text] : [separator, text]))
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  // Shared memory goes to the thread that writes as it is; any other would be copied, all of it in one step.
  const text = new Uint8Array(new SharedArrayBuffer(length))
  let at = 0
  for await (const piece of inTurns({ pieces, length })) {
    text.set(piece, at)
    at += piece.length
  }
  const keys = keyField === null ? undefined : runs.flatMap((run) => run.keys ?? [])
  return { count: runs.reduce((sum, { count }) => sum + count, 0), text, keys }
}
