/** A collection: one of its pages as a table, ways to the others, and an item beside it. */

import type { Page } from '../../client/index.ts'
import { itemUrl, pageUrl } from '../../contract/link.ts'
import { pageRange } from '../../contract/page.ts'
import { codePopover } from './code.ts'
import { type Child, element } from './element.ts'
import { count, counted } from './figures.ts'
import { itemPanel } from './item.ts'
import { fieldsOf } from './json-text.ts'
import { notice } from './notice.ts'
import { itemsOn, pager } from './pager.ts'
import type { Session } from './session.ts'
import { focusRow, itemTable } from './table.ts'
import { readValue } from './value.ts'
import { heading, sizeAndTime, type View } from './views.ts'

export interface CollectionPlace {
  readonly name: string
  readonly page: number
  /** The button that downloads all of it. */
  readonly download: readonly Child[]
  /** Leads to another address. */
  readonly go: (url: string) => void
}

export async function collectionView(
  session: Session,
  { name, page: number, download, go }: CollectionPlace,
  signal: AbortSignal,
): Promise<View> {
  const timed = await session.timed(() => session.collection(name).page(number, { signal }))
  const page = timed.value
  const place = page.isPaginated ? `page ${count(page.number)} of ${count(page.lastPage)} · ` : 'unpaginated · '
  const facts = `${counted(page.itemCount, 'item')} · ${place}${sizeAndTime(page.body.length, timed)}`
  const parts = [heading(name, facts, ...codeFor(session, name, page), ...download)]
  if (page.isPaginated)
    parts.push(
      pager(
        page,
        (relation) => linkOf(page, relation, session),
        (target) => go(pageUrl(session.root, name, target)),
      ),
    )
  parts.push(page.length === 0 ? notice('No items', `The collection ${name} is empty.`) : beside(session, name, page))
  const title = page.isPaginated ? `${name}, page ${page.number}` : name
  return { title, content: parts }
}

function linkOf({ links }: Page, relation: string, session: Session): string | undefined {
  const { href } = (links[relation] ?? {}) as { href?: string }
  return href && session.local(href)
}

function codeFor(session: Session, name: string, page: Page): Child[] {
  const { baseUrl } = session
  const url = page.isPaginated ? pageUrl(baseUrl, name, page.number) : `${baseUrl}/${name}`
  return codePopover(
    session,
    url,
    (options) => `import { createClient } from 'reams/client'

const collection = createClient('${baseUrl}'${options}).collection('${name}')
const page = await collection.page(${page.number})
console.log(page.itemCount, page.items)

// All items of all pages:
for await (const item of collection.items()) console.log(item)`,
  )
}

/** The table, and beside it the item that is open. */
function beside(session: Session, name: string, page: Page): HTMLElement {
  const decoder = new TextDecoder()
  const items = Array.from(page.texts(), (text) => decoder.decode(text))
  const before = page.isPaginated ? pageRange(page.number, page.itemCount).start : 0
  const caption = `${name}: ${itemsOn(page.number, page.itemCount)}`
  let close = () => {}
  const open = async (index: number) => {
    close()
    const json = items[index] ?? ''
    const row = table.querySelector('tbody')?.rows[index]
    const url = await urlOf(session, name, json)
    const more = url === undefined ? [] : [element('a', { href: session.local(url) }, 'Open alone')]
    const title = `Item ${count(before + index + 1)}`
    const panel = itemPanel({ title, json, url: url ?? page.url, isOwnUrl: url !== undefined, more }, () => {
      close()
      if (row) focusRow(row)
    })
    close = () => {
      panel.remove()
      row?.removeAttribute('aria-current')
    }
    row?.setAttribute('aria-current', 'true')
    all.append(panel)
    panel.querySelector('h2')?.focus()
  }
  const table = itemTable({ caption, items, before, open })
  const all = element('div', { class: 'beside' }, table)
  return all
}

/** The address of an item; undefined in a collection without a key. */
async function urlOf(session: Session, name: string, json: string): Promise<string | undefined> {
  const field = (await session.listed(name))?.key_field
  const key = field ? fieldsOf(json).get(field) : undefined
  return key && itemUrl(session.baseUrl, name, readValue(key).text)
}
