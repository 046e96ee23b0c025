/** The store that `serve` serves: made from files, the sample, or one that is there. */

import { join } from 'node:path'
import type { Store } from '../../../store/store.ts'
import { Failure } from '../../failure.ts'
import { collectionsOfFiles, formatOfFile } from '../../file-name.ts'
import { loadSource } from '../../load-source.ts'
import { openStore, StoreLocation } from '../../open-store.ts'
import type { SettingValues } from '../../setting-values.ts'
import { openSource } from '../../source.ts'
import { TemporaryDirectory } from '../../temporary-directory.ts'
import { ensureSampleStore } from './sample.ts'

const SAMPLE = new StoreLocation(join('data', 'reams.db'))

/** A title has no room for more names. */
const FILES_SHOWN = 3

export interface ServedStore extends AsyncDisposable {
  readonly store: Store
  readonly location: StoreLocation
  /** What is served, in words. */
  readonly title: string
}

/** Files win over a store from the environment, and both over the sample. */
export async function openServedStore(
  files: readonly string[],
  settings: SettingValues,
  signal: AbortSignal,
): Promise<ServedStore> {
  if (files.length > 0) return openFiles(files, settings, signal)
  const isSample = settings.get('sample') && !settings.isGiven('store')
  if (isSample) await ensureSampleStore(SAMPLE.label)
  const location = isSample ? SAMPLE : settings.get('store')
  const store = await openStore(location, { create: settings.get('create') })
  return { store, location, title: location.label, [Symbol.asyncDispose]: () => store.close() }
}

async function openFiles(files: readonly string[], settings: SettingValues, signal: AbortSignal): Promise<ServedStore> {
  if (settings.origin('store') === 'flag')
    throw new Failure(
      2,
      `Files are served from a temporary store: leave out --store. To keep them: reams import NAME FILE --store ${settings.get('store').word}`,
    )
  await using resources = new AsyncDisposableStack()
  // All files are opened before the first is loaded, so that a wrong name is reported at once.
  const inputs = []
  for (const [name, file] of collectionsOfFiles(files)) {
    const format = settings.get('format') ?? formatOfFile(file)
    const source = await openSource(file, signal)
    resources.defer(() => source.close())
    inputs.push({ name, format, source })
  }
  const directory = resources.use(new TemporaryDirectory())
  const location = new StoreLocation(join(directory.path, 'reams.db'))
  const store = await openStore(location, { create: true })
  resources.defer(() => store.close())
  for (const { name, format, source } of inputs) await loadSource(store, name, source, { format, settings, signal })
  const kept = resources.move()
  const title = files.length > FILES_SHOWN ? `${files.length} files` : files.join(', ')
  return { store, location, title, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}
