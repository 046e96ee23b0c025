/** Reads a table or a query of MySQL or MariaDB: all rows of one moment, as JSON. */

import { Readable } from 'node:stream'
import type { FieldPacket, TypeCast } from 'mysql2'
import type { OwnedBytes } from '../items/owned-bytes.ts'
import { JsonRows } from './json-rows.ts'
import { explainMysqlError, isNoSuchTable } from './mysql-errors.ts'
import { readMysqlOptions } from './mysql-options.ts'
import { MysqlSession } from './mysql-session.ts'
import { jsonWriter, type MysqlValue, typeCastFor } from './mysql-values.ts'
import { nameOf, type RowsChoice, type Table, TableError, thereAre } from './table.ts'

/** What may wait for whoever reads. */
const UNREAD_BYTES = 256 * 1024

export async function openMysqlTable(
  url: string,
  label: string,
  choice: RowsChoice,
  signal: AbortSignal,
): Promise<Table> {
  const options = readMysqlOptions(url)
  let session: MysqlSession | undefined
  try {
    session = await MysqlSession.open(options, signal)
    const table = new MysqlTable(session, choice, label)
    await table.describe()
    return table
  } catch (error) {
    session?.hangUp()
    signal.throwIfAborted()
    throw explainMysqlError(error, choice, label)
  }
}

export async function listMysqlTables(url: string, label: string, signal: AbortSignal): Promise<readonly string[]> {
  const options = readMysqlOptions(url)
  let session: MysqlSession | undefined
  try {
    session = await MysqlSession.open(options, signal)
    const rows = await session.ask(TABLES)
    return rows.map(({ place, name }) => `${place === null ? '' : `${asGiven(place)}.`}${asGiven(name)}`)
  } catch (error) {
    signal.throwIfAborted()
    throw explainMysqlError(error, {}, label)
  } finally {
    session?.close()
  }
}

/** Those of the database in use; where there is none, of all but the server's own. */
const TABLES = `
  SELECT IF(DATABASE() IS NULL, table_schema, NULL) AS place, table_name AS name FROM information_schema.tables
  WHERE table_schema = DATABASE() OR DATABASE() IS NULL
    AND table_schema NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys')
  ORDER BY 1, 2`

class MysqlTable implements Table {
  columns: readonly string[] = []
  primaryKey: readonly string[] = []
  estimatedRows: number | undefined
  readonly #session: MysqlSession
  readonly #choice: RowsChoice
  readonly #label: string
  #select = ''
  #typeCast: TypeCast = true

  constructor(session: MysqlSession, choice: RowsChoice, label: string) {
    this.#session = session
    this.#choice = choice
    this.#label = label
  }

  /** Finds out what there is, before anything is read. */
  async describe(): Promise<void> {
    const { query, order } = this.#choice
    const name = query === undefined ? quotedName(this.#choice.table ?? '') : undefined
    // In brackets, nothing but one SELECT is allowed. A comment at the end of a query ends with the line.
    const from = name ?? `(\n${query}\n) AS q`
    const fields = await this.#describeColumns(from)
    this.columns = fields.map((field) => field.name)
    this.#typeCast = typeCastFor(fields)
    this.primaryKey = name === undefined ? [] : await this.#findPrimaryKey(name)
    const by = order ?? this.primaryKey.map(quoted).join(', ')
    const ordered = `SELECT * FROM ${from}${by === '' ? '' : ` ORDER BY ${by}\n`}`
    if (order !== undefined) await this.#tryOut(ordered)
    // A query has an order of its own, which brackets would lose.
    this.#select = by === '' && query !== undefined ? query : ordered
    this.estimatedRows = await this.#estimate(from)
  }

  /**
   * All rows come from one statement, and that is why they are of one moment: it locks the definitions of its tables
   * and then takes its snapshot. A snapshot that is taken before would let a TRUNCATE in between.
   */
  async *rows(): AsyncIterable<OwnedBytes> {
    try {
      await this.#session.ask('START TRANSACTION READ ONLY')
      yield* this.#read()
      await this.#session.ask('COMMIT')
    } catch (error) {
      throw explainMysqlError(error, this.#choice, this.#label, this.columns)
    }
  }

  /** The driver reads on unless told to pause, and reports a lost connection as an error of the connection alone. */
  #read(): AsyncIterable<OwnedBytes> {
    const { connection } = this.#session
    const lines = new JsonRows(this.columns)
    let writers: ((value: MysqlValue) => string)[] = []
    const bytes = new Readable({ highWaterMark: UNREAD_BYTES, read: () => connection.resume() })
    const fail = (error: Error) => bytes.destroy(error)
    connection.on('error', fail)
    this.#session
      .execute({ sql: this.#select, typeCast: this.#typeCast })
      .on('fields', (fields: readonly FieldPacket[] = []) => {
        writers = fields.map(jsonWriter)
        if (!this.#isAsDescribed(fields)) fail(this.#changed())
      })
      .on('result', (row: readonly MysqlValue[]) => {
        if (bytes.destroyed) return
        const chunk = lines.add(writers.map((write, index) => write(row[index] as MysqlValue)))
        if (chunk !== undefined && !bytes.push(chunk)) connection.pause()
      })
      .on('error', fail)
      .on('end', () => {
        if (bytes.destroyed) return
        bytes.push(lines.take())
        bytes.push(null)
      })
    // Chunks of `lines`, which nobody else has.
    return bytes as AsyncIterable<OwnedBytes>
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#session.close()
  }

  async #describeColumns(from: string): Promise<readonly FieldPacket[]> {
    const { table } = this.#choice
    try {
      return await this.#session.describe(`SELECT * FROM ${from} LIMIT 0`)
    } catch (error) {
      if (table === undefined || !isNoSuchTable(error)) throw error
      const others = thereAre(await this.#tablesBeside(table), 'There is none that this user may read.')
      throw new TableError('usage', `There is no table ${table} in ${this.#label}. ${others}`, { cause: error })
    }
  }

  async #tablesBeside(table: string): Promise<string[]> {
    const [database] = partsOf(table)
    const prefix = database === undefined ? '' : `${database}.`
    try {
      const rows = await this.#session.ask(`SHOW TABLES${database === undefined ? '' : ` FROM ${quoted(database)}`}`)
      return rows.map((row) => `${prefix}${Object.values(row)[0]}`)
    } catch {
      return []
    }
  }

  async #findPrimaryKey(name: string): Promise<string[]> {
    const rows = await this.#session.ask(`SHOW KEYS FROM ${name} WHERE Key_name = 'PRIMARY'`)
    const parts = rows.toSorted((a, b) => Number(a['Seq_in_index']) - Number(b['Seq_in_index']))
    return parts.map((row) => String(row['Column_name']))
  }

  async #tryOut(select: string): Promise<void> {
    try {
      await this.#session.describe(`${select} LIMIT 0`)
    } catch (error) {
      throw explainMysqlError(error, this.#choice, this.#label, this.columns)
    }
  }

  /** What takes more than one step is hard to guess. And one who may read a view may not be allowed to see its plan. */
  async #estimate(from: string): Promise<number | undefined> {
    try {
      const steps = await this.#session.ask(`EXPLAIN FORMAT=TRADITIONAL SELECT * FROM ${from}`)
      const [step] = steps
      if (steps.length > 1 || !step?.['rows']) return undefined
      return Math.ceil((Number(step['rows']) * Number(step['filtered'] ?? 100)) / 100)
    } catch {
      return undefined
    }
  }

  #isAsDescribed(fields: readonly FieldPacket[]): boolean {
    return fields.length === this.columns.length && fields.every(({ name }, index) => name === this.columns[index])
  }

  #changed(): TableError {
    const where = `${nameOf(this.#choice)} in ${this.#label}`
    return new TableError('surroundings', `${where}: its columns were changed a moment ago. Try again.`)
  }
}

const NAME = '(`(?:[^`]|``)+`|[^`.]+)'
const NAMES = new RegExp(`^(?:${NAME}\\.)?${NAME}$`)

/** Database and table: of `events`, `shop.events`, or `` shop.`odd.name` ``. */
function partsOf(text: string): readonly [string | undefined, string] {
  const [, database, table] = NAMES.exec(text) ?? []
  if (table === undefined)
    throw new TableError('usage', `Invalid name of a table: ${text}. Expected events, shop.events or \`odd.name\`.`)
  return [database && unquoted(database), unquoted(table)]
}

function unquoted(name: string): string {
  return name.startsWith('`') ? name.slice(1, -1).replaceAll('``', '`') : name
}

/** As `partsOf` takes it: in quotes only where it has to be. */
function asGiven(name: string): string {
  return /[`.]/.test(name) ? quoted(name) : name
}

function quoted(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``
}

function quotedName(text: string): string {
  const [database, table] = partsOf(text)
  return database === undefined ? quoted(table) : `${quoted(database)}.${quoted(table)}`
}
