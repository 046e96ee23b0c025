/** Brings a whole collection into a file, in this tab. */

import type { Collection } from '../../client/collection.ts'
import type { Page } from '../../client/page.ts'
import { csvOf } from './csv.ts'
import { button, type Child, element } from './element.ts'
import { count, counted } from './figures.ts'
import { popover } from './popover.ts'

/** The end of `leaving` ends it too. `open` gives the collection with the token of that moment. */
export function downloadPopover(name: string, open: () => Collection, leaving: AbortSignal): Child[] {
  const bar = element('progress', { 'aria-label': 'Items', hidden: true })
  const said = element('p', { role: 'status' }, 'All items, read page by page and put together here.')
  let controller: AbortController | undefined
  const cancel = button('Cancel', () => controller?.abort(), { hidden: true })
  const starts = [button('NDJSON', () => run('ndjson')), button('CSV', () => run('csv'))]
  leaving.addEventListener('abort', () => controller?.abort())

  async function run(form: 'ndjson' | 'csv'): Promise<void> {
    controller = new AbortController()
    const { signal } = controller
    show(true)
    try {
      const lines = await pullAll(open(), signal, (items, all) => {
        bar.max = all || 1
        bar.value = items
        said.textContent = `${count(items)} of ${counted(all, 'item')}`
      })
      const parts = form === 'csv' ? await csvOf(lines, signal) : lines
      save(new Blob(parts), `${name}.${form}`)
      said.textContent = `${said.textContent} saved as ${name}.${form}`
    } catch (error) {
      said.textContent = signal.aborted ? 'Cancelled. Nothing was saved.' : `Failed. ${(error as Error).message}`
    }
    show(false)
  }

  function show(isRunning: boolean): void {
    for (const start of starts) start.disabled = isRunning
    cancel.hidden = !isRunning
    bar.hidden = !isRunning
    bar.removeAttribute('value')
  }

  return popover('download', 'Download', element('div', { class: 'row' }, ...starts, cancel), bar, said)
}

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
