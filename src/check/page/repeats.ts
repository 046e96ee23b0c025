/** Finds items that stand on pages twice, in bounded memory: by a field that identifies them, or else by their content. */

import { shorten } from '../../contract/message-text.ts'
import { type Fingerprint, fingerprintOf, type ItemFacts, isIdentifierName } from './items.ts'

interface Repeat {
  /** Pages and items count from 1. */
  readonly page: number
  readonly item: number
  readonly earlierPage: number
  readonly earlierItem: number
  /** In words that follow "is the same". */
  readonly by: string
}

/** Fields that are followed beside the content. */
const FIELDS_FOLLOWED = 3

/** Below this many items it is mere chance that a field is unique everywhere else. */
const MIN_ITEMS = 100

/** At most one item in so many repeats, where repeats are odd. */
const RARE = 250

interface Column {
  readonly table: FingerprintTable
  /** Whole items that come again: on another page, or on the same one. */
  again: number
  twins: number
  /** Values that belong to different items: of two pages, or of one. */
  shared: number
  sharedOnPage: number
  example: Repeat | undefined
}

export class RepeatFinder {
  #items = 0
  readonly #content = createColumn()
  /** The fields that every item so far has, and that may identify it. */
  #fields: Map<string, Column> | undefined

  /** Takes the items of a page; pages come in ascending order, each once. */
  add(page: number, items: ItemFacts): void {
    if (items.count === 0) return
    this.#items += items.count
    const equals = new Set<number>()
    follow(this.#content, page, items.contents, 'in all its fields', (index) => equals.add(index) !== undefined)
    this.#fields ??= new Map([...items.fields.keys()].slice(0, FIELDS_FOLLOWED).map((name) => [name, createColumn()]))
    for (const [name, column] of this.#fields) {
      const values = items.fields.get(name)
      if (values === undefined) this.#fields.delete(name)
      else
        follow(column, page, values, `by its field "${shorten(name)}"`, (index) => this.#isWhole(items, index, equals))
    }
  }

  /**
   * An item that comes again, whole, is a repeat where a field tells items apart: one whose name says so and that does so on
   * every page, or one that is unique everywhere else. Without such a field it is only odd, because equal items are legal;
   * and where equals are common, nothing is odd about it. It is odd, too, if two different items share what is named as an
   * identifier.
   */
  found(): { repeat: Repeat; isDoubt: boolean }[] {
    const fields = [...(this.#fields ?? [])].map(([name, column]) => ({ isNamed: isIdentifierName(name), ...column }))
    const identifier = fields.find(
      ({ isNamed, again, twins, shared, sharedOnPage }) =>
        (isNamed && again > 0 && twins + sharedOnPage === 0) ||
        (shared + sharedOnPage === 0 && again + twins > 0 && this.#isRare(again + twins)),
    )
    if (identifier?.example !== undefined) return [{ repeat: identifier.example, isDoubt: false }]
    const { again, twins } = this.#content
    const odd = [
      ...fields.filter(
        ({ isNamed, shared, sharedOnPage }) => isNamed && sharedOnPage === 0 && shared > 0 && this.#isRare(shared),
      ),
      ...(again + twins > 0 && this.#isRare(again + twins) ? [this.#content] : []),
    ]
    return odd.flatMap(({ example }) => (example === undefined ? [] : [{ repeat: example, isDoubt: true }])).slice(0, 1)
  }

  /** Whether the whole item was there before; undefined where the table of contents does not remember such. */
  #isWhole({ contents }: ItemFacts, index: number, equals: ReadonlySet<number>): boolean | undefined {
    const content = contents[index]
    return content !== undefined && this.#content.table.keeps(content) ? equals.has(index) : undefined
  }

  #isRare(count: number): boolean {
    return this.#items >= MIN_ITEMS && count <= Math.max(2, this.#items / RARE)
  }
}

function createColumn(): Column {
  return { table: new FingerprintTable(), again: 0, twins: 0, shared: 0, sharedOnPage: 0, example: undefined }
}

/** Counts what was there before. `isWhole` says whether it is the same item, or another one with the same value. */
function follow(
  column: Column,
  page: number,
  prints: readonly Fingerprint[],
  by: string,
  isWhole: (index: number) => boolean | undefined,
): void {
  prints.forEach((print, index) => {
    const earlier = column.table.add(print, page, index)
    const isSameItem = earlier === undefined ? undefined : isWhole(index)
    if (earlier === undefined || isSameItem === undefined) return
    const isSamePage = earlier.page === page
    if (isSameItem) column[isSamePage ? 'twins' : 'again']++
    else column[isSamePage ? 'sharedOnPage' : 'shared']++
    column.example ??= { page, item: index + 1, earlierPage: earlier.page, earlierItem: earlier.index + 1, by }
  })
}

/** 2²¹ slots of 16 bytes: 32 MB at most. Up to 1.4 million fingerprints all are kept. */
const MAX_SLOTS = 2 ** 21
const MIN_SLOTS = 2 ** 11

/** Above this share of full slots a search takes long. */
const MAX_FILL = 0.7

/** More than there are items on any page whose items are kept. */
const PAGE_FACTOR = 2 ** 14

interface Place {
  readonly page: number
  readonly index: number
}

/** Remembers where a fingerprint was seen first. Its memory is bounded: when full, it keeps every second one, every fourth, … */
export class FingerprintTable {
  readonly #maxSlots: number
  #size = 0
  /** A fingerprint is kept if these bits of it are 0: so of two equal ones both are kept, or neither. */
  #mask = 0
  #prints = new Float64Array(MIN_SLOTS)
  /** Page and index in one number. Page numbers begin at 1: 0 marks a free slot. */
  #places = new Float64Array(MIN_SLOTS)

  constructor(maxSlots = MAX_SLOTS) {
    this.#maxSlots = maxSlots
  }

  /** Memory that it takes. */
  get byteLength(): number {
    return this.#prints.byteLength + this.#places.byteLength
  }

  /** Whether this one is among those that are remembered. */
  keeps(print: Fingerprint): boolean {
    return (Math.floor(print / 2 ** 32) & this.#mask) === 0
  }

  /** Returns where the same one was seen before; if it was not, remembers this place. */
  add(print: Fingerprint, page: number, index: number): Place | undefined {
    const place = this.#insert(print, page * PAGE_FACTOR + index)
    return place === 0 ? undefined : { page: Math.floor(place / PAGE_FACTOR), index: place % PAGE_FACTOR }
  }

  /** Returns the place that is there already, or 0. */
  #insert(print: Fingerprint, place: number): number {
    if (!this.keeps(print)) return 0
    const slots = this.#prints.length
    let slot = print % slots
    while (this.#places[slot] !== 0 && this.#prints[slot] !== print) slot = (slot + 1) % slots
    const before = this.#places[slot] ?? 0
    if (before !== 0) return before
    this.#prints[slot] = print
    this.#places[slot] = place
    if (++this.#size > slots * MAX_FILL) this.#makeRoom()
    return 0
  }

  #makeRoom(): void {
    const [prints, places] = [this.#prints, this.#places]
    const slots = Math.min(this.#maxSlots, 2 * prints.length)
    if (slots === prints.length) this.#mask = this.#mask * 2 + 1
    this.#prints = new Float64Array(slots)
    this.#places = new Float64Array(slots)
    this.#size = 0
    for (const [i, place] of places.entries()) if (place !== 0) this.#insert(prints[i] ?? 0, place)
  }
}

/** Recognizes a page of items that was there before. */
export class PageMemory {
  readonly #table = new FingerprintTable()

  /**
   * The number of an earlier page with the same items. Equal items are legal; but a whole page of items that nearly all
   * differ from one another comes only once.
   */
  earlier(page: number, { contents }: ItemFacts): number | undefined {
    const minDifferent = contents.length - Math.max(1, contents.length / 100)
    if (contents.length < 2 || new Set(contents).size < minDifferent) return undefined
    const before = this.#table.add(fingerprintOf(contents.join()), page, 0)?.page
    return before === page ? undefined : before
  }
}
