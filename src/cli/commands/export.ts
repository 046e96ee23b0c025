/** `reams export NAME`: writes the items of a collection as NDJSON, each as it came in. */

import { randomUUID } from 'node:crypto'
import { counted } from '../../contract/message-text.ts'
import { toNdjson } from '../../items/item-text.ts'
import type { Store } from '../../store/store.ts'
import { Failure } from '../failure.ts'
import { type ByteStream, type OutputTarget, openStream, outputTarget } from '../files/output-target.ts'
import { explainWriting, PartFile } from '../files/part-file.ts'
import { Interruption } from '../interruption.ts'
import { existingHead, withStore } from '../open-store.ts'
import { isReaderGone, printError } from '../output.ts'
import type { CliCommand, SettingValues } from '../setting-values.ts'

export const EXPORT: CliCommand = {
  name: 'export',
  group: 'Look and check',
  usage: 'NAME [-o FILE] [options]',
  summary: 'write the items of a collection as NDJSON',
  description: 'Writes the items of a collection, one a line, each exactly as it was stored, from one snapshot.',
  operands: [{ syntax: '<NAME>', description: 'the collection' }],
  settings: ['store', 'output', 'force'],
  examples: [
    { line: 'reams export events -o events.ndjson.gz', purpose: 'to a file' },
    { line: 'reams export events | head', purpose: 'to stdout' },
  ],
  run: runExport,
}

async function runExport([name = '']: readonly string[], settings: SettingValues): Promise<undefined> {
  using interruption = new Interruption()
  const { signal } = interruption
  await withStore(settings.get('store'), {}, async (store) => {
    await existingHead(store, name)
    const target = await outputTarget(settings.get('output'))
    const { path, isFile, isThere } = target
    if (isThere && !settings.get('force'))
      throw new Failure(2, `${path} already exists. Name another file, or add --force to overwrite it.`)
    const items = isFile ? await writeFile(store, name, target, signal) : await writeStream(store, name, target, signal)
    if (path !== undefined) printError(`${name}: ${counted(items, 'item')} exported to ${path}.`)
  })
}

async function writeStream(store: Store, name: string, target: OutputTarget, signal: AbortSignal): Promise<number> {
  await using stream = await openStream(target, signal)
  try {
    return await writeItems(store, name, stream, signal)
  } catch (error) {
    // As in `| head`.
    if (isReaderGone(error)) return 0
    throw error
  }
}

async function writeFile(
  store: Store,
  name: string,
  { path = '', isPacked }: OutputTarget,
  signal: AbortSignal,
): Promise<number> {
  // A name of its own: FILE.part may be that of a pull.
  const options = { target: path, path: `${path}.${randomUUID().slice(0, 8)}.part`, isPacked }
  let file: PartFile | undefined
  try {
    file = await PartFile.open(options)
    const items = await writeItems(store, name, file, signal)
    await file.complete()
    return items
  } catch (error) {
    await file?.remove()
    throw explainWriting(error, path)
  }
}

async function writeItems(
  store: Store,
  name: string,
  output: Pick<ByteStream, 'write'>,
  signal: AbortSignal,
): Promise<number> {
  let items = 0
  for await (const segment of store.items(name)) {
    signal.throwIfAborted()
    await output.write(toNdjson(segment.raw()))
    items += segment.count
  }
  return items
}
