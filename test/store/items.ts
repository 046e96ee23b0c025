/** Items for the tests of stores, and the errors that they expect. */

import assert from 'node:assert/strict'
import { itemRun } from '../../src/items/item-run.ts'

export const item = (id: number, more = ''): string => `{"id":${id}${more}}`

/** Another text under the same key. */
export const changed = (id: number, n: number): string => item(id, `,"n":${n}`)

export const itemsFrom = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => item(from + index))

/** For a collection with the key `id`. */
export const keyed = (texts: readonly string[]) => itemRun(texts, { keyField: 'id' })

export const keysFrom = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => String(from + index))

export const isError =
  (code: string, words = /./) =>
  (error: unknown): boolean =>
    error instanceof Error && 'code' in error && error.code === code && words.test(error.message)

/** What became of each of several calls: `done`, or the code of its error. */
export const outcomesOf = async (calls: readonly Promise<unknown>[]): Promise<string[]> =>
  (await Promise.allSettled(calls)).map((each) => (each.status === 'fulfilled' ? 'done' : String(each.reason.code)))

/** All of the calls are refused with this code. */
export const allRefused = async (code: string, calls: readonly Promise<unknown>[]): Promise<void> =>
  assert.deepEqual(
    await outcomesOf(calls),
    calls.map(() => code),
  )
