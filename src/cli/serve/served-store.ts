/** The store that `serve` serves: made from files, the sample, or one that is there. */

import { join } from 'node:path'
import type { InputFormat } from '../../items/read-items.ts'
import type { Store } from '../../store/store.ts'
import { Failure } from '../failure.ts'
import { collectionsOfFiles, formatOfFile } from '../file-name.ts'
import { loadSource } from '../load-source.ts'
import { openStore } from '../open-store.ts'
import { requestedSettings } from '../requested-settings.ts'
import { openSampleStore, SAMPLE_PATH } from '../sample-store.ts'
import type { SettingValues } from '../setting-values.ts'
import { openSource, type Source } from '../source.ts'
import { StoreLocation } from '../store-location.ts'
import { TemporaryDirectory } from '../temporary-directory.ts'

/** More names than this are no title any more. */
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
  if (settings.get('sample') && !settings.isGiven('store'))
    return owned(await openSampleStore(signal), new StoreLocation(SAMPLE_PATH))
  const location = settings.get('store')
  return owned(await openStore(location, { create: settings.get('create') }), location)
}

function owned(store: Store, location: StoreLocation): ServedStore {
  return { store, location, title: location.label, [Symbol.asyncDispose]: () => store.close() }
}

async function openFiles(files: readonly string[], settings: SettingValues, signal: AbortSignal): Promise<ServedStore> {
  if (settings.origin('store') === 'flag')
    throw new Failure(
      2,
      `Files are served from a temporary store, so --store does not go with them. To keep them: reams import NAME FILE --store ${settings.get('store').word}`,
    )
  await using resources = new AsyncDisposableStack()
  const inputs = await openInputs(files, settings, signal, resources)
  const directory = resources.use(new TemporaryDirectory())
  const location = new StoreLocation(join(directory.path, 'reams.db'))
  const store = await openStore(location, { create: true })
  resources.defer(() => store.close())
  for (const { name, format, source } of inputs) {
    const load = { settings: requestedSettings(settings), onConflict: settings.get('onConflict') }
    await loadSource(store, name, source, { format, itemBytes: settings.get('itemBytes'), signal, load })
  }
  const kept = resources.move()
  return { store, location, title: titleOf(files), [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

function titleOf(files: readonly string[]): string {
  return files.length > FILES_SHOWN ? `${files.length} files` : files.join(', ')
}

interface Input {
  readonly name: string
  readonly format: InputFormat
  readonly source: Source
}

/** All files are opened before the first is loaded: what is wrong with the last one need not be waited for. */
async function openInputs(
  files: readonly string[],
  settings: SettingValues,
  signal: AbortSignal,
  resources: AsyncDisposableStack,
): Promise<Input[]> {
  const inputs: Input[] = []
  for (const [name, file] of collectionsOfFiles(files)) {
    const format = settings.get('format') ?? formatOfFile(file)
    const source = await openSource(file, signal)
    resources.defer(() => source.close())
    inputs.push({ name, format, source })
  }
  return inputs
}
