/** The item that is open beside the table, and the way from row to row. */

import { announce } from './feedback.ts'
import { placeOf } from './page-rows.ts'
import type { Session } from './session.ts'
import { indented } from './text.ts'

export class ItemPanel {
  /** The item as it was written. */
  json = ''
  /** Its address, or that of its page where it has none. */
  url = ''
  readonly #session: Session
  #row: HTMLTableRowElement | undefined

  constructor(session: Session) {
    this.#session = session
  }

  /** Gives the focus to the item. */
  async open(row: HTMLTableRowElement): Promise<void> {
    this.#leave()
    this.#row = row
    row.ariaCurrent = 'true'
    try {
      const json = await this.#read(row)
      if (this.#row === row) this.#show(row, json)
    } catch (error) {
      announce(`This item cannot be shown. ${(error as Error).message}.`)
      this.#leave()
    }
  }

  /** Gives the focus back to the row. */
  close(): void {
    const row = this.#leave()
    if (row) focusOn(row.querySelector('th > *'))
  }

  #leave(): HTMLTableRowElement | undefined {
    const row = this.#row
    this.#row = undefined
    if (row === undefined) return undefined
    row.ariaCurrent = null
    asideOf(row).hidden = true
    return row
  }

  /** What has no address of its own is read with its page. */
  async #read(row: HTMLTableRowElement): Promise<string> {
    const { url = '', collection = '', page = '' } = row.closest('main')?.dataset ?? {}
    const link = row.querySelector<HTMLAnchorElement>('th a')
    this.url = new URL(link?.getAttribute('href') ?? url, url).href
    if (link) return this.#session.text(link.href)
    const read = await this.#session.collection(collection, new URL(url).origin).page(Number(page) || 1)
    return new TextDecoder().decode([...read.texts()][placeOf(row)])
  }

  #show(row: HTMLTableRowElement, json: string): void {
    this.json = json
    const [aside, opener] = [asideOf(row), row.querySelector('th > *')]
    const [heading, open, pre] = ['h2', 'a', 'pre'].map((name) => aside.querySelector<HTMLElement>(name))
    aside.ariaLabel = `Item ${opener?.textContent}`
    if (heading) heading.textContent = aside.ariaLabel
    if (open) open.hidden = !opener?.hasAttribute('href')
    open?.setAttribute('href', opener?.getAttribute('href') ?? '')
    pre?.replaceChildren()
    for (const { text, isName } of indented(json)) pre?.append(isName ? bold(text) : text)
    aside.hidden = false
    heading?.focus()
  }
}

function asideOf(row: Element): HTMLElement {
  return row.closest('.beside')?.querySelector('aside') as HTMLElement
}

function bold(text: string): HTMLElement {
  const name = document.createElement('b')
  name.textContent = text
  return name
}

/** Of all rows, and of all columns, one is reached by Tab; from there the arrow keys lead on. */
export function focusOn(opener: HTMLElement | null | undefined): void {
  opener?.closest('thead, tbody')?.querySelector('th > [tabindex="0"]')?.setAttribute('tabindex', '-1')
  opener?.setAttribute('tabindex', '0')
  opener?.focus()
}
