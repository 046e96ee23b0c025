/** The items of a body: one JSON object, an array of them, or NDJSON. */

import { ITEM_SEPARATOR } from '../contract/envelope.ts'
import { ItemError } from '../contract/item-error.ts'
import type { ItemRun } from '../contract/item-run.ts'
import { InputError } from '../input/input-error.ts'
import { type InputFormat, readUnpacked } from '../input/read-items.ts'
import type { Limits } from './limits.ts'
import { Refusal } from './refusal.ts'

export type BodyType = 'json' | 'ndjson'

const TYPES: Readonly<Record<string, BodyType>> = {
  'application/json': 'json',
  'application/x-ndjson': 'ndjson',
  'application/ndjson': 'ndjson',
  'application/jsonl': 'ndjson',
}

export function bodyTypeOf(request: Request): BodyType {
  const given = request.headers.get('content-type')
  const type = TYPES[given?.split(';')[0]?.trim().toLowerCase() ?? '']
  if (type !== undefined) return type
  const detail =
    given === null ? 'There is no Content-Type.' : `The Content-Type is ${JSON.stringify(given.slice(0, 100))}.`
  throw new Refusal('unsupported-media-type', detail)
}

const OPEN_ARRAY = 0x5b

/** Reads the items and their keys. Throws a Refusal that names the first item that is wrong. */
export async function readItemsOf(
  body: Uint8Array,
  type: BodyType,
  keyField: string | null,
  { itemBytes, requestItems }: Limits,
): Promise<ItemRun> {
  const first = body.find((byte) => byte > 0x20)
  if (first === undefined) throw new Refusal('invalid-body', 'The body is empty.')
  // One object may stand on many lines: as the only element it is read like any other.
  const isObject = type === 'json' && first !== OPEN_ARRAY
  const source = isObject ? [Buffer.from('['), body, Buffer.from(']')] : [body]
  const format: InputFormat = type
  const runs: ItemRun[] = []
  let count = 0
  try {
    for await (const { run } of readUnpacked(source, { format, keyField, itemBytes })) {
      count += run.count
      if (count > requestItems)
        throw new Refusal(
          'content-too-large',
          `The request has more than ${requestItems.toLocaleString('en-US')} items.`,
        )
      runs.push(run)
    }
  } catch (error) {
    throw error instanceof InputError ? explain(error, type, isObject) : error
  }
  if (isObject && count !== 1) throw new Refusal('invalid-body', 'The body holds more than one object. Send an array.')
  return joinedRun(runs, keyField)
}

function explain(error: InputError, type: BodyType, isObject: boolean): Refusal {
  const { cause, reason, text, line, item } = error
  const where = isObject || item === undefined ? '' : type === 'json' ? `Element ${item - 1}: ` : `Line ${line}: `
  const detail = `${where}${reason}${text === '' || isObject ? '' : `: ${text}`}.`
  if (cause instanceof ItemError && cause.kind === 'size') return new Refusal('content-too-large', detail)
  return new Refusal(cause instanceof ItemError ? 'invalid-item' : 'invalid-body', detail)
}

function joinedRun(runs: readonly ItemRun[], keyField: string | null): ItemRun {
  const separator = Buffer.from(ITEM_SEPARATOR)
  const pieces = runs.flatMap(({ text }, index) => (index === 0 ? [text] : [separator, text]))
  const [only] = runs
  if (runs.length === 1 && only !== undefined) return only
  return {
    count: runs.reduce((sum, { count }) => sum + count, 0),
    text: Buffer.concat(pieces),
    keys: keyField === null ? undefined : runs.flatMap(({ keys }) => keys ?? []),
  }
}
