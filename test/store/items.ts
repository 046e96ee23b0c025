/** Items for the tests of stores, and the errors that they expect. */

import { itemRun } from '../../src/items/item-run.ts'

export const item = (id: number, more = ''): string => `{"id":${id}${more}}`

export const itemsFrom = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => item(from + index))

/** For a collection with the key `id`. */
export const keyed = (texts: readonly string[]) => itemRun(texts, { keyField: 'id' })

export const isError = (code: string) => (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === code
