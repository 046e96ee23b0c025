/** The table of a page, and beside it the item that is open. */

import type { Page } from '../../client/page.ts'
import { itemUrl } from '../../contract/link.ts'
import { pageRange } from '../../contract/page.ts'
import { fieldsOf } from '../../items/item-fields.ts'
import { element } from './element.ts'
import { count } from './figures.ts'
import { type ItemOptions, itemPanel } from './item.ts'
import { itemsOn } from './pager.ts'
import type { Session } from './session.ts'
import { focusRow, itemTable } from './table.ts'
import { readValue } from './value.ts'

/** `pageAddress` is for items that have no address of their own. */
export function beside(session: Session, name: string, page: Page, pageAddress: string): HTMLElement {
  const decoder = new TextDecoder()
  const items = Array.from(page.texts(), (text) => decoder.decode(text))
  const before = page.isPaginated ? pageRange(page.number, page.itemCount).start : 0
  const all = element('div', { class: 'beside' })
  let close = () => {}
  const open = async (row: HTMLTableRowElement) => {
    const index = row.sectionRowIndex
    const [json = '', title] = [items[index], `Item ${count(before + index + 1)}`]
    const own = await urlOf(session, name, json)
    close()
    const options = { title, json, url: own ?? pageAddress, isOwnUrl: own !== undefined }
    close = show(all, row, { ...options, more: own ? [element('a', { href: session.local(own) }, 'Open')] : [] })
  }
  all.append(itemTable({ caption: `${name}, ${itemsOn(page.number, page.itemCount)}`, items, before, open }))
  return all
}

/** Gives the focus to the item; the result closes it. */
function show(all: HTMLElement, row: HTMLTableRowElement, options: ItemOptions): () => void {
  const close = () => {
    panel.remove()
    row.ariaCurrent = null
  }
  const panel = itemPanel(options, () => {
    close()
    focusRow(row)
  })
  row.ariaCurrent = 'true'
  all.append(panel)
  panel.querySelector('h2')?.focus()
  return close
}

/** The address of an item; undefined in a collection without a key. */
async function urlOf(session: Session, name: string, json: string): Promise<string | undefined> {
  const field = await session.keyField(name)
  const key = field ? fieldsOf(new TextEncoder().encode(json)).get(field) : undefined
  return key && itemUrl(session.baseUrl, name, readValue(key).text)
}
