/** What the addresses of the service show: here all collections, and one item. */

import { collectionUrl, entryUrl, itemUrl, rawUrl } from '../../contract/link.ts'
import { lastPage } from '../../contract/page.ts'
import { codePopover } from './code.ts'
import { type Child, element } from './element.ts'
import { count, counted, PART_AWAY } from './figures.ts'
import { itemBody } from './item.ts'
import { notice } from './notice.ts'
import type { Listed, Session } from './session.ts'
import { bar } from './summary.ts'
import { brief } from './value.ts'

export interface View {
  readonly title: string
  readonly content: readonly Child[]
}

export async function entryView(session: Session, signal: AbortSignal): Promise<View> {
  const { list, isPart } = await session.list(signal)
  const items = list.reduce((sum, { item_count }) => sum + item_count, 0)
  const facts = [
    counted(list.length, 'collection'),
    counted(items, 'item'),
    ...(isPart ? [PART_AWAY] : []),
    session.lastAnswer,
  ]
  const code = codePopover(session, entryUrl(session.baseUrl), ({ request }) => {
    return `const { _embedded } = await (${request}).json()\nconsole.table(_embedded.collections)`
  })
  const content =
    list.length === 0 && !isPart
      ? notice('Nothing to see yet', 'There is no collection, or none that can be read without a token.')
      : element('div', { class: 'scroller' }, entryTable(list, session.root))
  return { title: 'Collections', content: [heading('Collections', facts, code), content] }
}

function entryTable(list: readonly Listed[], root: string): HTMLElement {
  const most = Math.max(...list.map(({ item_count }) => item_count), 1)
  const head = ['Collection', 'Items', 'Pages', 'Size', 'Flags', 'Last change'].map((name) =>
    element('th', { scope: 'col' }, name),
  )
  const rows = list.map((listed) => {
    const { name, item_count: items, paginated, changed_at: changed } = listed
    const cells = [
      count(items),
      paginated ? count(lastPage(items)) : '–',
      bar(items / most),
      flagsOf(listed),
      changed ? element('time', { datetime: changed }, localTime(changed)) : '–',
    ]
    const link = element('a', { href: collectionUrl(root, name) }, name)
    return element('tr', {}, element('th', { scope: 'row' }, link), ...cells.map((cell) => element('td', {}, cell)))
  })
  return element(
    'table',
    { class: 'collections' },
    element('thead', {}, element('tr', {}, ...head)),
    element('tbody', {}, ...rows),
  )
}

function flagsOf({ paginated, private: isPrivate, key }: Listed): string {
  return [isPrivate && 'private', !paginated && 'not paginated', key && `key: ${brief(key)}`]
    .filter(Boolean)
    .join(' · ')
}

export async function itemView(session: Session, name: string, key: string, signal: AbortSignal): Promise<View> {
  const { root, baseUrl } = session
  const json = await session.text(itemUrl(root, name, key), signal)
  const url = itemUrl(baseUrl, name, key)
  const actions = [
    ...rawLink(session, itemUrl(rawUrl(root), name, key)),
    ...codePopover(session, url, ({ request }) => `const item = await (${request}).json()`),
  ]
  const title = brief(key)
  const body = element('div', { class: 'item' }, ...itemBody({ title: 'Item', json, url, isOwnUrl: true }))
  return { title, content: [heading(title, [session.lastAnswer], actions), body] }
}

/** `2026-11-15 16:49:32`: Swedes write it so. */
function localTime(iso: string): string {
  return new Date(iso).toLocaleString('sv-SE')
}

/** A browser opens it without a token, so with one it could lead to nothing. */
export function rawLink({ token }: Session, href: string): Child[] {
  return token ? [] : [element('a', { href }, 'Raw JSON')]
}

export function heading(title: string, facts: readonly string[], actions: readonly Child[]): HTMLElement {
  return element(
    'div',
    { class: 'heading' },
    element('h1', { tabindex: -1 }, title),
    element('p', { class: 'facts' }, facts.join(' · ')),
    element('div', { class: 'row' }, ...actions),
  )
}
