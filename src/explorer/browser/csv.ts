/** A whole collection as CSV, as `reams pull` writes it. */

import { CsvColumns, MAX_COLUMNS } from '../../items/csv-text.ts'
import { linesOf } from '../../items/ndjson-text.ts'

/** `pages` are NDJSON. The columns are known at the end, so all is read twice. */
export async function csvOf(pages: readonly Uint8Array[], signal: AbortSignal): Promise<string[]> {
  const columns = new CsvColumns()
  for (const page of pages) {
    for (const line of linesOf(page)) columns.addFields(line)
    if (columns.names.length > MAX_COLUMNS)
      throw new Error('The items have too many different fields for CSV. Take NDJSON.')
    await breath(signal)
  }
  const parts = columns.names.length > 0 ? [columns.header] : []
  for (const page of pages) {
    let text = ''
    for (const line of linesOf(page)) text += columns.row(line)
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
