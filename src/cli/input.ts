/** What a command reads items from; and a file or standard input as one, in the format that its name or the settings tell. */

import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { formatCount, shorten } from '../contract/message-text.ts'
import type { ColumnType, ColumnTypes } from '../items/csv-columns.ts'
import type { InputBatch } from '../items/item-reader.ts'
import { type InputFormat, readColumnTypes, readItems } from '../items/read-items.ts'
import { Failure } from './failure.ts'
import { formatOfFile } from './files/file-name.ts'
import { startProgress } from './progress.ts'
import type { SettingValues } from './setting-values.ts'
import { openSource, type Source } from './source.ts'
import { TemporaryDirectory } from './temporary-directory.ts'

/** A summary has no room for more. */
const NAMES_SHOWN = 10

export interface Input extends AsyncDisposable {
  /** What messages call it. */
  readonly label: string
  /** What messages call a place in it. */
  readonly unit: 'line' | 'row'
  /** The key of a collection that is made of it, where nobody names another. */
  readonly defaultKey?: string | undefined
  /** What to do where the values of that key cannot be one, as a sentence. */
  readonly defaultKeyAdvice?: string
  /** How much there is, in bytes or items; undefined when it is not known. */
  readonly total: number | undefined
  /** Whether there may be more or less. */
  readonly isEstimate: boolean
  /** Its part that has been read, when so many items came out. */
  done(items: number): number
  /** To be called before `items`, with the key of the collection. */
  prepare(keyField: string | null): Promise<void>
  items(keyField: string | null): AsyncIterable<InputBatch>
  /** The line or row of an item that was read before, counted from 0; undefined where it cannot be found out. */
  lineOf(item: number): Promise<number | undefined>
  /** Something to know about what was read, as a sentence; or ''. */
  readonly note: string
}

export class FileInput implements Input {
  readonly unit = 'line'
  readonly isEstimate = false
  source: Source
  readonly format: InputFormat
  #path: string
  readonly #settings: SettingValues
  readonly #signal: AbortSignal
  #types: ColumnTypes | undefined
  #directory: TemporaryDirectory | undefined

  constructor(source: Source, path: string, settings: SettingValues, signal: AbortSignal) {
    this.source = source
    this.format = formatOf(path, settings)
    this.#path = path
    this.#settings = settings
    this.#signal = signal
  }

  static async open(path: string, settings: SettingValues, signal: AbortSignal): Promise<FileInput> {
    checkCsvSettings([formatOf(path, settings)], settings)
    return new FileInput(await openSource(path, signal), path, settings, signal)
  }

  get label(): string {
    return this.source.label
  }

  get total(): number | undefined {
    return this.source.totalBytes
  }

  done(): number {
    return this.source.readBytes
  }

  /** Finds out what the columns hold, if that is asked for: reads all of it, once more than `items`. */
  async prepare(keyField: string | null): Promise<void> {
    if (!this.#settings.get('types') || !isCsv(this.format)) return
    if (this.source.totalBytes === undefined) {
      await this.#copy()
      this.source = await this.#openAgain()
    }
    const { label } = this.source
    const progress = startProgress(`${label}, types`, this.source.totalBytes)
    try {
      this.#types = await readColumnTypes(this.source, { ...this.#options, keyField }, (rows) =>
        progress.update(this.source.readBytes, rows),
      )
    } finally {
      progress.stop()
    }
    this.source.close()
    this.source = await this.#openAgain()
  }

  items(keyField: string | null): AsyncIterable<InputBatch> {
    return readItems(this.source, { ...this.#options, keyField, types: this.#types })
  }

  /** Reads the input again up to the item, for its line; a pipe cannot be read again. */
  async lineOf(item: number): Promise<number | undefined> {
    if (this.source.totalBytes === undefined) return undefined
    let before = 0
    for await (const { lines } of readItems(await this.#openAgain(), { ...this.#options, types: this.#types })) {
      if (item < before + lines.length) return lines[item - before]
      before += lines.length
    }
    return undefined
  }

  /** What became of the values of CSV; nothing for other formats. */
  get note(): string {
    if (!isCsv(this.format)) return ''
    const types = this.#types
    if (types === undefined) return ' CSV values are text; --types recognizes numbers, booleans and nulls.'
    const list = (type: ColumnType) => {
      const names = types.named(type)
      const more = names.length > NAMES_SHOWN ? ` and ${formatCount(names.length - NAMES_SHOWN)} more` : ''
      const shown = names.slice(0, NAMES_SHOWN).map(shorten)
      return names.length === 0 ? [] : [`${type}: ${shown.join(', ')}${more}`]
    }
    const found = [...list('number'), ...list('boolean'), ...list('null')]
    return found.length === 0 ? ' Types: all text.' : ` Types: ${found.join('; ')}; all others text.`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.source.close()
    this.#directory?.[Symbol.dispose]()
  }

  get #options() {
    return {
      format: this.format,
      itemBytes: this.#settings.get('itemBytes'),
      delimiter: this.#settings.get('delimiter'),
    }
  }

  /** What comes from a pipe can be read only once. */
  async #copy(): Promise<void> {
    const directory = new TemporaryDirectory()
    this.#directory = directory
    this.#path = join(directory.path, 'input')
    await pipeline(this.source, createWriteStream(this.#path, { mode: 0o600 }))
  }

  #openAgain(): Promise<Source> {
    return openSource(this.#path, this.#signal, this.label)
  }
}

/** Standard input is NDJSON unless something else is said. */
export function formatOf(path: string, settings: SettingValues): InputFormat {
  return settings.get('format') ?? (path === '-' ? 'ndjson' : formatOfFile(path))
}

/** Throws a Failure for settings about CSV where nothing is CSV. */
export function checkCsvSettings(formats: readonly InputFormat[], settings: SettingValues): void {
  const given = (['types', 'delimiter'] as const).find((name) => settings.origin(name) === 'flag')
  const flag = given && `--${given}`
  if (flag !== undefined && !formats.some(isCsv))
    throw new Failure(2, `${flag} is for CSV, and this is ${formats[0]}. Leave it out, or add --format csv.`)
}

export function isCsv(format: InputFormat): boolean {
  return format === 'csv' || format === 'tsv'
}
