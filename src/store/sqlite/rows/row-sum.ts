/** The checksum of a row. SQLite's file has none, so each row that an answer is made of has one of its own. */

import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import type { Row, Statements } from './statements.ts'

type Value = SQLInputValue | SQLOutputValue

/** A table whose rows have a checksum in the column `sum`. */
export class SummedTable {
  readonly name: string
  /** The columns of the primary key. */
  readonly key: readonly string[]
  /** All columns but `sum`, those of the key first. */
  readonly columns: readonly string[]
  /** What a row is called in a message. */
  readonly title: (row: readonly Value[]) => string
  readonly #nameSum: number

  /** `key` and `others` name the columns, with a blank between two. There may be no others. */
  constructor(name: string, key: string, others: string, title: (row: readonly Value[]) => string) {
    this.name = name
    this.key = key.split(' ')
    this.columns = [...this.key, ...(others === '' ? [] : others.split(' '))]
    this.title = title
    this.#nameSum = sumOfName(name)
  }

  start(...columns: SQLInputValue[]): RowStart {
    return { table: this, columns, sum: addColumns(this.#nameSum, columns, 0, columns.length) }
  }

  /** What a statement selects so that `checkSum` can judge it, behind the first `known` columns. */
  select(known: number, alias?: string): string {
    const selected = [...this.columns.slice(known), 'sum']
    return selected.map((column) => (alias === undefined ? column : `${alias}.${column}`)).join(', ')
  }

  /** A statement that inserts what `withSum` gives. */
  insert(): string {
    const places = [...this.columns, 'sum'].map(() => '?')
    return `INSERT INTO ${this.name} (${this.select(0)}) VALUES (${places.join(', ')})`
  }

  /** The same, or where there is such a row, it takes its place. REPLACE would remove that one first, which writes twice as much. */
  put(): string {
    const columns = [...this.columns.slice(this.key.length), 'sum'].map((name) => `${name} = excluded.${name}`)
    return `${this.insert()} ON CONFLICT DO UPDATE SET ${columns.join(', ')}`
  }
}

/** What rows of a table begin with, known to whoever reads or writes them: only the columns after it are selected. */
interface RowStart {
  readonly table: SummedTable
  readonly columns: readonly SQLInputValue[]
  /** CRC-32 of the table's name and these columns. */
  readonly sum: number
}

/** A whole row, with the columns after its start. */
export function withSum(start: RowStart, ...columns: SQLInputValue[]): SQLInputValue[] {
  return [...start.columns, ...columns, sumOf(start, ...columns)]
}

/** The checksum of a row, by the columns after its start. */
export function sumOf({ sum }: RowStart, ...columns: SQLInputValue[]): number {
  return addColumns(sum, columns, 0, columns.length)
}

/** Reports a row that is not as it was written. What `select` named begins in column `at`. */
export function checkSum(rows: Statements, start: RowStart, collection: string | undefined, row: Row, at = 0): void {
  const { table, columns, sum } = start
  const end = at + table.columns.length - columns.length
  if (row[end] === addColumns(sum, row, at, end)) return
  rows.reportDamage(collection, `${table.title([...columns, ...row.slice(at, end)])} does not match its checksum.`)
}

/** Lets SQL on this connection make checksums: `row_sum('key', collection_id, …)`. */
export function defineRowSum(database: DatabaseSync): void {
  database.function('row_sum', { varargs: true }, (table, ...columns) =>
    addColumns(sumOfName(String(table)), columns, 0, columns.length),
  )
}

/** Stands before a column, and says of what type it is. */
const NULL = 0
const INTEGER = 1
const TEXT = 2
const BYTES = 3
/** Stands behind a text: no UTF-8 has this byte. */
const TEXT_END = 0xff

/**
 * Goes on with a CRC-32. Behind its type a number counts with the eight bytes of its two's complement, a text with its
 * UTF-8 and what stands behind it, bytes with their number and themselves.
 */
function addColumns(begun: number, columns: readonly Value[], from: number, to: number): number {
  let state = ~begun
  for (let at = from; at < to; at++) state = addColumn(state, columns[at])
  return ~state >>> 0
}

function sumOfName(table: string): number {
  return ~addText(~0, table)
}

/** Here and below the state is the inverted checksum, as the algorithm has it. */
function addColumn(state: number, value: Value | undefined): number {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return addNumber(addByte(state, INTEGER), value)
  if (typeof value === 'string') return addByte(addText(addByte(state, TEXT), value), TEXT_END)
  if (ArrayBuffer.isView(value)) return addLong(addNumber(addByte(state, BYTES), value.byteLength), value)
  // Nothing else was ever written.
  return value === null ? addByte(state, NULL) : addLong(state, String(value))
}

/** Behind this length a call of zlib costs less than a loop. */
const SHORT_TEXT = 64
const LAST_ASCII = 0x7f

function addText(begun: number, text: string): number {
  if (text.length > SHORT_TEXT) return addLong(begun, text)
  let state = begun
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code > LAST_ASCII) return addLong(state, text.slice(at))
    state = addByte(state, code)
  }
  return state
}

function addLong(state: number, value: string | NodeJS.ArrayBufferView): number {
  return ~crc32(value, ~state >>> 0)
}

function addNumber(state: number, value: number): number {
  return addWord(addWord(state, Math.floor(value / 2 ** 32) | 0), value | 0)
}

function addWord(state: number, word: number): number {
  return addByte(addByte(addByte(addByte(state, word >>> 24), word >>> 16), word >>> 8), word)
}

function addByte(state: number, byte: number): number {
  return (state >>> 8) ^ (CRC_TABLE[(state ^ byte) & 0xff] ?? 0)
}

/** A call of zlib costs more than a short row does here. */
const CRC_TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let state = byte
  for (let bit = 0; bit < 8; bit++) state = state & 1 ? (state >>> 1) ^ 0xedb88320 : state >>> 1
  return state
})

const ROW_COUNT = new SummedTable('row_count', 'name', 'count', ([name]) => `How many rows the table "${name}" has`)
const READ = `SELECT ${ROW_COUNT.select(1)} FROM row_count WHERE name = ?`
const PUT = ROW_COUNT.put()

/** To be called in the snapshot in which the rows were counted. Without `found` SQLite counts them, which is fast. */
export function checkRowCount(rows: Statements, table: SummedTable, found: number = countRows(rows, table)): void {
  const expected = readRowCount(rows, table)
  if (found === expected) return
  rows.reportDamage(undefined, `The table "${table.name}" has ${found} rows instead of ${expected}.`)
}

/** For whoever inserts or deletes a row: `change` is 1 or -1. */
export function changeRowCount(rows: Statements, table: SummedTable, change: number): void {
  rows.run(PUT, ...withSum(ROW_COUNT.start(table.name), readRowCount(rows, table) + change))
}

function readRowCount(rows: Statements, { name }: SummedTable): number {
  const row = rows.get(READ, name)
  if (row !== undefined) checkSum(rows, ROW_COUNT.start(name), undefined, row)
  return (row?.[0] ?? 0) as number
}

function countRows(rows: Statements, { name }: SummedTable): number {
  return rows.get(`SELECT count(*) FROM ${name}`)?.[0] as number
}

/** Statements that find the rows next to a key, by how many of its columns are compared. Without any: the last or first rows. */
interface Neighbours {
  readonly below: readonly string[]
  readonly above: readonly string[]
}

/** The row next to the place, and one more: of two that are the same, or in the wrong order, one is in the place of another. */
const ROWS_A_SIDE = 2

const known = new Map<SummedTable, Neighbours>()

function neighboursIn(table: SummedTable): Neighbours {
  const statements = (sign: string, order: string): string[] =>
    [0, ...table.key.keys().map((at) => at + 1)].map((width) => {
      const conditions = table.key.slice(0, width).map((column, at) => `${column} ${at < width - 1 ? '=' : sign} ?`)
      return `
        SELECT ${table.select(0)} FROM ${table.name} ${width > 0 ? 'WHERE' : ''} ${conditions.join(' AND ')}
        ORDER BY ${table.key.map((column) => `${column} ${order}`).join(', ')} LIMIT ${ROWS_A_SIDE}`
    })
  const neighbours = known.get(table) ?? { below: statements('<', 'DESC'), above: statements('>', 'ASC') }
  known.set(table, neighbours)
  return neighbours
}

type Key = readonly SQLInputValue[]

/**
 * To be called in the snapshot in which the row with this primary key was not found. With `isHidden` it was found, and
 * must not be known by the time that it takes.
 */
export function checkAbsence(
  rows: Statements,
  table: SummedTable,
  collection: string | undefined,
  key: Key,
  isHidden = false,
): void {
  const neighbours = neighboursIn(table)
  const below = findRows(rows, neighbours.below, key)
  // From row to row, and back: a walk down ends at a row that is too low for its place, and a walk up at one too high.
  const above = findRows(rows, neighbours.above, below[0] && keyOf(table, below[0]))
  const back = findRows(rows, neighbours.below, above[0] && keyOf(table, above[0]))
  for (const row of [...below, ...above, ...back]) checkSum(rows, table.start(), collection, row)
  const around = [...below.toReversed(), ...(isHidden ? [] : [key]), ...above]
  const isInOrder = around.every((row, index) => index === 0 || compareKeys(table, around[index - 1] ?? [], row) < 0)
  const isBack = compareKeys(table, back[0] ?? [], below[0] ?? []) === 0
  if (!isInOrder || !isBack) rows.reportDamage(collection, `Rows of the table "${table.name}" are not in order.`)
}

/** The rows nearest to a key, whatever collection they are of; without a key, those at the end. */
function findRows(rows: Statements, statements: readonly string[], key: Key = []): readonly Row[] {
  const found: Row[] = []
  // One column less at a time: if all were compared at once, SQLite would leave out a row with a NULL.
  for (let width = key.length; found.length < ROWS_A_SIDE; width--) {
    const sql = statements[width]
    if (sql === undefined || (width === 0 && key.length > 0)) break
    found.push(...rows.all(sql, ...key.slice(0, width)))
  }
  return found.slice(0, ROWS_A_SIDE)
}

/** The cast: a key has no other types than those of a parameter. */
function keyOf(table: SummedTable, row: Row): Key {
  return row.slice(0, table.key.length) as SQLInputValue[]
}

/** As SQLite compares them: numbers by value, texts by their bytes. */
function compareKeys(table: SummedTable, a: Key | Row, b: Key | Row): number {
  for (const at of table.key.keys()) {
    const [x, y] = [a[at], b[at]]
    const order = typeof x === 'number' ? x - Number(y) : Buffer.compare(Buffer.from(String(x)), Buffer.from(String(y)))
    if (order !== 0) return order
  }
  return 0
}
