/** `reams import NAME FILE|-`: loads a file into a collection, all of it or nothing. */

import { counted, formatCount } from '../../contract/message-text.ts'
import { isCollectionName, NAME_RULE } from '../../contract/name.ts'
import type { LoadResult } from '../../store/store.ts'
import { Failure } from '../failure.ts'
import { Input } from '../input.ts'
import { Interruption } from '../interruption.ts'
import { loadInput } from '../load-input.ts'
import { withStore } from '../open-store.ts'
import { formatRate, print, sizeOf } from '../output.ts'
import type { CliCommand, SettingValues } from '../setting-values.ts'

export const IMPORT: CliCommand = {
  name: 'import',
  group: 'Load and change',
  usage: 'NAME FILE|- [options]',
  summary: 'load a file into a collection',
  description: `Loads a file into a collection: all of it or, if there is an error, nothing.
Readers see the old state until the end. Creates the store and the collection if
missing; the key and whether it is paginated cannot be changed later.`,
  operands: [
    { syntax: '<NAME>', description: 'the collection' },
    { syntax: '<FILE>', description: '.ndjson, .jsonl, .json, .csv, .tsv or gzip; - is stdin' },
  ],
  settings: [
    'store',
    'format',
    'delimiter',
    'types',
    'itemBytes',
    'key',
    'unpaginated',
    'private',
    'replace',
    'allowEmpty',
    'onConflict',
  ],
  examples: [
    { line: 'reams import events events.ndjson --key id', purpose: 'load or append' },
    { line: 'reams import events new.csv.gz --replace', purpose: 'replace all items' },
    { line: 'zcat *.gz | reams import events -', purpose: 'from a pipe' },
  ],
  run: runImport,
}

async function runImport([name = '', file = '']: readonly string[], settings: SettingValues): Promise<undefined> {
  if (!isCollectionName(name)) throw new Failure(2, `Invalid collection name "${name}": expected ${NAME_RULE}.`)
  using interruption = new Interruption()
  const { signal } = interruption
  using input = await Input.open(file, settings, signal)
  const startedAt = performance.now()
  const result = await withStore(settings.get('store'), { create: true }, (store) =>
    loadInput(store, name, input, { settings, signal }),
  )
  await print(`${summary(result, performance.now() - startedAt)}${input.typesNote}`)
}

function summary({ head, appended, replaced, skipped }: LoadResult, durationMs: number): string {
  const counts = [`${counted(appended, 'item')} imported`]
  if (replaced > 0) counts.push(`${formatCount(replaced)} replaced`)
  if (skipped > 0) counts.push(`${formatCount(skipped)} skipped`)
  const duration = formatRate(appended + replaced + skipped, durationMs)
  return `${head.name}: ${counts.join(', ')} in ${duration}; the collection now has ${sizeOf(head)}.`
}
