/** `reams import NAME FILE|-`, `reams import NAME --from DATABASE`: loads a file or a table into a collection, all of it or nothing. */

import { counted, formatCount } from '../../contract/message-text.ts'
import { isCollectionName, NAME_RULE } from '../../contract/name.ts'
import type { LoadResult } from '../../store/store.ts'
import { Failure } from '../failure.ts'
import { type PartFile, writeFile } from '../files/part-file.ts'
import { FILE_SETTINGS, FileInput, type Input } from '../input.ts'
import { Interruption } from '../interruption.ts'
import { loadInput } from '../load-input.ts'
import { withStore } from '../open-store.ts'

import { formatRate, msSince, pageCountOf, printNote, report, sizeOf } from '../output.ts'

import type { CliCommand, SettingValues } from '../setting-values.ts'
import { reportTarget } from '../skip-report.ts'
import { isFromDatabase, onlyChoice, TableInput } from '../table-input.ts'

export const IMPORT: CliCommand = {
  name: 'import',
  group: 'Load and change',
  usage: 'NAME FILE|- [options]\n       reams import NAME --from DATABASE --table TABLE [options]',
  summary: 'load a file or a table into a collection',
  description: `Loads a file, or a table of a database, into a collection: all of it or,
if there is an error, nothing. Readers see the old state until the end. Creates
the store and the collection if missing; the key and whether it is paginated
cannot be changed later. The key of a table is its primary key, unless --key
names another.`,
  operands: [
    { syntax: '<NAME>', description: 'the collection' },
    { syntax: '[FILE]', description: '.ndjson, .jsonl, .json, .csv, .tsv or gzip; - is stdin', suggestions: 'files' },
  ],
  settings: [
    'store',
    'json',
    'tableFrom',
    'table',
    'query',
    'order',
    ...FILE_SETTINGS,
    'itemBytes',
    'key',
    'unpaginated',
    'private',
    'replace',
    'allowEmpty',
    'onConflict',
    'report',
  ],
  examples: [
    { line: 'reams import events events.ndjson --key id', purpose: 'load or append' },
    { line: 'reams import events new.csv.gz --replace', purpose: 'replace all items' },
    { line: 'zcat *.gz | reams import events -', purpose: 'from a pipe' },
    { line: 'reams import events --from postgres:///shop --table events', purpose: 'a table' },
  ],
  run: runImport,
}

async function runImport([name = '', file]: readonly string[], settings: SettingValues): Promise<undefined> {
  if (!isCollectionName(name)) throw new Failure(2, `Invalid collection name "${name}": expected ${NAME_RULE}.`)
  using interruption = new Interruption()
  const { signal } = interruption
  await using input = await openInput(file, settings, signal)
  const startedAt = performance.now()
  const load = (skipReport?: PartFile): Promise<LoadResult> =>
    withStore(settings.get('store'), { create: true }, (store) =>
      loadInput(store, name, input, { settings, signal, report: skipReport }),
    )
  const target = await reportTarget(settings)
  const result = await (target === undefined ? load() : writeFile(target, load))
  const { head, appended, replaced, skipped } = result
  if (appended + replaced + skipped === 0) printNote(`${input.label} has no items.`)
  const counts = { imported: appended, replaced, skipped, items: head.live, pages: pageCountOf(head) }
  const facts = { collection: name, source: input.label, ...counts, duration_ms: msSince(startedAt) }
  const sentence = `${summary(result, performance.now() - startedAt)}${input.note}`
  await report(settings, { ...facts, note: input.note.trim() || null }, sentence)
}

function openInput(file: string | undefined, settings: SettingValues, signal: AbortSignal): Promise<Input> {
  if (isFromDatabase(settings, file === undefined ? [] : [file]))
    return TableInput.open(onlyChoice(settings), settings, signal)
  if (file !== undefined) return FileInput.open(file, settings, signal)
  throw new Failure(2, 'Name a file of items, - for standard input, or a database with --from and --table.')
}

function summary({ head, appended, replaced, skipped }: LoadResult, durationMs: number): string {
  const counts = [`${counted(appended, 'item')} imported`]
  if (replaced > 0) counts.push(`${formatCount(replaced)} replaced`)
  if (skipped > 0) counts.push(`${formatCount(skipped)} skipped`)
  const duration = formatRate(appended + replaced + skipped, durationMs)
  return `${head.name}: ${counts.join(', ')} in ${duration}; the collection now has ${sizeOf(head)}.`
}
