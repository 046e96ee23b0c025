/** What is wrong with the items of a body, as a problem: which one, why, and what stands there. */

import { ITEM_SEPARATOR } from '../contract/envelope.ts'
import type { InputError } from '../items/input-error.ts'
import type { ItemRun } from '../items/item-run.ts'
import { ItemError, ItemScanner } from '../items/item-scanner.ts'
import { readUnpacked } from '../items/read-items.ts'
import type { Body } from './body.ts'
import type { BodyType } from './body-type.ts'
import { inTurns } from './in-turns.ts'
import { Refusal } from './refusal.ts'

/** Times its limit up to which an item is read only to tell its size. */
const MEASURED_TIMES = 16

const LINE_HINT = 'Every line holds one whole JSON object; an array is sent as application/json.'

export async function itemRefusal(error: InputError, body: Body, type: BodyType, itemBytes: number): Promise<Refusal> {
  const { cause, text, line, item } = error
  const where = type === 'json' && item !== undefined ? `Element ${item - 1}` : `Line ${line}`
  if (cause instanceof ItemError && cause.kind === 'size') {
    const size = await sizeOf(item ?? 1, body, type, itemBytes * MEASURED_TIMES)
    return new Refusal('content-too-large', `${where}: ${new ItemScanner({ itemBytes }).tooLarge(size).reason}.`)
  }
  // Advice that follows the reason is for files and the command line.
  const reason = cause instanceof ItemError ? cause.reason : error.reason.split(';', 1)[0]
  const detail = `${where}: ${reason}${text === '' ? '' : `: ${text}`}.`
  if (!(cause instanceof ItemError)) return new Refusal('invalid-body', detail)
  return new Refusal('invalid-item', detail, type === 'ndjson' && cause.kind === 'form' ? { hint: LINE_HINT } : {})
}

/** How many bytes an item has, by its number; undefined if it has more than `mostBytes` or is wrong in another way too. */
async function sizeOf(item: number, body: Body, type: BodyType, mostBytes: number): Promise<number | undefined> {
  let before = 0
  try {
    for await (const { run } of readUnpacked(inTurns(body), { format: type, itemBytes: mostBytes })) {
      if (before + run.count >= item) return lengthOf(run, item - before - 1)
      before += run.count
    }
  } catch {
    // It cannot be told.
  }
  return undefined
}

function lengthOf({ text }: ItemRun, index: number): number {
  const bytes = Buffer.from(text.buffer, text.byteOffset, text.length)
  let start = 0
  for (let passed = 0; passed < index; passed++) start = bytes.indexOf(ITEM_SEPARATOR, start) + ITEM_SEPARATOR.length
  const end = bytes.indexOf(ITEM_SEPARATOR, start)
  return (end < 0 ? bytes.length : end) - start
}
