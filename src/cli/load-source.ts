/** Loads the items of one source into one collection: all of them or, whatever goes wrong, none. */

import { InputError } from '../items/input-error.ts'
import type { InputBatch } from '../items/item-reader.ts'
import { type InputFormat, readItems } from '../items/read-items.ts'
import type { Load, LoadOptions, LoadResult, Store } from '../store/store.ts'
import { ItemConflict, StoreError } from '../store/store-error.ts'
import { describeFailure, Failure, isSystemError } from './failure.ts'
import { startProgress } from './progress.ts'
import { ReadAhead } from './read-ahead.ts'
import type { Source } from './source.ts'

/** What is read ahead while earlier items are being deflated and written: keeps all sides busy, and memory flat. */
const BYTES_IN_FLIGHT = 4 * 1024 * 1024

export interface LoadSourceOptions {
  readonly format: InputFormat
  readonly itemBytes: number
  /** Its reason is thrown when it is aborted before the commit. */
  readonly signal: AbortSignal
  readonly load: LoadOptions
}

export async function loadSource(
  store: Store,
  name: string,
  source: Source,
  options: LoadSourceOptions,
): Promise<LoadResult> {
  const load = await store.load(name, options.load)
  try {
    await appendAll(load, source, options)
    options.signal.throwIfAborted()
    return await load.commit()
  } catch (error) {
    // When even this fails, the next writer removes what is left; the first error is the one to tell.
    await load.abort().catch(() => {})
    options.signal.throwIfAborted()
    throw explain(error, source.label)
  }
}

async function appendAll(load: Load, source: Source, { format, itemBytes }: LoadSourceOptions): Promise<void> {
  const ahead = new ReadAhead(BYTES_IN_FLIGHT)
  const progress = startProgress(source.label, source.totalBytes)
  let items = 0
  try {
    for await (const batch of readItems(source, { format, itemBytes, keyField: load.settings.keyField })) {
      await ahead.add(append(load, batch), batch.run.text.length)
      items += batch.run.count
      progress.update(source.readBytes, items)
    }
  } finally {
    progress.stop()
    // All must have come to its end before `abort`. A failure here is of earlier items, and is told instead of a later one.
    await ahead.end()
  }
}

async function append(load: Load, { run, lines }: InputBatch): Promise<void> {
  try {
    await load.append({ ...run, isTransferred: true })
  } catch (error) {
    if (!(error instanceof ItemConflict)) throw error
    const line = lines[error.index]
    throw new InputError(conflictReason(error.key), { ...(line !== undefined && { line }), cause: error })
  }
}

function conflictReason(key: string): string {
  const hint =
    '--on-conflict skip leaves such items out, --on-conflict replace puts them in place of those that are there'
  return `an item with the key ${JSON.stringify(key)} is there already; ${hint}`
}

/** Names the source and says that nothing came of it. */
function explain(error: unknown, label: string): unknown {
  if (error instanceof InputError) {
    const separator = error.line === undefined ? ': ' : ', '
    return new Failure(1, `${label}${separator}${error.message}. Nothing was imported.`, { cause: error })
  }
  if (!(error instanceof StoreError) && !isSystemError(error)) return error
  const { exitStatus, message } = describeFailure(error)
  return new Failure(exitStatus, `${label}: ${message} Nothing was imported.`, { cause: error })
}
