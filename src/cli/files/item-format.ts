/** How items are written into files: as NDJSON, one JSON array, CSV or TSV. */

import { excerpt, formatCount } from '../../contract/message-text.ts'
import { CsvColumns, linesOf, MAX_COLUMNS } from '../../items/item-text.ts'
import type { InputFormat } from '../../items/read-items.ts'
import { Failure } from '../failure.ts'
import { isCsv } from '../input.ts'
import { COLUMNS } from '../setting-kind.ts'
import type { SettingValues } from '../setting-values.ts'
import { shellWord } from '../shell-word.ts'
import { formatOfFile, formatOfName } from './file-name.ts'
import type { OutputTarget } from './output-target.ts'

/** Items come as NDJSON: each on a line, without line breaks in it. */
export interface ItemFormat {
  /** Adds a column for each field of these items, which come after `before` others. Called for all items before `render`. */
  readonly collect?: ((lines: Uint8Array, before: number) => void) | undefined
  /** What is written for these items, behind `before` others. */
  render(lines: Uint8Array, before: number): Uint8Array
  /** What is written behind the last of all items. */
  end(items: number): Uint8Array
  /** Those of CSV, once they are known. */
  readonly columns: readonly string[]
  /** Columns that were asked for, and for which no item that came had a field. */
  readonly unusedColumns: readonly string[]
}

export interface FormatOptions {
  readonly format: InputFormat
  /** The columns that were asked for; fields without one are left out. Undefined: those of all items, or of the first page. */
  readonly columns: readonly string[] | undefined
}

/** What the name of the output and the settings tell. Throws a Failure where they contradict one another. */
export function outputFormat({ path, isFile }: OutputTarget, settings: SettingValues): FormatOptions {
  const format = settings.get('format') ?? (path === undefined ? 'ndjson' : formatOfOutput(path, isFile))
  const columns = settings.get('columns')
  if (columns !== undefined && !isCsv(format))
    throw new Failure(2, `--columns is for CSV, and this is ${format}. Leave it out, or add --format csv.`)
  return { format, columns }
}

/** A pipe or a device need not have a name that tells. */
function formatOfOutput(path: string, isFile: boolean): InputFormat {
  return isFile ? formatOfFile(path) : (formatOfName(path) ?? 'ndjson')
}

/** `columns` are those of a part that is resumed. */
export function createFormat({ format, columns: chosen }: FormatOptions, columns: readonly string[] = []): ItemFormat {
  if (format === 'ndjson') return NDJSON
  return format === 'json' ? JSON_ARRAY : new CsvFormat(chosen, columns, format === 'tsv' ? '\t' : ',')
}

const OPEN_OBJECT = 0x7b
const NOTHING = new Uint8Array()
const NO_COLUMNS = { columns: [], unusedColumns: [] }

const NDJSON: ItemFormat = { ...NO_COLUMNS, render: (lines) => lines, end: () => NOTHING }

/** One array, an item a line. */
const JSON_ARRAY: ItemFormat = {
  ...NO_COLUMNS,
  render: (lines, before) => {
    if (lines.length === 0) return NOTHING
    const pieces: Uint8Array[] = [before === 0 ? JSON_OPENING : JSON_SEPARATOR]
    for (const line of linesOf(lines)) pieces.push(line, JSON_SEPARATOR)
    pieces.pop()
    return Buffer.concat(pieces)
  },
  end: (items) => Buffer.from(items === 0 ? '[]\n' : '\n]\n'),
}

const JSON_OPENING = Buffer.from('[\n')
const JSON_SEPARATOR = Buffer.from(',\n')

class CsvFormat implements ItemFormat {
  readonly #isChosen: boolean
  readonly #delimiter: string
  #columns: CsvColumns
  #isCollected = false

  constructor(chosen: readonly string[] | undefined, columns: readonly string[], delimiter: string) {
    this.#isChosen = chosen !== undefined
    this.#delimiter = delimiter
    this.#columns = new CsvColumns(chosen ?? columns, delimiter)
  }

  get columns(): readonly string[] {
    return this.#columns.names
  }

  get unusedColumns(): readonly string[] {
    return this.#isChosen ? [...this.#columns.unused] : []
  }

  get collect(): ItemFormat['collect'] {
    if (this.#isChosen) return undefined
    return (lines, before) => {
      this.#isCollected = true
      this.#addColumns(lines, before, 'The collection')
    }
  }

  render(lines: Uint8Array, before: number): Uint8Array {
    if (before === 0 && !this.#isChosen && !this.#isCollected) this.#addColumns(lines, 0, 'The first page')
    if (lines.length > 0 && this.#columns.names.length === 0)
      throw new Failure(1, 'No item has any field, so there are no columns for CSV. Use --format ndjson or json.')
    let text = before === 0 && lines.length > 0 ? this.#columns.header : ''
    let item = before
    for (const line of linesOf(lines)) text += this.#row(line, ++item)
    return Buffer.from(text)
  }

  end(items: number): Uint8Array {
    return Buffer.from(items === 0 && this.#isChosen ? this.#columns.header : '')
  }

  #addColumns(lines: Uint8Array, before: number, owner: string): void {
    if (before === 0) this.#columns = new CsvColumns([], this.#delimiter)
    for (const line of linesOf(lines)) this.#columns.addFields(line)
    if (this.#columns.names.length > MAX_COLUMNS)
      throw new Failure(
        1,
        `${owner} has more than ${formatCount(MAX_COLUMNS)} different fields. Choose those that become columns: --columns a,b,c`,
      )
  }

  /** `item` counts from 1. */
  #row(line: Uint8Array, item: number): string {
    if (line[0] !== OPEN_OBJECT)
      throw new Failure(
        1,
        `Item ${formatCount(item)} is not an object, so it has no fields for CSV: ${excerpt(line, 0, line.length)}. Use --format ndjson or json.`,
      )
    return this.#columns.row(line, (name) => {
      if (!this.#isChosen) throw missingColumn(name, item, this.columns)
    })
  }
}

/** Later items have the same fields, or the columns have to be named: what was written cannot be made wider. */
function missingColumn(name: string, item: number, columns: readonly string[]): Failure {
  const names = [...columns, name]
  const listed = names.filter((each) => COLUMNS.parse(each)?.[0] === each)
  const list = shellWord(listed.join())
  const advice = `Name the columns, with or without "${name}": --columns ${list}`
  const note =
    '. A name with a comma, or with a blank at an end, cannot be given there: for such fields use --format ndjson.'
  return new Failure(
    1,
    `Item ${formatCount(item)} has a field "${name}", which no item of the first page has. ${advice}${listed.length < names.length ? note : ''}`,
  )
}
