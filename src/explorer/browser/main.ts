/**
 * Works on the page that the server wrote: follows links within the service without leaving the tab, so that a token
 * stays in its memory, and does what the buttons say. Every page comes from the server, as HTML.
 */

import { pageUrl } from '../../contract/link.ts'
import { parsePage } from '../../contract/page.ts'
import { Download, type Form } from './download.ts'
import { announce, copy } from './feedback.ts'
import { focusRow, ItemPanel } from './item-panel.ts'
import { Session } from './session.ts'
import { itemsOn } from './text.ts'

class Explorer {
  readonly #session = new Session(document.querySelector<HTMLAnchorElement>('.brand')?.href ?? location.origin)
  readonly #panel = new ItemPanel(this.#session)
  readonly #download = new Download()
  #loading = new AbortController()

  start(): void {
    document.addEventListener('click', (event) => this.#click(event))
    document.addEventListener('keydown', (event) => this.#press(event))
    document.addEventListener('submit', (event) => this.#submit(event))
    document.addEventListener('input', ({ target }) => showPlace(target as HTMLInputElement))
    document.addEventListener('change', ({ target }) => this.#leaveStrip(target as HTMLInputElement))
    window.addEventListener('popstate', () => this.#load())
    window.addEventListener('online', () => document.querySelector('.unreachable') && this.#load())
    prepare()
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
    prepare()
    announce(`${page.title} ${main.querySelector('.facts')?.textContent ?? ''}`, true)
    restoreFocus(main, activeElement)
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
    if (row && (link ? link.closest('th') : !target.closest('details') && `${getSelection()}` === '')) {
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
    else if (action === 'close') this.#panel.close()
    else if (action === 'cancel') this.#download.cancel()
    else if (action === 'copy') void copy(label, button.closest('section')?.querySelector('pre')?.innerText ?? '')
    else if (action === 'copy-url') void copy(label, isInPanel ? this.#panel.url : url)
    else if (action === 'copy-json') void copy(label, isInPanel ? this.#panel.json : this.#session.text(location.href))
    else void this.#download.run(action as Form, collection, this.#session.collection(collection, new URL(url).origin))
  }

  /** ← and → turn pages, ↑ and ↓ go from row to row, where they have nothing else to do. Escape closes the item. */
  #press(event: KeyboardEvent): void {
    const { key, ctrlKey, metaKey, shiftKey, altKey } = event
    const target = event.target as Element
    if (key === 'Escape' && !document.querySelector(':popover-open')) this.#panel.close()
    if (ctrlKey || metaKey || shiftKey || altKey || target.closest('input, pre, .scroller:focus, details, [popover]'))
      return
    const relation = { ArrowLeft: 'prev', ArrowRight: 'next' }[key]
    if (relation) this.#main.querySelector<HTMLElement>(`a[rel=${relation}][href]`)?.click()
    const row = target.closest('tbody th')?.parentElement
    const other = key === 'ArrowDown' ? row?.nextElementSibling : key === 'ArrowUp' && row?.previousElementSibling
    if (!other) return
    event.preventDefault()
    focusRow(other)
  }

  #submit(event: SubmitEvent): void {
    event.preventDefault()
    const form = event.target as HTMLFormElement
    const field = form.querySelector('input') as HTMLInputElement
    if (field.type === 'password') this.#useToken(field.value.trim())
    else this.#goToPage(Math.min(parsePage([field.value]) ?? 1, Number(strip()?.max)))
  }

  #useToken(token: string): void {
    if (/[^!-~]/.test(token)) {
      announce('A token has no blanks and no letters beyond ASCII. Copy it again.')
      return
    }
    const popover = document.getElementById('token') as HTMLElement
    this.#session.token = token
    popover.querySelector('form')?.reset()
    popover.hidePopover()
    document.body.classList.toggle('has-token', token !== '')
    void this.#load()
  }

  #leaveStrip(field: HTMLInputElement): void {
    if (field.type === 'range') this.#goToPage(field.valueAsNumber)
  }
}

/** Whether an address is that of a page of the explorer. */
function isPage(url: string, { root }: Session): boolean {
  return url.startsWith(`${root}/`) && !url.startsWith(`${root}/-/`)
}

/** What attributes cannot say. */
function prepare(): void {
  const range = strip()
  range?.style.setProperty('--share', `${100 / Number(range.max)}%`)
  for (const opener of document.querySelectorAll('.items tbody tr:not(:first-child) th > *'))
    opener.setAttribute('tabindex', '-1')
}

function strip(): HTMLInputElement | null {
  return document.querySelector('.strip input')
}

/** What stands where the strip is dragged to. */
function showPlace(field: HTMLInputElement): void {
  if (field.type !== 'range') return
  const text = itemsOn(field.valueAsNumber, Number(field.dataset['itemCount']))
  field.setAttribute('aria-valuetext', `Page ${field.value}, ${text}`)
  if (field.nextElementSibling) field.nextElementSibling.textContent = text
}

/** What is shown where no page came. */
function unreachable({ message }: Error): Document {
  const page = document.implementation.createHTMLDocument(`${message} · Reams`)
  const template = document.getElementById('unreachable') as HTMLTemplateElement
  page.body.append(template.content.cloneNode(true))
  for (const heading of page.querySelectorAll('h1, li')) heading.textContent = message
  return page
}

/** To what has taken the place of the element that had it; else to the heading. */
function restoreFocus(main: HTMLElement, before: Element | null): void {
  const relation = before?.getAttribute('rel')
  const names = [before?.id && `#${CSS.escape(before.id)}`, relation && `a[rel="${relation}"][href]`, 'h1']
  const found = names.map((name) => name && main.querySelector<HTMLElement>(name)).find(Boolean)
  if (found) found.focus()
}

new Explorer().start()
