/** Moves between the pages of a collection: by the links of the server, by number, and on a strip. */

import type { Page } from '../../client/page.ts'
import { pageRange, parsePage } from '../../contract/page.ts'
import { announce } from './announce.ts'
import { element } from './element.ts'
import { count } from './figures.ts'

/** `hrefOf` gives the address of a link here; `go` leads to a page by its number. */
export function pager(
  page: Page,
  hrefOf: (relation: string) => string | undefined,
  go: (page: number) => void,
): HTMLElement {
  const link = (rel: string, label: string) => {
    const href = hrefOf(rel)
    return element('a', { rel, ...(href ? { href } : { role: 'link', 'aria-disabled': 'true' }) }, label)
  }
  return element(
    'nav',
    { class: 'pager', 'aria-label': 'Pages' },
    link('first', '« First'),
    link('prev', '‹ Prev'),
    jumpField(page, go),
    link('next', 'Next ›'),
    link('last', 'Last »'),
    strip(page, go),
  )
}

function jumpField({ number, lastPage }: Page, go: (page: number) => void): HTMLElement {
  const field = element('input', { id: 'jump', name: 'page', inputmode: 'numeric' })
  field.style.width = `${`${lastPage}`.length + 3}ch`
  field.value = `${number}`
  const submit = (event: Event) => {
    event.preventDefault()
    const wanted = parsePage([field.value.trim()])
    if (wanted) go(Math.min(wanted, lastPage))
    else {
      field.select()
      announce(`There are the pages 1 to ${count(lastPage)}.`)
    }
  }
  const label = element('label', { for: 'jump' }, 'Page ')
  return element('form', { submit }, label, field, ` of ${count(lastPage)}`)
}

/** Where in the collection this page is. Moving it tells what is there; leaving it goes there. */
function strip(page: Page, go: (page: number) => void): HTMLElement {
  const { number, lastPage, itemCount } = page
  const range = element('input', { type: 'range', min: 1, max: lastPage, 'aria-label': 'Place in the collection' })
  range.disabled = lastPage === 1
  range.style.setProperty('--share', `${100 / lastPage}%`)
  const said = element('output')
  const tell = () => {
    const text = itemsOn(range.valueAsNumber, itemCount)
    range.setAttribute('aria-valuetext', `Page ${range.value}, ${text}`)
    said.textContent = text
  }
  range.addEventListener('input', tell)
  range.addEventListener('change', () => go(range.valueAsNumber))
  range.value = `${number}`
  tell()
  return element('div', { class: 'strip' }, range, said)
}

/** `items 501–1,000`. */
export function itemsOn(page: number, itemCount: number): string {
  const { start, end } = pageRange(page, itemCount)
  return itemCount === 0 ? 'no items' : `items ${count(start + 1)}–${count(end)}`
}
