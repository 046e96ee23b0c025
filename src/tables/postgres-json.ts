/** The SQL that makes JSON of a row of PostgreSQL. It writes all of it itself, but for money, whose text depends on lc_monetary. */

import { quoted } from './quoted.ts'

export interface JsonColumn {
  readonly name: string
  /** Whether it is of this type, or of a domain over it. */
  readonly money?: 'money' | 'money[]' | undefined
}

/** A column as the protocol describes it, where a domain has the type below it. */
export function jsonColumn({ name, dataTypeID }: { readonly name: string; readonly dataTypeID: number }): JsonColumn {
  return { name, money: MONEY_TYPES[dataTypeID] }
}

export const MONEY_TYPES: Readonly<Record<number, JsonColumn['money']>> = { 790: 'money', 791: 'money[]' }

/** Digits after the point of an amount, which the database keeps as a whole number. Asked in the session's own lc_monetary. */
export const MONEY_DIGITS = "SELECT pg_catalog.scale('0'::pg_catalog.money::pg_catalog.numeric)"

/** In a session with lc_monetary = C, an amount has so many digits after the point. */
const DIGITS_IN_C = 2

/** A row as JSON; money is a string such as `-1234.50`. `row` is its alias, `digits` the result of MONEY_DIGITS. */
export function rowAsJson(row: string, columns: readonly JsonColumn[], digits: number): string {
  if (columns.every(({ money }) => money === undefined)) return `pg_catalog.row_to_json(${row}.*)`
  const values = columns.map((column) => {
    const name = quoted(column.name)
    return `${jsonValue(`${row}.${name}`, column, digits)} AS ${name}`
  })
  return `(SELECT pg_catalog.row_to_json(r.*) FROM (SELECT ${values.join(', ')}) AS r)`
}

/** The SQL expression for the JSON value of a column. */
export function jsonValue(value: string, { money }: JsonColumn, digits: number): string {
  if (money === undefined) return value
  if (money === 'money') return plainText(value, digits)
  if (digits === DIGITS_IN_C) return `${value}::pg_catalog.numeric[]::pg_catalog.text[]`
  return `CASE WHEN ${value} IS NOT NULL THEN ARRAY(SELECT ${plainText('v', digits)} FROM pg_catalog.unnest(${value}) AS v) END`
}

function plainText(money: string, digits: number): string {
  const number = `${money}::pg_catalog.numeric`
  const scaled = `pg_catalog.round(${number} OPERATOR(pg_catalog.*) 1e${DIGITS_IN_C - digits}, ${digits})`
  return `(${digits === DIGITS_IN_C ? number : scaled})::pg_catalog.text`
}
