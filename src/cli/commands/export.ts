/** `reams export NAME`: writes the items of a collection to a file or a pipe. */

import { counted } from '../../contract/message-text.ts'
import { PAGE_SIZE } from '../../contract/page.ts'
import { toNdjson } from '../../items/item-text.ts'
import type { Store } from '../../store/store.ts'
import { Failure } from '../failure.ts'
import { createFormat, type ItemFormat, outputFormat } from '../files/item-format.ts'
import { type ByteStream, type OutputTarget, openStream, outputTarget } from '../files/output-target.ts'
import { writeFile } from '../files/part-file.ts'
import { Interruption } from '../interruption.ts'
import { existingHead, withStore } from '../open-store.ts'
import { isReaderGone, printError } from '../output.ts'
import type { CliCommand, SettingValues } from '../setting-values.ts'

export const EXPORT: CliCommand = {
  name: 'export',
  group: 'Look and check',
  usage: 'NAME [-o FILE] [options]',
  summary: 'write the items of a collection to a file',
  description: `Writes the items of a collection, from one snapshot. In NDJSON and JSON each
item is exactly as it was stored; CSV and TSV have a column for each field.`,
  operands: [{ syntax: '<NAME>', description: 'the collection' }],
  settings: ['store', 'format', 'columns', 'output', 'force'],
  examples: [
    { line: 'reams export events -o events.ndjson.gz', purpose: 'to a file' },
    { line: 'reams export events -o events.csv', purpose: 'for a spreadsheet' },
    { line: 'reams export events | head', purpose: 'NDJSON to stdout' },
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
    const format = createFormat(outputFormat(target, settings))
    const write = (output: Pick<ByteStream, 'write'>) => writeItems(store, name, format, output, signal)
    const items = isFile ? await writeFile(target, write) : await writeStream(target, signal, write)
    if (path !== undefined) printError(`${name}: ${counted(items, 'item')} exported to ${path}.${unused(format)}`)
  })
}

/** Writes all items, and answers how many there are. */
type WriteItems = (output: Pick<ByteStream, 'write'>) => Promise<number>

async function writeStream(target: OutputTarget, signal: AbortSignal, write: WriteItems): Promise<number> {
  await using stream = await openStream(target, signal)
  try {
    return await write(stream)
  } catch (error) {
    // As in `| head`.
    if (isReaderGone(error)) return 0
    throw error
  }
}

async function writeItems(
  store: Store,
  name: string,
  format: ItemFormat,
  output: Pick<ByteStream, 'write'>,
  signal: AbortSignal,
): Promise<number> {
  // The first page tells the columns of CSV, and after deletions it can be in several segments.
  let held: Uint8Array[] = []
  let [items, written] = [0, 0]
  const write = async () => {
    if (held.length > 0) await output.write(format.render(Buffer.concat(held), written))
    held = []
    written = items
  }
  for await (const segment of store.items(name)) {
    signal.throwIfAborted()
    held.push(toNdjson(segment.raw()))
    items += segment.count
    if (items >= PAGE_SIZE) await write()
  }
  await write()
  await output.write(format.end(items))
  return items
}

function unused({ unusedColumns }: ItemFormat): string {
  return unusedColumns.length === 0
    ? ''
    : ` No item has a field ${unusedColumns.map((name) => `"${name}"`).join(', ')}.`
}
