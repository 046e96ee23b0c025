/** The columns of a page: the fields of its items, in the order in which they come first. */

import { fieldsOf } from '../../items/item-fields.ts'
import { type Kind, readValue, type Value } from './value.ts'

export interface Column {
  readonly name: string
  /** What all its values are, nulls aside; `text` where they differ. */
  readonly kind: Kind
  /** One for each item; undefined where it has no such field. */
  readonly values: readonly (Value | undefined)[]
}

/** Where names are data there is no end of them, and a table of all of them would be of no use. */
const MAX_COLUMNS = 250

export interface Columns {
  readonly columns: readonly Column[]
  /** How many did not find room. */
  readonly left: number
}

export function columnsOf(items: readonly string[]): Columns {
  const encoder = new TextEncoder()
  const rows = items.map((item) => fieldsOf(encoder.encode(item)))
  const names = [...new Set(rows.flatMap((row) => [...row.keys()]))]
  const columns = names.slice(0, MAX_COLUMNS).map((name) => {
    const values = rows.map((row) => {
      const json = row.get(name)
      return json === undefined ? undefined : readValue(json)
    })
    return { name, kind: commonKind(values), values }
  })
  return { columns, left: names.length - columns.length }
}

function commonKind(values: readonly (Value | undefined)[]): Kind {
  const kinds = new Set(values.map((value) => value?.kind ?? 'null'))
  kinds.delete('null')
  const [kind = 'null'] = kinds
  return kinds.size > 1 ? 'text' : kind
}
