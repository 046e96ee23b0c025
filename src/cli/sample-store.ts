/** The store with the sample collections: it is there whole, or not at all. */

import { existsSync } from 'node:fs'
import { link, mkdir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DEFAULT_ITEM_BYTES } from '../items/item-scanner.ts'
import type { Store } from '../store/store.ts'
import { Failure, isSystemError } from './failure.ts'
import { loadSource } from './load-source.ts'
import { openStore, withStore } from './open-store.ts'
import { sampleCollections } from './sample.ts'
import { textSource } from './source.ts'
import { StoreLocation } from './store-location.ts'
import { TemporaryDirectory } from './temporary-directory.ts'

export const SAMPLE_PATH = join('data', 'reams.db')

/** Opens the sample store of the working directory, and makes it first if there is none. */
export async function openSampleStore(signal: AbortSignal): Promise<Store> {
  if (!existsSync(SAMPLE_PATH)) await createSampleStore(SAMPLE_PATH, signal)
  return openStore(new StoreLocation(SAMPLE_PATH))
}

/** Makes the store beside its path, on the same file system, and moves it there when it is complete. */
async function createSampleStore(path: string, signal: AbortSignal): Promise<void> {
  using directory = await makeDirectory(dirname(path))
  const draft = join(directory.path, 'reams.db')
  await withStore(new StoreLocation(draft), { create: true }, async (store) => {
    for (const { name, text, keyField, isPaginated } of sampleCollections())
      await loadSource(store, name, textSource(`sample ${name}`, text), {
        format: 'ndjson',
        itemBytes: DEFAULT_ITEM_BYTES,
        signal,
        load: { settings: { keyField, isPaginated } },
      })
  })
  await moveUnlessThere(draft, path)
}

async function makeDirectory(parent: string): Promise<TemporaryDirectory> {
  try {
    await mkdir(parent, { recursive: true })
    return new TemporaryDirectory(parent)
  } catch (error) {
    if (!isSystemError(error)) throw error
    const message = `The sample store cannot be made in ${parent}: ${error.code}. Serve a file or a store instead, or start in another directory.`
    throw new Failure(2, message, { cause: error })
  }
}

/** Another process can have made the sample meanwhile, and may be serving it: then its file stays. */
async function moveUnlessThere(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (error) {
    if (!isSystemError(error)) throw error
    // A file system without hard links.
    if (error.code !== 'EEXIST') await rename(from, to)
  }
}
