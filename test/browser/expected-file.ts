/** What a download has to hold. */

import { CsvColumns, CsvForm } from '../../src/cli/pull/csv.ts'

export function linesOf(items: readonly string[]): string {
  return items.map((item) => `${item}\n`).join('')
}

/** As `reams pull` writes it. */
export function csvOf(items: readonly string[]): string {
  const lines = Buffer.from(linesOf(items))
  const columns = new CsvColumns([])
  columns.add(lines, 0)
  return new CsvForm(columns.names, true).render(lines, 0).toString()
}
