/**
 * Sorts and filters the items that are on this page, by all of their values. The address does not change. Where the table
 * shortens values, the items are read from the server when they are first needed, and once.
 */

import { counted, formatCount } from '../../contract/message-text.ts'
import { PAGE_SIZE } from '../../contract/page.ts'
import { fieldsOf, stringOf } from '../../items/item-fields.ts'
import { announce } from './feedback.ts'
import type { Session } from './session.ts'
import { brief } from './text.ts'

const COLLATOR = new Intl.Collator(undefined, { numeric: true })

interface SortKey {
  readonly row: HTMLTableRowElement
  readonly text: string
  /** Not a number where the value is none. */
  readonly number: number
  /** Null, an empty text, or no such field: these come last, whatever the order. */
  readonly isEmpty: boolean
}

/** The fields of an item: of a string what it says, of null nothing, of anything else its JSON. */
type Item = ReadonlyMap<string, string>

export class PageRows {
  readonly #session: Session
  /** The items of this page in the order of the server, once they were needed. */
  #items: Promise<readonly Item[]> | undefined
  /** Whether reading the items failed. */
  #isInPart = false

  constructor(session: Session) {
    this.#session = session
  }

  /** Makes buttons of the names of the columns, of which one is reached by Tab, and one of the openers of the rows. */
  prepare(): void {
    this.#items = undefined
    this.#isInPart = false
    for (const head of document.querySelectorAll<HTMLElement>('.items thead th:not(:first-child)')) {
      const button = document.createElement('button')
      button.type = 'button'
      button.dataset['action'] = 'sort'
      button.title = `Sort this page by ${head.title}`
      button.append(...head.childNodes)
      head.replaceChildren(button)
    }
    for (const section of document.querySelectorAll('.items :is(thead, tbody)')) makeReachable(section)
    this.#showCount()
  }

  /** Shows the rows of items with this text in one of their values, ignoring case. */
  async filter(field: HTMLInputElement): Promise<void> {
    const table = document.querySelector<HTMLElement>('.items[data-values]')
    const items = table && field.value.trim() ? await this.#read(table) : undefined
    if (!field.isConnected) return
    // The user may have typed more while the items were read.
    const wanted = field.value.trim().toLowerCase()
    const isFound = (text: string) => text.toLowerCase().includes(wanted)
    for (const row of document.querySelectorAll<HTMLTableRowElement>('.items tbody tr')) {
      const values = items?.[placeOf(row)]?.values() ?? []
      const shown = [...row.cells].slice(1).map(({ textContent }) => textContent)
      row.hidden = wanted !== '' && ![...shown, ...values].some(isFound)
    }
    this.#finish()
  }

  /** Sorts by the column of this button: ascending, then descending, then in the server's order. */
  async sort(button: Element): Promise<void> {
    const head = button.closest('th') as HTMLTableCellElement
    const table = head.closest('table') as HTMLTableElement
    const order = head.ariaSort === null ? 'ascending' : head.ariaSort === 'ascending' ? 'descending' : null
    for (const each of head.parentElement?.children ?? []) each.ariaSort = null
    head.ariaSort = order
    const items = order !== null && 'shortened' in head.dataset ? await this.#read(table) : undefined
    if (!head.isConnected || head.ariaSort !== order) return
    const body = document.querySelector('.items tbody')
    const keys = [...(body?.querySelectorAll('tr') ?? [])].map((row) => keyOf(row, head, items?.[placeOf(row)]))
    const sign = order === 'descending' ? -1 : 1
    const compare = (a: SortKey, b: SortKey) =>
      order === null ? 0 : Number(a.isEmpty) - Number(b.isEmpty) || (a.isEmpty ? 0 : sign * compareValues(a, b))
    body?.append(...keys.sort((a, b) => compare(a, b) || rankOf(a.row) - rankOf(b.row)).map(({ row }) => row))
    this.#finish()
  }

  /** Returns undefined if the items cannot be read; callers then use the values in the table. */
  async #read(table: HTMLElement): Promise<readonly Item[] | undefined> {
    try {
      this.#items ??= this.#fetchItems(table)
      const status = statusOf()
      if (status) status.textContent = 'Reading all of the values …'
      const items = await this.#items
      this.#isInPart = false
      return items
    } catch (error) {
      if (!table.isConnected) return undefined
      this.#items = undefined
      this.#isInPart = true
      announce(`Only what the table shows is searched and sorted. ${(error as Error).message}`)
      return undefined
    }
  }

  async #fetchItems(table: HTMLElement): Promise<Item[]> {
    const { url = '', page = '' } = table.closest('main')?.dataset ?? {}
    const { values = '', commit = '' } = table.dataset
    const read = await this.#session.collection(values, new URL(url).origin).page(Number(page) || 1)
    const items = [...read.texts()].map(itemOf)
    const isSame = items.length === table.querySelectorAll('tbody tr').length
    if (!isSame || !(read.etag ?? commit).includes(commit)) throw new Error('The items have changed: reload the page.')
    return items
  }

  #finish(): void {
    makeReachable(document.querySelector('.items tbody'))
    this.#showCount()
  }

  #showCount(): void {
    const status = statusOf()
    if (status === null) return
    const [shown, all] = [shownRows().length, document.querySelectorAll('.items tbody tr').length]
    const sorted = document.querySelector<HTMLElement>('.items th[aria-sort]')
    const count = shown === all ? counted(all, 'item') : `${formatCount(shown)} of ${formatCount(all)}`
    const order = sorted === null ? '' : `, sorted by ${sorted.title}`
    const isFiltered = document.querySelector<HTMLInputElement>('#filter')?.value.trim()
    const isSortInPart = sorted !== null && 'shortened' in sorted.dataset
    const limit = this.#isInPart && (isFiltered || isSortInPart) ? ', by what the table shows' : ''
    status.textContent = `${count} on this page${order}${limit}`
  }
}

export function shownRows(): HTMLTableRowElement[] {
  return [...document.querySelectorAll<HTMLTableRowElement>('.items tbody tr:not([hidden])')]
}

/** The place of a row in its collection, as it is written in front of it. */
export function rankOf(row: HTMLTableRowElement): number {
  return Number(row.cells[0]?.textContent.replaceAll(',', ''))
}

/** Its index on the page in the order of the server. */
export function placeOf(row: HTMLTableRowElement): number {
  return rankOf(row) - 1 - (Number(row.closest('main')?.dataset['page'] || 1) - 1) * PAGE_SIZE
}

function itemOf(json: Uint8Array): Item {
  const item = fieldsOf(json)
  for (const [name, value] of item)
    item.set(name, value === 'null' ? '' : value.startsWith('"') ? stringOf(value) : value)
  return item
}

/** From the full value if the item is known, else from the cell. */
function keyOf(row: HTMLTableRowElement, head: HTMLTableCellElement, item: Item | undefined): SortKey {
  const { textContent, classList } = row.cells[head.cellIndex] as HTMLTableCellElement
  const text = item === undefined ? textContent : textIn(item, head.title)
  const isA = (kind: string) => classList.contains(kind) || head.classList.contains(kind)
  const number = isA('number') ? Number(text) : isA('date') ? Date.parse(text) : NaN
  return { row, text, number, isEmpty: text === '' || (item === undefined && classList.contains('null')) }
}

/** `title` is the name of the field, shortened if it is long. */
function textIn(item: Item, title: string): string {
  return item.get(title) ?? [...item].find(([name]) => brief(name) === title)?.[1] ?? ''
}

/** Large numbers can be the same in JavaScript and differ in their digits, which a collator reads as numbers too. */
function compareValues(a: SortKey, b: SortKey): number {
  return a.number - b.number || COLLATOR.compare(a.text, b.text)
}

/** By Tab its first row or column that is shown, and from there by the arrow keys all others. */
function makeReachable(section: Element | null): void {
  const openers = [...(section?.querySelectorAll('th > *') ?? [])]
  const first = openers.find((opener) => !opener.closest('[hidden]'))
  for (const opener of openers) opener.setAttribute('tabindex', opener === first ? '0' : '-1')
}

function statusOf(): Element | null {
  return document.querySelector('.tools [role=status]')
}
