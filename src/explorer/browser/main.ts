/**
 * Works on the page that the server wrote: follows links within the service without leaving the tab, so that a token
 * stays in its memory, and does what the buttons say. Every page comes from the server, as HTML.
 */

import { itemUrl, pageUrl } from '../../contract/link.ts'
import { parsePage } from '../../contract/page.ts'
import { Download, type Form } from './download.ts'
import { announce, copy } from './feedback.ts'
import { focusOn, ItemPanel } from './item-panel.ts'
import { PageRows, shownRows } from './page-rows.ts'
import { Session } from './session.ts'
import { ago, brief, itemsOn } from './text.ts'

const SHOW_AGES_MS = 1000

class Explorer {
  readonly #session = new Session(document.querySelector<HTMLAnchorElement>('.brand')?.href ?? location.origin)
  readonly #panel = new ItemPanel(this.#session)
  readonly #rows = new PageRows(this.#session)
  readonly #download = new Download()
  #loading = new AbortController()

  start(): void {
    document.addEventListener('click', (event) => this.#click(event))
    document.addEventListener('keydown', (event) => this.#press(event))
    document.addEventListener('submit', (event) => this.#submit(event))
    document.addEventListener('invalid', refuse, true)
    document.addEventListener('input', ({ target }) => this.#follow(target as HTMLInputElement))
    document.addEventListener('change', ({ target }) => this.#leaveStrip(target as HTMLInputElement))
    window.addEventListener('popstate', () => this.#load())
    window.addEventListener('online', () => document.querySelector('.unreachable') && this.#load())
    setInterval(showAges, SHOW_AGES_MS)
    this.#prepare()
  }

  get #main(): HTMLElement {
    return document.getElementById('main') as HTMLElement
  }

  /** Shows what the address stands for. What was there stays until that has come; what was asked for before is not shown. */
  async #load(): Promise<void> {
    this.#loading.abort()
    this.#loading = new AbortController()
    const { signal } = this.#loading
    this.#main.ariaBusy = 'true'
    const page = await this.#session.page(location.href, signal).catch(unreachable)
    if (signal.aborted) return
    const main = page.getElementById('main') as HTMLElement
    const { activeElement } = document
    this.#download.moveTo(main)
    this.#panel.close()
    this.#main.replaceWith(main)
    document.querySelector('#top nav')?.replaceWith(page.querySelector('#top nav') ?? '')
    document.title = page.title
    this.#prepare()
    announce(`${page.title} ${main.querySelector('.facts')?.textContent ?? ''}`, true)
    restoreFocus(main, activeElement)
    this.#showToken()
  }

  #go(url: string): void {
    history.pushState(null, '', url)
    void this.#load()
  }

  #goToPage(page: number): void {
    this.#go(pageUrl(this.#session.root, this.#main.dataset['collection'] ?? '', page))
  }

  #click(event: MouseEvent): void {
    const target = event.target as Element
    const button = target.closest<HTMLElement>('[data-action]')
    if (button) this.#act(button)
    if (button || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
    const link = target.closest('a')
    const row = target.closest<HTMLTableRowElement>('.items tbody tr')
    if (row && (target.closest('th > *') || !(link || target.closest('details') || isSelected(row)))) {
      event.preventDefault()
      void this.#panel.open(row)
    } else if (link && !link.target && isPage(link.href, this.#session)) {
      event.preventDefault()
      this.#go(link.href)
    }
  }

  #act(button: HTMLElement): void {
    const { action = '' } = button.dataset
    const label = button.textContent
    const { collection = '', url = '' } = this.#main.dataset
    const isInPanel = button.closest('aside') !== null
    if (action === 'retry') void this.#load()
    else if (action === 'forget') this.#useToken('')
    else if (action === 'sort') void this.#rows.sort(button)
    else if (action === 'close') this.#panel.close()
    else if (action === 'cancel') this.#download.cancel()
    else if (action === 'copy') void copy(label, button.closest('section')?.querySelector('pre')?.innerText ?? '')
    else if (action === 'copy-url') void copy(label, isInPanel ? this.#panel.url : url)
    else if (action === 'copy-json') void copy(label, isInPanel ? this.#panel.json : this.#session.text(location.href))
    else void this.#download.run(action as Form, collection, this.#session.collection(collection, new URL(url).origin))
  }

  /**
   * ← and → turn pages, or go from column to column; ↑ and ↓ go from row to row, where they have nothing else to do. Space
   * opens an item, as Enter does. Escape closes it.
   */
  #press(event: KeyboardEvent): void {
    const { key, ctrlKey, metaKey, shiftKey, altKey } = event
    const target = event.target as Element
    if (key === 'Escape' && !document.querySelector(':popover-open')) this.#panel.close()
    if (ctrlKey || metaKey || shiftKey || altKey || target.closest('input, pre, .scroller:focus, details, [popover]'))
      return
    const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[key]
    const isAcross = key === 'ArrowLeft' || key === 'ArrowRight'
    const head = target.closest('thead th')
    const row = target.closest<HTMLTableRowElement>('tbody tr')
    if (key === ' ' && target.matches('th > a')) (target as HTMLElement).click()
    else if (step && isAcross && head)
      focusOn((step > 0 ? head.nextElementSibling : head.previousElementSibling)?.querySelector('button'))
    else if (step && isAcross)
      this.#main.querySelector<HTMLElement>(`a[rel=${step > 0 ? 'next' : 'prev'}][href]`)?.click()
    else if (step && row && target.closest('th')) {
      const rows = shownRows()
      focusOn(rows[rows.indexOf(row) + step]?.querySelector('th > *'))
    } else return
    event.preventDefault()
  }

  #submit(event: SubmitEvent): void {
    event.preventDefault()
    const form = event.target as HTMLFormElement
    const field = form.querySelector('input') as HTMLInputElement
    if (field.type === 'password') this.#useToken(field.value.trim())
    else if (field.id === 'find')
      this.#go(itemUrl(this.#session.root, this.#main.dataset['collection'] ?? '', field.value))
    else this.#goToPage(Math.min(parsePage([field.value]) ?? 1, Number(strip()?.max)))
  }

  #useToken(token: string): void {
    if (/[^!-~]/.test(token)) {
      announce('A token has no blanks and no letters beyond ASCII. Copy it again.')
      return
    }
    this.#session.token = token
    document.getElementById('token')?.hidePopover()
    this.#showToken()
    void this.#load()
  }

  /** What the service said to the token. One that it does not accept stays in its field, to be corrected. */
  #showToken(): void {
    const { token, isAccepted } = this.#session
    const isRefused = token !== '' && isAccepted === false
    document.body.classList.toggle('has-token', token !== '' && isAccepted === true)
    document.body.classList.toggle('token-refused', isRefused)
    const field = document.querySelector('#token input') as HTMLInputElement
    field.value = isRefused ? token : ''
    if (isRefused && !field.closest(':popover-open'))
      document.querySelector<HTMLElement>('#top [popovertarget]')?.click()
  }

  #leaveStrip(field: HTMLInputElement): void {
    if (field.type === 'range') this.#goToPage(field.valueAsNumber)
  }

  /** Sets up what HTML attributes cannot express. */
  #prepare(): void {
    const range = strip()
    range?.style.setProperty('--share', `${100 / Number(range.max)}%`)
    showAges()
    this.#rows.prepare()
  }

  /** Reacts to typing in a field and to dragging the page strip. */
  #follow(field: HTMLInputElement): void {
    field.ariaInvalid = null
    if (field.id === 'filter') void this.#rows.filter(field)
    if (field.type !== 'range') return
    const text = itemsOn(field.valueAsNumber, Number(field.dataset['itemCount']))
    field.setAttribute('aria-valuetext', `Page ${field.value}, ${text}`)
    if (field.nextElementSibling) field.nextElementSibling.textContent = text
  }
}

/** Whether an address is that of a page of the explorer. */
function isPage(url: string, { root }: Session): boolean {
  return url.startsWith(`${root}/`) && !url.startsWith(`${root}/-/`)
}

/** The server writes moments, so that a page stays the same while nothing changes: how long ago they are is said here. */
function showAges(): void {
  for (const time of document.querySelectorAll<HTMLTimeElement>('time.ago')) {
    time.title ||= time.textContent
    const age = ago(Date.now() - Date.parse(time.dateTime))
    // Else it would take away what somebody has marked.
    if (time.textContent !== age) time.textContent = age
  }
}

function strip(): HTMLInputElement | null {
  return document.querySelector('.strip input')
}

/** Whether somebody has just marked text in it. */
function isSelected(row: HTMLElement): boolean {
  const selection = getSelection()
  return selection?.isCollapsed === false && selection.containsNode(row, true)
}

/** Says why a field is not taken, where the browser's own words would be gone at once. */
function refuse(event: Event): void {
  const field = event.target as HTMLInputElement
  event.preventDefault()
  field.ariaInvalid = 'true'
  field.focus()
  announce(`${field.value && `“${brief(field.value, 20)}” is not a page number. `}${field.title}`)
}

/** What is shown where no page came. */
function unreachable({ message }: Error): Document {
  const page = document.implementation.createHTMLDocument(`${message} · Reams`)
  const template = document.getElementById('unreachable') as HTMLTemplateElement
  page.body.append(template.content.cloneNode(true))
  for (const heading of page.querySelectorAll('h1, li')) heading.textContent = message
  for (const address of page.querySelectorAll('code')) address.textContent = location.href
  return page
}

/** Stays where a dialog was closed. Else it goes to what has taken the place of the element that had it; else to the heading. */
function restoreFocus(main: HTMLElement, before: Element | null): void {
  if (before?.isConnected && before.matches('[popovertarget]')) return
  const relation = before?.getAttribute('rel')
  const names = [before?.id && `#${CSS.escape(before.id)}`, relation && `a[rel="${relation}"][href]`, 'h1']
  const found = names.map((name) => name && main.querySelector<HTMLElement>(name)).find(Boolean)
  if (found) found.focus()
}

new Explorer().start()
