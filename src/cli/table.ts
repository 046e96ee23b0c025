/** Lines up the columns of a table of text. */

/** Columns in `rightAligned` (counted from 0) hold numbers. */
export function alignTable(rows: readonly (readonly string[])[], rightAligned: readonly number[]): string {
  const widths: number[] = []
  for (const row of rows)
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length)
  const align = (cell: string, column: number) =>
    rightAligned.includes(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)
  return rows.map((row) => row.map(align).join('  ').trimEnd()).join('\n')
}
