/** `reams export NAME`: writes the items of a collection as NDJSON, each as it came in. */

import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { toNdjson } from '../items/ndjson-text.ts'
import type { Store } from '../store/store.ts'
import type { CliCommand } from './command.ts'
import { existingHead } from './existing-head.ts'
import { ExportFile } from './export-file.ts'
import { formatItems } from './figures.ts'
import { Interruption } from './interruption.ts'
import { withStore } from './open-store.ts'
import { isReaderGone, printError } from './output.ts'
import type { SettingValues } from './setting-values.ts'

export const EXPORT: CliCommand = {
  name: 'export',
  group: 'Look and check',
  usage: 'NAME [-o FILE] [options]',
  summary: 'write the items of a collection as NDJSON',
  description: 'Writes the items of a collection, one a line, each as it came in, from one snapshot.',
  operands: [{ syntax: '<NAME>', description: 'the collection' }],
  examples: [
    { line: 'reams export events -o events.ndjson.gz', purpose: 'to a file' },
    { line: 'reams export events | head', purpose: 'to stdout' },
  ],
  run: runExport,
}

async function runExport([name = '']: readonly string[], settings: SettingValues): Promise<number> {
  const path = settings.get('output')
  using interruption = new Interruption()
  const { signal } = interruption
  return withStore(settings.get('store'), {}, async (store) => {
    await existingHead(store, name)
    if (path === undefined || path === '-') await exportToStdout(store, name, signal)
    else await exportToFile(store, name, await ExportFile.open(path, settings.get('force')), signal)
    return 0
  })
}

async function exportToStdout(store: Store, name: string, signal: AbortSignal): Promise<void> {
  try {
    await pipeline(Readable.from(ndjsonOf(store, name)), process.stdout, { signal, end: false })
  } catch (error) {
    signal.throwIfAborted()
    if (!isReaderGone(error)) throw error
  }
}

async function exportToFile(store: Store, name: string, file: ExportFile, signal: AbortSignal): Promise<void> {
  let items = 0
  try {
    const counted = ndjsonOf(store, name, (count) => {
      items += count
    })
    await pipeline([Readable.from(counted), ...file.streams], { signal })
    await file.commit()
  } catch (error) {
    await file.abort()
    signal.throwIfAborted()
    throw error
  }
  printError(`${name}: ${formatItems(items)} exported to ${file.path}.`)
}

async function* ndjsonOf(
  store: Store,
  name: string,
  onItems: (count: number) => void = () => {},
): AsyncGenerator<Uint8Array> {
  for await (const segment of store.items(name)) {
    yield toNdjson(segment.raw())
    onItems(segment.count)
  }
}
