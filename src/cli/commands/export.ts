/** `reams export NAME`: writes the items of a collection to a file or a pipe. */

import { setImmediate as nextTurn } from 'node:timers/promises'
import { counted } from '../../contract/message-text.ts'
import { PAGE_SIZE } from '../../contract/page.ts'
import { toNdjson } from '../../items/item-text.ts'
import type { Head, Segment, Store } from '../../store/store.ts'
import { Failure } from '../failure.ts'
import { createFormat, type ItemFormat, outputFormat } from '../files/item-format.ts'
import { type ByteStream, type OutputTarget, openStream, outputTarget } from '../files/output-target.ts'
import { writeFile } from '../files/part-file.ts'
import { Interruption } from '../interruption.ts'
import { existingHead, withStore } from '../open-store.ts'
import { isReaderGone, msSince, report } from '../output.ts'
import type { CliCommand, SettingValues } from '../setting-values.ts'

export const EXPORT: CliCommand = {
  name: 'export',
  group: 'Look and check',
  usage: 'NAME [-o FILE] [options]',
  summary: 'write the items of a collection to a file',
  description: `Writes the items of a collection, from one snapshot. In NDJSON and JSON each
item is exactly as it was stored; CSV and TSV have a column for each field of any
item, for which all items are read twice unless --columns names them.`,
  operands: [{ syntax: '<NAME>', description: 'the collection' }],
  settings: ['store', 'format', 'columns', 'output', 'force', 'json'],
  examples: [
    { line: 'reams export events -o events.ndjson.gz', purpose: 'to a file' },
    { line: 'reams export events -o events.csv', purpose: 'for a spreadsheet' },
    { line: 'reams export events | head', purpose: 'NDJSON to stdout' },
  ],
  run: runExport,
}

async function runExport([name = '']: readonly string[], settings: SettingValues): Promise<undefined> {
  const startedAt = performance.now()
  using interruption = new Interruption()
  const { signal } = interruption
  await withStore(settings.get('store'), {}, async (store) => {
    await existingHead(store, name)
    const target = await outputTarget(settings.get('output'))
    const { path, isFile, isThere } = target
    if (isThere && !settings.get('force'))
      throw new Failure(2, `${path} already exists. Name another file, or add --force to overwrite it.`)
    const chosen = outputFormat(target, settings)
    const format = createFormat(chosen)
    const write = (output: Pick<ByteStream, 'write'>) => writeItems(store, name, format, output, signal)
    const items = isFile ? await writeFile(target, write) : await writeStream(target, signal, write)
    if (items === undefined) return
    const facts = { collection: name, file: path ?? null, format: chosen.format, items }
    const more = { unused_columns: format.unusedColumns, duration_ms: msSince(startedAt) }
    const sentence = `${name}: ${counted(items, 'item')} exported to ${path}.${unused(format)}`
    if (path === undefined) await report(settings, { ...facts, ...more }, undefined, 'stdout')
    else await report(settings, { ...facts, ...more }, sentence, 'file')
  })
}

/** Writes all items, and answers how many there are. */
type WriteItems = (output: Pick<ByteStream, 'write'>) => Promise<number>

/** Undefined where the reader has gone, as in `| head`. */
async function writeStream(target: OutputTarget, signal: AbortSignal, write: WriteItems): Promise<number | undefined> {
  await using stream = await openStream(target, signal)
  try {
    return await write(stream)
  } catch (error) {
    if (isReaderGone(error)) return undefined
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
  let held: Uint8Array[] = []
  let [items, written] = [0, 0]
  const write = async () => {
    if (held.length > 0) await output.write(format.render(Buffer.concat(held), written))
    held = []
    written = items
  }
  for await (const segment of segments(store, name, format, signal)) {
    signal.throwIfAborted()
    held.push(toNdjson(segment.raw()))
    items += segment.count
    if (items >= PAGE_SIZE) await write()
  }
  await write()
  await output.write(format.end(items))
  return items
}

/** The items of one snapshot. The format gets all of them before the first, if it has to know their fields. */
async function* segments(store: Store, name: string, format: ItemFormat, signal: AbortSignal): AsyncIterable<Segment> {
  const heads: Head[] = []
  const read = () => store.items(name, (head) => heads.unshift(head))
  // The collection can change between the beginnings of two snapshots.
  const isSame = () => heads[0]?.commitId === heads[1]?.commitId
  for (let isReady = format.collect === undefined, isStale = true; isStale; ) {
    isStale = false
    for await (const segment of read()) {
      let items = 0
      if (!isReady)
        for await (const other of read()) {
          // Signals arrive only between two turns of the event loop.
          await nextTurn()
          signal.throwIfAborted()
          if (!isSame()) break
          format.collect?.(toNdjson(other.raw()), items)
          items += other.count
        }
      isReady ||= isSame()
      isStale = !isReady
      if (isStale) break
      yield segment
    }
  }
}

function unused({ unusedColumns }: ItemFormat): string {
  return unusedColumns.length === 0
    ? ''
    : ` No item has a field ${unusedColumns.map((name) => `"${name}"`).join(', ')}.`
}
