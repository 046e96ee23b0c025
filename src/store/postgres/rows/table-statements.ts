/** Statements made from the tables as they are declared. Each names the shard key, so on Citus it is one task on one shard. */

import type { Range } from '../../rows.ts'
import type { Column, ColumnType, Table } from '../../tables.ts'

/** The time of the transaction, in milliseconds since 1970. */
export const NOW_MS = '(extract(epoch FROM now()) * 1000)::bigint'

const TYPES: { readonly [type in ColumnType]: string } = {
  number: 'bigint',
  text: 'text',
  json: 'bytea',
  bytes: 'bytea',
  deflated: 'bytea',
  now: 'bigint',
  generationId: 'bigint',
}

/** Columns of other types in schema.sql. Citus takes no cast of a list in VALUES. */
const NARROW: Readonly<Record<string, string>> = {
  'ream.count': 'integer',
  'hole.level': 'smallint',
  'hole.gone': 'integer',
  'change.kind': 'smallint',
  'past_hole.level': 'smallint',
  'past_hole.gone': 'integer',
}

const OWNER_COLUMNS = {
  generation: ['shard_key', 'generation_id'],
  collection: ['shard_key', 'collection_id'],
  shard: ['shard_key'],
  store: [],
} as const

/**
 * Rows of a table for each element of a list. It must not be `= ANY`, nor a join: the planner multiplies the selectivity of shard
 * key and generation, expects one row of the two, and reads all of a large collection to find a few. OFFSET 0 keeps the subquery
 * from becoming a join.
 */
export const lookUp = (columns: string, table: string, conditions: string): string =>
  `LATERAL (SELECT ${columns} FROM @${table} WHERE ${conditions} OFFSET 0)`

/**
 * Deletes the rows whose `ctid` a query finds, so that the planner can only use a TID scan. Citus has to see the shard key again, to
 * know the shard. Only for rows that nobody else can change meanwhile: a row that moved would be missed.
 */
export const deleteFound = (table: string, query: string): string =>
  `DELETE FROM @${table} WHERE @citus(shard_key = $1::bigint AND) ctid = ANY (ARRAY (${query}))`

/** How a statement of a table is called, and its text. */
export interface TableStatement {
  readonly name: string
  readonly sql: string
}

/** The statements of a table, each made once. */
export class TableStatements {
  readonly #table: Table
  readonly #owner: readonly string[]
  /** The number of the first parameter behind the owner. */
  readonly #first: number
  readonly #made = new Map<string, TableStatement>()

  constructor(table: Table) {
    this.#table = table
    this.#owner = OWNER_COLUMNS[table.owner]
    this.#first = this.#owner.length + 1
  }

  /** All that were needed so far. */
  get made(): readonly TableStatement[] {
    return [...this.#made.values()]
  }

  static of(this: void, table: Table): TableStatements {
    let statements = known.get(table)
    if (statements === undefined) {
      statements = new TableStatements(table)
      known.set(table, statements)
    }
    return statements
  }

  /** The owner comes first, then the key. */
  get get(): TableStatement {
    const { name, key } = this.#table
    const whole = key.map((column, at) => `t.${column.name} = ${parameter(at + this.#first, column)}`)
    return this.#make(
      'get',
      () => `SELECT ${selected(this.#values)} FROM @${name} t WHERE ${this.#owned('t')} AND ${whole.join(' AND ')}`,
    )
  }

  /** Takes a list for each column of the key. Each row begins with the number of its key, from 1. */
  get find(): TableStatement {
    const { name, key } = this.#table
    return this.#make(
      'find',
      () => `
      SELECT u.number, r.* FROM unnest(${lists(key, this.#first)}) WITH ORDINALITY u (${names(key, 'k_')}, number)
      CROSS JOIN ${lookUp(selected(this.#values), `${name} t`, `${this.#owned('t')} AND ${matches(key)}`)} r`,
    )
  }

  get all(): TableStatement {
    const { name, columns } = this.#table
    return this.#make('all', () => `SELECT ${selected(columns)} FROM @${name} t`)
  }

  /** How many rows each owner has: a shard key, the other column, and the count. */
  get owners(): TableStatement {
    const owner = this.#owner.join(', ')
    return this.#make('owners', () => `SELECT ${owner}, count(*) FROM @${this.#table.name} GROUP BY ${owner}`)
  }

  scan(range: Range): TableStatement {
    const { name, columns, key } = this.#table
    const order = key.map((column) => `t.${column.name}${range.isReverse ? ' DESC' : ''}`)
    return this.#make(`scan ${shapeOf(range)}`, () => {
      const conditions = this.#conditions(range)
      return `SELECT ${selected(columns)} FROM @${name} t WHERE ${conditions} ORDER BY ${order.join(', ')}${limitOf(range)}`
    })
  }

  /** Takes a list for each column. */
  get put(): TableStatement {
    let next = this.#first
    return this.#make('put', () =>
      this.#insert(({ name, type }) => {
        return type === 'now' ? NOW_MS : `unnest($${next++}::${this.#typeOf(name, type)}[])`
      }),
    )
  }

  /** Takes a value for each column. */
  get putOne(): TableStatement {
    let next = this.#first
    return this.#make('putOne', () =>
      this.#insert((column) => (column.type === 'now' ? NOW_MS : parameter(next++, column))),
    )
  }

  get remove(): TableStatement {
    const { name, key } = this.#table
    return this.#make('remove', () =>
      deleteFound(
        name,
        `SELECT r.place FROM unnest(${lists(key, this.#first)}) u (${names(key, 'k_')})
        CROSS JOIN ${lookUp('t.ctid AS place', `${name} t`, `${this.#owned('t')} AND ${matches(key)}`)} r`,
      ),
    )
  }

  removeRange(range: Range): TableStatement {
    const { name, key } = this.#table
    const isLimited = range.limit !== undefined
    return this.#make(`removeRange ${shapeOf(range)}`, () => {
      const conditions = this.#conditions(range)
      if (!isLimited) return `DELETE FROM @${name} t WHERE ${conditions}`
      const order = key.map((column) => `t.${column.name}`).join(', ')
      return deleteFound(name, `SELECT t.ctid FROM @${name} t WHERE ${conditions} ORDER BY ${order}${limitOf(range)}`)
    })
  }

  get #values(): readonly Column[] {
    return this.#table.columns.slice(this.#table.key.length)
  }

  #typeOf(column: string, type: ColumnType): string {
    return NARROW[`${this.#table.name}.${column}`] ?? TYPES[type]
  }

  #owned(alias: string): string {
    return this.#owner.map((column, at) => `${alias}.${column} = $${at + 1}::bigint`).join(' AND ') || 'true'
  }

  #insert(valueIn: (column: Column) => string): string {
    const { name, columns, key } = this.#table
    const owners = this.#owner.map((_, at) => `$${at + 1}::bigint`)
    const changed = columns.slice(key.length).map((column) => `${column.name} = excluded.${column.name}`)
    const onConflict = changed.length === 0 ? 'NOTHING' : `UPDATE SET ${changed.join(', ')}`
    const unique = [...this.#owner, names(key)].join(', ')
    return `INSERT INTO @${name} (${[...this.#owner, names(columns)].join(', ')})
      VALUES (${[...owners, ...columns.map(valueIn)].join(', ')}) ON CONFLICT (${unique}) DO ${onConflict}`
  }

  #conditions({ at = [], from = [], to = [] }: Range): string {
    const { key } = this.#table
    let next = this.#first
    const conditions = [this.#owned('t')]
    for (const column of key.slice(0, at.length)) conditions.push(`t.${column.name} = ${parameter(next++, column)}`)
    for (const [values, sign] of [
      [from, '>='],
      [to, '<'],
    ] as const) {
      const columns = key.slice(at.length, at.length + values.length)
      if (columns.length === 0) continue
      const places = columns.map((column) => parameter(next++, column)).join(', ')
      conditions.push(`(${names(columns, 't.')}) ${sign} (${places})`)
    }
    return conditions.join(' AND ')
  }

  #make(shape: string, make: () => string): TableStatement {
    let statement = this.#made.get(shape)
    if (statement === undefined) {
      statement = { name: `${this.#table.name} ${shape}`, sql: make() }
      this.#made.set(shape, statement)
    }
    return statement
  }
}

const known = new Map<Table, TableStatements>()

function shapeOf(range: Range): string {
  const { at = [], from = [], to = [], isReverse = false } = range
  return `${at.length} ${from.length} ${to.length}${isReverse ? ' reverse' : ''}${limitOf(range)}`
}

/** No parameter: PostgreSQL would plan each time, because a plan for any limit looks more expensive. There are few limits. */
function limitOf({ limit }: Range): string {
  return limit === undefined ? '' : ` LIMIT ${limit}`
}

/** Base64 is read in half the time of the usual hexadecimal. A time is read as an age: our clock may be another. */
function selected(columns: readonly Column[]): string {
  const one = ({ name, type }: Column): string => {
    if (type === 'deflated') return `encode(t.${name}, 'base64') AS ${name}`
    return type === 'now' ? `${NOW_MS} - t.${name} AS ${name}` : `t.${name}`
  }
  // Without values it is enough to know that the row exists.
  return columns.map(one).join(', ') || '1'
}

function parameter(number: number, { type }: Column): string {
  return `$${number}::${TYPES[type]}`
}

function lists(columns: readonly Column[], first: number): string {
  return columns.map(({ type }, at) => `$${first + at}::${TYPES[type]}[]`).join(', ')
}

function names(columns: readonly Column[], prefix = ''): string {
  return columns.map(({ name }) => `${prefix}${name}`).join(', ')
}

function matches(key: readonly Column[]): string {
  return key.map(({ name }) => `t.${name} = u.k_${name}`).join(' AND ')
}
