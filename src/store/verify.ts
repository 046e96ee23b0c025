/** Checks every invariant of the storage format. */

import { crc32 } from 'node:zlib'
import { isCollectionName } from '../contract/name.ts'
import { lastPage, PAGE_SIZE, UNPAGINATED_LIMIT } from '../contract/page.ts'
import { keepsHistory } from '../contract/state-tag.ts'
import { keyReader } from '../items/item-scanner.ts'
import { textAfter } from './default-operations.ts'
import { bytesOf, ROW_BYTES, type State, type Stretch } from './history.ts'
import { joinItems, joinPieces, splitItems } from './item-text.ts'
import { stagingOf } from './leases.ts'
import {
  countGone,
  type HoleCount,
  holeCounts,
  liveSlots,
  QUIRE_SIZE,
  REAM_SIZE,
  reamsIn,
  tailStart,
} from './positions.ts'
import { ReadCache } from './read-cache.ts'
import { readPageOf } from './read-page.ts'
import { type Deflated, inflate, isSpliceable, joinQuires, type Quire, quiresOf, type SealedReam } from './ream.ts'
import { type Answer, type FoundLease, type Generation, type Leftover, type Rows, runAsync } from './rows.ts'
import type { Finding, Head, VerifyResult } from './store.ts'
import { StoreError } from './store-error.ts'
import { allReplaced, changeFrom, stateFrom } from './stored-history.ts'
import { holeFrom, reamFrom, tailItemFrom } from './stored-items.ts'
import {
  CHANGE,
  FOLLOWING,
  HOLE,
  KEY,
  type Owners,
  PAST,
  PAST_HOLE,
  REAM,
  type Row,
  STATE,
  type StoredHead,
  TABLES,
  TAIL,
  type Table,
  TOKEN,
} from './tables.ts'

type Some<T> = Iterable<T> | AsyncIterable<T>

/** How many rows of a table belong to a generation, or to a collection with this id. */
export interface OwnedRows {
  readonly shardKey: number
  readonly id: number
  readonly count: number
}

/** Keys that point to positions before the head, and others. */
export interface KeyCount {
  readonly visible: number
  readonly unseen: number
}

/** What only the engine knows, all of it from the snapshot of `rows`. */
export interface VerifiedStore {
  readonly rows: Rows
  heads(): Answer<readonly StoredHead[]>
  owners(table: Table): Answer<readonly OwnedRows[]>
  /** Where the engine counts faster than it reads. */
  countKeys?(head: StoredHead): Promise<KeyCount>
  /** What the engine's own check reports. */
  ownFindings(): Some<string>
  /** What is good to know, and no damage. */
  notes(): Answer<readonly string[]>
  /** An error of the engine as a StoreError. */
  explain(error: unknown): unknown
}

export async function verifyRows(
  store: VerifiedStore,
  findings: Findings,
  onProgress: (items: number, total: number) => void = () => {},
): Promise<VerifyResult> {
  let heads: readonly StoredHead[] = []
  let unseen = new Unseen([], [])
  let items = 0
  /** What cannot be read is a finding too, and the rest is looked at all the same. */
  async function attempt(collection: string, check: () => Promise<void>): Promise<void> {
    try {
      await check()
    } catch (error) {
      const explained = store.explain(error)
      if (!(explained instanceof StoreError && explained.code === 'corrupt')) throw error
      findings.add(collection, explained.message)
    }
  }
  const report = async (messages: Some<string>): Promise<void> => {
    for await (const message of messages) findings.add('', message)
  }

  await attempt('', () => report(store.ownFindings()))
  await attempt('', async () => {
    unseen = new Unseen(await store.rows.findLeases(), await store.rows.findLeftovers())
  })
  await attempt('', async () => {
    heads = await store.heads()
    await report(unseen.findings(heads))
    await report(strayRows(store, heads, unseen))
  })
  const total = heads.reduce((sum, head) => sum + head.live, 0)
  for (const head of heads) {
    const onItems = (count: number): void => {
      items += count
      onProgress(items, total)
    }
    await attempt(head.name, () => new CollectionCheck({ store, findings, unseen, onItems }, head).run())
  }
  return { collections: heads.length, items, findings: findings.all, notes: await store.notes() }
}

type Place = Pick<OwnedRows, 'shardKey' | 'id'>

function textOfPlace({ shardKey, id }: Place): string {
  return `${shardKey} ${id}`
}

function generationPlace({ shardKey, generationId }: Generation): Place {
  return { shardKey, id: generationId }
}

/** What loads write that have not ended, or left behind: rows that no reader may see. */
class Unseen {
  readonly #leased: ReadonlySet<string>
  /** By generation, the first position of such rows. */
  readonly #bases = new Map<string, number>()
  readonly histories: ReadonlySet<string>

  constructor(leases: readonly FoundLease[], leftovers: readonly Leftover[]) {
    this.#leased = new Set(leases.map(({ name }) => name))
    for (const lease of leases) {
      this.#add(lease, lease.base)
      this.#add(stagingOf(lease), 0)
    }
    for (const { owner, base, isHistory } of leftovers) if (!isHistory) this.#add(owner, base)
    this.histories = new Set(leftovers.filter(({ isHistory }) => isHistory).map(({ owner }) => textOfPlace(owner)))
  }

  #add(generation: Generation, base: number): void {
    const place = textOfPlace(generationPlace(generation))
    this.#bases.set(place, Math.min(base, this.#bases.get(place) ?? base))
  }

  get generations(): Iterable<string> {
    return this.#bases.keys()
  }

  /** Only then rows may be beyond the head. */
  has(head: StoredHead): boolean {
    return this.#bases.has(textOfPlace(generationPlace(head)))
  }

  *findings(heads: readonly StoredHead[]): Generator<string> {
    for (const head of heads) {
      const base = this.#bases.get(textOfPlace(generationPlace(head)))
      if (base !== undefined && base < head.next)
        yield `Items of the collection "${head.name}" that readers see are marked as leftovers, or as part of a load.`
      if (!head.isGuarded && (base !== undefined || this.#leased.has(head.name)))
        yield `The head of the collection "${head.name}" does not say that a load is running or has left something behind.`
    }
  }
}

/** Rows that belong to nothing. */
async function* strayRows(store: VerifiedStore, heads: readonly StoredHead[], unseen: Unseen): AsyncGenerator<string> {
  const names = new Set(heads.map(({ name }) => name))
  for (const [name] of await store.rows.all(FOLLOWING))
    if (!names.has(String(name))) yield `There is no collection "${name}", and yet it is noted to follow something.`
  await store.rows.all(TOKEN)
  const known = {
    generation: new Set(unseen.generations),
    collection: new Set(unseen.histories),
  }
  for (const head of heads) {
    known.collection.add(textOfPlace(head))
    for (const generation of [head, ...(await runAsync(allReplaced(head, head.generation), store.rows))])
      known.generation.add(textOfPlace(generationPlace(generation)))
  }
  for (const table of TABLES)
    for (const { shardKey, id, count } of await store.owners(table))
      if (!known[table.owner].has(textOfPlace({ shardKey, id })))
        yield `${count} rows of "${table.name}" belong to no collection (shard key ${shardKey}, ${table.owner} ${id}).`
}

/** More findings than this of one collection help nobody. */
const MAX_MESSAGES = 100

/** What is wrong, each thing once. Without a collection: what belongs to none. */
export class Findings {
  readonly #messages = new Map<string, Set<string>>()

  add(collection: string, message: string): void {
    const messages = this.#messages.get(collection) ?? new Set()
    this.#messages.set(collection, messages.add(messages.size < MAX_MESSAGES ? message : '… and more'))
  }

  has(collection: string): boolean {
    return this.#messages.has(collection)
  }

  get all(): Finding[] {
    return [...this.#messages].flatMap(([collection, messages]) =>
      [...messages].map((message) => ({ collection, message })),
    )
  }
}

const PAGES_A_TURN = 8

/** In memory at a time. */
const ROWS_AT_A_TIME = 1_000
const REAMS_AT_A_TIME = 4

/** Lets signals in, and the progress be drawn: reading a file never waits for anything. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

interface Checking {
  readonly store: VerifiedStore
  readonly findings: Findings
  readonly unseen: Unseen
  readonly onItems: (count: number) => void
}

class CollectionCheck {
  readonly #checking: Checking
  readonly #rows: Rows
  readonly #head: StoredHead
  readonly #isReplaced: boolean
  readonly #cache = new ReadCache()
  readonly #goneByReam = new Map<number, number>()
  readonly #pages = new PageDigests()
  readonly #readKey: (item: Uint8Array) => string
  #items = 0

  /** `isReplaced`: whether the head is that of an earlier generation. */
  constructor(checking: Checking, head: StoredHead, isReplaced = false) {
    this.#checking = checking
    this.#rows = checking.store.rows
    this.#head = head
    this.#isReplaced = isReplaced
    this.#readKey = keyReader(head.keyField ?? '')
  }

  async run(): Promise<void> {
    await this.#checkGeneration()
    await this.#checkHistory(await this.#checkReplaced())
    if (!this.#checking.findings.has(this.#head.name)) await this.#checkPages()
  }

  async #checkGeneration(): Promise<void> {
    await this.#checkReams()
    await this.#checkTail()
    await this.#checkHoles()
    await this.#checkCounts()
  }

  /** Looks into the generations that were replaced, and answers which there are. */
  async #checkReplaced(): Promise<Set<number>> {
    const found = new Set<number>()
    for (const head of await runAsync(allReplaced(this.#head, this.#head.generation), this.#rows)) {
      found.add(head.generation)
      await new CollectionCheck({ ...this.#checking, onItems: () => {} }, head, true).#checkGeneration()
    }
    return found
  }

  #report(message: string): void {
    const where = !this.#isReplaced ? '' : `In generation ${this.#head.generation}, which was replaced: `
    this.#checking.findings.add(this.#head.name, `${where}${message}`)
  }

  async #checkReams(): Promise<void> {
    let expected = 0
    const reams = reamsIn(this.#head)
    for await (const row of this.#scan(REAM, REAMS_AT_A_TIME)) {
      const ream = reamFrom(row)
      if (ream.number >= reams) {
        this.#checkUnseen(`Ream ${ream.number} is beyond the head, which ends at ream ${reams - 1}.`)
        continue
      }
      for (; expected < ream.number; expected++) this.#report(`Ream ${expected} is missing.`)
      expected = ream.number + 1
      await this.#checkReam(ream)
    }
    for (; expected < reams; expected++) this.#report(`Ream ${expected} is missing.`)
  }

  async #checkReam(ream: SealedReam): Promise<void> {
    const start = ream.number * REAM_SIZE
    const slots = Math.min(REAM_SIZE, tailStart(this.#head) - start)
    const gone = countGone(ream.gone)
    if (gone > 0) this.#goneByReam.set(ream.number, gone)
    if (ream.count + gone !== slots)
      this.#report(`Ream ${ream.number} has a count of ${ream.count}, but its bitmap has ${gone} of ${slots} gone.`)
    const quires = this.#quiresOf(ream)
    if (quires === undefined) return
    const texts: string[] = []
    let end = 0
    for (const [number, quire] of quires.entries()) {
      const found = this.#inflate(`Quire ${number} of ream ${ream.number}`, quire)
      if (found === undefined) return
      if (quire.slots < 1 || quire.slots > QUIRE_SIZE)
        this.#report(
          `Quire ${number} of ream ${ream.number} has ${quire.slots} slots: there can be 1 to ${QUIRE_SIZE}.`,
        )
      const live = liveSlots(ream.gone, end, end + quire.slots)
      end += quire.slots
      if (found.length !== quire.count || live.length !== quire.count)
        this.#report(
          `Quire ${number} of ream ${ream.number} has a count of ${quire.count}, but contains ${found.length} items, and its bitmap ${live.length}.`,
        )
      texts.push(...found)
    }
    if (end !== slots) this.#report(`The quires of ream ${ream.number} have ${end} slots instead of ${slots}.`)
    const positions = liveSlots(ream.gone, 0, slots).map((slot) => start + slot)
    await this.#checkItems(texts, positions)
  }

  #quiresOf(ream: SealedReam): Quire[] | undefined {
    try {
      const quires = quiresOf(ream)
      const { rawLength, crc, data } = joinQuires(quires)
      if (rawLength === ream.rawLength && crc === ream.crc && Buffer.compare(data, ream.data) === 0) return quires
    } catch {
      // As below.
    }
    this.#report(`The quires of ream ${ream.number} do not make up its count, its length, its CRC-32 and its bytes.`)
    return undefined
  }

  /** The texts of the items. What cannot be inflated, or not be sent as gzip, is reported. */
  #inflate(title: string, items: Deflated): string[] | undefined {
    if (items.count > 0 && !isSpliceable(items))
      this.#report(`${title} does not end with a flush, so it cannot be sent as gzip.`)
    try {
      return splitItems(inflate(items))
    } catch {
      this.#report(`${title} does not inflate to its length of ${items.rawLength} bytes and its CRC-32.`)
      return undefined
    }
  }

  async #checkTail(): Promise<void> {
    const start = tailStart(this.#head)
    const texts: string[] = []
    const positions: number[] = []
    for await (const row of this.#scan(TAIL)) {
      const { position, item } = tailItemFrom(row)
      if (position < start) this.#report(`Position ${position} is in the tail, though its quire is closed.`)
      else if (position >= this.#head.next)
        this.#checkUnseen(`Position ${position} in the tail is beyond the head, which ends at ${this.#head.next}.`)
      else {
        texts.push(item)
        positions.push(position)
      }
    }
    const gone = this.#head.next - start - texts.length
    const ream = Math.floor(start / REAM_SIZE)
    if (gone > 0) this.#goneByReam.set(ream, gone + (this.#goneByReam.get(ream) ?? 0))
    await this.#checkItems(texts, positions)
  }

  #checkUnseen(message: string): void {
    if (!this.#checking.unseen.has(this.#head)) this.#report(message)
  }

  async #checkItems(texts: readonly string[], positions: readonly number[]): Promise<void> {
    const { keyField } = this.#head
    const keys: string[] = []
    for (const [index, text] of texts.entries()) {
      const flaw = flawOf(text)
      if (flaw !== undefined) this.#report(`The item at position ${positions[index]} ${flaw}: ${text.slice(0, 100)}`)
      else if (keyField !== null) keys.push(this.#keyOf(text, positions[index]))
    }
    if (keyField !== null && keys.length === texts.length) await this.#checkKeys(keys, positions)
    this.#items += texts.length
    this.#pages.add(texts)
    this.#checking.onItems(texts.length)
    await nextTurn()
  }

  #keyOf(text: string, position: number | undefined): string {
    try {
      return this.#readKey(Buffer.from(text))
    } catch (error) {
      this.#report(`The item at position ${position} has no key "${this.#head.keyField}": ${String(error)}`)
      return ''
    }
  }

  async #checkKeys(keys: readonly string[], positions: readonly number[]): Promise<void> {
    const wanted = keys.map((key) => [key])
    const found = await this.#rows.find(KEY, this.#head, wanted, true)
    for (const [index, key] of keys.entries()) {
      const position = found[index]?.at(-1)
      if (position === positions[index]) continue
      const told = position === undefined ? 'is missing' : `points to position ${position}`
      this.#report(`The key ${JSON.stringify(key)} of the item at position ${positions[index]} ${told}.`)
    }
  }

  /** Every hole count = the sum below it = the bits set. */
  async #checkHoles(): Promise<void> {
    const placeOf = ({ level, block }: HoleCount) => `level ${level}, block ${block}`
    const expected = new Map(holeCounts(this.#goneByReam).map((count) => [placeOf(count), count.gone]))
    for await (const row of this.#scan(HOLE)) {
      const count = holeFrom(row)
      const place = placeOf(count)
      const gone = expected.get(place) ?? 0
      if (count.gone !== gone) this.#report(`The hole count of ${place} is ${count.gone}; ${gone} are gone there.`)
      expected.delete(place)
    }
    for (const [place, gone] of expected) this.#report(`The hole count of ${place} is missing; ${gone} are gone there.`)
  }

  /** live = next − gone = items counted in reams and tail = keys. */
  async #checkCounts(): Promise<void> {
    const { live, next, keyField, isPaginated } = this.#head
    const gone = [...this.#goneByReam.values()].reduce((sum, count) => sum + count, 0)
    if (live !== next - gone)
      this.#report(`The head says ${live} items, but ${next} positions minus ${gone} gone are ${next - gone}.`)
    if (live !== this.#items) this.#report(`The head says ${live} items, but ${this.#items} are there.`)
    if (!isPaginated && live > UNPAGINATED_LIMIT)
      this.#report(`It is unpaginated and has ${live} items, more than ${UNPAGINATED_LIMIT}.`)
    const keys = (await this.#checking.store.countKeys?.(this.#head)) ?? (await this.#countKeys())
    const expected = keyField === null ? 0 : live
    if (keys.visible !== expected) this.#report(`There are ${keys.visible} keys for ${expected} items with a key.`)
    if (keys.unseen > 0) this.#checkUnseen(`${keys.unseen} keys point beyond the head, which ends at ${next}.`)
    if (!isCollectionName(this.#head.name)) this.#report('Its name is not a valid collection name.')
  }

  async #countKeys(): Promise<KeyCount> {
    let [visible, unseen] = [0, 0]
    for await (const [, position] of this.#scan(KEY))
      if (Number(position) < this.#head.next) visible++
      else unseen++
    return { visible, unseen }
  }

  /** From the oldest state that is kept, change by change and state by state, to the present. */
  async #checkHistory(replaced: ReadonlySet<number>): Promise<void> {
    const head = this.#head
    if (!keepsHistory(head)) return
    const walk = new HistoryWalk(this.#keptStates(replaced), (message) => this.#report(message))
    await walk.begin()
    let texts = 0
    for await (const rows of this.#batches(CHANGE)) {
      const changes = rows.map(changeFrom)
      texts += await this.#checkPast(changes)
      for (const change of changes)
        if (change.number >= head.changes)
          this.#checkUnseen(`Change ${change.number} is beyond the head, which ends at ${head.changes}.`)
        else await walk.add(change)
    }
    await walk.end(head)
    let past = 0
    for await (const rows of this.#batches(PAST)) past += rows.length
    if (past !== texts) this.#report(`${past} rows lead from items to ${texts} changes.`)
    // An engine whose rows have checksums checks them.
    for await (const _ of this.#batches(PAST_HOLE));
  }

  /** Whether each change can be found by its item. Returns how many of them have a text. */
  async #checkPast(changes: readonly Stretch[]): Promise<number> {
    const items = changes.filter(({ before }) => before !== undefined)
    const keys = items.map(({ generation, position, number }) => [generation, position, number])
    const found = await this.#rows.find(PAST, this.#head, keys)
    for (const [index, { number }] of items.entries())
      if (found[index] === undefined) this.#report(`Change ${number} cannot be found by its item.`)
    return items.length
  }

  /** All rows of a table, in order, a batch at a time. */
  async *#batches<O extends 'generation' | 'collection'>(
    table: Table<O>,
    limit = ROWS_AT_A_TIME,
  ): AsyncGenerator<readonly Row[]> {
    // A head has every owner.
    const owner: Owners['generation'] & Owners['collection'] = this.#head
    for (let from: Row = []; ; ) {
      const rows = await this.#rows.scan(table, owner, { from, limit })
      if (rows.length > 0) yield rows
      const last = rows.at(-1)?.slice(0, table.key.length)
      if (last === undefined || rows.length < limit) return
      const end = last.at(-1)
      from = last.with(-1, typeof end === 'string' ? textAfter(end) : Number(end) + 1)
    }
  }

  async *#scan<O extends 'generation' | 'collection'>(table: Table<O>, limit?: number): AsyncGenerator<Row> {
    for await (const rows of this.#batches(table, limit)) yield* rows
  }

  /** One after the other: there may be millions. */
  async *#keptStates(replaced: ReadonlySet<number>): AsyncGenerator<State> {
    const { generation, historyFrom } = this.#head
    for await (const row of this.#scan(STATE)) {
      const state = stateFrom(row)
      if (state.version < historyFrom) continue
      if (state.generation !== generation && !replaced.has(state.generation))
        this.#report(`Generation ${state.generation}, which the state of version ${state.version} has, is missing.`)
      yield state
    }
  }

  /** The pages in order = the items in order. */
  async #checkPages(): Promise<void> {
    if (!this.#head.isPaginated) return
    const { name } = this.#head
    if ((await this.#rows.readHead(name)) === undefined)
      return this.#report(`The collection "${name}" cannot be found by its name.`)
    const digests = this.#pages.finish()
    for (let page = 1; page <= lastPage(this.#head.live); page++) {
      const digest = await this.#pageDigest(page)
      if (page % PAGES_A_TURN === 0) await nextTurn()
      if (digest !== (digests[page - 1] ?? crc32('')))
        this.#report(`Page ${page} does not have the items that belong on it.`)
    }
  }

  /** Undefined for a page that cannot be read at all. */
  async #pageDigest(page: number): Promise<number | undefined> {
    try {
      const { segments } = await runAsync(readPageOf(this.#head, page, this.#cache), this.#rows)
      return crc32(joinPieces(segments.map((segment) => segment.raw())))
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      return undefined
    }
  }
}

/** Follows the changes from state to state, and reports where they do not lead to the next one. */
class HistoryWalk {
  readonly #states: AsyncGenerator<State>
  readonly #onFlaw: (message: string) => void
  /** Which state comes next, which was the last one, and what the collection is now. */
  #upcoming: State | undefined
  #last: State | undefined
  #now: { generation: number; next: number; live: number; changes: number } | undefined
  /** Since the last state: how much the changes take, the version of a reset, and whether something was reported. */
  #bytes = 0
  #resetTo: number | undefined
  #isFlawed = false

  constructor(states: AsyncGenerator<State>, onFlaw: (message: string) => void) {
    this.#states = states
    this.#onFlaw = onFlaw
  }

  async begin(): Promise<void> {
    this.#upcoming = await this.#read()
    await this.#pass()
  }

  async add(stretch: Stretch): Promise<void> {
    const { number, kind, count, before, version } = stretch
    const now = this.#now
    // What comes before the oldest state is yet to be removed.
    if (now === undefined || number < now.changes) return
    if (number !== now.changes) this.#report(`Change ${now.changes} is missing.`)
    const isItem = kind === 'replace' || kind === 'delete'
    const flaw = isItem ? (before === undefined ? 'has no text' : flawOf(before)) : undefined
    if (flaw !== undefined) this.#report(`What change ${number} met ${flaw}.`)
    if (kind === 'reset') {
      Object.assign(now, { generation: now.generation + 1, next: 0, live: 0 })
      this.#resetTo = version
    }
    const added = kind === 'append' || kind === 'appends' ? count : 0
    now.next += added
    now.live += added - (kind === 'delete' ? 1 : 0)
    now.changes = number + count
    this.#bytes += bytesOf([stretch])
    await this.#pass()
  }

  async end({ changes, commitId }: Head): Promise<void> {
    if (this.#now !== undefined && this.#now.changes !== changes)
      this.#report(`Change ${this.#now.changes} is missing.`)
    for (; this.#upcoming !== undefined; this.#upcoming = await this.#read()) this.#last = this.#upcoming
    if (this.#last?.commitId !== commitId) this.#report('The state that it is in is missing from its history.')
  }

  #report(message: string): void {
    this.#isFlawed = true
    this.#onFlaw(message)
  }

  async #read(): Promise<State | undefined> {
    const { done, value } = await this.#states.next()
    return done === true ? undefined : value
  }

  /** The states that are reached now. */
  async #pass(): Promise<void> {
    for (; this.#upcoming !== undefined; this.#upcoming = await this.#read()) {
      const { generation, next, live, changes, version } = this.#upcoming
      this.#now ??= { generation, next, live, changes }
      if (changes > this.#now.changes) return
      const isRight = generation === this.#now.generation && next === this.#now.next && live === this.#now.live
      if (!isRight || changes < this.#now.changes)
        this.#report(`The changes do not lead to the state of version ${version}.`)
      if (this.#last !== undefined && !this.#isFlawed) this.#compare(this.#last, this.#upcoming)
      this.#last = this.#upcoming
      this.#bytes = 0
      this.#resetTo = undefined
      this.#isFlawed = false
    }
  }

  /** A state that is missing shows by what it took itself; beside a reset, which leads from one version to the next, by the versions. */
  #compare(last: State, { version, bytes }: State): void {
    const isNext =
      this.#resetTo === undefined
        ? bytes === last.bytes + ROW_BYTES + this.#bytes
        : last.version + 1 === this.#resetTo && version === this.#resetTo
    if (!isNext) this.#report(`A state between the versions ${last.version} and ${version} is missing.`)
  }
}

/** A checksum for each page that the items, in order, must give. */
class PageDigests {
  readonly #digests: number[] = []
  #texts: string[] = []

  add(texts: readonly string[]): void {
    for (const text of texts) {
      this.#texts.push(text)
      if (this.#texts.length === PAGE_SIZE) this.#cut()
    }
  }

  finish(): readonly number[] {
    if (this.#texts.length > 0) this.#cut()
    return this.#digests
  }

  #cut(): void {
    this.#digests.push(crc32(joinItems(this.#texts)))
    this.#texts = []
  }
}

/** What keeps a text from being an item. */
export function flawOf(text: string): string | undefined {
  if (/[\r\n]/.test(text)) return 'holds a line break'
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? undefined : 'is not a JSON object'
  } catch {
    return 'is not JSON'
  }
}
