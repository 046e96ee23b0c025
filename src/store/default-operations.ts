/** The operations of hot paths, built from the basic ones: for an engine that gains nothing from doing more in one statement. */

import { damagedCollection } from './collection-rules.ts'
import { joinItems } from './item-text.ts'
import { stagingOf } from './leases.ts'
import { type HoleCount, REAM_SIZE, tailStart } from './positions.ts'
import type { SealedReam } from './ream.ts'
import type { StoredReam } from './ream-draft.ts'
import {
  type BlockRange,
  type ChangeSize,
  type FoundItem,
  type FoundLease,
  type FoundParts,
  type Generation,
  type History,
  type Lease,
  type Leftover,
  type Numbers,
  type Operations,
  type PastItem,
  query,
  type Range,
  type RememberedRequest,
  type RequestPlace,
  type Rows,
  runSync,
  type Staging,
  type Steps,
  type WantedParts,
} from './rows.ts'
import type { Head } from './store.ts'
import { readHoles, reamFrom, reamRow, tailItemFrom } from './stored-items.ts'
import {
  CHANGE,
  HOLE,
  KEY,
  type LooseTable,
  type Owner,
  type Owners,
  PAST,
  PAST_HOLE,
  type Place,
  REAM,
  type Row,
  type StoredHead,
  TAIL,
  type Table,
} from './tables.ts'

/** For the average size of a ream. */
const REAMS_MEASURED = 20

type Operation<Name extends keyof Operations> = (
  ...parameters: Parameters<Operations[Name]>
) => Steps<Awaited<ReturnType<Operations[Name]>>>

export const DEFAULT_OPERATIONS: { readonly [Name in keyof Operations]: Operation<Name> } = {
  *pastIn(owner, generation, start, end, numbers, wantsLast = false) {
    const items: PastItem[] = []
    for (let next = yield* nextChange(owner, generation, start, end); next !== undefined; ) {
      const { position } = next
      for (const item of yield* pastItem(owner, generation, next, numbers))
        items.push(wantsLast ? { ...item, last: yield* lastChange(owner, generation, position, numbers) } : item)
      next = yield* nextChange(owner, generation, position + 1, end)
    }
    return items
  },

  *pastAt(owner, generation, positions, numbers) {
    const items: PastItem[] = []
    const sorted = positions.toSorted((a, b) => a - b)
    const end = (sorted.at(-1) ?? 0) + 1
    let next: ItemChange | undefined = { position: -1, number: 0 }
    for (const position of sorted) {
      if (next.position < position) next = yield* nextChange(owner, generation, position, end)
      if (next === undefined) break
      if (next.position === position) items.push(...(yield* pastItem(owner, generation, next, numbers)))
    }
    return items
  },

  *lastChangeIn(owner, generation, start, end, numbers) {
    let last = NO_CHANGE
    for (let next = yield* nextChange(owner, generation, start, end); next !== undefined; ) {
      last = Math.max(last, yield* lastChange(owner, generation, next.position, numbers))
      next = yield* nextChange(owner, generation, next.position + 1, end)
    }
    return last === NO_CHANGE ? undefined : last
  },

  *pastHoles(owner, generation, level, blocks, number) {
    const counts: HoleCount[] = []
    for (const block of blocks) {
      const range = { at: [generation, level, block], from: [number], limit: 1 }
      const [found] = yield* query((rows) => rows.scan(PAST_HOLE, owner, range))
      if (found !== undefined) counts.push({ level, block, gone: found.at(-1) as number })
    }
    return counts
  },

  *changes(owner, { from, to }, limit) {
    const before = yield* query((rows) => rows.scan(CHANGE, owner, { to: [from + 1], limit: 1, isReverse: true }))
    const others = yield* query((rows) => rows.scan(CHANGE, owner, { from: [from + 1], to: [to], limit }))
    return [...before, ...others]
  },

  *changeSizes(owner, { from, to }, limit) {
    const sizes: ChangeSize[] = []
    // One by one: only one text at a time is in memory.
    for (let next = from; sizes.length < limit; ) {
      const [row] = yield* query((rows) => rows.scan(CHANGE, owner, { from: [next], to: [to], limit: 1 }))
      if (row === undefined) break
      const [number, , generation, kind, position, , before] = row as [
        ...[number, number, number, number, number, number],
        string | null,
      ]
      sizes.push({ number, generation, kind, position, bytes: before?.length ?? 0 })
      next = number + 1
    }
    return sizes
  },

  *addHoles(place, counts) {
    const found = yield* query((rows) =>
      rows.find(
        HOLE,
        place,
        counts.map(({ level, block }) => [level, block]),
      ),
    )
    const added = counts.map(({ level, block, gone }, at) => [level, block, gone + Number(found[at]?.at(-1) ?? 0)])
    yield* query((rows) => rows.put(HOLE, place, added))
  },
}

/** The number of no change. */
const NO_CHANGE = -1

/** The last change of the item at a position. */
function* lastChange(owner: History, generation: number, position: number, { from, to }: Numbers): Steps<number> {
  const range = { at: [generation, position], from: [from], to: [to], limit: 1, isReverse: true }
  const [found] = yield* query((rows) => rows.scan(PAST, owner, range))
  return found === undefined ? NO_CHANGE : (found[2] as number)
}

/** A change of the item at a position. */
interface ItemChange {
  readonly position: number
  readonly number: number
}

/** The first change ever of the first item that was changed, of those at the positions from `start` on and before `end`. */
function* nextChange(owner: History, generation: number, start: number, end: number): Steps<ItemChange | undefined> {
  const range = { at: [generation], from: [start], to: [end], limit: 1 }
  const [found] = yield* query((rows) => rows.scan(PAST, owner, range))
  return found && { position: found[1] as number, number: found[2] as number }
}

/** The text that the item of a first change had before the first of these changes, if there is one. */
function* pastItem(owner: History, generation: number, first: ItemChange, { from, to }: Numbers): Steps<PastItem[]> {
  const { position } = first
  let number: number | undefined = first.number
  if (number < from) {
    const range = { at: [generation, position], from: [from], to: [to], limit: 1 }
    const [found] = yield* query((rows) => rows.scan(PAST, owner, range))
    number = found?.[2] as number | undefined
  }
  if (number === undefined || number >= to) return []
  const change = yield* query((rows) => rows.get(CHANGE, owner, [number]))
  const text = change?.at(-1)
  if (typeof text === 'string') return [{ position, text }]
  yield* query((rows) => rows.reportDamage(owner.name, `Change ${number} is missing.`))
  return []
}

export type Extent = Pick<Head, 'generation' | 'next' | 'changes'>

/** A history is left over as a generation that no collection has. */
const LEFT_HISTORY = -1

export function leftoverOf(id: number, generationId: number, base: number, keyCursor: string): Leftover {
  const owner = { name: undefined, shardKey: id, generationId, id }
  return { owner, isHistory: generationId === LEFT_HISTORY, base, keyCursor }
}

/** The first text after another one. No key has a NUL in it. */
export function textAfter(text: string): string {
  return `${text}\0`
}

/** A head with its place: the rows of a generation have the id of the collection and the number of the generation. */
export function storedHead(head: Head): StoredHead {
  return { ...head, shardKey: head.id, generationId: head.generation, isGuarded: true }
}

/** Where a load into this generation stages items, in an engine that answers at once: a generation that no head names. */
export function stagingIdOf(generationId: number): number {
  return generationId + 1
}

/** An engine that answers at once. */
export abstract class SyncRows implements Rows {
  abstract scan<O extends Owner>(table: Table<O>, owner: Owners[O], range: Range): readonly Row[]
  abstract put<O extends Owner>(table: Table<O>, owner: Owners[O], rows: readonly Row[]): void
  abstract remove<O extends Owner>(table: Table<O>, owner: Owners[O], keys: readonly Row[]): void
  abstract removeRange<O extends Owner>(table: Table<O>, owner: Owners[O], range: Range): number
  abstract all(table: LooseTable): readonly Row[]
  abstract readHead(name: string, isPublicOnly?: boolean): StoredHead | undefined
  abstract putHead(head: StoredHead, before: StoredHead | undefined): void
  abstract removeHead(head: StoredHead): void
  // Fields, so that an engine may keep these in functions of their own.
  abstract takeLease: (lease: Lease) => boolean
  abstract findLease: (name: string) => FoundLease | undefined
  abstract findLeases: () => readonly FoundLease[]
  abstract holdLease: (lease: Lease) => number | undefined
  abstract renewLease: (lease: Lease, steps: number) => void
  abstract removeLease: (lease: Lease) => boolean
  /** Those of a collection, or of all. */
  abstract findLeftovers: (id?: number) => readonly Leftover[]
  abstract putLeftover: (leftover: Leftover) => void
  abstract removeLeftover: (leftover: Leftover) => void
  /** What the head of the collection with this id shows. */
  abstract findExtent: (id: number) => Extent | undefined
  abstract findRequests: (name: string, places: readonly RequestPlace[]) => readonly RememberedRequest[]
  abstract putRequests: (name: string, requests: readonly RememberedRequest[]) => void

  get<O extends Owner>(table: Table<O>, owner: Owners[O], key: Row, _isProven?: boolean): Row | undefined {
    return this.scan(table, owner, { at: key })[0]
  }

  find<O extends Owner>(
    table: Table<O>,
    owner: Owners[O],
    keys: readonly Row[],
    isProven = false,
  ): readonly (Row | undefined)[] {
    return keys.map((key) => this.get(table, owner, key, isProven))
  }

  reportDamage(collection: string | undefined, message: string): void {
    throw damagedCollection(collection, message)
  }

  storedHead(head: Head): StoredHead {
    return storedHead(head)
  }

  newPlace(_name: string, id: number, head: StoredHead | undefined, isReplacement: boolean): Place & Staging {
    const generationId = (head?.generation ?? 1) + (head !== undefined && isReplacement ? 1 : 0)
    return { shardKey: id, generationId, stagingId: stagingIdOf(generationId) }
  }

  isBlocked({ id, generation }: StoredHead): boolean {
    return this.findLeftovers(id).some(({ isHistory, owner }) => isHistory || owner.generationId >= generation)
  }

  addLeftover({ shardKey, generationId }: Generation, base: number): void {
    const found = this.findLeftovers(shardKey).find(({ owner }) => owner.generationId === generationId)
    this.putLeftover(leftoverOf(shardKey, generationId, Math.min(base, found?.base ?? base), ''))
  }

  addHistoryLeftover({ id, name }: History, base: number): void {
    this.addLeftover({ name, shardKey: id, generationId: LEFT_HISTORY }, base)
  }

  lockLeftover(shardKey: number): Leftover | undefined {
    return this.findLeftovers(shardKey).toSorted((a, b) => a.owner.generationId - b.owner.generationId)[0]
  }

  moveCursor(leftover: Leftover, keyCursor: string): void {
    this.putLeftover({ ...leftover, keyCursor })
  }

  isVisible({ shardKey, generationId }: Generation, base: number): boolean {
    const extent = this.findExtent(shardKey)
    return extent?.generation === generationId && extent.next > base
  }

  findChanges({ id }: History): number | undefined {
    return this.findExtent(id)?.changes
  }

  findLastKey(place: Generation, after: string, limit: number): string | undefined {
    const found = this.scan(KEY, place, { from: [textAfter(after)], limit })
    return found.at(-1)?.[0] as string | undefined
  }

  sweepKeys(place: Generation, after: string, last: string, base: number): void {
    const swept = this.scan(KEY, place, { from: [textAfter(after)], to: [textAfter(last)] })
    const keys = swept.filter(([, position]) => Number(position) >= base).map(([key = '']) => [key])
    this.remove(KEY, place, keys)
  }

  /** Its transaction is the only one that writes. */
  lockHead(name: string): StoredHead | undefined {
    return this.readHead(name)
  }

  holdHead(name: string): StoredHead | undefined {
    return this.readHead(name)
  }

  pastIn: Operations['pastIn'] = (...given) => runSync(DEFAULT_OPERATIONS.pastIn(...given), this)
  pastAt: Operations['pastAt'] = (...given) => runSync(DEFAULT_OPERATIONS.pastAt(...given), this)
  lastChangeIn: Operations['lastChangeIn'] = (...given) => runSync(DEFAULT_OPERATIONS.lastChangeIn(...given), this)
  pastHoles: Operations['pastHoles'] = (...given) => runSync(DEFAULT_OPERATIONS.pastHoles(...given), this)
  changes: Operations['changes'] = (...given) => runSync(DEFAULT_OPERATIONS.changes(...given), this)
  changeSizes: Operations['changeSizes'] = (...given) => runSync(DEFAULT_OPERATIONS.changeSizes(...given), this)
  addHoles: Operations['addHoles'] = (...given) => runSync(DEFAULT_OPERATIONS.addHoles(...given), this)

  readParts(name: string, wanted: WantedParts, isPublicOnly: boolean): FoundParts | undefined {
    const head = this.readHead(name, isPublicOnly)
    return head && this.readPartsOf(head, wanted)
  }

  readPartsOf(head: StoredHead, { reams, hasTail }: WantedParts): FoundParts {
    const found = new Map<number, SealedReam>()
    for (const number of reams) {
      const row = this.get(REAM, head, [number])
      if (row !== undefined) found.set(number, reamFrom(row))
    }
    const items = hasTail ? this.wholeTail(head).map((row) => tailItemFrom(row).item) : undefined
    return { head, reams: found, tail: items && { raw: joinItems(items), count: items.length } }
  }

  readHoleBlocks({ name }: StoredHead, { level, from, to }: BlockRange) {
    const head = this.readHead(name)
    return head && { head, counts: runSync(readHoles(head, level, from, to), this) }
  }

  findItem(name: string, key: string, isPublicOnly: boolean) {
    const head = this.readHead(name, isPublicOnly)
    return head && { head, found: this.findItemOf(head, key) }
  }

  protected findItemOf(head: StoredHead, key: string): FoundItem | undefined {
    const position = this.get(KEY, head, [key], true)?.at(-1)
    // Positions from `next` on belong to a load that is not finished.
    if (typeof position !== 'number' || position >= head.next) return undefined
    if (position >= tailStart(head)) {
      const row = this.get(TAIL, head, [position])
      return { position, item: row && tailItemFrom(row).item, ream: undefined }
    }
    const row = this.get(REAM, head, [Math.floor(position / REAM_SIZE)])
    return { position, item: undefined, ream: row && reamFrom(row) }
  }

  reamsToChange(place: Generation, numbers: readonly number[]): readonly (readonly [number, StoredReam])[] {
    return numbers.map((number) => [number, () => this.#requireReam(place, number)])
  }

  wholeTail(head: StoredHead): readonly Row[] {
    return this.scan(TAIL, head, { from: [tailStart(head)], to: [head.next] })
  }

  addKeys(place: Generation, keys: ReadonlyMap<string, number>): void {
    this.put(KEY, place, [...keys])
  }

  insertKeys(lease: Lease, keys: readonly string[], first: number): void {
    this.addKeys(lease, new Map(keys.map((key, index) => [key, first + index])))
  }

  loadReams(lease: Lease, reams: readonly SealedReam[]): void {
    this.put(REAM, lease, reams.map(reamRow))
  }

  moveStagedReams(lease: Lease): void {
    const staging = stagingOf(lease)
    for (let next = 0; ; ) {
      const [row] = this.scan(REAM, staging, { from: [next], limit: 1 })
      if (row === undefined) return
      next = Number(row[0]) + 1
      this.put(REAM, lease, [row])
    }
  }

  reamBytes(place: Generation): number {
    let [bytes, count] = [0, 0]
    for (const row of this.scan(REAM, place, { limit: REAMS_MEASURED })) {
      bytes += reamFrom(row).data.byteLength
      count++
    }
    return bytes / Math.max(1, count)
  }

  #requireReam(place: Generation, number: number): SealedReam {
    const row = this.get(REAM, place, [number])
    if (row === undefined) throw damagedCollection(place.name, `Ream ${number} is missing.`)
    return reamFrom(row)
  }
}
