/** Tells text that an SQLite file has as it is from text that had to be changed, since it cannot be decoded. */

import type { DatabaseSync } from 'node:sqlite'
import { TableError } from './table.ts'

/**
 * Reads all rows of a SELECT. To be called in a transaction, where one of them was found to have U+FFFD; it may be
 * another row that is at fault, but then nothing is to be imported either.
 */
export function refuseBrokenText(
  database: DatabaseSync,
  select: string,
  columns: readonly string[],
  label: string,
): void {
  const names = columns.map((_, index) => `c${index}`)
  const bytes = names.map((name) => `CASE typeof(${name}) WHEN 'text' THEN CAST(${name} AS BLOB) END`)
  // By a name that no query uses for a table of its own.
  const statement = database.prepare(
    `WITH "rows of Reams"(${names}) AS (${select}) SELECT ${bytes} FROM "rows of Reams"`,
  )
  statement.setReturnArrays(true)
  const decoder = new TextDecoder(String(database.prepare('PRAGMA encoding').get()?.['encoding']), { fatal: true })
  let row = 0
  for (const values of statement.iterate() as Iterable<unknown> as Iterable<(Uint8Array | null)[]>) {
    row++
    const column = columns[values.findIndex((value) => value !== null && !isDecodable(decoder, value))]
    if (column !== undefined)
      throw new TableError(
        'data',
        `${label}, row ${row}: the text in ${JSON.stringify(column)} is not valid ${decoder.encoding.toUpperCase()}. Correct it in the database, or read it as bytes with --query: CAST(… AS BLOB).`,
      )
  }
}

function isDecodable(decoder: TextDecoder, bytes: Uint8Array): boolean {
  try {
    decoder.decode(bytes)
    return true
  } catch {
    return false
  }
}
