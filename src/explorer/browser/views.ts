/** What the addresses of the service show: all collections, one of them, or one item. */

import { itemUrl } from '../../contract/link.ts'
import { lastPage } from '../../contract/page.ts'
import { codePopover } from './code.ts'
import { type Child, element } from './element.ts'
import { bytes, count, counted } from './figures.ts'
import { itemBody } from './item.ts'
import { notice } from './notice.ts'
import type { Listed, Session, Timed } from './session.ts'
import { bar } from './summary.ts'

export interface View {
  readonly title: string
  readonly content: readonly Child[]
}

export async function entryView(session: Session, signal: AbortSignal): Promise<View> {
  const timed = await session.timed(() => session.list(signal))
  const list = timed.value
  const items = list.reduce((sum, { item_count }) => sum + item_count, 0)
  const facts = `${counted(list.length, 'collection')} · ${counted(items, 'item')} · ${Math.round(timed.milliseconds)} ms`
  const code = codePopover(
    session,
    `${session.baseUrl}/`,
    (_, request) => `const { _embedded } = await (${request}).json()\nconsole.table(_embedded.collections)`,
  )
  const title = 'Collections'
  const content =
    list.length === 0
      ? notice('Nothing to see yet', 'There is no collection, or none that can be read without a token.')
      : element('div', { class: 'scroller' }, entryTable(list, session.root))
  return { title, content: [heading(title, facts, ...code), content] }
}

function entryTable(list: readonly Listed[], root: string): HTMLElement {
  const most = Math.max(...list.map(({ item_count }) => item_count), 1)
  const names = ['Collection', 'Items', 'Pages', 'Size', 'Flags', 'Last change']
  const head = element('tr', {}, ...names.map((name) => element('th', { scope: 'col' }, name)))
  const rows = list.map((listed) => {
    const { name, item_count: items, paginated, changed_at: changed } = listed
    const link = element('a', { href: `${root}/${name}` }, name)
    return element(
      'tr',
      {},
      element('th', { scope: 'row' }, link),
      element('td', { class: 'number' }, count(items)),
      element('td', { class: 'number' }, paginated ? count(lastPage(items)) : '–'),
      element('td', {}, bar(items / most)),
      element('td', {}, flagsOf(listed)),
      element('td', {}, changed ? element('time', { datetime: changed }, new Date(changed).toLocaleString()) : '–'),
    )
  })
  return element('table', { class: 'entry' }, element('thead', {}, head), element('tbody', {}, ...rows))
}

function flagsOf({ paginated, private: isPrivate, key_field: key }: Listed): string {
  return [isPrivate && 'private', !paginated && 'whole', key && `key: ${key}`].filter(Boolean).join(' · ')
}

export async function itemView(session: Session, name: string, key: string, signal: AbortSignal): Promise<View> {
  const [url, own] = [itemUrl(session.root, name, key), itemUrl(session.baseUrl, name, key)]
  const timed = await session.timed(() => session.read(url, signal))
  const { body } = timed.value
  const json = new TextDecoder().decode(body)
  const code = codePopover(session, own, (_, request) => `const item = await (${request}).json()`)
  const parts = itemBody({ title: 'JSON', json, url: own, isOwnUrl: true })
  return {
    title: key,
    content: [heading(key, sizeAndTime(body.length, timed), ...code), element('div', { class: 'item' }, ...parts)],
  }
}

export function heading(title: string, facts: string, ...actions: readonly Child[]): HTMLElement {
  return element(
    'div',
    { class: 'heading' },
    element('h1', { tabindex: -1 }, title),
    element('p', { class: 'facts' }, facts),
    element('div', { class: 'row' }, ...actions),
  )
}

/** `85.1 kB (9.02 kB gzip) in 8 ms`. */
export function sizeAndTime(length: number, { milliseconds, packedBytes }: Timed<unknown>): string {
  const packed = packedBytes ? ` (${bytes(packedBytes)} packed)` : ''
  return `${bytes(length)}${packed} in ${Math.round(milliseconds)} ms`
}
