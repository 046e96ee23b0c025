/** Downloads a whole collection into a file, in this tab. */

import type { Collection } from '../../client/collection.ts'
import type { Page } from '../../client/page.ts'
import { counted, formatCount } from '../../contract/message-text.ts'
import { CsvColumns, linesOf, MAX_COLUMNS } from '../../items/item-text.ts'

export type Form = 'ndjson' | 'csv'

/** One at a time. It is shown in the element that the server made for it. */
export class Download {
  #controller = new AbortController()
  #name = ''
  #box: Element | null = null

  cancel(): void {
    this.#controller.abort()
  }

  /** It goes on while pages are turned, and ends when somebody leaves the collection. */
  moveTo(main: HTMLElement): void {
    if (main.dataset['collection'] !== this.#name) this.cancel()
    else if (this.#box) main.querySelector('#download')?.replaceWith(this.#box)
  }

  async run(form: Form, name: string, collection: Collection): Promise<void> {
    this.#controller = new AbortController()
    const { signal } = this.#controller
    const box = document.getElementById('download') as HTMLElement
    this.#name = name
    this.#box = box
    const [bar, status] = [box.querySelector('progress'), box.querySelector('p')] as [HTMLProgressElement, HTMLElement]
    showRunning(box, true)
    try {
      const pages = await pullAll(collection, signal, (items, all) => {
        bar.max = all || 1
        bar.value = items
        status.textContent = `${formatCount(items)} of ${counted(all, 'item')}`
      })
      const file = `${name}.${form}`
      save(new Blob(form === 'csv' ? await csvOf(pages, signal) : pages), file)
      status.append(` saved as ${file}`)
    } catch (error) {
      status.textContent = signal.aborted ? 'Cancelled. Nothing was saved.' : `Failed. ${(error as Error).message}`
    }
    showRunning(box, false)
  }
}

function showRunning(box: HTMLElement, isRunning: boolean): void {
  for (const button of box.querySelectorAll('button')) {
    const isCancel = button.dataset['action'] === 'cancel'
    if (isCancel) button.hidden = !isRunning
    else button.disabled = isRunning
  }
  const bar = box.querySelector('progress')
  if (bar) bar.hidden = !isRunning
  bar?.removeAttribute('value')
}

/** The items of each page as NDJSON, byte for byte. */
async function pullAll(
  collection: Collection,
  signal: AbortSignal,
  onProgress: (items: number, all: number) => void,
): Promise<Uint8Array<ArrayBuffer>[]> {
  const pages: Uint8Array<ArrayBuffer>[] = []
  const sink = {
    page: (page: Page) => void pages.push(page.ndjson()),
    restart: () => void pages.splice(0),
  }
  await collection.pull(sink, { signal, onProgress: ({ items, itemCount }) => onProgress(items, itemCount) })
  return pages
}

/** As `reams pull` writes it. The columns are known at the end, so all is read twice. */
async function csvOf(pages: readonly Uint8Array[], signal: AbortSignal): Promise<string[]> {
  const columns = new CsvColumns()
  for (const page of pages) {
    for (const line of linesOf(page)) columns.addFields(line)
    if (columns.names.length > MAX_COLUMNS)
      throw new Error('The items have too many different fields for CSV. Use NDJSON.')
    await pause(signal)
  }
  const parts = columns.names.length > 0 ? [columns.header] : []
  for (const page of pages) {
    let text = ''
    for (const line of linesOf(page)) text += columns.row(line)
    parts.push(text)
    await pause(signal)
  }
  return parts
}

/** Lets the page respond, also to "Cancel". */
async function pause(signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve))
  signal.throwIfAborted()
}

function save(file: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  // The browser has taken it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
