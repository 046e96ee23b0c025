/** Sorts and filters the items that are on this page. The address does not change, and the server is not asked. */

import { counted, formatCount } from '../../contract/message-text.ts'

const COLLATOR = new Intl.Collator(undefined, { numeric: true })

interface SortKey {
  readonly row: HTMLTableRowElement
  readonly text: string
  /** Not a number where the value is none. */
  readonly number: number
  /** Null, an empty text, or no such field: these come last, whatever the order. */
  readonly isEmpty: boolean
}

/** Makes buttons of the names of the columns, of which one is reached by Tab, and one of the openers of the rows. */
export function prepareRows(): void {
  for (const head of document.querySelectorAll<HTMLElement>('.items thead th:not(:first-child)')) {
    const button = document.createElement('button')
    button.type = 'button'
    button.dataset['action'] = 'sort'
    button.title = `Sort this page by ${head.title}`
    button.append(...head.childNodes)
    head.replaceChildren(button)
  }
  for (const section of document.querySelectorAll('.items :is(thead, tbody)')) makeReachable(section)
  showCount()
}

export function shownRows(): HTMLTableRowElement[] {
  return [...document.querySelectorAll<HTMLTableRowElement>('.items tbody tr:not([hidden])')]
}

/** Keeps the rows with a cell that has this text in it, in capitals or not. */
export function filterRows(text: string): void {
  const wanted = text.trim().toLowerCase()
  const isFound = ({ textContent }: Element) => textContent.toLowerCase().includes(wanted)
  for (const row of document.querySelectorAll<HTMLElement>('.items tbody tr'))
    row.hidden = wanted !== '' && ![...row.querySelectorAll('td')].some(isFound)
  finish()
}

/** By the column with this button: ascending, then descending, then as the server has them. */
export function sortRows(button: Element): void {
  const head = button.closest('th') as HTMLTableCellElement
  const order = head.ariaSort === null ? 'ascending' : head.ariaSort === 'ascending' ? 'descending' : null
  for (const each of head.parentElement?.children ?? []) each.ariaSort = null
  head.ariaSort = order
  const body = document.querySelector('.items tbody')
  const keys = [...(body?.querySelectorAll('tr') ?? [])].map((row) => keyOf(row, head.cellIndex))
  const sign = order === 'descending' ? -1 : 1
  const compare = (a: SortKey, b: SortKey) =>
    order === null ? 0 : Number(a.isEmpty) - Number(b.isEmpty) || (a.isEmpty ? 0 : sign * compareValues(a, b))
  body?.append(...keys.sort((a, b) => compare(a, b) || rankOf(a.row) - rankOf(b.row)).map(({ row }) => row))
  finish()
}

/** The place of a row in its collection, as it is written in front of it. */
export function rankOf(row: HTMLTableRowElement): number {
  return Number(row.cells[0]?.textContent.replaceAll(',', ''))
}

function keyOf(row: HTMLTableRowElement, column: number): SortKey {
  const { textContent: text, classList } = row.cells[column] as HTMLTableCellElement
  const number = classList.contains('number') ? Number(text) : classList.contains('date') ? Date.parse(text) : NaN
  return { row, text, number, isEmpty: text === '' || classList.contains('null') }
}

/** Large numbers can be the same in JavaScript and differ in their digits, which a collator reads as numbers too. */
function compareValues(a: SortKey, b: SortKey): number {
  return a.number - b.number || COLLATOR.compare(a.text, b.text)
}

function finish(): void {
  makeReachable(document.querySelector('.items tbody'))
  showCount()
}

/** By Tab its first row or column that is shown, and from there by the arrow keys all others. */
function makeReachable(section: Element | null): void {
  const openers = [...(section?.querySelectorAll('th > *') ?? [])]
  const first = openers.find((opener) => !opener.closest('[hidden]'))
  for (const opener of openers) opener.setAttribute('tabindex', opener === first ? '0' : '-1')
}

function showCount(): void {
  const status = document.querySelector('.tools [role=status]')
  if (status === null) return
  const [shown, all] = [shownRows().length, document.querySelectorAll('.items tbody tr').length]
  const sorted = document.querySelector<HTMLElement>('.items th[aria-sort]')?.title
  const count = shown === all ? counted(all, 'item') : `${formatCount(shown)} of ${formatCount(all)}`
  status.textContent = `${count} on this page${sorted === undefined ? '' : `, sorted by ${sorted}`}`
}
