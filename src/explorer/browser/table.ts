/** The table of a page: a row for each item, a column for each field, and above them what the columns hold. */

import { type Column, columnsOf } from './columns.ts'
import { button, element } from './element.ts'
import { count, counted } from './figures.ts'
import { summary } from './summary.ts'
import { brief, cell } from './value.ts'

const MIN_CHARACTERS = 11
const MAX_CHARACTERS = 34
/** About that of a common font. */
const CHARACTER_REM = 0.6
/** What browsers draw without complaint. A page of 500 items with 50 fields is within it. */
const CELLS_AT_ONCE = 30_000
const ROWS_AT_ONCE = 80

export interface TableOptions {
  readonly caption: string
  /** The JSON text of each item. */
  readonly items: readonly string[]
  /** How many items stand before them in the collection. */
  readonly before: number
  readonly open: (row: HTMLTableRowElement) => void
}

interface Shown {
  readonly columns: readonly Column[]
  /** How many there are. */
  readonly items: number
  readonly before: number
}

export function itemTable({ caption, items, before, open }: TableOptions): HTMLElement {
  const { columns, left } = columnsOf(items)
  // All widths are given, so that a browser does not measure every cell.
  const widths = [`${before + items.length}`.length + 2, ...columns.map(widthOf)]
  const body = element('tbody', { click: (event) => openAt(event, open), keydown: moveFocus })
  const table = element(
    'table',
    { class: 'items' },
    element('caption', {}, caption),
    element('colgroup', {}, ...widths.map((width) => wide(element('col'), width))),
    head(columns),
    body,
  )
  wide(
    table,
    widths.reduce((sum, width) => sum + width),
  ).style.tableLayout = 'fixed'
  const scroller = element('div', { class: 'scroller', tabindex: 0, role: 'region', 'aria-label': 'Items' }, table)
  scroller.append(...(left ? [element('p', {}, `${counted(left, 'more field')}: open an item to see all of it.`)] : []))
  addRows(body, { columns, items: items.length, before })
  return scroller
}

function wide<E extends HTMLElement>(sized: E, characters: number): E {
  sized.style.width = `${characters * CHARACTER_REM}rem`
  return sized
}

/** The first column always stays in sight, so it leaves room for others. */
function widthOf({ name, kind, values }: Column, place: number): number {
  const longest = values.reduce((most, value) => Math.max(most, value?.text.length ?? 0), name.length + kind.length)
  return Math.min(MAX_CHARACTERS / (place ? 1 : 2), Math.max(MIN_CHARACTERS, longest)) + 2
}

function head(columns: readonly Column[]): HTMLElement {
  const names = columns.map(({ name, kind }) =>
    element('th', { scope: 'col', class: kind, title: brief(name) }, brief(name), ' ', element('small', {}, kind)),
  )
  const summaries = columns.map((column) => element('td', {}, summary(column)))
  return element(
    'thead',
    {},
    element('tr', {}, element('th', { scope: 'col' }, '#'), ...names),
    element('tr', { class: 'summary' }, element('td'), ...summaries),
  )
}

/**
 * Adds some rows, and the others when the browser has drawn these. Where they would be too many there is a button for
 * more. Of all openers one is reached by Tab; from there the arrow keys lead on.
 */
function addRows(body: HTMLTableSectionElement, shown: Shown, most = CELLS_AT_ONCE / (shown.columns.length + 1)): void {
  const { columns, items, before } = shown
  const start = body.rows.length
  const end = Math.min(items, start + ROWS_AT_ONCE)
  const rows: Node[] = []
  for (let index = start; index < end; index++) {
    const rank = count(before + index + 1)
    const opener = { type: 'button', tabindex: index === 0 ? 0 : -1, 'aria-label': `Open item ${rank}` }
    const first = element('th', { scope: 'row' }, element('button', opener, rank))
    rows.push(element('tr', {}, first, ...columns.map(({ values }) => cell(values[index]))))
  }
  body.append(...rows)
  const isMore = end < items
  body.ariaBusy = isMore && end < most ? 'true' : null
  if (body.ariaBusy) requestAnimationFrame(() => setTimeout(() => addRows(body, shown, most)))
  else if (isMore) {
    const more = button(`Show more: ${count(end)} of ${counted(items, 'item')} are shown`, () => {
      more.remove()
      addRows(body, shown, most + end)
    })
    body.parentElement?.after(more)
  }
}

function openAt({ target }: Event, open: (row: HTMLTableRowElement) => void): void {
  const row = (target as Element).closest('tr')
  if (row && !(target as Element).closest('a, details') && `${getSelection()}` === '') open(row)
}

function moveFocus(event: Event): void {
  const row = (event.target as Element).closest('tr')
  const { key } = event as KeyboardEvent
  const other = key === 'ArrowDown' ? row?.nextElementSibling : key === 'ArrowUp' && row?.previousElementSibling
  if (!other || (event.target as Element).closest('details')) return
  event.preventDefault()
  focusRow(other)
}

export function focusRow(row: Element): void {
  const opener = row.querySelector('button')
  row.parentElement?.querySelector('[tabindex="0"]')?.setAttribute('tabindex', '-1')
  opener?.setAttribute('tabindex', '0')
  opener?.focus()
}
