/** Reads a table or a query of an SQLite file, all rows of one moment, whoever writes to it meanwhile. */

import { existsSync, statSync } from 'node:fs'
import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite'
import type { OwnedBytes } from '../items/owned-bytes.ts'
import { APPLICATION_ID } from '../store/sqlite/schema.ts'
import { base64, JsonRows, jsonNumber } from './json-rows.ts'
import { quoted } from './quoted.ts'
import { openSqliteFile } from './sqlite-file.ts'
import { refuseBrokenText } from './sqlite-text.ts'
import { nameOf, type RowsChoice, semicolonAdvice, type Table, TableError, thereAre } from './table.ts'

/** For one who has the file to himself for a moment. */
const BUSY_MS = 10_000

export async function openSqliteTable(path: string, choice: RowsChoice, signal: AbortSignal): Promise<Table> {
  const database = openFile(path, choice)
  try {
    return new SqliteTable(database, describe(database, path, choice), path, choice, signal)
  } catch (error) {
    database.close()
    throw explain(error, path, choice)
  }
}

export function listSqliteTables(path: string): readonly string[] {
  const database = openFile(path, {})
  try {
    return namesOfTables(database)
  } catch (error) {
    throw explain(error, path, {})
  } finally {
    database.close()
  }
}

function openFile(path: string, choice: RowsChoice): DatabaseSync {
  if (!existsSync(path)) throw new TableError('usage', `There is no file ${path}. Check the path.`)
  // SQLite would wait for good for what a pipe says.
  if (!statSync(path).isFile())
    throw new TableError('usage', `${path} is not a file: expected an SQLite file, or the URL of a database.`)
  let database: DatabaseSync | undefined
  try {
    database = openSqliteFile(path, BUSY_MS)
    refuseStore(database, path)
    return database
  } catch (error) {
    database?.close()
    throw explain(error, path, choice)
  }
}

/** Its tables hold parts of reams, which are no items. */
function refuseStore(database: DatabaseSync, path: string): void {
  const row = database.prepare('PRAGMA application_id').get()
  if (row?.['application_id'] === APPLICATION_ID)
    throw new TableError(
      'usage',
      `${path} is a store of Reams. Copy its collections with: reams copy --from ${path} --to STORE`,
    )
}

interface Description {
  readonly select: string
  readonly columns: readonly string[]
  readonly primaryKey: readonly string[]
  readonly estimatedRows: number | undefined
}

function describe(database: DatabaseSync, path: string, choice: RowsChoice): Description {
  const { query, order } = choice
  const relation = query === undefined ? findRelation(database, path, choice.table ?? '') : undefined
  const primaryKey = relation?.primaryKey ?? []
  // In brackets, so that a second statement is an error; a comment at the end ends with the line.
  const from = relation?.name ?? `(\n${query}\n)`
  const by = order ?? primaryKey.map(quoted).join(', ')
  const select = `SELECT * FROM ${from}${by === '' ? '' : ` ORDER BY ${by}\n`}`
  const unordered = `SELECT * FROM ${from}`
  database.prepare(unordered)
  // In brackets, SQLite would give columns of the same name other names.
  const columns = namesIn(database.prepare(query ?? unordered))
  const label = `${nameOf(choice)} in ${path}`
  tryOrder(database, select, columns, label)
  // Refuses an order with a second statement, which SQLite would leave out, or with a LIMIT, which would leave out rows.
  const limited = database.prepare(`SELECT * FROM (${select} LIMIT -1)`)
  refuseParameters(limited, label)
  return { select, columns, primaryKey, estimatedRows: relation && estimate(database, relation.name) }
}

/** SQLite would take them for NULL. */
function refuseParameters({ sourceSQL, expandedSQL }: StatementSync, label: string): void {
  if (expandedSQL !== sourceSQL)
    throw new TableError('usage', `${label}: there are no values for parameters such as ?1. Write the values into it.`)
}

function tryOrder(database: DatabaseSync, select: string, columns: readonly string[], label: string): void {
  try {
    database.prepare(select)
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('no such column')) throw error
    throw new TableError('usage', `${label}: ${error.message}. ${thereAre(columns)}`, { cause: error })
  }
}

function namesIn(statement: StatementSync): string[] {
  return statement.columns().map(({ name }) => name)
}

function findRelation(database: DatabaseSync, path: string, table: string): { name: string; primaryKey: string[] } {
  const names = namesOfTables(database)
  const wanted = [table, table.replace(/^(main|"main")\./i, '')].map((name) => unquoted(name).toLowerCase())
  const name = names.find((each) => wanted.includes(each.toLowerCase()))
  if (name === undefined)
    throw new TableError('usage', `There is no table ${table} in ${path}. ${thereAre(names, 'There is none at all.')}`)
  const columns = database.prepare('SELECT name FROM pragma_table_xinfo(?) WHERE pk > 0 ORDER BY pk').all(name)
  return { name: quoted(name), primaryKey: columns.map((row) => String(row['name'])) }
}

const TABLES = `
  SELECT name FROM pragma_table_list
  WHERE schema = 'main' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND type <> 'shadow' ORDER BY 1`

function namesOfTables(database: DatabaseSync): readonly string[] {
  const rows = database.prepare(TABLES).all()
  return rows.map((row) => String(row['name']))
}

/** Its length, its number, a header of two and its place in the page, which has two. */
const MIN_ROW_BYTES = 6

/**
 * By the lowest and the highest number of a row, which cost nothing to find one by one; together, SQLite would read
 * all rows. Views and some tables have none, and those that the file has no room for have gaps.
 */
function estimate(database: DatabaseSync, name: string): number | undefined {
  const range = `(SELECT max(rowid) FROM ${name}) - (SELECT min(rowid) FROM ${name}) + 1`
  const room = `page_count * page_size / ${MIN_ROW_BYTES} FROM pragma_page_count, pragma_page_size`
  try {
    const row = database.prepare(`SELECT ${range} AS count, ${room}`).get()
    const [count, most] = Object.values(row ?? {})
    return typeof count === 'number' && typeof most === 'number' && count <= most ? count : undefined
  } catch {
    return undefined
  }
}

class SqliteTable implements Table {
  readonly columns: readonly string[]
  readonly primaryKey: readonly string[]
  readonly estimatedRows: number | undefined
  readonly #database: DatabaseSync
  readonly #select: string
  readonly #path: string
  readonly #choice: RowsChoice
  readonly #signal: AbortSignal
  #isTextChecked = false

  constructor(database: DatabaseSync, found: Description, path: string, choice: RowsChoice, signal: AbortSignal) {
    this.columns = found.columns
    this.primaryKey = found.primaryKey
    this.estimatedRows = found.estimatedRows
    this.#select = found.select
    this.#database = database
    this.#path = path
    this.#choice = choice
    this.#signal = signal
  }

  async *rows(): AsyncIterable<OwnedBytes> {
    try {
      // What is read again is of the same moment, which begins with the first look.
      this.#database.exec('BEGIN; SELECT 1 FROM sqlite_schema')
      this.#refuseChange()
      const statement = this.#database.prepare(this.#select)
      statement.setReadBigInts(true)
      statement.setReturnArrays(true)
      const lines = new JsonRows(this.columns)
      for (const row of statement.iterate()) {
        const chunk = lines.add((row as unknown as SQLOutputValue[]).map(jsonOf))
        if (chunk === undefined) continue
        this.#signal.throwIfAborted()
        yield this.#checked(chunk)
      }
      yield this.#checked(lines.take())
    } catch (error) {
      throw explain(error, this.#path, this.#choice)
    }
  }

  /** Others may have changed the table since it was described, and values would get the names of other columns. */
  #refuseChange(): void {
    const now = namesIn(this.#database.prepare(this.#choice.query ?? this.#select))
    if (now.length !== this.columns.length || now.some((name, index) => name !== this.columns[index]))
      throw new TableError(
        'surroundings',
        `${nameOf(this.#choice)} in ${this.#path}: its columns were changed a moment ago. Try again.`,
      )
  }

  /** Text that cannot be decoded comes with U+FFFD in place of what is wrong, but that may be in the text itself too. */
  #checked(chunk: OwnedBytes): OwnedBytes {
    if (!this.#isTextChecked && Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).includes('\ufffd')) {
      refuseBrokenText(this.#database, this.#select, this.columns, `${nameOf(this.#choice)} in ${this.#path}`)
      this.#isTextChecked = true
    }
    return chunk
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#database.close()
  }
}

function jsonOf(value: SQLOutputValue): string {
  if (value === null) return 'null'
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value !== 'number') return base64(value)
  // A real number shows that it is one, as in SQLite.
  const text = jsonNumber(value)
  return /^-?[0-9]+$/.test(text) ? `${text}.0` : text
}

function unquoted(name: string): string {
  return /^".*"$/s.test(name) ? name.slice(1, -1).replaceAll('""', '"') : name
}

/** SQLite's own codes. */
const BUSY = 5
const LOCKED = 6
const READ_ONLY = 8
const CANNOT_OPEN = 14
const NO_DATABASE = 26

function explain(error: unknown, path: string, choice: RowsChoice): unknown {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return error
  const code = error.errcode & 0xff
  const refuse = (kind: 'usage' | 'surroundings', text: string) => new TableError(kind, text, { cause: error })
  if (code === NO_DATABASE)
    return refuse(
      'usage',
      `${path} is no SQLite file. A file of items is imported without --from: reams import NAME ${path}`,
    )
  const reason = `${nameOf(choice)} in ${path}: ${error.message}.`
  if (code === BUSY || code === LOCKED)
    return refuse('surroundings', `${reason} Somebody has had the file to himself for ${BUSY_MS / 1000} s. Try again.`)
  // To read such a file, SQLite has to write first.
  if (code === READ_ONLY)
    return refuse(
      'surroundings',
      `${reason} Either its last writer was killed: open it once with a program that writes to it. Or it is in WAL mode in a directory that you may not write to: copy it, with the files beside it, to one that you may.`,
    )
  if (code === CANNOT_OPEN)
    return refuse('surroundings', `${reason} It cannot be opened: check who may read it and the files beside it.`)
  return code === 1
    ? refuse('usage', `${reason} Check ${toCheck(choice)}.${semicolonAdvice(choice)}`)
    : refuse('surroundings', reason)
}

function toCheck({ query, order }: RowsChoice): string {
  if (query === undefined) return '--table and --order'
  return `${order === undefined ? 'the query' : '--order and the query'}; it has to be one SELECT`
}
