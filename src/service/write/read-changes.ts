/** The changes of a PATCH: a put or a delete on each line, the items kept byte for byte; and what is wrong with them, as a problem. */

import { ITEM_SEPARATOR } from '../../contract/envelope.ts'
import { formatCount } from '../../contract/message-text.ts'
import { ChangeFlaw, ChangeReader, readChange } from '../../items/change-reader.ts'
import { InputError } from '../../items/input-error.ts'
import { ItemError, type ItemRun, type OwnRun } from '../../items/item-run.ts'
import { MAX_CHANGE_DEPTH } from '../../items/json-scan.ts'
import { readUnpacked } from '../../items/read-items.ts'
import type { ItemChanges } from '../../store/store.ts'
import type { Limits } from '../limits.ts'
import { Refusal } from '../problem-reply.ts'
import { type Body, drain } from './read-body.ts'
import { joinRuns, refusedInput } from './read-items.ts'

/** What stands around an item on its line: the names of the members, a key, a version. */
const AROUND_ITEM_BYTES = 8 * 1024

const FORM = 'Each line is {"op":"put","item":{…}} or {"op":"delete","key":"…"}.'

/** Reads all changes. Throws a Refusal that names the first line that is wrong. */
export async function readChanges(body: Body, keyField: string | null, limits: Limits): Promise<ItemChanges> {
  const reader = new ChangeReader(keyField, limits.itemBytes)
  const itemBytes = limits.itemBytes + AROUND_ITEM_BYTES
  const options = { format: 'ndjson', keyField: null, itemBytes, maxDepth: MAX_CHANGE_DEPTH } as const
  const runs: OwnRun[] = []
  const steps: (string | null)[] = []
  try {
    for await (const { run, lines } of readUnpacked(drain(body), options)) {
      for (const [index, text] of textsOf(run).entries()) addLine(reader, text, lines[index] ?? 0)
      const taken = reader.take()
      runs.push(taken.puts)
      steps.push(...taken.steps)
      if (steps.length > limits.requestItems)
        throw new Refusal(
          'content-too-large',
          `The request has more than ${formatCount(limits.requestItems)} changes (--request-items).`,
        )
    }
  } catch (error) {
    throw error instanceof InputError ? refusedLine(error, limits) : error
  }
  if (steps.length === 0) throw new Refusal('invalid-body', 'The body is empty.', { hint: FORM })
  return { puts: await joinRuns(runs, keyField), steps }
}

function refusedLine(error: InputError, { itemBytes }: Limits): Refusal {
  if (!(error.cause instanceof ItemError && error.cause.kind === 'size')) return refusedInput(error, 'ndjson', FORM)
  const [line, item] = [itemBytes + AROUND_ITEM_BYTES, itemBytes].map(formatCount)
  return new Refusal(
    'content-too-large',
    `Line ${error.line}: it has more than ${line} bytes; an item can have ${item}.`,
  )
}

/** A line break stands nowhere but between two of them. */
function textsOf({ text }: ItemRun): string[] {
  return Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString().split(ITEM_SEPARATOR)
}

/** A line, which is a JSON object. */
function addLine(reader: ChangeReader, text: string, line: number): void {
  try {
    const change = readChange(text)
    if (change.op === 'reset') throw new ChangeFlaw('form', 'the op "reset" is unknown')
    reader.add(text, change)
  } catch (error) {
    if (!(error instanceof ChangeFlaw)) throw error
    const { kind, message } = error
    if (kind === 'form') throw new Refusal('invalid-item', `Line ${line}: ${message}.`, { hint: FORM })
    if (kind === 'key') throw new Refusal('key-mismatch', `Line ${line} ${message}.`)
    throw new Refusal(kind === 'size' ? 'content-too-large' : 'invalid-item', `Line ${line}, item: ${message}.`)
  }
}
