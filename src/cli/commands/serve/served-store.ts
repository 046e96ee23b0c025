/** The store that `serve` serves: made from files, the sample, or one that is there. */

import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { itemRun } from '../../../items/item-run.ts'
import type { Store } from '../../../store/store.ts'
import { Failure, isSystemError } from '../../failure.ts'
import { namedFiles } from '../../files/file-name.ts'
import { moveUnlessThere } from '../../files/part-file.ts'
import { checkCsvSettings, formatOf, Input } from '../../input.ts'
import { loadInput } from '../../load-input.ts'
import { openStore, StoreLocation, withStore } from '../../open-store.ts'
import type { SettingValues } from '../../setting-values.ts'
import { openSource } from '../../source.ts'
import { TemporaryDirectory } from '../../temporary-directory.ts'
import { sampleCollections } from './sample.ts'

const SAMPLE = new StoreLocation(join('data', 'reams.db'))

/** A title has no room for more names. */
const FILES_SHOWN = 3

interface ServedStore extends AsyncDisposable {
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
  const servesSample = isSample(settings)
  if (servesSample) await ensureSampleStore(SAMPLE.label)
  const location = servesSample ? SAMPLE : settings.get('store')
  const store = await openStore(location, { create: settings.get('create') })
  return { store, location, title: location.label, [Symbol.asyncDispose]: () => store.close() }
}

/** Where there are no files. */
export function isSample(settings: SettingValues): boolean {
  return settings.get('sample') && !settings.isGiven('store')
}

async function openFiles(files: readonly string[], settings: SettingValues, signal: AbortSignal): Promise<ServedStore> {
  if (settings.origin('store') === 'flag')
    throw new Failure(
      2,
      `Files are served from a temporary store: leave out --store. To keep them: reams import NAME FILE --store ${settings.get('store').word}`,
    )
  await using resources = new AsyncDisposableStack()
  // All files are opened before the first is loaded, so that a wrong name is reported at once.
  const named = namedFiles(files)
  checkCsvSettings(
    named.map(({ path }) => formatOf(path, settings)),
    settings,
  )
  const inputs = []
  for (const { path, name, keyField } of named) {
    const input = resources.use(new Input(await openSource(path, signal), path, settings, signal))
    inputs.push({ name, keyField, input })
  }
  const directory = resources.use(new TemporaryDirectory())
  const location = new StoreLocation(join(directory.path, 'reams.db'))
  const store = await openStore(location, { create: true })
  resources.defer(() => store.close())
  for (const { name, keyField, input } of inputs) await loadInput(store, name, input, { settings, keyField, signal })
  const kept = resources.move()
  const title = files.length > FILES_SHOWN ? `${files.length} files` : files.join(', ')
  return { store, location, title, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

/** Creates the store beside its path, on the same file system, and moves it there when it is complete. */
async function ensureSampleStore(path: string): Promise<void> {
  if (existsSync(path)) return
  using directory = await createDirectory(dirname(path))
  const draft = join(directory.path, 'reams.db')
  await withStore(new StoreLocation(draft), { create: true }, async (store) => {
    for (const { name, keyField, isPaginated, items } of sampleCollections()) {
      const load = await store.load(name, { settings: { keyField, isPaginated } })
      await load.append(itemRun(items, { keyField }))
      await load.commit()
    }
  })
  // Another process can have created the sample meanwhile, and may be serving it: then its file stays.
  await moveUnlessThere(draft, path)
}

async function createDirectory(parent: string): Promise<TemporaryDirectory> {
  try {
    await mkdir(parent, { recursive: true })
    return new TemporaryDirectory(parent)
  } catch (error) {
    if (!isSystemError(error)) throw error
    const message = `Cannot create the sample store in ${parent}: ${error.code}. Serve a file or a store instead, or start in another directory.`
    throw new Failure(2, message, { cause: error })
  }
}
