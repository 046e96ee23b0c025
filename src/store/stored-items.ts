/** Reams, tail items and hole counts in their rows. */

import { splitItems } from './item-text.ts'
import type { GoneMap, HoleCount } from './positions.ts'
import type { SealedReam, TailItem } from './ream.ts'
import { query, type Steps } from './rows.ts'
import { HOLE, type Owners, REAM, type Row, TAIL } from './tables.ts'

type PlaceOf = Owners['generation']

export function reamFrom(row: Row): SealedReam {
  const [number, count, rawLength, crc, gone, quires, data] = row as [
    ...[number, number, number, number],
    GoneMap,
    ...[Uint8Array, Uint8Array],
  ]
  return { number, count, rawLength, crc, gone, quires, data }
}

export function reamRow({ number, count, rawLength, crc, gone, quires, data }: SealedReam): Row {
  return [number, count, rawLength, crc, gone, quires, data]
}

/** The reams with these numbers that are there. */
export function* findReams(place: PlaceOf, numbers: readonly number[]): Steps<SealedReam[]> {
  const keys = numbers.map((number) => [number])
  const found = yield* query((rows) => rows.find(REAM, place, keys))
  return found.flatMap((row) => (row === undefined ? [] : [reamFrom(row)]))
}

export function* putReams(place: PlaceOf, reams: readonly SealedReam[]): Steps<void> {
  const stored = reams.map(reamRow)
  yield* query((rows) => rows.put(REAM, place, stored))
}

export function tailItemFrom(row: Row): TailItem {
  const [position, item] = row as [number, string]
  return { position, item }
}

/** Items at positions from `from` on and before `to`, the first ones if there is a limit. */
export function* readTail(place: PlaceOf, from: number, to: number, limit?: number): Steps<TailItem[]> {
  const range = { from: [from], to: [to], ...(limit !== undefined && { limit }) }
  const found = yield* query((rows) => rows.scan(TAIL, place, range))
  return found.map(tailItemFrom)
}

export function* putTail(place: PlaceOf, items: readonly TailItem[]): Steps<void> {
  const stored = items.map(({ position, item }) => [position, item])
  yield* query((rows) => rows.put(TAIL, place, stored))
}

/** Items in a row, the first one at position `from`. */
export function tailItems(from: number, raw: Uint8Array): TailItem[] {
  return splitItems(raw).map((item, index) => ({ position: from + index, item }))
}

/** The blocks `from` to `to` of a level in which something is deleted, in order. */
export function* readHoles(place: PlaceOf, level: number, from: number, to: number): Steps<HoleCount[]> {
  const found = yield* query((rows) => rows.scan(HOLE, place, { at: [level], from: [from], to: [to + 1] }))
  return found.map(holeFrom)
}

export function holeFrom(row: Row): HoleCount {
  const [level, block, gone] = row as [number, number, number]
  return { level, block, gone }
}
