/** Finds items that stand on pages twice, in bounded memory: by a field that identifies them, or else by their content. */

import { shorten } from '../contract/excerpt.ts'
import { type Fingerprint, keyOf } from './fingerprint.ts'
import { FingerprintTable } from './fingerprint-table.ts'
import { type ItemFacts, isIdentifierName } from './item-facts.ts'

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
const LEAST_ITEMS = 100

/** At most one value in so many repeats, in a field that identifies items. */
const RARE = 250

interface Column {
  readonly table: FingerprintTable
  repeats: number
  example: Repeat | undefined
}

export class RepeatFinder {
  #items = 0
  readonly #content: Column = createColumn()
  /** The fields that every item so far has, and that may identify it. */
  #fields: Map<string, Column> | undefined

  /** Takes the items of a page; pages come in ascending order, each once. */
  add(page: number, items: ItemFacts): void {
    if (items.count === 0) return
    this.#items += items.count
    const equals = follow(this.#content, page, items.contents, 'in all its fields')
    const hasNoEqual = (index: number) => {
      const content = items.contents[index]
      return content !== undefined && !equals.has(index) && this.#content.table.keeps(content)
    }
    this.#fields ??= new Map(chooseFields(items).map((name) => [name, createColumn()]))
    for (const [name, column] of this.#fields) {
      const values = items.fields.get(name)
      const repeated = values === undefined ? [] : [...follow(column, page, values, `by its field "${shorten(name)}"`)]
      // A field such as user_id hardly repeats either, but where it does, it is in another item.
      const isShared = !isIdentifierName(name) && repeated.some(hasNoEqual)
      if (values === undefined || isShared || !this.#isRare(column)) this.#fields.delete(name)
    }
  }

  /**
   * The same content again is a repeat where a field is unique everywhere else, and only odd where no field is: equal
   * items are legal, and where most items have an equal, nothing is odd about it. A field whose very name says that it
   * identifies counts even where the rest of the item differs.
   */
  found(): { repeat: Repeat; isDoubt: boolean }[] {
    const identifiers = [...(this.#fields ?? [])].filter(
      ([name]) => this.#items >= LEAST_ITEMS || isIdentifierName(name),
    )
    const named = identifiers.find(
      ([name, { repeats }]) => repeats > 0 && repeats * 2 < this.#items && isIdentifierName(name),
    )
    if (named?.[1].example !== undefined) return [{ repeat: named[1].example, isDoubt: false }]
    if (this.#content.example === undefined || this.#items < LEAST_ITEMS || !this.#isRare(this.#content)) return []
    const [identifier] = identifiers
    return [{ repeat: identifier?.[1].example ?? this.#content.example, isDoubt: identifier === undefined }]
  }

  #isRare({ repeats }: Column): boolean {
    return repeats <= Math.max(2, this.#items / RARE)
  }
}

function createColumn(): Column {
  return { table: new FingerprintTable(), repeats: 0, example: undefined }
}

/** Answers the indexes of those that were there before. */
function follow(column: Column, page: number, prints: readonly Fingerprint[], by: string): Set<number> {
  const repeated = new Set<number>()
  prints.forEach((print, index) => {
    const earlier = column.table.add(print, page, index)
    if (earlier === undefined) return
    repeated.add(index)
    column.repeats++
    column.example ??= { page, item: index + 1, earlierPage: earlier.page, earlierItem: earlier.index + 1, by }
  })
  return repeated
}

/** The fields of the first page whose values hardly repeat there. */
function chooseFields({ fields, count }: ItemFacts): string[] {
  const hardlyRepeats = (values: readonly Fingerprint[]) =>
    new Set(values.map(keyOf)).size >= count - Math.max(1, count / RARE)
  return [...fields]
    .filter(([, values]) => hardlyRepeats(values))
    .map(([name]) => name)
    .slice(0, FIELDS_FOLLOWED)
}
