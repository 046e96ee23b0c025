/** Loads the items of one source into one collection: all of them or, whatever goes wrong, none. */

import { InputError } from '../items/input-error.ts'
import type { InputBatch } from '../items/item-reader.ts'
import { type InputFormat, readItems } from '../items/read-items.ts'
import type { CollectionSettings, Load, LoadResult, Store } from '../store/store.ts'
import { ItemConflict, StoreError } from '../store/store-error.ts'
import { describeFailure, Failure, inputFailure, isSystemError } from './failure.ts'
import { startProgress } from './progress.ts'
import { ReadAhead } from './read-ahead.ts'
import type { SettingValues } from './setting-values.ts'
import type { Source } from './source.ts'

interface LoadSourceOptions {
  readonly format: InputFormat
  /** Those of the command: what they say about the collection and its items. */
  readonly settings: SettingValues
  /** Its reason is thrown when it is aborted before the commit. */
  readonly signal: AbortSignal
}

export async function loadSource(
  store: Store,
  name: string,
  source: Source,
  options: LoadSourceOptions,
): Promise<LoadResult> {
  const { settings, signal } = options
  const load = await store.load(name, {
    settings: collectionSettings(settings),
    isReplacement: settings.get('replace'),
    onConflict: settings.get('onConflict'),
  })
  try {
    await appendAll(load, source, options)
    signal.throwIfAborted()
    return await load.commit()
  } catch (error) {
    // If even this fails, the next writer removes what is left; the first error is the one to report.
    await load.abort().catch(() => {})
    signal.throwIfAborted()
    throw explain(error, source.label)
  }
}

/** Only what the user gave: the rest comes from the stored collection. */
function collectionSettings(settings: SettingValues): Partial<CollectionSettings> {
  return {
    ...(settings.isGiven('key') && { keyField: settings.get('key') ?? null }),
    ...(settings.isGiven('unpaginated') && { isPaginated: !settings.get('unpaginated') }),
    ...(settings.isGiven('private') && { isPrivate: settings.get('private') }),
  }
}

async function appendAll(load: Load, source: Source, { format, settings }: LoadSourceOptions): Promise<void> {
  const ahead = new ReadAhead()
  const progress = startProgress(source.label, source.totalBytes)
  const { keyField } = load.settings
  let items = 0
  try {
    for await (const batch of readItems(source, { format, itemBytes: settings.get('itemBytes'), keyField })) {
      await ahead.add(append(load, batch), batch.run.text.length)
      items += batch.run.count
      progress.update(source.readBytes, items)
    }
  } finally {
    progress.stop()
    // All must have ended before `abort`. A failure here is of earlier items, and is reported instead of a later one.
    await ahead.end()
  }
}

async function append(load: Load, { run, lines }: InputBatch): Promise<void> {
  try {
    await load.append({ ...run, isTransferred: true })
  } catch (error) {
    if (!(error instanceof ItemConflict)) throw error
    const line = lines[error.index]
    const reason = `an item with the key ${JSON.stringify(error.key)} exists already; --on-conflict skip leaves such items out, --on-conflict replace replaces the old ones`
    throw new InputError(reason, { ...(line !== undefined && { line }), cause: error })
  }
}

/** Names the source, and says that nothing was imported. */
function explain(error: unknown, label: string): unknown {
  if (error instanceof InputError) return inputFailure(error, label, 'Nothing was imported.')
  if (!(error instanceof StoreError) && !isSystemError(error)) return error
  const { exitStatus, message } = describeFailure(error)
  return new Failure(exitStatus, `${label}: ${message} Nothing was imported.`, { cause: error })
}
