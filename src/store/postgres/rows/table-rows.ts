/** Rows of the tables in PostgreSQL: read in one statement each, and written in a transaction. */

import { damagedCollection } from '../../collection-rules.ts'
import type { HoleCount } from '../../positions.ts'
import type { Answer, BasicRows, History, Numbers, Operations, PastItem, Range } from '../../rows.ts'
import {
  CHANGE,
  type Column,
  type LooseTable,
  type Owner,
  type Owners,
  type Row,
  type Table,
  type Value,
} from '../../tables.ts'
import type { Reading, Row as SqlRow, Writing } from './sender.ts'
import { inMessages, keyBytes } from './stored-ream.ts'
import { type TableStatement, TableStatements } from './table-statements.ts'

/** Messages of a megabyte that are on their way at a time. */
const MESSAGES_AHEAD = 4

/** What a row takes in a message besides its texts and bytes, about. */
const ROW_BYTES = 200

export class TableRows implements BasicRows, Operations {
  protected readonly reading: Reading
  readonly #transaction: Writing | undefined

  constructor(reading: Reading, transaction?: Writing) {
    this.reading = reading
    this.#transaction = transaction
  }

  protected get transaction(): Writing {
    if (this.#transaction === undefined) throw new TypeError('Rows can only be written in a transaction.')
    return this.#transaction
  }

  async get<O extends Owner>(table: Table<O>, owner: Owners[O], key: Row): Promise<Row | undefined> {
    const values = key.map((value, at) => sentValue(table.key[at], value))
    // No row has half of a surrogate pair in its key, and Citus looks up no NULL.
    if (values.includes(null)) return undefined
    const [found] = await this.#all(table, owner, TableStatements.of(table).get, values)
    return found && [...key, ...readRow(table.columns.slice(table.key.length), found)]
  }

  async find<O extends Owner>(
    table: Table<O>,
    owner: Owners[O],
    keys: readonly Row[],
  ): Promise<readonly (Row | undefined)[]> {
    if (keys.length === 0) return []
    const columns = table.columns.slice(table.key.length)
    const found: (Row | undefined)[] = keys.map(() => undefined)
    for (const [number, ...values] of await this.#all(
      table,
      owner,
      TableStatements.of(table).find,
      listsOf(table.key, keys),
    )) {
      const at = Number(number) - 1
      found[at] = [...(keys[at] ?? []), ...readRow(columns, values)]
    }
    return found
  }

  async scan<O extends Owner>(table: Table<O>, owner: Owners[O], range: Range): Promise<readonly Row[]> {
    const found = await this.#all(table, owner, TableStatements.of(table).scan(range), rangeValues(table, range))
    return found.map((row) => readRow(table.columns, row))
  }

  async all(table: LooseTable): Promise<readonly Row[]> {
    const found = await this.reading.all(TableStatements.of(table).all)
    return found.map((row) => readRow(table.columns, row))
  }

  put<O extends Owner>(table: Table<O>, owner: Owners[O], rows: readonly Row[]): Answer<void> {
    const statements = TableStatements.of(table)
    const columns = table.columns.filter(({ type }) => type !== 'now')
    const kept = rows.map((row) => row.filter((_, at) => table.columns[at]?.type !== 'now'))
    // As elements of an array the bytes would travel in hexadecimal.
    const isAlone = columns.some(({ type }) => type === 'deflated')
    const send = (part: readonly Row[]): Promise<unknown> => {
      const [one] = part
      if (part.length > 1 || one === undefined) return this.#write(table, owner, statements.put, listsOf(columns, part))
      const values = one.map((value, at) => sentValue(columns[at], value))
      return this.#write(table, owner, statements.putOne, values)
    }
    return this.inTurn(isAlone ? kept.map((row) => [row]) : inMessages(kept, bytesOf), send)
  }

  remove<O extends Owner>(table: Table<O>, owner: Owners[O], keys: readonly Row[]): Answer<void> {
    const send = (part: readonly Row[]) =>
      this.#write(table, owner, TableStatements.of(table).remove, listsOf(table.key, part))
    return this.inTurn(inMessages(keys, bytesOf), send)
  }

  async removeRange<O extends Owner>(table: Table<O>, owner: Owners[O], range: Range): Promise<number> {
    const statement = TableStatements.of(table).removeRange(range)
    const written = this.#write(table, owner, statement, rangeValues(table, range))
    return range.limit === undefined ? 0 : (await written).count
  }

  reportDamage(collection: string | undefined, message: string): never {
    throw damagedCollection(collection, message)
  }

  // Operations

  async pastIn({ shardKey, id }: History, generation: number, start: number, end: number, { from, to }: Numbers) {
    return pastFrom(await this.reading.all('readPastIn', shardKey, id, generation, start, from, to, end))
  }

  async pastAt({ shardKey, id }: History, generation: number, positions: readonly number[], { from, to }: Numbers) {
    if (positions.length === 0) return []
    return pastFrom(await this.reading.all('readPastAt', shardKey, id, generation, listOf(positions), from, to))
  }

  async lastChangeIn({ shardKey, id }: History, generation: number, start: number, end: number, { from, to }: Numbers) {
    const row = await this.reading.first('readLastChangeIn', shardKey, id, generation, start, from, to, end)
    return (row?.[0] ?? undefined) as number | undefined
  }

  async pastHoles(
    { shardKey, id }: History,
    generation: number,
    level: number,
    blocks: readonly number[],
    number: number,
  ): Promise<HoleCount[]> {
    if (blocks.length === 0) return []
    const found = await this.reading.all('readPastHoles', shardKey, id, generation, level, listOf(blocks), number)
    return found.map(([block, gone]) => ({ level, block: Number(block), gone: Number(gone) }))
  }

  async changes({ shardKey, id }: History, { from, to }: Numbers, limit: number): Promise<readonly Row[]> {
    const found = await this.reading.all('readChanges', shardKey, id, from, to, limit + 1)
    return found.map((row) => readRow(CHANGE.columns, row))
  }

  async changeSizes({ shardKey, id }: History, { from, to }: Numbers, limit: number) {
    const found = await this.reading.all('readChangeSizes', shardKey, id, from, to, limit)
    return found.map((row) => {
      const [number, generation, kind, position, bytes] = row as [number, number, number, number, number | null]
      return { number, generation, kind, position, bytes: bytes ?? 0 }
    })
  }

  addHoles({ shardKey, generationId }: Owners['generation'], counts: readonly HoleCount[]): void {
    if (counts.length === 0) return
    const columns = [counts.map(({ level }) => level), counts.map(({ block }) => block), counts.map(({ gone }) => gone)]
    void this.transaction.write('addHoles', shardKey, generationId, ...columns)
  }

  #all<O extends Owner>(
    table: Table<O>,
    owner: Owners[O],
    statement: TableStatement,
    values: readonly unknown[],
  ): Promise<readonly SqlRow[]> {
    return this.reading.all(statement, ...ownerValues(table, owner), ...values)
  }

  #write<O extends Owner>(table: Table<O>, owner: Owners[O], statement: TableStatement, values: readonly unknown[]) {
    return this.transaction.write(statement, ...ownerValues(table, owner), ...values)
  }

  /** The last messages are not waited for: the commit tells if they failed. */
  protected inTurn<T>(parts: Iterable<readonly T[]>, send: (part: readonly T[]) => Promise<unknown>): Answer<void> {
    const rest = [...parts]
    const sent = rest.splice(0, MESSAGES_AHEAD).map(send)
    if (rest.length === 0) return
    return (async () => {
      for (const part of rest) {
        await sent.shift()
        sent.push(send(part))
      }
    })()
  }
}

function ownerValues<O extends Owner>({ owner: kind }: Table<O>, owner: Owners[O]): number[] {
  const { shardKey = 0, id = 0, generationId = 0 } = owner as Partial<Owners['generation'] & Owners['collection']>
  if (kind === 'store') return []
  return kind === 'shard' ? [shardKey] : [shardKey, kind === 'generation' ? generationId : id]
}

function rangeValues(table: Table, { at = [], from = [], to = [] }: Range): unknown[] {
  const ofRest = (values: Row) => values.map((value, index) => sentValue(table.key[at.length + index], value))
  return [...at.map((value, index) => sentValue(table.key[index], value)), ...ofRest(from), ...ofRest(to)]
}

function bytesOf(row: Row): number {
  let bytes = ROW_BYTES
  for (const value of row)
    if (typeof value === 'string') bytes += value.length
    else if (value !== null && typeof value === 'object') bytes += value.byteLength
  return bytes
}

function sentValue(column: Column | undefined, value: Value | undefined): unknown {
  if (value === null || value === undefined) return null
  if (typeof value === 'string') return column?.type === 'json' ? keyBytes(value) : value
  return typeof value === 'number' ? value : Buffer.from(value.buffer, value.byteOffset, value.byteLength)
}

/** A list for each column, as `put`, `find` and `remove` take them. */
function listsOf(columns: readonly Column[], rows: readonly Row[]): unknown[] {
  return columns.flatMap((column, at) => {
    const values = rows.map((row) => sentValue(column, row[at]))
    return [TYPES_OF_NUMBERS.has(column.type) ? listOf(values as number[]) : values]
  })
}

const TYPES_OF_NUMBERS: ReadonlySet<string> = new Set(['number', 'generationId'])

/** As PostgreSQL writes an array. */
function listOf(numbers: readonly (number | null)[]): string {
  return `{${numbers.map((number) => number ?? 'NULL').join(',')}}`
}

function readRow(columns: readonly Column[], row: SqlRow): Row {
  return columns.map(({ type }, at) => {
    const value = row[at] as Value
    if (value === null) return null
    if (type === 'json') return String(value)
    if (type === 'deflated') return Buffer.from(value as string, 'base64')
    // By the clock of the database, which wrote it.
    return type === 'now' ? Date.now() - Number(value) : value
  })
}

function pastFrom(rows: readonly SqlRow[]): PastItem[] {
  return rows.map(([position, before, last]) => ({
    position: Number(position),
    text: String(before),
    ...(last !== undefined && { last: Number(last) }),
  }))
}
