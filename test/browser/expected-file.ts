/** What a download has to hold. */

import { CsvColumns } from '../../src/items/csv-text.ts'

export function linesOf(items: readonly string[]): string {
  return items.map((item) => `${item}\n`).join('')
}

/** As `reams pull` writes it. */
export function csvOf(items: readonly string[]): string {
  const texts = items.map((item) => Buffer.from(item))
  const columns = new CsvColumns()
  for (const text of texts) columns.addFields(text)
  return columns.header + texts.map((text) => columns.row(text)).join('')
}
