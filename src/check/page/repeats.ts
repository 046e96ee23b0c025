/** Finds items that stand on pages twice, in bounded memory: by a field that identifies them, or else by their content. */

import { shorten } from '../../contract/message-text.ts'
import { FingerprintTable } from './fingerprint-table.ts'
import { type Fingerprint, type ItemFacts, isIdentifierName } from './items.ts'

export interface Repeat {
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
