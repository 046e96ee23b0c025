/** What a command reads items from; and a file or standard input as one, in the format that its name or the settings tell. */

import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { formatCount, quoted, shorten } from '../contract/message-text.ts'
import type { ColumnType, ColumnTypes, Conversions } from '../items/csv-columns.ts'
import type { InputBatch } from '../items/item-reader.ts'
import { type InputFormat, readColumnTypes, readItems } from '../items/read-items.ts'
import { Failure } from './failure.ts'
import { formatOfFile, isGeoJson } from './files/file-name.ts'
import { printNote } from './output.ts'
import { startProgress } from './progress.ts'
import type { SettingValues } from './setting-values.ts'
import { CSV_SETTINGS, type SettingName } from './settings.ts'
import { openSource, type Source } from './source.ts'
import { TemporaryDirectory } from './temporary-directory.ts'

/** The settings that say how a file is read. */
export const FILE_SETTINGS = ['format', 'encoding', 'items', ...CSV_SETTINGS] as const

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
    checkFormatSettings([formatOf(path, settings)], settings)
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
    const conversions = this.#conversions
    if (!isCsv(this.format) || !(conversions.isTyped || isConverting(conversions))) return
    if (this.source.totalBytes === undefined) {
      await this.#copy()
      this.source = await this.#openAgain()
    }
    const { label } = this.source
    const progress = startProgress(`${label}, types`, this.source.totalBytes)
    try {
      this.#types = await readColumnTypes(this.source, { ...this.#options, keyField, conversions }, (rows) =>
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
    // The first read has already printed the notes about this input.
    const options = { ...this.#options, types: this.#types, onItemsFound: undefined }
    for await (const { lines } of readItems(await this.#openAgain(), options)) {
      if (item < before + lines.length) return lines[item - before]
      before += lines.length
    }
    return undefined
  }

  /** What became of the values of CSV; nothing for other formats. */
  get note(): string {
    if (!isCsv(this.format)) return ''
    const types = this.#types
    const converted = isConverting(this.#conversions) ? ` Converted: ${namesOf(types?.converted ?? [])}.` : ''
    if (types === undefined || !this.#settings.get('types'))
      return `${converted} CSV values are text; --types recognizes numbers, booleans and nulls.`
    const list = (type: ColumnType) => {
      const names = types.named(type)
      return names.length === 0 ? [] : [`${type}: ${namesOf(names)}`]
    }
    const found = [...list('number'), ...list('boolean'), ...list('null')]
    return `${converted} Types: ${found.length === 0 ? 'all text' : `${found.join('; ')}; all others text`}.`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.source.close()
    this.#directory?.[Symbol.dispose]()
  }

  get #options() {
    const isGuess = this.#path === '-' && this.#settings.get('format') === undefined
    return {
      format: this.format,
      encoding: this.#settings.get('encoding'),
      itemBytes: this.#settings.get('itemBytes'),
      delimiter: this.#settings.get('delimiter'),
      skip: this.#settings.get('skip'),
      items: this.#settings.get('items') ?? (isGeoJson(this.#path) ? 'features' : undefined),
      onItemsFound: this.format === 'json' || isGuess ? (name: string) => this.#noteItems(name) : undefined,
    }
  }

  get #conversions(): Conversions {
    const settings = this.#settings
    return { isTyped: settings.get('types'), decimal: settings.get('decimal'), dates: settings.get('dates') }
  }

  #noteItems(name: string): void {
    const where = `the items are those in ${quoted(name)}`
    if (this.format === 'json') printNote(`${this.label} is an object: ${where}. --items can name others.`)
    else
      printNote(
        `${this.label} has one item. If ${where}, use --items ${quoted(name)}; if not, --format ndjson avoids this note.`,
      )
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

function isConverting({ decimal, dates }: Conversions): boolean {
  return decimal === 'comma' || dates !== undefined
}

function namesOf(names: readonly string[]): string {
  const more = names.length > NAMES_SHOWN ? ` and ${formatCount(names.length - NAMES_SHOWN)} more` : ''
  return `${names.slice(0, NAMES_SHOWN).map(shorten).join(', ') || 'no column'}${more}`
}

/** Standard input is NDJSON unless something else is said, as by --items. */
export function formatOf(path: string, settings: SettingValues): InputFormat {
  const format = settings.get('format')
  if (format !== undefined) return format
  if (/\.(?:xls[xmb]?|ods|numbers)$/i.test(path))
    throw new Failure(2, `${path} is a spreadsheet: save it as CSV, in Excel as "CSV UTF-8", and name that file.`)
  if (path === '-') return settings.origin('items') === 'flag' ? 'json' : 'ndjson'
  return isGeoJson(path) ? 'json' : formatOfFile(path)
}

/** Throws a Failure for settings about a format that no file has. */
export function checkFormatSettings(formats: readonly InputFormat[], settings: SettingValues): void {
  const isFlag = (name: SettingName) => settings.origin(name) === 'flag'
  if (isFlag('items') && !formats.includes('json'))
    throw new Failure(2, `--items is for JSON, and this is ${formats[0]}. Leave it out, or add --format json.`)
  const given = CSV_SETTINGS.find(isFlag)
  const flag = given && `--${given}`
  if (flag !== undefined && !formats.some(isCsv))
    throw new Failure(2, `${flag} is for CSV, and this is ${formats[0]}. Leave it out, or add --format csv.`)
}

export function isCsv(format: InputFormat): boolean {
  return format === 'csv' || format === 'tsv'
}
