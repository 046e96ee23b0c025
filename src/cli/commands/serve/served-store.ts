/** The store that `serve` serves: made from files or tables, the sample, or one that is there. */

import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { itemRun } from '../../../items/item-run.ts'
import type { Store } from '../../../store/store.ts'
import { DataLocation } from '../../data-location.ts'
import { Failure, isSystemError } from '../../failure.ts'
import { isRenamed, namedFiles } from '../../files/file-name.ts'
import { moveUnlessThere } from '../../files/part-file.ts'
import { checkFormatSettings, FileInput, formatOf, type Input } from '../../input.ts'
import { loadInput } from '../../load-input.ts'
import { openStore, withStore } from '../../open-store.ts'
import type { SettingValues } from '../../setting-values.ts'
import { openSource } from '../../source.ts'
import { choicesIn, isFromDatabase, namedTables, TableInput } from '../../table-input.ts'
import { TemporaryDirectory } from '../../temporary-directory.ts'
import type { GreetingOptions } from './greeting.ts'
import { sampleCollections } from './sample.ts'

const SAMPLE = new DataLocation(join('data', 'reams.db'))

/** A title has no room for more names. */
const INPUTS_SHOWN = 3

interface ServedStore extends AsyncDisposable {
  readonly store: Store
  readonly location: DataLocation
  /** What is served, in words. */
  readonly title: string
  readonly renamed?: GreetingOptions['renamed']
}

/** Files and tables win over a store from the environment, and all of them over the sample. */
export async function openServedStore(
  files: readonly string[],
  settings: SettingValues,
  signal: AbortSignal,
): Promise<ServedStore> {
  if (isTemporary(files, settings)) return openTemporary(files, settings, signal)
  const servesSample = isSample(settings)
  if (servesSample) await ensureSampleStore(SAMPLE.label)
  const location = servesSample ? SAMPLE : settings.get('store')
  const store = await openStore(location, {
    create: settings.get('create'),
    upkeep: { historyBytes: settings.get('historyBytes') },
  })
  return { store, location, title: location.label, [Symbol.asyncDispose]: () => store.close() }
}

/** Where there are no files and no tables. */
export function isSample(settings: SettingValues): boolean {
  return settings.get('sample') && !settings.isGiven('store')
}

/** Whether the store is made for this run, of files or tables. */
export function isTemporary(files: readonly string[], settings: SettingValues): boolean {
  return isServedDatabase(files, settings) || files.length > 0
}

/** One from the environment may be meant for imports: it gives way to a store, and counts only with a table. */
function isServedDatabase(files: readonly string[], settings: SettingValues): boolean {
  const isFlag = (name: 'store' | 'sample') => settings.origin(name) === 'flag'
  const isMeant = (settings.isGiven('table') || settings.isGiven('query')) && !isFlag('store') && !isFlag('sample')
  if (settings.origin('tableFrom') === 'environment' && !isMeant) return false
  return isFromDatabase(settings, files)
}

async function openTemporary(
  files: readonly string[],
  settings: SettingValues,
  signal: AbortSignal,
): Promise<ServedStore> {
  const word = files.length > 0 ? 'Files' : 'Tables'
  if (settings.origin('store') === 'flag')
    throw new Failure(
      2,
      `${word} are served from a temporary store: leave out --store. To keep them: reams import NAME ${files.length > 0 ? 'FILE' : '--from DATABASE --table TABLE'} --store ${settings.get('store').word}`,
    )
  await using resources = new AsyncDisposableStack()
  // All are opened before the first is loaded, so that a wrong name is reported at once.
  const inputs: NamedInput[] = []
  for await (const named of files.length > 0 ? openFiles(files, settings, signal) : openTables(settings, signal)) {
    resources.use(named.input)
    inputs.push(named)
  }
  const directory = resources.use(new TemporaryDirectory())
  const location = new DataLocation(join(directory.path, 'reams.db'))
  const store = await openStore(location, { create: true })
  resources.defer(() => store.close())
  for (const { name, keyField, input } of inputs) await loadInput(store, name, input, { settings, keyField, signal })
  const kept = resources.move()
  const labels = inputs.map(({ label }) => label)
  const title = labels.length > INPUTS_SHOWN ? `${labels.length} ${word.toLowerCase()}` : labels.join(', ')
  const renamed = inputs.flatMap(({ name, of }) => (of !== undefined && isRenamed(name, of) ? [{ name, of }] : []))
  return { store, location, title, renamed, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

/** What is going to be a collection. */
interface NamedInput {
  readonly name: string
  readonly keyField?: string | undefined
  readonly input: Input
  /** What the title of what is served calls it. */
  readonly label: string
  /** The file or the table. */
  readonly of: string | undefined
}

async function* openFiles(
  files: readonly string[],
  settings: SettingValues,
  signal: AbortSignal,
): AsyncGenerator<NamedInput> {
  const named = namedFiles(files)
  checkFormatSettings(
    named.map(({ path }) => formatOf(path, settings)),
    settings,
  )
  for (const [index, { path, name, keyField }] of named.entries()) {
    const input = new FileInput(await openSource(path, signal), path, settings, signal)
    yield { name, keyField, input, label: files[index] ?? path, of: path }
  }
}

async function* openTables(settings: SettingValues, signal: AbortSignal): AsyncGenerator<NamedInput> {
  for (const { choice, name } of namedTables(choicesIn(settings))) {
    const input = await TableInput.open(choice, settings, signal)
    yield { name, input, label: input.label, of: choice.table }
  }
}

/** Creates the store beside its path, on the same file system, and moves it there when it is complete. */
async function ensureSampleStore(path: string): Promise<void> {
  if (existsSync(path)) return
  using directory = await createDirectory(dirname(path))
  const draft = join(directory.path, 'reams.db')
  await withStore(new DataLocation(draft), { create: true }, async (store) => {
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
