/** Brings a whole collection into a file, in this tab. */

import type { Collection } from '../../client/collection.ts'
import type { Page } from '../../client/page.ts'
import { csvOf } from './csv.ts'
import { button, type Child, element } from './element.ts'
import { count, counted } from './figures.ts'
import { popover } from './popover.ts'

/** The end of `leaving` ends it too. `open` gives the collection with the token of that moment. */
export function downloadPopover(name: string, open: () => Collection, leaving: AbortSignal): Child[] {
  const download = new Download(name, open)
  leaving.addEventListener('abort', () => download.cancel())
  return popover('download', 'Download', ...download.content)
}

class Download {
  readonly content: readonly Child[]
  readonly #name: string
  readonly #open: () => Collection
  readonly #starts = FORMS.map((form) => button(form.toUpperCase(), () => this.#run(form)))
  readonly #cancel = button('Cancel', () => this.cancel(), { hidden: true })
  readonly #bar = element('progress', { 'aria-label': 'Items', hidden: true })
  readonly #said = element('p', { role: 'status' }, 'All items, read page by page and put together here.')
  #controller = new AbortController()

  constructor(name: string, open: () => Collection) {
    this.#name = name
    this.#open = open
    this.content = [element('div', { class: 'row' }, ...this.#starts, this.#cancel), this.#bar, this.#said]
  }

  cancel(): void {
    this.#controller.abort()
  }

  async #run(form: string): Promise<void> {
    this.#controller = new AbortController()
    const { signal } = this.#controller
    this.#show(true)
    try {
      const lines = await pullAll(this.#open(), signal, (items, all) => this.#progress(items, all))
      const file = `${this.#name}.${form}`
      save(new Blob(form === 'csv' ? await csvOf(lines, signal) : lines), file)
      this.#said.append(` saved as ${file}`)
    } catch (error) {
      this.#said.textContent = signal.aborted ? 'Cancelled. Nothing was saved.' : `Failed. ${(error as Error).message}`
    }
    this.#show(false)
  }

  #progress(items: number, all: number): void {
    this.#bar.max = all || 1
    this.#bar.value = items
    this.#said.textContent = `${count(items)} of ${counted(all, 'item')}`
  }

  #show(isRunning: boolean): void {
    for (const start of this.#starts) start.disabled = isRunning
    this.#cancel.hidden = !isRunning
    this.#bar.hidden = !isRunning
    this.#bar.removeAttribute('value')
  }
}

const FORMS = ['ndjson', 'csv']

/** The items of each page as NDJSON, byte for byte. */
async function pullAll(
  collection: Collection,
  signal: AbortSignal,
  onProgress: (items: number, all: number) => void,
): Promise<Uint8Array<ArrayBuffer>[]> {
  const lines: Uint8Array<ArrayBuffer>[] = []
  const sink = {
    page: (page: Page) => void lines.push(page.ndjson()),
    restart: () => void lines.splice(0),
  }
  await collection.pull(sink, { signal, onProgress: ({ items, itemCount }) => onProgress(items, itemCount) })
  return lines
}

function save(file: Blob, name: string): void {
  const href = URL.createObjectURL(file)
  element('a', { href, download: name }).click()
  // The browser has taken it by then.
  setTimeout(() => URL.revokeObjectURL(href), 60_000)
}
