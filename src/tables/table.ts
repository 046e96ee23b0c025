/** A table or a query of another database, whose rows become items. */

import type { OwnedBytes } from '../items/owned-bytes.ts'

/** Either a table or a query; neither where all tables are listed. */
export interface RowsChoice {
  /** As its database spells it, with or without a schema. */
  readonly table?: string | undefined
  readonly query?: string | undefined
  /** What follows ORDER BY. Default: the primary key of a table; a query as it is. */
  readonly order?: string | undefined
}

/** What messages call it, behind which the database follows. */
export function nameOf({ table, query }: RowsChoice): string {
  return table ?? (query === undefined ? 'the tables' : 'the query')
}

export interface Table extends AsyncDisposable {
  readonly columns: readonly string[]
  /** The columns of the primary key, in its order; none for a query. One that `SELECT *` leaves out may be among them. */
  readonly primaryKey: readonly string[]
  /** How many rows the database expects; undefined where it does not say. */
  readonly estimatedRows: number | undefined
  /** All rows as they are at one moment: a JSON object on each line. To be read once. */
  rows(): AsyncIterable<OwnedBytes>
}

/** `usage`: what was asked for cannot be. `data`: a row is at fault. `surroundings`: it may work another time. */
export type TableErrorKind = 'usage' | 'data' | 'surroundings'

/** Why rows cannot be read, in a message for people that says what to do, never with a password. */
export class TableError extends Error {
  override readonly name = 'TableError'
  readonly kind: TableErrorKind

  constructor(kind: TableErrorKind, message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }
}

/** For a query that is not understood. What stands behind a semicolon may be the reason. */
export function semicolonAdvice({ query }: RowsChoice): string {
  return query?.includes(';') ? ' Nothing can follow its semicolon, not even a comment.' : ''
}

/** More names than this would hide the message. */
const NAMES_SHOWN = 20

/** `There are a, b and c.`; '' where there are none. */
export function thereAre(names: readonly string[], nothing = ''): string {
  if (names.length === 0) return nothing
  const shown = names.slice(0, NAMES_SHOWN).join(', ')
  const rest = names.length > NAMES_SHOWN ? ` and ${names.length - NAMES_SHOWN} more` : ''
  return `There ${names.length === 1 ? 'is' : 'are'} ${shown}${rest}.`
}

/** Two columns of one name would be two fields of one name. */
export function checkColumns(columns: readonly string[], label: string): void {
  const doubled = columns.find((name, index) => columns.indexOf(name) !== index)
  if (doubled !== undefined)
    throw new TableError(
      'usage',
      `${label} has two columns named ${JSON.stringify(doubled)}: give each a name of its own with AS.`,
    )
}
