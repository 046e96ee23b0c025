/** Shows what the address in the bar stands for, and follows links within the service without leaving the tab's memory. */

import { parsePage } from '../../contract/page.ts'
import { announce } from './announce.ts'
import { collectionView } from './collection-view.ts'
import { downloadPopover } from './download.ts'
import { type Child, element } from './element.ts'
import { failure } from './notice.ts'
import type { Session } from './session.ts'
import { tokenPopover } from './token.ts'
import { brief } from './value.ts'
import { entryView, itemView, type View } from './views.ts'

export class Explorer {
  readonly #session: Session
  readonly #main = document.getElementById('main') ?? document.body
  readonly #path = element('nav', { 'aria-label': 'Breadcrumb' })
  #showing = new AbortController()
  #hasShown = false
  #leaving = new AbortController()
  #downloadOf = ''
  #download: readonly Child[] = []

  constructor(session: Session) {
    this.#session = session
    const brand = element('a', { class: 'brand', href: `${session.root}/` }, 'Reams')
    document.getElementById('top')?.replaceChildren(brand, this.#path, ...tokenPopover(session, this.show))
    document.body.append(element('p', { id: 'status', role: 'status' }))
  }

  /** What is under way for another address ends. What was there stays until there is something else to see. */
  readonly show = async (): Promise<void> => {
    this.#showing.abort()
    this.#showing = new AbortController()
    const { signal } = this.#showing
    this.#main.setAttribute('aria-busy', 'true')
    const view = await this.#view(signal).catch((error) => ({
      title: 'Error',
      content: [failure(error, this.show, signal)],
    }))
    if (signal.aborted) return
    const { activeElement } = document
    this.#main.replaceChildren(...view.content)
    this.#main.removeAttribute('aria-busy')
    document.title = `${view.title} · Reams`
    announce(`${view.title} ${this.#main.querySelector('.facts')?.textContent ?? ''}`, true)
    // Who has just opened the page begins at its top, as everywhere.
    if (this.#hasShown) this.#restoreFocus(activeElement)
    this.#hasShown = true
  }

  /** A click on a link to another place of this service. */
  follow(event: MouseEvent): void {
    const link = (event.target as Element).closest('a')
    const { root } = this.#session
    if (!link?.href.startsWith(`${root}/`) || link.href.startsWith(`${root}/-/`) || link.target || link.download) return
    if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    this.#go(link.href)
  }

  /** The arrow keys turn pages, where they have nothing else to do. Escape closes the item. */
  press({ key, target, ctrlKey, metaKey, shiftKey, altKey }: KeyboardEvent): void {
    if (key === 'Escape' && !document.querySelector(':popover-open'))
      this.#main.querySelector<HTMLElement>('.close')?.click()
    const relation = { ArrowLeft: 'prev', ArrowRight: 'next' }[key]
    if (relation === undefined || ctrlKey || metaKey || shiftKey || altKey) return
    if ((target as Element).closest('input, pre, .scroller:focus, [popover]')) return
    this.#main.querySelector<HTMLElement>(`a[rel=${relation}][href]`)?.click()
  }

  readonly #go = (url: string): void => {
    history.pushState(null, '', url)
    void this.show()
  }

  async #view(signal: AbortSignal): Promise<View> {
    const segments = segmentsOf(this.#session)
    const [name, key] = segments
    this.#path.replaceChildren(...crumbs(this.#session, segments))
    this.#keepDownload(name)
    const page = parsePage(new URLSearchParams(location.search).getAll('page'))
    // What the service says of a page that is none is shown as any other error.
    if (page === undefined) await this.#session.text(location.href, signal)
    if (name === undefined) return entryView(this.#session, signal)
    if (key !== undefined) return itemView(this.#session, name, key, signal)
    const place = { name, page: page ?? 1, download: this.#download, go: this.#go }
    return collectionView(this.#session, place, signal)
  }

  /** A download goes on while pages are turned, and ends when somebody leaves the collection. */
  #keepDownload(name = ''): void {
    if (name === this.#downloadOf) return
    this.#leaving.abort()
    this.#leaving = new AbortController()
    this.#downloadOf = name
    this.#download = downloadPopover(name, () => this.#session.patiently(name), this.#leaving.signal)
  }

  /** To what has taken the place of the element that had it; else to the heading. */
  #restoreFocus(before: Element | null): void {
    const relation = before?.getAttribute('rel')
    const names = [before?.id && `#${CSS.escape(before.id)}`, relation && `a[rel="${relation}"][href]`, 'h1']
    const found = names.map((name) => name && this.#main.querySelector<HTMLElement>(name)).find(Boolean)
    if (found) found.focus()
  }
}

/** What the address names: nothing, a collection, or a collection and a key. No name has anything to decode. */
function segmentsOf({ root }: Session): string[] {
  const { pathname } = location
  const prefix = new URL(`${root}/`).pathname
  const path = pathname.slice(pathname.startsWith(prefix) ? prefix.length : 1)
  const [name, ...keys] = path.split('/')
  return name ? [name, ...keys.map(decodeURIComponent)] : []
}

function crumbs({ root }: Session, [name, key]: readonly string[]): Child[] {
  const places: Child[] = [element('a', { href: `${root}/` }, 'Collections')]
  if (name) places.push(element('a', { href: `${root}/${name}` }, name))
  if (key) places.push(brief(key))
  return [element('ol', {}, ...places.map((place) => element('li', {}, place)))]
}
