/** The table of a page: a row for each item, a column for each field, and above them what the columns hold. */

import { type Column, columnsOf } from './columns.ts'
import { element } from './element.ts'
import { count, counted } from './figures.ts'
import { summary } from './summary.ts'
import { brief, cell } from './value.ts'

const LEAST_CHARACTERS = 13
const MOST_CHARACTERS = 34

export interface TableOptions {
  readonly caption: string
  /** The JSON text of each item. */
  readonly items: readonly string[]
  /** How many items stand before them in the collection. */
  readonly before: number
  readonly open: (index: number) => void
}

export function itemTable({ caption, items, before, open }: TableOptions): HTMLElement {
  const { columns, left } = columnsOf(items)
  // All widths are given, so that a browser does not measure every cell: this is what makes large pages quick.
  const widths = [`${before + items.length}`.length + 3, ...columns.map(widthOf)]
  const table = element('table', { class: 'items' }, element('caption', { class: 'unseen' }, caption))
  table.style.width = `${widths.reduce((sum, width) => sum + width)}ch`
  table.style.setProperty('--rank', `${widths[0]}ch`)
  table.append(
    element('colgroup', {}, ...widths.map(columnOfWidth)),
    head(columns),
    element('tbody', { click: (event) => openAt(event, open), keydown: moveFocus }, ...rows(columns, items, before)),
  )
  const scroller = element('div', { class: 'scroller', tabindex: 0, role: 'region', 'aria-label': 'Items' }, table)
  if (left > 0)
    scroller.append(element('p', {}, `${counted(left, 'more field')} found no room. Open an item to see all of it.`))
  return scroller
}

function columnOfWidth(width: number): HTMLElement {
  const column = element('col')
  column.style.width = `${width}ch`
  return column
}

function widthOf({ name, values }: Column): number {
  const longest = values.reduce((most, value) => Math.max(most, value?.text.length ?? 0), name.length)
  return Math.min(MOST_CHARACTERS, Math.max(LEAST_CHARACTERS, longest)) + 3
}

function head(columns: readonly Column[]): HTMLElement {
  const names = columns.map(({ name, kind }) =>
    element('th', { scope: 'col', class: kind, title: brief(name) }, brief(name), ' ', element('small', {}, kind)),
  )
  const sums = columns.map((column) => element('td', {}, summary(column)))
  return element(
    'thead',
    {},
    element('tr', {}, element('th', { scope: 'col' }, '#'), ...names),
    element('tr', { class: 'summary' }, element('td'), ...sums),
  )
}

/** Of all buttons one can be reached by Tab; from there the arrow keys go on. */
function rows(columns: readonly Column[], items: readonly string[], before: number): HTMLElement[] {
  return items.map((_, index) => {
    const rank = count(before + index + 1)
    const opener = element(
      'button',
      { type: 'button', tabindex: index === 0 ? 0 : -1, 'aria-label': `Open item ${rank}` },
      rank,
    )
    return element(
      'tr',
      {},
      element('th', { scope: 'row' }, opener),
      ...columns.map(({ values }) => cell(values[index])),
    )
  })
}

function openAt({ target }: Event, open: (index: number) => void): void {
  const row = (target as Element).closest('tr')
  if (row === null || (target as Element).closest('a, details') || `${getSelection()}` !== '') return
  open(row.sectionRowIndex)
}

function moveFocus(event: Event): void {
  const row = (event.target as Element).closest('tr')
  const { key } = event as KeyboardEvent
  const other = key === 'ArrowDown' ? row?.nextElementSibling : key === 'ArrowUp' ? row?.previousElementSibling : null
  if (!(other instanceof HTMLElement)) return
  event.preventDefault()
  focusRow(other)
}

export function focusRow(row: HTMLElement): void {
  const opener = row.querySelector('button')
  row.parentElement?.querySelector('[tabindex="0"]')?.setAttribute('tabindex', '-1')
  opener?.setAttribute('tabindex', '0')
  opener?.focus()
}
