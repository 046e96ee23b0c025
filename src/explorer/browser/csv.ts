/** Items as CSV (RFC 4180), as `reams pull` writes it: values as they were written, nothing for null. */

import { linesOf } from '../../client/ndjson.ts'
import { fieldsOf } from '../../items/item-fields.ts'

/** What readers would take for something else, or could cut off. */
const NEEDS_QUOTES = /^\s|[",\r\n]|\s$/

/** As many as `reams pull` takes. */
const MAX_COLUMNS = 10_000

/** `pages` are NDJSON. The columns are known at the end, so all is read twice. */
export async function csvOf(pages: readonly Uint8Array[], signal: AbortSignal): Promise<string[]> {
  const names = new Set<string>()
  for (const page of pages) {
    for (const fields of rowsOf(page)) for (const name of fields.keys()) names.add(name)
    if (names.size > MAX_COLUMNS) throw new Error('The items have too many different fields for CSV. Take NDJSON.')
    await breath(signal)
  }
  const parts = names.size > 0 ? [`${row([...names].map(quoted))}\n`] : []
  for (const page of pages) {
    let text = ''
    for (const fields of rowsOf(page)) text += `${row([...names].map((name) => valueText(fields.get(name))))}\n`
    parts.push(text)
    await breath(signal)
  }
  return parts
}

/** Lets the page live, and "Cancel" be heard. */
async function breath(signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve))
  signal.throwIfAborted()
}

function* rowsOf(page: Uint8Array): Generator<Map<string, string>> {
  for (const line of linesOf(page)) yield fieldsOf(line)
}

/** Readers pass empty lines, so an empty row gets quotes. */
function row(fields: readonly string[]): string {
  return fields.join(',') || '""'
}

function valueText(json = 'null'): string {
  if (json === 'null') return ''
  return quoted(json.startsWith('"') ? JSON.parse(json) : json)
}

function quoted(text: string): string {
  return text === '' || NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
