/** Loads the items of one input into one collection: all of them or, whatever goes wrong, none. */

import { counted, formatCount } from '../contract/message-text.ts'
import { InputError } from '../items/input-error.ts'
import type { InputBatch } from '../items/item-reader.ts'
import { ItemError } from '../items/item-run.ts'
import { ReadAhead } from '../store/read-ahead.ts'
import type { CollectionSettings, Load, LoadResult, Store } from '../store/store.ts'
import { ItemConflict, StoreError } from '../store/store-error.ts'
import { TableError } from '../tables/table.ts'
import { describeFailure, Failure, inputFailure, isSystemError } from './failure.ts'
import type { PartFile } from './files/part-file.ts'
import type { Input } from './input.ts'
import { startProgress } from './progress.ts'
import type { SettingValues } from './setting-values.ts'
import { reportLines } from './skip-report.ts'

interface LoadInputOptions {
  /** Those of the command: what they say about the collection and its items. */
  readonly settings: SettingValues
  /** The key field of this collection, where it is not that of the settings. */
  readonly keyField?: string | undefined
  /** Receives the skipped items. */
  readonly report?: PartFile | undefined
  /** Its reason is thrown when it is aborted before the commit. */
  readonly signal: AbortSignal
}

export async function loadInput(
  store: Store,
  name: string,
  input: Input,
  options: LoadInputOptions,
): Promise<LoadResult> {
  const { settings, keyField, signal, report } = options
  const { defaultKey } = input
  const given = { ...collectionSettings(settings), ...(keyField !== undefined && { keyField }) }
  const isKeyedByDefault =
    defaultKey !== undefined && given.keyField === undefined && (await store.head(name)) === undefined
  const load = await store.load(name, {
    settings: { ...(isKeyedByDefault && { keyField: defaultKey }), ...given },
    isReplacement: settings.get('replace'),
    onConflict: settings.get('onConflict'),
  })
  try {
    await input.prepare(load.settings.keyField)
    const items = await appendAll(load, input, report)
    if (items === 0 && settings.get('replace') && !settings.get('allowEmpty')) await refuseToEmpty(store, name)
    // Before the commit: a full disk must not leave an import without its report.
    await report?.flush()
    await report?.sync()
    signal.throwIfAborted()
    return await load.commit()
  } catch (error) {
    // If even this fails, the next writer removes what is left; the first error is the one to report.
    await load.abort().catch(() => {})
    signal.throwIfAborted()
    throw explain(error, input, isKeyedByDefault)
  }
}

/** A failed export looks like an empty one. */
async function refuseToEmpty(store: Store, name: string): Promise<void> {
  const live = (await store.head(name))?.live ?? 0
  if (live > 0)
    throw new InputError(
      `there are no items, and --replace would remove all ${counted(live, 'item')} of "${name}"; if that is wanted, add --allow-empty`,
    )
}

/** Only what the user gave: the rest comes from the stored collection. */
function collectionSettings(settings: SettingValues): Partial<CollectionSettings> {
  return {
    ...(settings.isGiven('key') && { keyField: settings.get('key') ?? null }),
    ...(settings.isGiven('unpaginated') && { isPaginated: !settings.get('unpaginated') }),
    ...(settings.isGiven('private') && { isPrivate: settings.get('private') }),
  }
}

/** Answers how many items there were. */
async function appendAll(load: Load, input: Input, report: PartFile | undefined): Promise<number> {
  const ahead = new ReadAhead()
  const progress = startProgress(input.label, input.total, undefined, input.isEstimate)
  let items = 0
  let reported: Promise<unknown> = Promise.resolve()
  try {
    for await (const batch of input.items(load.settings.keyField)) {
      const [before, appended] = [items, append(load, batch, input, items)]
      // In the order of the input, whatever is written first.
      reported = Promise.all([appended, reported]).then(([skipped]) =>
        report?.write(reportLines(batch, skipped, input, before)),
      )
      await ahead.add(reported, batch.run.text.length)
      items += batch.run.count
      progress.update(input.done(items), items)
    }
  } finally {
    progress.stop()
    // All must have ended before `abort`. A failure here is of earlier items, and is reported instead of a later one.
    await ahead.end()
  }
  return items
}

/** Returns the indexes of the items whose keys exist. `before` items come before the batch. */
async function append(load: Load, { run, lines }: InputBatch, input: Input, before: number) {
  try {
    return await load.append({ ...run, isTransferred: true })
  } catch (error) {
    if (!(error instanceof ItemConflict)) throw error
    const line = lines[error.index] ?? 0
    throw new InputError(await conflictReason(error, before, line, input), { line, cause: error })
  }
}

async function conflictReason({ key, index, earlier }: ItemConflict, before: number, line: number, input: Input) {
  const text = JSON.stringify(key)
  if (earlier === undefined)
    return `an item with the key ${text} exists already; --on-conflict skip leaves such items out, --on-conflict replace replaces the old ones`
  const earlierLine = await input.lineOf(earlier).catch(() => undefined)
  const both =
    earlierLine === undefined || earlierLine === line
      ? `items ${formatCount(earlier + 1)} and ${formatCount(before + index + 1)} both have the key ${text}`
      : `${input.unit} ${earlierLine} has the key ${text} too`
  return `${both}; --on-conflict skip keeps the first item of a key, --on-conflict replace the last`
}

/** Names the input, and says that nothing was imported. */
function explain(error: unknown, { label, unit, defaultKeyAdvice }: Input, isKeyedByDefault: boolean): unknown {
  if (error instanceof InputError) {
    const isOfKey = error.cause instanceof ItemError && error.cause.kind === 'key'
    const advice = isOfKey && isKeyedByDefault ? `${defaultKeyAdvice} ` : ''
    return inputFailure(error, label, `${advice}Nothing was imported.`, unit)
  }
  const isTableError = error instanceof TableError
  if (!isTableError && !(error instanceof StoreError) && !isSystemError(error)) return error
  const { exitStatus, message } = describeFailure(error)
  // What went wrong with a table names it already.
  const text = isTableError ? message : `${label}: ${message}`
  return new Failure(exitStatus, `${text} Nothing was imported.`, { cause: error })
}
