/** Results go to stdout, everything else to stderr. */

import { makeVisible } from '../contract/message-text.ts'

/** Resolves when the text has left the process. A reader that has gone, as in `| head`, is no error. */
export function print(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(`${text}\n`, (error) => {
      if (error && !isReaderGone(error)) reject(error)
      else resolve()
    })
  })
}

/** One line: what stands in it can come from a file, and must not steer the terminal. */
export function printError(text: string): void {
  process.stderr.write(`${makeVisible(text)}\n`)
}

export function isReaderGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE'
}

/** Columns in `rightAligned` (counted from 0) hold numbers. */
export function alignTable(rows: readonly (readonly string[])[], rightAligned: readonly number[]): string {
  const widths: number[] = []
  for (const row of rows)
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length)
  const align = (cell: string, column: number) =>
    rightAligned.includes(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)
  return rows.map((row) => row.map(align).join('  ').trimEnd()).join('\n')
}
