/** Items from a table or a query of a database, and what the settings say about it. */

import { formatKeyFields, keyFieldNames } from '../contract/key.ts'
import { oneByOne } from '../items/owned-bytes.ts'
import { type InputBatch, readUnpacked } from '../items/read-items.ts'
import { openTable } from '../tables/open-table.ts'
import { nameOf, type RowsChoice, type Table, TableError, thereAre } from '../tables/table.ts'
import { Failure } from './failure.ts'
import { collectionNameOfTable, refuseSameNames } from './files/file-name.ts'
import { FILE_SETTINGS, type Input } from './input.ts'
import type { SettingValues } from './setting-values.ts'

export class TableInput implements Input {
  readonly label: string
  readonly unit = 'row'
  readonly isEstimate = true
  readonly #table: Table
  readonly #choice: RowsChoice
  readonly #itemBytes: number

  constructor(table: Table, label: string, choice: RowsChoice, itemBytes: number) {
    this.#table = table
    this.label = label
    this.#choice = choice
    this.#itemBytes = itemBytes
  }

  static async open(choice: RowsChoice, settings: SettingValues, signal: AbortSignal): Promise<TableInput> {
    const database = settings.get('tableFrom')
    if (database === undefined) throw new Failure(2, 'Name a database with --from.')
    const table = await openTable(database, choice, signal)
    const input = new TableInput(table, `${nameOf(choice)} in ${database.label}`, choice, settings.get('itemBytes'))
    try {
      // Before a store is made.
      await input.prepare(settings.get('key') ?? null)
      return input
    } catch (error) {
      await input[Symbol.asyncDispose]()
      throw error
    }
  }

  /** The same as `follow` takes. */
  get defaultKey(): string | undefined {
    const { primaryKey, columns } = this.#table
    const isReadable = primaryKey.length > 0 && primaryKey.every((name) => columns.includes(name))
    return isReadable ? formatKeyFields(primaryKey) : undefined
  }

  get defaultKeyAdvice(): string {
    const { table } = this.#choice
    return `The key is the primary key of the table. Name another column with --key, or do without a key: --query 'SELECT * FROM ${table}'.`
  }

  get total(): number | undefined {
    return this.#table.estimatedRows
  }

  done(items: number): number {
    return items
  }

  async prepare(keyField: string | null): Promise<void> {
    const { columns } = this.#table
    const missing = keyField === null ? undefined : keyFieldNames(keyField).find((name) => !columns.includes(name))
    if (missing !== undefined)
      throw new TableError('usage', `${this.label} has no column "${missing}" for the key. ${thereAre(columns)}`)
  }

  items(keyField: string | null): AsyncIterable<InputBatch> {
    return readUnpacked(oneByOne(this.#table.rows()), { format: 'ndjson', keyField, itemBytes: this.#itemBytes })
  }

  async lineOf(item: number): Promise<number> {
    return item + 1
  }

  get note(): string {
    const { table, order } = this.#choice
    return table !== undefined && order === undefined && this.#table.primaryKey.length === 0
      ? ' The table has no primary key: --order can say in which order the items are to be.'
      : ''
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#table[Symbol.asyncDispose]()
  }
}

/** Files win over a database from the environment. Throws a Failure for settings that do not go together. */
export function isFromDatabase(settings: SettingValues, files: readonly string[]): boolean {
  const isFlag = settings.origin('tableFrom') === 'flag'
  if (files.length > 0 && isFlag)
    throw new Failure(2, `Items come from ${files[0]} or from a database, not both: leave out the file, or --from.`)
  const isSource = settings.isGiven('tableFrom') && files.length === 0
  const stray = (isSource ? FILE_SETTINGS : TABLE_SETTINGS).find((name) => settings.origin(name) === 'flag')
  if (stray !== undefined)
    throw new Failure(
      2,
      isSource ? `--${stray} is for files, and --from names a database.` : `--${stray} needs a database: add --from.`,
    )
  return isSource
}

const TABLE_SETTINGS = ['table', 'query', 'order'] as const

/** What is to be read from the database: tables, or a query. */
export function choicesIn(settings: SettingValues): readonly RowsChoice[] {
  const isFlag = (name: 'table' | 'query') => settings.origin(name) === 'flag'
  if (isFlag('table') && isFlag('query')) throw new Failure(2, 'Give --table or --query, not both.')
  const tables = isFlag('query') ? [] : (settings.get('table') ?? [])
  const query = isFlag('table') ? undefined : settings.get('query')
  const order = settings.get('order')
  if (query !== undefined && tables.length > 0)
    throw new Failure(2, 'REAMS_TABLE and REAMS_QUERY are both set: unset one of them.')
  if (query === undefined && tables.length === 0)
    throw new Failure(2, 'Say what to read from the database: --table NAME, or --query SELECT….')
  return query === undefined ? tables.map((table) => ({ table, order })) : [{ query, order }]
}

/** A query has no name that a collection could have. */
const QUERY_NAME = 'query'

/** Each with the name of its collection. */
export function namedTables(choices: readonly RowsChoice[]) {
  const named = choices.map((choice) => {
    const { table } = choice
    return { choice, name: table === undefined ? QUERY_NAME : collectionNameOfTable(table) }
  })
  refuseSameNames(
    named.map(({ choice, name }) => ({ name, of: nameOf(choice) })),
    'Import each under a name of your own, then serve the store: reams import NAME --from … --table … --store FILE',
  )
  return named
}

/** The same for a single collection. */
export function onlyChoice(settings: SettingValues): RowsChoice {
  const [choice = {}, ...others] = choicesIn(settings)
  if (others.length > 0)
    throw new Failure(2, 'A collection is made of one table: import the others one by one, or join them with --query.')
  return choice
}
